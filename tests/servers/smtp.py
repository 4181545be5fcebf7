"""A mail server that refuses, drops or hangs at message n in phase p, and records what it accepted."""

import base64
import re
import socket
import ssl
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from tests.servers.listener import PATIENCE_S, Listener, reset

# "connect" to "auth" count connections, the others messages: by their MAIL commands, over all connections.
# "body": the first line of the body was read. "dot": the final dot was read. "idle": after the answer to it.
Phase = Literal["connect", "helo", "tls", "auth", "mail", "rcpt", "data", "body", "dot", "idle", "rset"]
OF_CONNECTION = ("connect", "helo", "tls", "auth")


@dataclass(frozen=True)
class Say:
    """Say these lines instead of the usual answer; with `drop`, hang up afterwards."""

    lines: bytes
    drop: bool = False


@dataclass(frozen=True)
class Drop:
    """Hang up without a word; with `keep`, at the dot, the message was accepted before that."""

    keep: bool = True
    rudely: bool = False


@dataclass(frozen=True)
class Hang:
    """Say nothing, read nothing, and keep the connection open; `keep` as for Drop."""

    keep: bool = True


@dataclass(frozen=True)
class Drip:
    """Begin the usual answer and go on with it, byte by byte, for ever."""

    every_s: float = 0.1
    keep: bool = True


@dataclass(frozen=True)
class Late:
    """Give the usual answer, so much later."""

    seconds: float


Act = Say | Drop | Hang | Drip | Late


@dataclass(frozen=True)
class Fault:
    """At the `n`-th message (or connection), in `phase`, do `act`; with `on`, at every later one too."""

    phase: Phase
    n: int
    act: Act
    on: bool = False


@dataclass(frozen=True)
class Accepted:
    """One message that the server took: a copy of it is in its recipient's hands."""

    sender: str
    recipient: str
    raw: bytes = field(repr=False)  # as delivered: dots undoubled
    wire: bytes = field(repr=False)  # as it came, without the final dot
    connection: int = 0

    @property
    def message_id(self) -> str:
        found = re.search(rb"(?mi)^message-id:[ \t]*(<[^>]*>)", self.raw)
        return found[1].decode() if found else ""


class _HangUp(Exception):
    pass


class SmtpSink(Listener):
    """`accepted` is what was taken, in order; `said` every command line with its connection's number."""

    def __init__(
        self,
        faults: Sequence[Fault] = (),
        *,
        extensions: Sequence[str] = ("SIZE 10000000",),
        login: tuple[str, str] | None = None,
        starttls: ssl.SSLContext | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(tls=tls)
        self.faults = list(faults)
        self.extensions = extensions
        self.login = login
        self.starttls = starttls
        self.accepted: list[Accepted] = []
        self.said: list[tuple[int, str]] = []
        self.messages = 0
        self.count = threading.Condition()

    @property
    def recipients(self) -> list[str]:
        with self.count:
            return [one.recipient for one in self.accepted]

    def wait_for(self, count: int) -> list[Accepted]:
        """The accepted messages, once there are so many."""
        with self.count:
            assert self.count.wait_for(lambda: len(self.accepted) >= count, PATIENCE_S), self.accepted
            return list(self.accepted)

    def serve(self, sock: socket.socket, number: int) -> None:
        try:
            _Conversation(self, sock, number).hold()
        except _HangUp:
            return

    def fault(self, phase: Phase, number: int) -> Act | None:
        """What is to go wrong now, if anything."""
        for fault in self.faults:
            if fault.phase == phase and (fault.n == number or (fault.on and fault.n <= number)):
                return fault.act
        return None


class _Conversation:
    """The server's side of one connection."""

    def __init__(self, sink: SmtpSink, sock: socket.socket, number: int) -> None:
        self.sink = sink
        self.sock = sock
        self.number = number
        self.message = 0
        self.sender = self.recipient = ""
        self.stream = sock.makefile("rb")

    def hold(self) -> None:
        """Answer until the client leaves."""
        self.answer("connect", b"220 sink ready\r\n")
        while line := self.stream.readline():
            words = line.decode(errors="replace").strip()
            with self.sink.count:
                self.sink.said.append((self.number, words))
            verb, _, rest = words.partition(" ")
            handler = getattr(self, f"do_{verb.lower()}", None)
            if handler is None:
                self.sock.sendall(b"502 unknown command\r\n")
            else:
                handler(rest)

    def do_ehlo(self, rest: str) -> None:
        offered = ["sink", *self.sink.extensions]
        offered += ["AUTH PLAIN"] if self.sink.login else []
        offered += ["STARTTLS"] if self.sink.starttls and not isinstance(self.sock, ssl.SSLSocket) else []
        lines = [f"250-{word}\r\n" for word in offered[:-1]] + [f"250 {offered[-1]}\r\n"]
        self.answer("helo", "".join(lines).encode())

    def do_helo(self, rest: str) -> None:
        self.sock.sendall(b"250 sink\r\n")

    def do_starttls(self, rest: str) -> None:
        assert self.sink.starttls is not None
        self.answer("tls", b"220 go on\r\n")
        self.sock = self.sink.starttls.wrap_socket(self.sock, server_side=True)
        self.stream = self.sock.makefile("rb")

    def do_auth(self, rest: str) -> None:
        _, user, password = base64.b64decode(rest.split()[1]).decode().split("\0")
        right = (user, password) == self.sink.login
        self.answer("auth", b"235 welcome\r\n" if right else b"535 wrong name or password\r\n")

    def do_mail(self, rest: str) -> None:
        with self.sink.count:
            self.sink.messages += 1
            self.message = self.sink.messages
        self.sender = _address(rest)
        self.answer("mail", b"250 ok\r\n")

    def do_rcpt(self, rest: str) -> None:
        self.recipient = _address(rest)
        self.answer("rcpt", b"250 ok\r\n")

    def do_data(self, rest: str) -> None:
        if not self.answer("data", b"354 go on\r\n"):
            return
        lines = [self.stream.readline()]
        self.answer("body", b"")
        while lines[-1] != b".\r\n":
            lines.append(self.stream.readline())
            if not lines[-1]:
                raise _HangUp
        wire = b"".join(lines[:-1])
        act = self.sink.fault("dot", self.message)
        if act is None or getattr(act, "keep", False):
            self.accept(wire)
        self.answer("dot", b"250 taken\r\n")
        self.answer("idle", b"")

    def do_rset(self, rest: str) -> None:
        self.answer("rset", b"250 ok\r\n")

    def do_quit(self, rest: str) -> None:
        self.sock.sendall(b"221 bye\r\n")
        raise _HangUp

    def accept(self, wire: bytes) -> None:
        """Take the message: from here on it has been delivered."""
        raw = re.sub(rb"(?m)^\.", b"", wire)
        with self.sink.count:
            taken = Accepted(self.sender, self.recipient, raw, wire, self.number)
            self.sink.accepted.append(taken)
            self.sink.count.notify_all()

    def answer(self, phase: Phase, usual: bytes) -> bool:
        """Give the usual answer (True) or do what is to go wrong here (False)."""
        act = self.sink.fault(phase, self.number if phase in OF_CONNECTION else self.message)
        if act is None:
            self.sock.sendall(usual)
            return True
        if isinstance(act, Say):
            self.sock.sendall(act.lines)
            if not act.drop:
                return False
        elif isinstance(act, Drop) and act.rudely:
            reset(self.sock)
        elif isinstance(act, Late):
            self.sink.over.wait(act.seconds)
            self.sock.sendall(usual)
            return
        elif isinstance(act, Hang):
            self.sink.hang()
        elif isinstance(act, Drip):
            self.sock.sendall(usual.rstrip(b"\r\n"))
            while not self.sink.over.wait(act.every_s):
                self.sock.sendall(b"x")
        raise _HangUp


def _address(rest: str) -> str:
    found = re.search(r"<([^>]*)>", rest)
    return found[1] if found else ""
