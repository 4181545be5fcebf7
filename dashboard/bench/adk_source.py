"""A service that answers as google-adk does and plays one long turn at a steady pace: `python -m ... DESCRIPTOR`.

The turn has EVENTS events, one each 1 / PACE seconds: mostly pieces of text, as a model writes them, and every
CALL_EVERY events a call with its answer. Real models write some dozens of pieces a second.
"""

import json
import socket
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

EVENTS, PACE, CALL_EVERY = 1_500, 250.0, 50
APP = "support"
ANSWERS: dict[str, Any] = {
    "/healthz": {},
    "/version": {"version": "2.13.0"},
    "/list-apps": [APP],
    f"/apps/{APP}/app-info": {
        "name": APP,
        "root_agent_name": APP,
        "agents": {APP: {"name": APP, "tools": []}},
    },
}


def turn(events: int) -> Iterator[str]:
    """The events of one turn, as JSON; each call has ids of its own."""
    invocation = f"e-{uuid4()}"
    call_id = ""
    for number in range(events):
        part: dict[str, Any] = {"text": f"and then piece {number} of what it has to say, "}
        partial, role = True, "model"
        if number % CALL_EVERY == CALL_EVERY - 2:
            call_id = f"adk-{uuid4()}"
            part = {"functionCall": {"id": call_id, "name": "look_up", "args": {"step": number}}}
            partial = False
        elif number % CALL_EVERY == CALL_EVERY - 1:
            part = {"functionResponse": {"id": call_id, "name": "look_up", "response": {"found": number}}}
            partial, role = False, "user"
        elif number == events - 1:
            part, partial = {"text": "That is all."}, False
        event: dict[str, Any] = {
            "id": str(uuid4()), "invocationId": invocation, "author": APP, "timestamp": time.time(),
            "content": {"role": role, "parts": [part]}, "actions": {"stateDelta": {}, "artifactDelta": {}},
        }  # fmt: skip
        if partial:
            event["partial"] = True
        yield json.dumps(event)


class _Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(ANSWERS.get(self.path))

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path == "/run_sse":
            self._play()
        else:
            self._answer({"id": asked["sessionId"], "appName": APP, "events": []})

    def _answer(self, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(200 if value is not None else 404)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _play(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        began = time.monotonic()
        for number, event in enumerate(turn(EVENTS)):
            time.sleep(max(0.0, began + number / PACE - time.monotonic()))
            frame = f"data: {event}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(frame), frame))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def main(descriptor: int) -> None:
    """Serve on a socket that listens already, until told to end."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Service, bind_and_activate=False)
    server.socket.close()
    server.socket = socket.socket(fileno=descriptor)
    server.serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]))
