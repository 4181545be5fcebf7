"""An ADK service that makes any session and plays turns as it is told, with the events of recorded runs."""

import json
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.servers.http import Answer, HttpServer, Request, answer_bytes
from tests.servers.listener import PATIENCE_S

SAMPLES = Path(__file__).parents[1] / "samples" / "adk"
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_END = b"0\r\n\r\n"


@dataclass(frozen=True)
class Turn:
    """What a turn streams: events, pauses in seconds, and things to wait for; then its end, unless it is broken off."""

    steps: Sequence[bytes | float | Callable[[], object]] = ()
    whole: bool = True


@dataclass
class Gate:
    """Where a turn waits until a test opens it; `come` says that the turn is there."""

    come: threading.Event = field(default_factory=threading.Event)
    open: threading.Event = field(default_factory=threading.Event)

    def __call__(self) -> None:
        self.come.set()
        self.open.wait(PATIENCE_S)

    def reached(self) -> bool:
        """Wait for the turn."""
        return self.come.wait(PATIENCE_S)


def sample(name: str) -> list[bytes]:
    """The events of the last turn of a recorded run, each as it was sent."""
    text = (SAMPLES / f"sse_{name}.txt").read_text().rpartition("## response\n")[2]
    return [f"{line}\n\n".encode() for line in text.splitlines() if line.startswith("data: ")]


def event(data: dict[str, Any]) -> bytes:
    """One event of a stream."""
    return f"data: {json.dumps(data)}\n\n".encode()


class AdkServer(HttpServer):
    """Plays `turns` one after the other, the last one from then on.

    `asked` are the bodies of the requests for a turn, `sessions` the ids that were made; `left` once a client has gone
    away from a turn.
    """

    def __init__(self, *turns: Turn | Answer) -> None:
        super().__init__()
        self.turns: list[Turn | Answer] = list(turns) or [Turn(sample("normal"))]
        self.session_answers: list[Answer] = []
        self.asked: list[dict[str, Any]] = []
        self.sessions: list[str] = []
        self.left = threading.Event()

    def serve(self, sock: socket.socket, number: int) -> None:
        request = self.heard(sock)
        if request is None:
            return
        if request.target.endswith("/run_sse"):
            self.asked.append(json.loads(request.body))
            turn = self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]
            if isinstance(turn, Turn):
                return self._stream(sock, turn)
            return sock.sendall(answer_bytes(turn))
        sock.sendall(answer_bytes(self._session(request)))

    def _session(self, request: Request) -> Answer:
        session_id = json.loads(request.body)["sessionId"]
        self.sessions.append(session_id)
        if self.session_answers:
            return self.session_answers.pop(0)
        return Answer(200, json.dumps({"id": session_id}).encode())

    def _stream(self, sock: socket.socket, turn: Turn) -> None:
        try:
            sock.sendall(_HEAD)
            for step in turn.steps:
                if isinstance(step, bytes):
                    sock.sendall(b"%x\r\n%s\r\n" % (len(step), step))
                elif isinstance(step, float):
                    time.sleep(step)
                else:
                    step()
            if turn.whole:
                sock.sendall(_END)
                if not sock.recv(1):
                    self.left.set()
        except OSError:
            self.left.set()
