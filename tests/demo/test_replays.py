"""Replays: the door opens to signed orders only, and each order is taken once and really run."""

import json
import socket
import time
from typing import Any

import httpx
import pytest

from approvals.connectors.http import Outcome, ReplayOrder, start_replay
from approvals.rules import webhooks
from dashboard.demo.runtime import Config, Runtime
from tests.demo.conftest import SECRET, Start
from tests.demo.recorder import RecordedApi, run_id_of, until
from tests.servers.smtp import Fault, Say, SmtpSink

INPUT = {"first_name": "Mara", "email": "mara@mail.example", "order": "4711", "amount": "49.90 EUR"}
ORDER: dict[str, Any] = {
    "job_id": "job-7",
    "run_id": run_id_of("replay"),
    "replay_of": run_id_of("refund-4711"),
    "agent": "refund-assistant",
    "session_id": None,
    "subject": "mara@mail.example",
    "input": INPUT,
}


@pytest.fixture
def runtime(api: RecordedApi, start: Start) -> Runtime:
    """A runtime that has no scenes left to play, and whose API knows a run to replay into."""
    for name in ("replay", "second"):
        api.events[run_id_of(name)] = []
        api.statuses[run_id_of(name)] = "running"
    running = start()
    until(lambda: len(api.told("refund-4711")) == 6 and len(api.told("newsletter-autumn")) == 4)
    return running


def post(
    runtime: Runtime,
    order: Any = ORDER,
    *,
    message_id: str | None = None,
    at: float | None = None,
    **changes: str,
) -> httpx.Response:
    body = order if isinstance(order, bytes) else json.dumps(order).encode()
    name = message_id or (order.get("job_id") if isinstance(order, dict) else "") or "job-7"
    headers = webhooks.signed_headers(SECRET, name, int(time.time() if at is None else at), body)
    url = f"http://127.0.0.1:{runtime.port}/replays"
    return httpx.post(url, content=body, headers={**headers, **changes}, trust_env=False)


def mails_to_mara(mail: SmtpSink) -> int:
    return mail.recipients.count("mara@mail.example")


def test_a_replay_runs_the_agent_to_its_end_and_really_sends(
    api: RecordedApi, mail: SmtpSink, runtime: Runtime
) -> None:
    assert post(runtime).status_code == 202
    until(lambda: len(api.told("replay")) == 10)
    assert [event["seq"] for event in api.told("replay")] == list(range(1, 11))
    assert [event.get("name") or event.get("outcome") or event["type"] for event in api.told("replay")] == [
        "message",
        "lookup_customer",
        "tool_result",
        "message",
        "send_email",
        "tool_result",
        "create_ticket",
        "tool_result",
        "message",
        "completed",
    ]
    ticket = api.told("replay")[7]["receipt"]
    assert api.told("replay")[8]["text"] == f"The refund is confirmed and filed under {ticket}."
    assert mails_to_mara(mail) == 1


def test_the_products_own_connector_is_understood(api: RecordedApi, runtime: Runtime) -> None:
    order = ReplayOrder(f"http://127.0.0.1:{runtime.port}", SECRET, {"127.0.0.1"}, "job-7", ORDER, 5)
    assert start_replay(order) == Outcome("accepted", "The runtime accepted the replay (202 Accepted).")
    until(lambda: api.told("replay")[-1:] and api.told("replay")[-1].get("outcome") == "completed")
    unknown = ReplayOrder(order.base_url, SECRET, {"127.0.0.1"}, "job-8", {**ORDER, "agent": "poet"}, 5)
    assert start_replay(unknown) == Outcome(
        "refused", "The runtime refused the replay (404 Not Found): “There is no agent named poet here”."
    )


def test_an_order_that_comes_again_starts_nothing_again(
    api: RecordedApi, mail: SmtpSink, runtime: Runtime, start: Start, said: list[str]
) -> None:
    for message_id in ("job-7", "job-7", "another-id"):
        assert post(runtime, message_id=message_id).status_code == 202
    assert post(runtime, {**ORDER, "job_id": "job-9"}, message_id="job-7").status_code == 202
    until(lambda: api.told("replay")[-1:] and api.told("replay")[-1]["type"] == "ended")
    runtime.stop()
    assert post(start()).status_code == 202
    time.sleep(0.2)
    assert mails_to_mara(mail) == 1
    assert len(api.told("replay")) == 10
    assert said == [f"Replaying refund-assistant as run {run_id_of('replay')}."]


def test_two_orders_are_two_replays(api: RecordedApi, mail: SmtpSink, runtime: Runtime) -> None:
    assert post(runtime).status_code == 202
    assert post(runtime, {**ORDER, "job_id": "job-8", "run_id": run_id_of("second")}).status_code == 202
    until(lambda: mails_to_mara(mail) == 2)


def test_a_tool_that_fails_ends_the_run_as_failed(api: RecordedApi, mail: SmtpSink, runtime: Runtime) -> None:
    mail.faults.append(Fault("rcpt", 1, Say(b"550 unknown here\r\n"), on=True))
    post(runtime)
    until(lambda: api.told("replay")[-1:] and api.told("replay")[-1]["type"] == "ended")
    result, ended = api.told("replay")[-2:]
    assert result["error"] == ended["error"]
    assert ended["outcome"] == "failed"
    assert ended["error"].startswith("The mail server did not take the message: ")


def test_the_newsletter_run_again_does_not_propose_its_campaign_twice(
    api: RecordedApi, runtime: Runtime
) -> None:
    given = api.runs["newsletter-autumn"]["input"]
    post(runtime, {**ORDER, "agent": "newsletter-writer", "input": given})
    until(lambda: api.told("replay")[-1:] and api.told("replay")[-1].get("outcome") == "completed")
    assert api.told("replay")[2]["result"] == {"status": "already proposed"}
    assert len(api.campaigns) == 1


def test_a_run_that_was_fenced_off_stops_before_its_next_call(
    api: RecordedApi, mail: SmtpSink, runtime: Runtime, said: list[str]
) -> None:
    api.refuse = lambda event: event.get("name") == "send_email"
    post(runtime)
    until(lambda: len(said) == 2)
    assert said[1].startswith(f"{run_id_of('replay')} stopped, because the API said no (409")
    assert mails_to_mara(mail) == 0


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"webhook-signature": "v1,AAAA"}, "The signature is wrong."),
        ({"webhook-signature": ""}, "The signature is wrong."),
        ({"webhook-id": "another"}, "The signature is wrong."),
        ({"webhook-timestamp": "soon"}, "The request is not signed."),
        ({"webhook-timestamp": "-5"}, "The request is not signed."),
        ({"webhook-timestamp": "9" * 5000}, "The request is not signed."),
        ({"webhook-id": ""}, "The request is not signed."),
    ],
)
def test_an_order_that_is_not_signed_with_the_secret_is_refused(
    api: RecordedApi, runtime: Runtime, changes: dict[str, str], detail: str
) -> None:
    answer = post(runtime, **changes)
    assert (answer.status_code, answer.json()) == (401, {"detail": detail})
    assert api.told("replay") == []


def test_an_order_whose_time_was_changed_is_refused(api: RecordedApi, runtime: Runtime) -> None:
    answer = post(runtime, **{"webhook-timestamp": str(int(time.time()) + 60)})
    assert (answer.status_code, answer.json()) == (401, {"detail": "The signature is wrong."})
    assert api.told("replay") == []


@pytest.mark.parametrize("seconds", [-400, 400])
def test_an_order_from_another_time_is_refused(runtime: Runtime, seconds: int) -> None:
    answer = post(runtime, at=time.time() + seconds)
    assert (answer.status_code, answer.json()["detail"]) == (
        401,
        "The request is too old, or a clock is wrong.",
    )


def test_one_right_signature_among_several_is_enough(runtime: Runtime) -> None:
    body = json.dumps(ORDER).encode()
    right = webhooks.sign(SECRET, "job-7", int(time.time()), body)
    assert post(runtime, **{"webhook-signature": f"v1a,xyz v1,AAAA {right}"}).status_code == 202


@pytest.mark.parametrize(
    ("order", "status", "detail"),
    [
        (b"{", 400, "The body is not JSON."),
        (b"[" * 200_000, 400, "The body is not JSON."),
        (b"\xff", 400, "The body is not JSON."),
        (b"[]", 400, "The body must be an object."),
        ({**ORDER, "job_id": ""}, 422, "The field job_id is missing."),
        ({**ORDER, "run_id": 5}, 422, "The field run_id is missing."),
        ({**ORDER, "agent": "poet"}, 404, "There is no agent named poet here."),
        ({**ORDER, "input": "Hello"}, 422, "The agents here take an object as input."),
    ],
)
def test_an_order_that_makes_no_sense_is_refused(
    runtime: Runtime, order: Any, status: int, detail: str
) -> None:
    answer = post(runtime, order)
    assert (answer.status_code, answer.json()) == (status, {"detail": detail})


def test_the_door_says_no_to_everything_else(runtime: Runtime, config: Config) -> None:
    with httpx.Client(base_url=f"http://127.0.0.1:{runtime.port}", trust_env=False) as client:
        assert client.get("/healthz").json() == {"status": "ok"}
        assert client.get("/replays").status_code == 404
        assert client.post("/", content=b"{}").status_code == 404
        assert client.post("/replays", content=iter([b"{}"])).status_code == 411
        assert client.put("/replays").status_code == 501
    with socket.create_connection(("127.0.0.1", runtime.port), timeout=5) as sock:
        sock.sendall(b"POST /replays HTTP/1.1\r\nhost: here\r\ncontent-length: 1000000000\r\n\r\n")
        assert sock.recv(100).startswith(b"HTTP/1.1 413 ")
    assert SECRET not in repr(config)
    assert config.token not in repr(config)
