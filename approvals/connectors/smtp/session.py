"""One connection to a mail server: `smtplib`'s words, with strict replies and one deadline for all waits."""

import re
import smtplib
import socket
import ssl
from typing import Any, NoReturn

from approvals.connectors import net

REPLY_LIMIT = 64 * 1024
_CHUNK = 16 * 1024

_REPLY_LINE = re.compile(rb"[2-5][0-9]{2}(?:[ -].*)?", re.DOTALL)


class Lost(smtplib.SMTPServerDisconnected):
    """The connection is of no use any more; the text says why in plain words."""


class Session(smtplib.SMTP):
    """An SMTP client whose `deadline` may be moved between commands; every loss is raised as Lost."""

    def __init__(self, deadline: net.Deadline, *, implicit_tls: ssl.SSLContext | None = None) -> None:
        # The name for EHLO is set once connected: left open, smtplib would ask the resolver without limit.
        super().__init__(local_hostname="localhost")
        self.deadline = deadline
        self._implicit_tls = implicit_tls
        self._unread = b""

    def open(self, host: str, port: int) -> tuple[int, bytes]:
        """Connect and return the greeting. Raises OSError, Lost included."""
        self._host = host  # what starttls() checks the certificate against
        return self.connect(host, port)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        sock = net.connect(net.resolve(host, port, self.deadline), self.deadline)
        own = sock.getsockname()[0]
        self.local_hostname = f"[IPv6:{own}]" if sock.family == socket.AF_INET6 else f"[{own}]"
        if self._implicit_tls is None:
            return sock
        try:
            sock.settimeout(self.deadline.left())
            return self._implicit_tls.wrap_socket(sock, server_hostname=host)
        except BaseException:
            sock.close()
            raise

    def secure(self, context: ssl.SSLContext) -> tuple[int, bytes]:
        """Ask for TLS and switch to it; return the server's answer. Raises OSError."""
        if self.sock is not None:
            self.sock.settimeout(self.deadline.left())  # the handshake's; the words before it have their own
        return self.starttls(context=context)

    def send(self, s: Any) -> None:
        """Write everything; raises Lost."""
        if self.sock is None:
            raise Lost("the connection is closed")
        if self._unread:
            self._give_up("the server spoke out of turn")
        rest = memoryview(s.encode(self.command_encoding) if isinstance(s, str) else s)
        try:
            while rest:
                rest = rest[net.send(self.sock, rest, self.deadline) :]
        except OSError as error:
            self._give_up(net.why(error), error)

    def getreply(self) -> tuple[int, bytes]:
        """Read one whole, well-formed reply; raises Lost for anything else, an unfinished line included."""
        while (reply := self.take_reply()) is None:
            if self.sock is None:
                raise Lost("the connection is closed")
            try:
                more = net.receive(self.sock, _CHUNK, self.deadline)
            except OSError as error:
                self._give_up(net.why(error), error)
            if not more:
                self._give_up("the connection was broken off")
            self._unread += more
        return reply

    def take_reply(self) -> tuple[int, bytes] | None:
        """The next reply if it is here whole, without waiting; raises Lost for what cannot be one."""
        texts: list[bytes] = []
        end = 0
        while (cut := self._unread.find(b"\n", end)) >= 0 and end <= REPLY_LIMIT:
            line = self._unread[end:cut].rstrip(b"\r")
            end = cut + 1
            if not _REPLY_LINE.fullmatch(line) or line[:3] != self._unread[:3]:
                self._give_up("the server's answer could not be read")
            texts.append(line[4:].strip())
            if line[3:4] != b"-":
                self._unread = self._unread[end:]
                return int(line[:3]), b"\n".join(texts)
        if len(self._unread) > REPLY_LIMIT:
            self._give_up("the server's answer could not be read")
        return None

    def hear(self) -> bool:
        """Read what has come, without waiting; whether there is anything unread. Raises Lost if it has hung up."""
        if self.sock is None:
            raise Lost("the connection is closed")
        try:
            more = net.receive_now(self.sock, _CHUNK)
        except OSError as error:
            self._give_up(net.why(error), error)
        if more is None:
            return bool(self._unread)
        if not more:
            self._give_up("the connection was broken off")
        self._unread += more
        return True

    def write_now(self, data: memoryview) -> int:
        """Write what the network takes, without waiting; how many bytes. Raises Lost if it is gone."""
        if self.sock is None:
            raise Lost("the connection is closed")
        try:
            return net.send_now(self.sock, data)
        except OSError as error:
            self._give_up(net.why(error), error)

    @property
    def has_unread(self) -> bool:
        """Whether something that came was not read yet."""
        return bool(self._unread)

    def _give_up(self, text: str, cause: Exception | None = None) -> NoReturn:
        self.close()
        self._unread = b""
        raise Lost(text) from cause
