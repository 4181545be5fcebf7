"""The demo runtime's door: `POST /replays` and `POST /told`, open only to what is signed as Standard Webhooks say."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any

TOLERANCE_S = 300
BODY_LIMIT = 8 * 1024 * 1024
FIELDS = ("job_id", "run_id", "agent")


Take = Callable[[str, dict[str, Any]], None]


class Refused(Exception):
    """A request that is answered with this status and sentence."""

    def __init__(self, status: HTTPStatus, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


class Door(ThreadingHTTPServer):
    """Takes orders for replays; `take(message_id, order)` starts one, or raises Refused. `hear` gets other news."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], secret: str, take: Take, hear: Take) -> None:
        super().__init__(address, _Handler)
        self.secret = secret
        self.take = take
        self.hear = hear

    def server_bind(self) -> None:
        """Bind without asking the resolver for a name, as the parent would."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])


class _Handler(BaseHTTPRequestHandler):
    server: Door
    timeout = 10  # seconds that a client may keep a thread waiting
    protocol_version = "HTTP/1.1"
    server_version = "secondlook-demo"
    sys_version = ""

    def do_GET(self) -> None:
        if self.path == "/healthz":
            self._answer(HTTPStatus.OK, {"status": "ok"})
        else:
            self._answer(HTTPStatus.NOT_FOUND, {"detail": "There is nothing here."})

    def do_POST(self) -> None:
        try:
            given = self._given()
            if self.path == "/told":
                self.server.hear(self.headers["webhook-id"], given)
                return self._answer(HTTPStatus.OK, {})
            order = _checked(given)
            self.server.take(self.headers["webhook-id"], order)
        except Refused as refused:
            self._answer(refused.status, {"detail": refused.detail})
        else:
            self._answer(HTTPStatus.ACCEPTED, {"job_id": order["job_id"], "run_id": order["run_id"]})

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: what matters is told by the runtime."""

    def _given(self) -> dict[str, Any]:
        if self.path not in ("/replays", "/told"):
            raise Refused(HTTPStatus.NOT_FOUND, "There is nothing here.")
        length = self.headers.get("content-length", "")
        if not length.isdecimal():
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "The request must say how long it is.")
        if int(length) > BODY_LIMIT:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request is too long.")
        body = self.rfile.read(int(length))
        if (
            wrong := why_not_signed(self.server.secret, dict(self.headers.items()), body, time.time())
        ) is not None:
            raise Refused(HTTPStatus.UNAUTHORIZED, wrong)
        return _parsed(body)

    def _answer(self, status: HTTPStatus, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self.close_connection = True
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


def why_not_signed(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> str | None:
    """Why a request is not to be trusted, in a sentence; None if it is.

    The signature is `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; there may be several, with
    spaces between. One that is older or younger than five minutes is not trusted: somebody may have kept it.
    """
    given = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    if not message_id or not timestamp.isdecimal() or not timestamp.isascii() or len(timestamp) > 12:
        return "The request is not signed."
    if abs(now - int(timestamp)) > TOLERANCE_S:
        return "The request is too old, or a clock is wrong."
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256))
    signatures = given.get("webhook-signature", "").encode(errors="replace").split(b" ")
    if not any(hmac.compare_digest(expected, one) for one in signatures):
        return "The signature is wrong."
    return None


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        order = json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(HTTPStatus.BAD_REQUEST, "The body is not JSON.") from None
    if not isinstance(order, dict):
        raise Refused(HTTPStatus.BAD_REQUEST, "The body must be an object.")
    return order


def _checked(order: dict[str, Any]) -> dict[str, Any]:
    for name in FIELDS:
        if not isinstance(order.get(name), str) or not order[name]:
            raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, f"The field {name} is missing.")
    if not isinstance(order.get("input"), dict):
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, "The agents here take an object as input.")
    return order
