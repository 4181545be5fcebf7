"""What the demo opens with, as the machine API is told it."""

import json
import time
from pathlib import Path
from typing import Any

from approvals.rules.addresses import Refused, check_address
from dashboard.demo.runtime import Config
from tests.demo.conftest import Start
from tests.demo.recorder import RecordedApi, run_id_of, until
from tests.servers.http import Answer
from tests.servers.smtp import SmtpSink

RUNS = ["refund-4711", "refund-4718", "ticket-5127", "ticket-5130", "newsletter-autumn"]
LENGTHS = [6, 1, 2, 2, 4]  # of their journals


def everything_is_told(api: RecordedApi) -> bool:
    return [len(api.told(run)) for run in RUNS] == LENGTHS and bool(api.heartbeats("newsletter-autumn"))


def shape(api: RecordedApi, external_id: str) -> list[tuple[int, str]]:
    return [
        (event["seq"], event.get("name") or event.get("outcome") or event["type"])
        for event in api.told(external_id)
    ]


def test_each_opening_run_gets_as_far_as_its_scene_says(api: RecordedApi, start: Start) -> None:
    start()
    until(lambda: everything_is_told(api))
    time.sleep(0.1)
    assert list(api.runs) == RUNS
    assert shape(api, "refund-4711") == [
        (1, "message"),
        (2, "lookup_customer"),
        (3, "tool_result"),
        (4, "message"),
        (5, "send_email"),
        (6, "tool_result"),
    ]
    assert shape(api, "refund-4718") == [(1, "message")]
    assert shape(api, "ticket-5127") == [(1, "message"), (3, "message")]
    assert shape(api, "ticket-5130") == [(1, "message"), (2, "failed")]
    assert shape(api, "newsletter-autumn") == [
        (1, "message"),
        (2, "propose_campaign"),
        (3, "tool_result"),
        (4, "message"),
    ]


def test_the_run_that_died_after_its_mail_really_sent_it(
    api: RecordedApi, mail: SmtpSink, start: Start
) -> None:
    start()
    until(lambda: everything_is_told(api))
    [taken] = mail.accepted
    assert taken.recipient == "mara.lindqvist@mail.example"
    call, result = api.told("refund-4711")[-2:]
    assert call["args"] == {
        "to": "mara.lindqvist@mail.example",
        "subject": "Your refund for order 4711",
        "text": "Hello Mara,\n\nwe have refunded 49.90 EUR for order 4711.\n\nYour shop\n",
    }
    assert result["call_id"] == call["call_id"]
    assert result["receipt"] == taken.message_id == f"<{run_id_of('refund-4711')}.call-5@shop.example>"


def test_every_subject_is_somebody_else_and_every_input_an_object(api: RecordedApi, start: Start) -> None:
    start()
    until(lambda: everything_is_told(api))
    assert len({run["subject"] for run in api.runs.values()}) == len(RUNS)
    assert all(isinstance(run["input"], dict) and run["input"] for run in api.runs.values())
    assert {run["agent"] for run in api.runs.values()} == {
        "refund-assistant",
        "ticket-triage",
        "newsletter-writer",
    }


def test_the_campaign_has_forty_recipients_of_whom_three_cannot_be_addressed(
    api: RecordedApi, start: Start
) -> None:
    start()
    until(lambda: api.campaigns)
    [campaign] = api.campaigns.values()
    checked = [check_address(recipient["email"]) for recipient in campaign["recipients"]]
    reachable = {address.dedupe_key for address in checked if not isinstance(address, Refused)}
    assert (len(checked), len(reachable)) == (40, 37)
    assert all(set(recipient["vars"]) == {"first_name", "favourite"} for recipient in campaign["recipients"])
    assert "{{ first_name }}" in campaign["subject"]
    assert "{{ first_name }}" in campaign["text"]
    assert "{{ first_name }}" in campaign["html"]
    assert campaign["run_id"] == run_id_of("newsletter-autumn")


def test_a_run_that_goes_on_sends_heartbeats_until_the_product_counts_it_as_ended(
    api: RecordedApi, start: Start
) -> None:
    start()
    until(lambda: len(api.heartbeats("newsletter-autumn")) >= 3)
    api.statuses[run_id_of("newsletter-autumn")] = "interrupted"
    time.sleep(0.2)
    counted = api.heartbeats("newsletter-autumn")
    time.sleep(0.2)
    assert api.heartbeats("newsletter-autumn") == counted == list(range(5, 5 + len(counted)))


def test_a_second_start_plays_nothing_again_and_goes_on_with_the_run_that_goes_on(
    api: RecordedApi, mail: SmtpSink, start: Start, config: Config
) -> None:
    first = start()
    until(lambda: everything_is_told(api))
    first.stop()
    time.sleep(0.2)
    before = len(api.heartbeats("newsletter-autumn"))
    _forget_the_last_heartbeat(Path(config.state_file))
    start()
    until(lambda: len(api.heartbeats("newsletter-autumn")) >= before + 2)
    beats = api.heartbeats("newsletter-autumn")
    assert len(set(beats)) == len(beats)
    assert everything_is_told(api)
    assert len(mail.accepted) == 1


def _forget_the_last_heartbeat(state_file: Path) -> None:
    """As after a kill between the API's answer and the note of it."""
    kept: dict[str, Any] = json.loads(state_file.read_text())
    kept["going_on"][1] -= 1
    state_file.write_text(json.dumps(kept))


def test_a_start_that_has_lost_its_memory_sends_no_second_mail(
    api: RecordedApi, mail: SmtpSink, start: Start, config: Config, said: list[str]
) -> None:
    first = start()
    until(lambda: everything_is_told(api))
    first.stop()
    Path(config.state_file).write_text("{")
    start()
    until(lambda: sum(request.target == "/api/v1/runs" for request in api.requests) >= 2 * len(RUNS))
    until(lambda: everything_is_told(api))
    time.sleep(0.1)
    assert len(mail.accepted) == 1
    assert said == []


def test_an_api_that_is_not_up_yet_is_waited_for_and_said_once(
    api: RecordedApi, start: Start, said: list[str]
) -> None:
    api.answers = [Answer(503)] * 3
    start()
    until(lambda: everything_is_told(api))
    assert said == [f"The API at {api.url} is not ready (503); trying again until it does."]


def test_a_scene_that_the_api_refuses_keeps_no_other_from_being_played(
    api: RecordedApi, start: Start, said: list[str]
) -> None:
    api.runs["refund-4711"] = {"external_id": "refund-4711", "of": "another body"}
    start()
    until(lambda: len(api.told("newsletter-autumn")) == 4)
    assert said == [
        "refund-4711 stopped, because the API said no (409: This external id stands for another body.)."
    ]


def test_a_call_that_cannot_be_reported_is_not_made(api: RecordedApi, mail: SmtpSink, start: Start) -> None:
    api.refuse = lambda event: event.get("name") == "send_email"
    start()
    until(lambda: len(api.told("refund-4711")) == 4)
    time.sleep(0.2)
    assert mail.connections == 0
    assert len(api.told("refund-4711")) == 4
