"""What telling a runtime some news can come to. Only a 2xx is an answer that says so."""

import time
from typing import Any

import pytest

from approvals.connectors.http import News, Told, tell
from approvals.rules import webhooks
from tests.connectors.http.given import SECRET
from tests.servers.http import (
    Act,
    Answer,
    Drip,
    Half,
    Hang,
    HttpServer,
    ResetAfterRequest,
    ResetAtOnce,
    StopReading,
)

BODY = '{"type":"campaign.returned","data":{"comment":"Das Datum für März fehlt."}}'
UNREADABLE = "It gave no answer that can be read."


def news(url: str, **changes: Any) -> News:
    given: dict[str, Any] = {
        "url": url,
        "secret": SECRET,
        "message_id": "0190-c1",
        "body": BODY,
        "timeout_s": 5,
    }
    return News(**{**given, **changes})


def told(act: Act, **changes: Any) -> Told:
    with HttpServer([act]) as server:
        return tell(news(server.url + "/told", **changes))


def test_the_receiver_can_verify_it_and_gets_the_body_to_the_byte() -> None:
    with HttpServer([Answer(204, b"")]) as server:
        assert tell(news(f"{server.url}/hooks/told/")) == Told(
            "told", "It took the callback (204 No Content)."
        )
        [request] = server.requests
    assert (request.method, request.target) == ("POST", "/hooks/told/")
    assert request.body == BODY.encode()
    assert request.headers["content-type"] == "application/json"
    assert webhooks.verify(SECRET, request.headers, request.body, now=time.time()) == "0190-c1"
    with pytest.raises(webhooks.BadSignature):
        webhooks.verify(SECRET, request.headers, request.body + b" ", now=time.time())


@pytest.mark.parametrize(
    ("what_it_does", "kind", "detail"),
    [
        (Answer(200), "told", "It took the callback (200 OK)."),
        (
            Half(b"HTTP/1.1 202 Accepted\r\ncontent-length: 90\r\n\r\n{"),
            "told",
            "It took the callback (202 Accepted).",
        ),
        (Answer(410), "gone", "It answered that it wants no more callbacks (410 Gone)."),
        (
            Answer(307, headers=(("location", "http://127.0.0.1:9/"),)),
            "not_told",
            "It answered with a redirect (307 Temporary Redirect), which is not followed.",
        ),
        (
            Answer(401, b'{"detail": "The signature is wrong."}'),
            "not_told",
            "It answered with an error (401 Unauthorized): “The signature is wrong”.",
        ),
        (Answer(503, b"x" * 100_000), "not_told", "It answered with an error (503 Service Unavailable)."),
        (ResetAtOnce(), "not_told", "It could not be reached: the connection was broken off."),
        (ResetAfterRequest(), "not_told", "It could not be reached: the connection was broken off."),
        (Half(b""), "not_told", UNREADABLE),
        (Half(b"220 mail.example.test ESMTP\r\n"), "not_told", UNREADABLE),
    ],
)
def test_each_answer_has_one_meaning(what_it_does: Act, kind: str, detail: str) -> None:
    assert told(what_it_does) == Told(kind, detail)  # type: ignore[arg-type]


@pytest.mark.parametrize("stall", [Hang(), StopReading(), Drip(b"HTTP/1.1 200 OK\r\nx-slow: ")])
def test_one_that_stalls_is_waited_for_no_longer_than_it_may_take(stall: Act) -> None:
    began = time.monotonic()
    assert told(stall, timeout_s=0.5) == Told("not_told", "It did not answer within 0.5 seconds.")
    assert time.monotonic() - began < 1.5


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://127.0.0.1:1/told", "It could not be reached: the connection was refused."),
        ("http://nobody.invalid/told", "The host nobody.invalid was not found: its name is not known."),
        ("ftp://127.0.0.1/told", "must begin with http:// or https://"),
        ("http://127.0.0.1:9/?a=b", "must not hold a query"),
        ("http://user@127.0.0.1:9/", "must not hold a user name"),
    ],
)
def test_an_address_that_cannot_be_called_is_said_to_be_one(url: str, why: str) -> None:
    answer = tell(news(url))
    assert answer.kind == "not_told"
    assert why in answer.detail


def test_nothing_is_sent_that_cannot_be_signed() -> None:
    with HttpServer() as server:
        answer = tell(news(server.url, secret="whsec_short"))
        assert answer.kind == "not_told" and "could not be signed" in answer.detail
        assert server.connections == 0


def test_no_secret_and_nobodys_comment_is_in_what_is_printed_of_it() -> None:
    assert "whsec_" not in repr(news("http://x.example")) and "Datum" not in repr(news("http://x.example"))
