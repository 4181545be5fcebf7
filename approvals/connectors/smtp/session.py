"""One connection to a mail server: `smtplib`'s words, with strict replies and one deadline for all waits."""

import re
import smtplib
import socket
import ssl
from typing import Any, NoReturn

from approvals.connectors import net

REPLY_LIMIT = 64 * 1024

_REPLY_LINE = re.compile(rb"[2-5][0-9]{2}(?:[ -].*)?", re.DOTALL)


class Lost(smtplib.SMTPServerDisconnected):
    """The connection is of no use any more; the text says why in plain words.

    `written` tells whether the network took a byte of what was being sent.
    """

    def __init__(self, text: str, *, written: bool = False) -> None:
        super().__init__(text)
        self.written = written


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
        written = False
        try:
            while rest:
                rest = rest[net.send(self.sock, rest, self.deadline) :]
                written = True
        except OSError as error:
            self._give_up(net.why(error), error, written=written)

    def getreply(self) -> tuple[int, bytes]:
        """Read one whole, well-formed reply; raises Lost for anything else, an unfinished line included."""
        texts: list[bytes] = []
        codes: set[bytes] = set()
        left = REPLY_LIMIT
        while True:
            line = self._line(left)
            left -= len(line) + 1
            codes.add(line[:3])
            if not _REPLY_LINE.fullmatch(line) or len(codes) > 1:
                self._give_up("the server's answer could not be read")
            texts.append(line[4:].strip())
            if line[3:4] != b"-":
                return int(line[:3]), b"\n".join(texts)

    def spoke_unasked(self) -> bool:
        """Whether the server said something that nobody asked for; raises Lost if it has hung up."""
        if self.sock is None:
            raise Lost("the connection is closed")
        try:
            self.sock.settimeout(0)
            more = self.sock.recv(4096)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return bool(self._unread)
        except OSError as error:
            self._give_up(net.why(error), error)
        if not more:
            self._give_up("the connection was broken off")
        self._unread += more
        return True

    def _line(self, limit: int) -> bytes:
        while b"\n" not in self._unread:
            if self.sock is None:
                raise Lost("the connection is closed")
            if len(self._unread) > limit:
                self._give_up("the server's answer could not be read")
            try:
                more = net.receive(self.sock, 4096, self.deadline)
            except OSError as error:
                self._give_up(net.why(error), error)
            if not more:
                self._give_up("the connection was broken off")
            self._unread += more
        line, _, self._unread = self._unread.partition(b"\n")
        return line.rstrip(b"\r")

    def _give_up(self, text: str, cause: Exception | None = None, *, written: bool = False) -> NoReturn:
        self.close()
        self._unread = b""
        raise Lost(text, written=written) from cause
