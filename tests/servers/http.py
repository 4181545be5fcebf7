"""An HTTP server that plays one act a connection: a status, a reset, silence, half an answer, a drip."""

import socket
import ssl
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.servers.listener import PATIENCE_S, Listener, reset


@dataclass(frozen=True)
class Answer:
    """A whole answer."""

    status: int = 202
    body: bytes = b"{}"
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class ResetAtOnce:
    """A reset before a byte of the request was read."""


@dataclass(frozen=True)
class ResetAfterRequest:
    """A reset once the whole request was read."""


@dataclass(frozen=True)
class Hang:
    """The request is read and nothing is said."""


@dataclass(frozen=True)
class Half:
    """These bytes, then the end of the connection."""

    sent: bytes


@dataclass(frozen=True)
class Drip:
    """One byte at a time, for ever; `head` goes first in one piece."""

    head: bytes = b""
    every_s: float = 0.1


@dataclass(frozen=True)
class StopReading:
    """Nothing of the request is read and the connection stays open."""


Act = Answer | ResetAtOnce | ResetAfterRequest | Hang | Half | Drip | StopReading


@dataclass(frozen=True)
class Request:
    """One request as it came."""

    method: str
    target: str
    headers: dict[str, str] = field(repr=False)
    body: bytes = field(repr=False)


class HttpServer(Listener):
    """Plays `acts` one a connection; `requests` are those that were read to their end."""

    def __init__(self, acts: Sequence[Act] = (), *, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(tls=tls)
        self._acts = list(acts)
        self.requests: list[Request] = []
        self._came = threading.Condition()

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def answer(self, request: Request) -> Answer:
        """What a request gets when no act is left."""
        return Answer()

    def serve(self, sock: socket.socket, number: int) -> None:
        act: Act | None = self._acts[number - 1] if number <= len(self._acts) else None
        if isinstance(act, ResetAtOnce):
            return reset(sock)
        if isinstance(act, StopReading):
            return self.hang()
        request = self.heard(sock)
        return None if request is None else self._play(sock, act or self.answer(request))

    def heard(self, sock: socket.socket) -> Request | None:
        """The request that comes on this connection, read to its end and kept; None where none comes."""
        request = _read(sock)
        if request is not None:
            with self._came:
                self.requests.append(request)
                self._came.notify_all()
        return request

    def wait_for(self, count: int) -> list[Request]:
        """The requests, once there are so many."""
        with self._came:
            assert self._came.wait_for(lambda: len(self.requests) >= count, PATIENCE_S), self.requests
            return list(self.requests)

    def _play(self, sock: socket.socket, act: Act) -> None:
        if isinstance(act, Answer):
            sock.sendall(answer_bytes(act))
        elif isinstance(act, ResetAfterRequest):
            reset(sock)
        elif isinstance(act, Hang):
            self.hang()
        elif isinstance(act, Half):
            sock.sendall(act.sent)
        elif isinstance(act, Drip):
            sock.sendall(act.head)
            while not self.over.wait(act.every_s):
                sock.sendall(b"x")


def _read(sock: socket.socket) -> Request | None:
    with sock.makefile("rb") as stream:
        first = stream.readline().decode()
        if not first:
            return None
        method, target, _ = first.split(" ")
        headers = {}
        while line := stream.readline().decode().strip():
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        return Request(method, target, headers, stream.read(int(headers.get("content-length", 0))))


def answer_bytes(act: Answer) -> bytes:
    """The answer as it goes over the line."""
    headers = {"content-length": str(len(act.body)), "connection": "close", **dict(act.headers)}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {act.status} As Told\r\n{head}\r\n".encode() + act.body
