"""What every outside call shares: one deadline for the whole call, one name look-up, one connection.

A time-out a step is not enough: a server that sends a byte now and then keeps every step short and the whole
call endless. So each wait asks the deadline how much is left.
"""

import queue
import socket
import ssl
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Deadline:
    """An instant on `time.monotonic()` after which nothing of a call may still be waiting."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """The deadline that many seconds from now."""
        return cls(time.monotonic() + seconds)

    def left(self) -> float:
        """Seconds that are left, always more than 0; raises TimeoutError once it has passed."""
        seconds = self.at - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("timed out")
        return seconds

    def passed(self) -> bool:
        """Whether nothing is left."""
        return time.monotonic() >= self.at

    def less(self, share: float) -> "Deadline":
        """The deadline with that share (0 to 1) of the time that is left taken off."""
        return Deadline(self.at - share * max(0.0, self.at - time.monotonic()))

    def or_after(self, seconds: float) -> "Deadline":
        """This deadline, or the one that many seconds from now if that is earlier."""
        return Deadline(min(self.at, time.monotonic() + seconds))

    def share(self, parts: int) -> "Deadline":
        """The deadline of the first of so many equal parts of what is left."""
        return Deadline.after(self.left() / parts)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One address that a name stood for when it was looked up."""

    family: int
    address: tuple[Any, ...]


def resolve(host: str, port: int, deadline: Deadline) -> tuple[Endpoint, ...]:
    """Look a name up once and return its addresses in the system's order.

    The system's resolver knows no time-out, so it runs in a thread that is left behind when it is too slow.
    Raises OSError (TimeoutError included) when there is no answer or no address.
    """
    answers: queue.SimpleQueue[tuple[Endpoint, ...] | OSError] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            answers.put(error)
        except UnicodeError:
            answers.put(socket.gaierror(socket.EAI_NONAME, "not a host name"))
        else:
            answers.put(tuple(Endpoint(family, address) for family, _, _, _, address in found))

    threading.Thread(target=look_up, name="resolve", daemon=True).start()
    try:
        answer = answers.get(timeout=deadline.left())
    except queue.Empty:
        raise TimeoutError("timed out") from None
    if isinstance(answer, OSError):
        raise answer
    return answer


def connect(endpoints: Sequence[Endpoint], deadline: Deadline) -> socket.socket:
    """Open a TCP connection to the first endpoint that takes one; raises the last OSError when none does.

    Each endpoint gets its share of the time, so one that swallows packets leaves some for the others.
    """
    failure: OSError = OSError("there is no address to connect to")
    for tried, endpoint in enumerate(endpoints):
        sock = socket.socket(endpoint.family, socket.SOCK_STREAM)
        try:
            sock.settimeout(deadline.share(len(endpoints) - tried).left())
            sock.connect(endpoint.address)
            # A command, a body and its end are written apart: without this each would wait for an old answer.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            sock.close()
            failure = error
        else:
            return sock
    raise failure


def send(sock: socket.socket, data: bytes | memoryview, deadline: Deadline) -> int:
    """Write some of the data and return how many bytes; raises OSError (TimeoutError included) if none."""
    sock.settimeout(deadline.left())
    return sock.send(data)


def receive(sock: socket.socket, size: int, deadline: Deadline) -> bytes:
    """Read at most `size` bytes, b"" at the end of the stream; raises OSError (TimeoutError included)."""
    sock.settimeout(deadline.left())
    return sock.recv(size)


def send_now(sock: socket.socket, data: bytes | memoryview) -> int:
    """Write what the network takes without waiting, 0 bytes too; raises OSError where the connection is gone."""
    try:
        _never_wait(sock)
        return sock.send(data)
    except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
        return 0


def receive_now(sock: socket.socket, size: int) -> bytes | None:
    """Read at most `size` bytes that have come, b"" at the end of the stream, None for nothing. Raises OSError."""
    try:
        _never_wait(sock)
        return sock.recv(size)
    except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
        return None


def _never_wait(sock: socket.socket) -> None:
    if sock.gettimeout() != 0:  # to say it again would be a system call
        sock.settimeout(0)


def why(error: BaseException) -> str:
    """An error of the network in a few plain words, without numbers or class names."""
    if isinstance(error, TimeoutError):
        return "it took too long"
    if isinstance(error, ConnectionRefusedError):
        return "the connection was refused"
    if isinstance(error, ConnectionError):
        return "the connection was broken off"
    if isinstance(error, socket.gaierror):
        return "its name is not known"
    text = (getattr(error, "strerror", None) or str(error) or type(error).__name__).strip().rstrip(".")
    return " ".join(text.split())
