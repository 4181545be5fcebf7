"""What each answer of a runtime means, and each way of giving none."""

import json
import time

import pytest

from approvals.connectors.http import Outcome, start_replay
from approvals.rules import webhooks
from tests.connectors.http.given import PAYLOAD, SECRET, order, outcome_of
from tests.servers.http import Act, Answer, Drip, Half, Hang, HttpServer, ResetAfterRequest

NOT_KNOWN = "so whether it started the run is not known."


def test_a_runtime_that_accepts_gets_the_signed_canonical_payload() -> None:
    with HttpServer([Answer(202)]) as server:
        outcome = start_replay(order(server.url + "/agents/"))
        [request] = server.requests
    assert outcome == Outcome("accepted", "The runtime accepted the replay (202 Accepted).")
    assert (request.method, request.target) == ("POST", "/agents/replays")
    assert request.headers["host"] == f"127.0.0.1:{server.port}"
    assert request.headers["content-type"] == "application/json"
    assert request.body.decode() == json.dumps(
        PAYLOAD, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    assert webhooks.verify(SECRET, request.headers, request.body, now=time.time()) == "job-1"


def test_a_runtime_at_the_root_of_its_host_is_asked_there() -> None:
    with HttpServer([Answer(202), Answer(202)]) as server:
        for base_url in (server.url, server.url + "/"):
            assert start_replay(order(base_url)).kind == "accepted"
        assert [request.target for request in server.requests] == ["/replays", "/replays"]


REDIRECT = Answer(307, headers=(("location", "http://127.0.0.1:1/elsewhere"),))
PROBLEM = Answer(404, b'{"title": "Not found", "detail": "There is no agent \\u202e\\nnamed a."}')
LATE_500 = Answer(503, b'{"error": "Try later."}')
HEAD = b"HTTP/1.1 202 Accepted\r\ncontent-length: 100\r\n\r\n"


@pytest.mark.parametrize(
    ("what_the_runtime_does", "kind", "detail"),
    [
        (Answer(200), "accepted", "The runtime accepted the replay (200 OK)."),
        (Answer(204, b""), "accepted", "The runtime accepted the replay (204 No Content)."),
        (Half(HEAD + b"{"), "accepted", "The runtime accepted the replay (202 Accepted)."),
        (Answer(202, b"x" * 100_000), "accepted", "The runtime accepted the replay (202 Accepted)."),
        (Answer(202, b"[" * 60_000), "accepted", "The runtime accepted the replay (202 Accepted)."),
        (
            REDIRECT,
            "refused",
            "The runtime answered with a redirect (307 Temporary Redirect), which is not followed.",
        ),
        (
            PROBLEM,
            "refused",
            "The runtime refused the replay (404 Not Found): “There is no agent named a”.",
        ),
        (Answer(409, b"nonsense"), "refused", "The runtime refused the replay (409 Conflict)."),
        (Answer(499), "refused", "The runtime refused the replay (499)."),
        (
            LATE_500,
            "in_doubt",
            f"The runtime answered with an error (503 Service Unavailable): “Try later”, {NOT_KNOWN}",
        ),
        (ResetAfterRequest(), "in_doubt", f"The connection broke after the request was sent, {NOT_KNOWN}"),
        (Half(b""), "in_doubt", f"The runtime gave no answer that can be read, {NOT_KNOWN}"),
        (Half(b"HTTP/1.1 202 Acc"), "in_doubt", f"The runtime gave no answer that can be read, {NOT_KNOWN}"),
        (
            Half(b"220 mail.example.test ESMTP\r\n"),
            "in_doubt",
            f"The runtime gave no answer that can be read, {NOT_KNOWN}",
        ),
        (
            Half(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
            "in_doubt",
            f"The runtime gave no answer that can be read, {NOT_KNOWN}",
        ),
    ],
)
def test_each_answer_of_a_runtime_has_one_meaning(what_the_runtime_does: Act, kind: str, detail: str) -> None:
    assert outcome_of(what_the_runtime_does) == Outcome(kind, detail)  # type: ignore[arg-type]


def test_a_redirect_is_not_followed() -> None:
    with HttpServer() as elsewhere:
        redirect = Answer(307, headers=(("location", elsewhere.url + "/replays"),))
        assert outcome_of(redirect).kind == "refused"
        assert elsewhere.connections == 0


@pytest.mark.parametrize(
    "stall",
    [
        Hang(),
        Drip(b"HTTP/1.1 202 Accepted\r\nx-slow: "),
        Drip(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 2"),
    ],
)
def test_a_runtime_that_stalls_is_left_in_doubt_when_the_whole_time_is_over(stall: Act) -> None:
    began = time.monotonic()
    outcome = outcome_of(stall, timeout_s=0.5)
    assert time.monotonic() - began < 1.5
    assert outcome == Outcome("in_doubt", f"The runtime did not answer within 0.5 seconds, {NOT_KNOWN}")


def test_a_body_that_never_ends_changes_nothing_about_its_status() -> None:
    began = time.monotonic()
    assert outcome_of(Drip(b"HTTP/1.1 404 No\r\n\r\n"), timeout_s=0.5).kind == "refused"
    assert time.monotonic() - began < 1.5
