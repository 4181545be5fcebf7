"""A turn as it is told: in order, promptly, with a sentence for whatever went wrong, and never with an exception."""

import json
import resource
import socket
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from approvals.connectors import net
from approvals.connectors.adk import Closed, ErrorFrame, Opened, StreamItem, Tick, Told, stream
from tests.connectors.adk.given import HEAD, MESSAGE, Writer, chunk, items_of, order, sample, streamed
from tests.servers.http import (
    Act,
    Answer,
    Drip,
    Half,
    Hang,
    HttpServer,
    ResetAfterRequest,
    StopReading,
)
from tests.servers.listener import unused_port
from tests.servers.tls import server_context

NOT_KNOWN = "so whether the run was started is not known."
OPEN_END = "so how the run ended is not known from it."
ENDED = Closed("ended", "The stream came to its end.")
FIRST = b'data: {"id": "1"}\n\n'
TOLD = Told({"id": "1"})


def test_a_turn_is_asked_for_in_the_words_of_adk() -> None:
    with HttpServer([Half(streamed())] * 2) as server:
        assert list(stream(order(server.url, streaming=True))) == [Opened(), ENDED]
        assert list(stream(order(server.url + "/agents/"))) == [Opened(), ENDED]
        first, second = server.requests
    assert (first.method, first.target, second.target) == ("POST", "/run_sse", "/agents/run_sse")
    assert first.headers["host"] == f"127.0.0.1:{server.port}"
    assert first.headers["content-type"] == "application/json"
    assert json.loads(first.body) == {
        "appName": "support",
        "userId": "u1",
        "sessionId": "secondlook-1",
        "streaming": True,
        "newMessage": MESSAGE,
    }


@pytest.mark.parametrize("name", ["normal", "rate_after", "stream_call", "empty"])
@pytest.mark.parametrize("size", [1, 100, 100_000])
def test_a_recorded_run_is_told_event_by_event(name: str, size: int) -> None:
    body = sample(name)
    lines = [json.loads(line[6:]) for line in body.decode().split("\n") if line]
    told = [
        ErrorFrame(line["error"], line["error_details"]) if "error" in line else Told(line) for line in lines
    ]
    sent = streamed(*(body[at : at + size] for at in range(0, len(body), size)))
    assert items_of(Half(sent)) == [Opened(), *told, ENDED]


def test_an_error_frame_of_an_older_version_has_no_details() -> None:
    frame = b'data: {"error": "429 RESOURCE_EXHAUSTED. {}"}\n\n'
    assert items_of(Half(streamed(frame)))[1] == ErrorFrame("429 RESOURCE_EXHAUSTED. {}", {})


def test_a_stream_without_chunks_ends_with_its_connection() -> None:
    head = b"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    assert items_of(Half(head + FIRST)) == [Opened(), TOLD, ENDED]


def test_what_no_store_takes_is_told_in_a_form_that_it_does_take() -> None:
    event = rb'data: {"a\u0000": ["\ud800x", "\\u0000", "\ud83d\ude00"], "b": [NaN, -Infinity, 1e999, 1.5]}'
    told = Told({"a\ufffd": ["\ufffdx", "\\u0000", "\U0001f600"], "b": [None, None, None, 1.5]})
    assert items_of(Half(streamed(event + b"\n\n"))) == [Opened(), told, ENDED]


PAGE = Answer(200, b"<html>Welcome</html>", (("content-type", "text/html; charset=utf-8"),))
NOT_FOUND = Answer(404, b'{"detail": "Session not found: secondlook-1"}')
BAD_BODY = Answer(422, b'{"detail": [{"type": "missing", "msg": "Field required"}]}')


@pytest.mark.parametrize(
    ("what_the_service_does", "kind", "detail"),
    [
        (NOT_FOUND, "refused", "ADK refused the run (404 Not Found): “Session not found: secondlook-1”."),
        (BAD_BODY, "refused", "ADK refused the run (422 Unprocessable Entity): “Field required”."),
        (Answer(403, b"x" * 100_000), "refused", "ADK refused the run (403 Forbidden)."),
        (
            Half(b"HTTP/1.1 404 No\r\ncontent-length: 9\r\n\r\n{"),
            "refused",
            "ADK refused the run (404 Not Found).",
        ),
        (
            Answer(307, headers=(("location", "http://127.0.0.1:1/"),)),
            "refused",
            "ADK answered with a redirect (307 Temporary Redirect), which is not followed.",
        ),
        (
            Answer(500, b"Internal Server Error"),
            "in_doubt",
            f"ADK answered with an error (500 Internal Server Error), {NOT_KNOWN}",
        ),
        (PAGE, "in_doubt", f"The address answered with a page instead of ADK's stream, {NOT_KNOWN}"),
        (
            Answer(200, b"[]", (("content-type", "application/json"),)),
            "in_doubt",
            f"The address answered with something else instead of ADK's stream, {NOT_KNOWN}",
        ),
        (
            Answer(202, b"", (("content-type", "text/event-stream"),)),
            "in_doubt",
            f"The address answered with something else instead of ADK's stream, {NOT_KNOWN}",
        ),
        (ResetAfterRequest(), "in_doubt", f"The connection broke, {NOT_KNOWN}"),
        (Half(b""), "in_doubt", f"ADK closed the connection without an answer, {NOT_KNOWN}"),
        (Half(b"220 mail ESMTP\r\n"), "in_doubt", f"ADK gave no answer that can be read, {NOT_KNOWN}"),
        (
            Half(HEAD.replace(b"chunked", b"gzip, chunked")),
            "in_doubt",
            f"ADK gave an answer in a coding that was not asked for, {NOT_KNOWN}",
        ),
    ],
)
def test_each_answer_that_is_no_stream_has_one_meaning(
    what_the_service_does: Act, kind: Any, detail: str
) -> None:
    assert items_of(what_the_service_does) == [Closed(kind, detail)]


@pytest.mark.parametrize(
    ("sent", "what"),
    [
        (HEAD, "ADK broke the stream off"),
        (HEAD + chunk(FIRST), "ADK broke the stream off"),
        (HEAD + chunk(FIRST + b"data: {"), "ADK broke the stream off"),
        (HEAD + chunk(FIRST)[:-1], "ADK broke the stream off"),
        (streamed(FIRST, b'data: {"half": '), "ADK ended the stream in the middle of an event"),
        (streamed(FIRST, b"data: nonsense\n\n", FIRST), "ADK sent an event that is not JSON"),
        (streamed(FIRST, b"data: " + b"[" * 100_000 + b"\n\n"), "ADK sent an event that is not JSON"),
        (streamed(FIRST, b'data: {"a": "\xff"}\n\n'), "ADK sent an event that is not JSON"),
        (streamed(FIRST, b"data: []\n\n"), "ADK sent an event that is no JSON object"),
        (HEAD + chunk(FIRST) + b"zz\r\n", "ADK sent something that is no proper chunk"),
    ],
)
def test_a_stream_that_breaks_tells_what_came_before(sent: bytes, what: str) -> None:
    told = [TOLD] if FIRST in sent else []
    assert items_of(Half(sent)) == [Opened(), *told, Closed("broken", f"{what}, {OPEN_END}")]


def test_a_service_that_is_down_was_sent_nothing() -> None:
    assert list(stream(order(f"http://127.0.0.1:{unused_port()}"))) == [
        Closed("refused", "The runtime could not be reached: the connection was refused; nothing was sent.")
    ]


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"message": {"parts": [{1, 2}]}}, "The message cannot be written as JSON; nothing was sent."),
        ({"message": {"n": float("nan")}}, "The message cannot be written as JSON; nothing was sent."),
        ({"timeout_s": 0.0}, "The runtime could not be reached: it took too long; nothing was sent."),
        ({"limit_s": 0.0}, "The runtime could not be reached: it took too long; nothing was sent."),
    ],
)
def test_an_order_that_cannot_be_sent_is_refused(changes: dict[str, Any], detail: str) -> None:
    with HttpServer() as server:
        assert list(stream(order(server.url, **changes))) == [Closed("refused", detail)]
        assert server.requests == []


def test_an_address_that_no_admin_added_is_not_called() -> None:
    [closed] = stream(order("http://192.0.2.1"))
    assert closed == Closed(
        "refused", "The host 192.0.2.1 is not one of the runtimes that an admin has added; nothing was sent."
    )


def test_a_redirect_is_not_followed_and_no_proxy_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with HttpServer() as elsewhere:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, elsewhere.url)
        items_of(Answer(307, headers=(("location", elsewhere.url + "/run_sse"),)))
        assert elsewhere.connections == 0


def test_a_name_is_looked_up_once_and_that_address_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = socket.getaddrinfo

    def only_once(host: str, *args: Any, **options: Any) -> Any:
        asked.append(host)
        return real("127.0.0.1" if len(asked) == 1 else "192.0.2.1", *args, **options)

    with HttpServer([Half(streamed())]) as server:
        monkeypatch.setattr(socket, "getaddrinfo", only_once)
        changed = order(f"http://adk.example.test:{server.port}")
        object.__setattr__(changed.place, "allowed_hosts", ["adk.example.test"])
        assert list(stream(changed)) == [Opened(), ENDED]
        assert server.requests[0].headers["host"] == f"adk.example.test:{server.port}"
    assert asked == ["adk.example.test"]


def test_a_service_behind_tls_is_called_when_its_certificate_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HttpServer([Half(streamed(FIRST))] * 2, tls=server_context(tmp_path)) as server:
        [closed] = stream(order(server.url))
        assert isinstance(closed, Closed)
        assert closed.kind == "refused"
        assert "certificate verify failed" in closed.detail
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        assert list(stream(order(server.url))) == [Opened(), TOLD, ENDED]


@pytest.mark.parametrize(
    "stall",
    [
        Hang(),
        Drip(b"HTTP/1.1 200 OK\r\nx-slow: "),
        Drip(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 2"),
        StopReading(),
    ],
)
def test_a_service_that_does_not_answer_in_time_is_in_doubt_and_ticks_meanwhile(stall: Act) -> None:
    message = {"parts": [{"text": "x" * 20_000_000}]} if isinstance(stall, StopReading) else MESSAGE
    with HttpServer([stall]) as server:
        began = time.monotonic()
        *ticks, closed = stream(order(server.url, timeout_s=0.7, tick_s=0.2, message=message))
        assert 0.6 < time.monotonic() - began < 2
    assert 2 <= len(ticks) <= 3
    assert set(ticks) == {Tick()}
    assert closed == Closed("in_doubt", f"ADK did not answer within 0.7 seconds, {NOT_KNOWN}")


def test_a_body_that_drips_after_a_refusal_changes_nothing() -> None:
    assert items_of(Drip(b"HTTP/1.1 404 No\r\n\r\n"), timeout_s=0.5) == [
        Closed("refused", "ADK refused the run (404 Not Found).")
    ]


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> list[socket.socket]:
    """Every connection that is made; held, so that nothing closes one by forgetting it."""
    made: list[socket.socket] = []
    real = net.connect

    def connect(*args: Any) -> socket.socket:
        made.append(real(*args))
        return made[-1]

    monkeypatch.setattr(net, "connect", connect)
    return made


def test_ticks_come_while_a_name_is_looked_up_and_the_late_connection_is_not_used(
    monkeypatch: pytest.MonkeyPatch, dialled: list[socket.socket]
) -> None:
    over, real = threading.Event(), socket.getaddrinfo

    def slow(*args: Any, **options: Any) -> Any:
        over.wait(20)
        return real(*args, **options)

    with HttpServer() as server:
        monkeypatch.setattr(socket, "getaddrinfo", slow)
        telling = stream(order(server.url, tick_s=0.1))
        assert [next(telling), next(telling)] == [Tick(), Tick()]
        telling.close()
        over.set()
        until = time.monotonic() + 5
        while not dialled or dialled[0].fileno() != -1:
            assert time.monotonic() < until, "the late connection stays open"
            time.sleep(0.01)
        assert server.requests == []


def test_leaving_before_a_refused_connection_is_known_raises_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_options: [over.wait(20)][:0])
    telling = stream(order("http://127.0.0.1", tick_s=0.1))
    assert next(telling) == Tick()
    over.set()
    time.sleep(0.1)
    telling.close()


def test_ticks_go_on_while_bytes_drip_and_complete_nothing() -> None:
    with HttpServer([Drip(HEAD + b"fffff\r\ndata: ", every_s=0.02)]) as server:
        began = time.monotonic()
        items = list(stream(order(server.url, timeout_s=0.5, tick_s=0.2, limit_s=1.1)))
        assert 1 < time.monotonic() - began < 2
    assert items == [
        Opened(),
        *[Tick()] * (len(items) - 2),
        Closed("broken", "The run took longer than 1.1 seconds, so it was left."),
    ]
    assert 3 <= items.count(Tick()) <= 6


def test_a_stream_may_be_silent_for_longer_than_its_first_answer_may_take() -> None:
    def play(server: Writer) -> Iterable[bytes]:
        yield HEAD
        time.sleep(0.8)
        yield chunk(FIRST) + b"0\r\n\r\n"

    with Writer(play) as server:
        items = list(stream(order(server.url, timeout_s=0.4, tick_s=0.3)))
    assert items == [Opened(), *[Tick()] * items.count(Tick()), TOLD, ENDED]
    assert Tick() in items


def test_an_event_is_told_before_the_next_one_is_there() -> None:
    gone_on = threading.Event()

    def play(server: Writer) -> Iterable[bytes]:
        yield HEAD + chunk(FIRST)
        gone_on.wait(10)
        yield b"0\r\n\r\n"

    with Writer(play) as server:
        telling = stream(order(server.url))
        assert [next(telling), next(telling)] == [Opened(), TOLD]
        gone_on.set()
        assert list(telling) == [ENDED]


@pytest.mark.parametrize("after", [[Opened()], [Opened(), TOLD], [Opened(), TOLD, Tick()]])
def test_leaving_closes_the_connection_at_once(after: list[StreamItem], dialled: list[socket.socket]) -> None:
    with Writer(lambda server: [HEAD + chunk(FIRST)]) as server:
        telling = stream(order(server.url, tick_s=0.1))
        assert [next(telling) for _ in after] == after
        telling.close()
        assert [sock.fileno() for sock in dialled] == [-1]
        assert server.left.wait(2)


def test_an_event_of_200_mb_is_left_soon_and_never_held() -> None:
    def play(server: Writer) -> Iterable[bytes]:
        yield HEAD + chunk(FIRST)
        yield chunk(b"data: {")
        for _ in range(200):
            yield chunk(b"x" * 1_000_000)

    with Writer(play) as server:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        items = list(stream(order(server.url)))
        grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        assert server.left.wait(5)
    assert items == [Opened(), TOLD, Closed("broken", f"ADK sent an event of more than 8 MiB, {OPEN_END}")]
    assert server.written < 40_000_000
    assert grown_mb < 60


def test_a_large_event_within_the_limit_is_told() -> None:
    event = {"text": "x" * 7_000_000}
    sent = streamed(b"data: " + json.dumps(event).encode() + b"\n\n")
    assert items_of(Half(sent)) == [Opened(), Told(event), ENDED]
