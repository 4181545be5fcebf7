"""Orders as the tests give them, servers that write streams, and the transcripts of real runs."""

import socket
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from approvals.connectors.adk import Place, StreamItem, StreamOrder, Tick, stream
from tests.servers.http import Act, HttpServer
from tests.servers.listener import Listener

SAMPLES = Path(__file__).parents[2] / "samples" / "adk"
MESSAGE = {"role": "user", "parts": [{"text": "Wo ist mein Päckchen?"}]}
HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
)
END = b"0\r\n\r\n"


def place(base_url: str, **changes: Any) -> Place:
    return Place(**{"base_url": base_url, "allowed_hosts": {"127.0.0.1"}, "timeout_s": 5.0, **changes})


def order(base_url: str, *, timeout_s: float = 5.0, **changes: Any) -> StreamOrder:
    given: dict[str, Any] = {
        "place": place(base_url, timeout_s=timeout_s),
        "app": "support",
        "user": "u1",
        "session_id": "secondlook-1",
        "message": MESSAGE,
        "limit_s": 20.0,
    }
    return StreamOrder(**{**given, **changes})


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def streamed(*pieces: bytes) -> bytes:
    """A whole answer, each piece a chunk."""
    return HEAD + b"".join(map(chunk, pieces)) + END


def items_of(act: Act, **changes: Any) -> list[StreamItem]:
    """What a stream tells, ticks aside."""
    with HttpServer([act]) as server:
        return [item for item in stream(order(server.url, **changes)) if not isinstance(item, Tick)]


def sample(name: str) -> bytes:
    """The body of each stream of a recorded run."""
    text = (SAMPLES / f"sse_{name}.txt").read_text()
    return "".join(line + "\n" for line in text.splitlines() if not line.startswith(("#", "HTTP "))).encode()


class Writer(Listener):
    """Reads a request and then writes whatever `play` gives, as it gives it; `left` once the client has gone."""

    def __init__(self, play: Callable[["Writer"], Iterable[bytes]]) -> None:
        super().__init__()
        self._play = play
        self.left = threading.Event()
        self.written = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def serve(self, sock: socket.socket, number: int) -> None:
        sock.recv(65536)
        try:
            for piece in self._play(self):
                sock.sendall(piece)
                self.written += len(piece)
            if not sock.recv(1):
                self.left.set()
        except OSError:
            self.left.set()
