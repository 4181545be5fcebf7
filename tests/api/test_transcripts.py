"""Runs of real agents, reported through the API by a runtime that writes ahead, end in the right record."""

from typing import Any

import pytest

from tests.api.world import Caller
from tests.samples.transcripts import events_of, outcome_of_stream

pytestmark = pytest.mark.usefixtures("database")

LOOKUP, MAIL, CHARGE = "lookup_customer", "send_email", "charge_card"


@pytest.mark.parametrize(
    ("name", "ended", "kind", "complete", "calls"),
    [
        ("normal", "completed", "called", True, [(LOOKUP, "answered"), (MAIL, "answered")]),
        ("rate_before", "failed", "none", True, []),
        ("crash_plain", None, "called", False, [(LOOKUP, "answered"), (MAIL, "open")]),
        ("crash_parallel", None, "called", False, [(LOOKUP, "open"), (MAIL, "open")]),
        ("injected", None, "unknown", False, [(MAIL, "answered")]),
        ("empty", outcome_of_stream("empty"), "none", True, []),
        ("empty", None, "unknown", False, []),
        ("tool_error", "failed", "called", True, [(CHARGE, "failed")]),
    ],
    ids=[
        "normal",
        "rate limit before any call",
        "killed inside a call",
        "killed inside two calls at once",
        "rows put there by somebody else",
        "nothing said, end of the stream seen",
        "nothing said, rows alone",
        "a tool that raised",
    ],
)
@pytest.mark.parametrize("at_once", [True, False], ids=["in one call", "one by one"])
def test_a_transcript_ends_in_the_right_record(
    caller: Caller,
    name: str,
    ended: str | None,
    kind: str,
    complete: bool,
    calls: list[tuple[str, str]],
    at_once: bool,
) -> None:
    events = events_of(name, ended=ended)
    run_id = caller.open_run(input=events[0].get("text", ""))
    for batch in [events] if at_once else [[event] for event in events]:
        taken = caller.report(run_id, *batch)
    assert taken["next_seq"] == len(events) + 1
    run = caller.run(run_id)
    assert (run["record"]["kind"], run["record"]["complete"]) == (kind, complete)
    assert [(call["name"], call["state"]) for call in run["calls"]] == calls
    assert run["status"] == (ended or "running")
    assert run["verdict"]["may_start_again"] is (kind == "none" and ended == "failed")


def test_the_failure_of_a_tool_is_kept(caller: Caller) -> None:
    failure = next(event for event in events_of("tool_error") if event["type"] == "tool_result")
    assert failure["error"] == {"code": "RuntimeError", "message": "payment gateway timed out"}


def test_the_arguments_are_told_as_the_agent_gave_them(caller: Caller) -> None:
    run_id = caller.open_run()
    caller.report(run_id, *events_of("crash_plain"))
    mail: Any = caller.run(run_id)["calls"][1]
    assert mail["args"] == {
        "to": "ada@example.test",
        "body": "Refund approved.",
        "slow": True,
        "subject": "Refund",
    }
