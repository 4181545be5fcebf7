"""POST /runs/{id}/events: the journal takes each event once, in any order, all or nothing."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.db.models.functions import Now

from approvals.db.binding import bind
from approvals.models import Event, Run
from tests.api.world import (
    Caller,
    a_call,
    a_caller,
    a_result,
    a_runtime,
    an_event,
    stored,
    the_end,
)

pytestmark = pytest.mark.usefixtures("database")

ONE_OF_EACH = [
    an_event(1),
    an_event(2, "message", text="I will look that up.", author="support"),
    an_event(3, "message", text="", error={"code": 429}, data={"model": "m-1"}),
    an_event(4, "node_started", name="look up"),
    a_call(5),
    a_result(6, result=None) | {"receipt": "<1@shop.example.com>"},
    an_event(7, "tool_call", call_id="c-2", name="charge", args={}),
    an_event(8, "tool_result", call_id="c-2", error="refused"),
    an_event(9, "node_finished", name="look up", data={"ms": 12}),
    an_event(10, "message", text="Hello", origin="restored"),
    the_end(11, "failed", error={"message": "out of quota"}),
]


def test_one_event_of_each_type_is_taken(caller: Caller) -> None:
    assert caller.report(caller.open_run(), *ONE_OF_EACH) == {"accepted": 11, "duplicates": 0, "next_seq": 12}


@pytest.mark.parametrize("event", ONE_OF_EACH, ids=lambda event: f"{event['seq']} {event['type']}")
def test_the_same_event_again_changes_nothing(caller: Caller, event: dict[str, Any]) -> None:
    run_id = caller.open_run()
    event = event | {"seq": 1}
    caller.report(run_id, event)
    before = stored(caller.workspace_id)
    assert caller.report(run_id, event) == {"accepted": 0, "duplicates": 1, "next_seq": 2}
    assert stored(caller.workspace_id) == before


def test_the_same_time_in_another_zone_is_the_same_event(caller: Caller) -> None:
    run_id = caller.open_run()
    caller.report(run_id, an_event(1, at="2026-05-04T13:30:00.5Z"))
    again = an_event(1, at="2026-05-04T15:30:00.500000+02:00")
    assert caller.report(run_id, again)["duplicates"] == 1


@pytest.mark.parametrize(
    "other",
    [
        an_event(1),
        a_call(1, to="eve@shop.example.com"),
        a_call(1, call_id="c-2", to="ann@shop.example.com"),
        a_call(1, name="send_sms", to="ann@shop.example.com"),
        a_call(1, to="ann@shop.example.com") | {"at": "2026-05-04T13:30:01Z"},
        a_call(1, to="ann@shop.example.com") | {"origin": "restored"},
        a_result(1),
        the_end(1),
    ],
    ids=["type", "arguments", "call id", "name", "time", "origin", "result", "end"],
)
def test_the_same_number_with_other_content_is_a_conflict(caller: Caller, other: dict[str, Any]) -> None:
    run_id = caller.open_run()
    caller.report(run_id, a_call(1, to="ann@shop.example.com"))
    before = stored(caller.workspace_id)
    answer = caller.post(f"/runs/{run_id}/events", {"events": [an_event(2), other, an_event(3)]})
    assert answer.problem == (409, "event_conflict", "events[1].seq")
    assert answer.json["seqs"] == [1]
    assert "Event 1 " in answer.json["detail"]
    assert stored(caller.workspace_id) == before


@pytest.mark.parametrize(
    ("one", "other"), [({"a": 1}, {"a": True}), ({"a": 1}, {"a": 1.0}), ({}, {"a": None})]
)
def test_values_that_python_calls_equal_are_not_the_same_content(
    caller: Caller, one: Any, other: Any
) -> None:
    run_id = caller.open_run()
    both = [an_event(1, "tool_call", call_id="c", name="n", args=args) for args in (one, other)]
    assert caller.post(f"/runs/{run_id}/events", {"events": both}).problem[:2] == (409, "event_conflict")
    caller.report(run_id, both[0])
    assert caller.post(f"/runs/{run_id}/events", {"events": both[1:]}).problem[:2] == (409, "event_conflict")


def test_a_repetition_within_one_batch_counts_once(caller: Caller) -> None:
    taken = caller.report(caller.open_run(), a_call(1), a_call(1), an_event(2))
    assert taken == {"accepted": 2, "duplicates": 1, "next_seq": 3}


def test_two_things_under_one_number_in_one_batch_are_a_conflict(caller: Caller) -> None:
    run_id = caller.open_run()
    before = stored(caller.workspace_id)
    answer = caller.post(f"/runs/{run_id}/events", {"events": [an_event(1), an_event(2), a_call(1)]})
    assert answer.problem == (409, "event_conflict", "events[2].seq")
    assert stored(caller.workspace_id) == before


def test_a_gap_is_remembered_and_can_be_filled(caller: Caller) -> None:
    run_id = caller.open_run()
    assert caller.report(run_id, an_event(1), an_event(5))["next_seq"] == 2
    assert caller.report(run_id, the_end(7, "failed"))["next_seq"] == 2
    assert caller.run(run_id)["record"] == {
        "kind": "unknown",
        "complete": False,
        "code": "gap",
        "why": "Events are missing, and any of them may be a call.",
    }
    assert caller.report(run_id, an_event(3), an_event(2))["next_seq"] == 4
    assert caller.report(run_id, an_event(6), an_event(4)) == {"accepted": 2, "duplicates": 0, "next_seq": 8}
    run = caller.run(run_id)
    assert (run["record"]["kind"], run["record"]["complete"]) == ("none", True)
    assert run["verdict"] == {"may_start_again": True, "reasons": []}


def test_a_call_in_a_filled_gap_counts(caller: Caller) -> None:
    run_id = caller.open_run()
    caller.report(run_id, the_end(2, "failed"))
    caller.report(run_id, a_call(1))
    assert caller.run(run_id)["record"]["kind"] == "called"


def test_events_may_come_in_any_order(caller: Caller) -> None:
    run_id = caller.open_run()
    assert caller.report(run_id, the_end(3), a_result(2), a_call(1))["next_seq"] == 4
    assert [call["state"] for call in caller.run(run_id)["calls"]] == ["answered"]


@pytest.mark.parametrize("outcome", ["completed", "failed", "cancelled"])
def test_its_end_ends_a_run(caller: Caller, outcome: str) -> None:
    run_id = caller.open_run()
    caller.report(run_id, the_end(1, outcome))
    assert caller.run(run_id)["status"] == outcome


def test_a_second_end_does_not_move_the_run_again(caller: Caller) -> None:
    run_id = caller.open_run()
    caller.report(run_id, the_end(1, "failed"))
    caller.report(run_id, the_end(2, "completed"))
    assert caller.run(run_id)["status"] == "failed"


def test_what_comes_after_the_record_was_settled_is_late(caller: Caller) -> None:
    run_id = caller.open_run()
    caller.report(run_id, the_end(1, "failed"))
    assert caller.run(run_id)["verdict"]["may_start_again"]
    assert caller.report(run_id, a_call(2)) == {"accepted": 1, "duplicates": 0, "next_seq": 3}
    run = caller.run(run_id)
    assert [reason["code"] for reason in run["verdict"]["reasons"]] == ["tools_called", "late_events"]
    assert [call["call_id"] for call in run["calls"]] == ["c-1"]


def test_an_interrupted_run_can_still_come_to_its_true_end(caller: Caller) -> None:
    run_id = caller.open_run()
    caller.report(run_id, a_call(1))
    interrupt(caller, run_id)
    caller.report(run_id, a_result(2), the_end(3))
    run = caller.run(run_id)
    assert run["status"] == "completed"
    assert {reason["code"] for reason in run["verdict"]["reasons"]} == {
        "succeeded",
        "tools_called",
        "late_events",
    }


def test_a_restored_event_makes_the_record_unknown(caller: Caller) -> None:
    run_id = caller.open_run()
    caller.report(run_id, an_event(1, "message", text="before", origin="restored"), the_end(2))
    assert caller.run(run_id)["record"]["code"] == "restored"


def test_nothing_reported_proves_nothing_where_the_runtime_does_not_write_ahead() -> None:
    caller = a_caller(a_runtime(writes_ahead=False))
    run_id = caller.open_run()
    caller.report(run_id, the_end(1, "failed"))
    run = caller.run(run_id)
    assert (run["record"]["kind"], run["record"]["code"]) == ("unknown", "merely_reported")
    assert [reason["code"] for reason in run["verdict"]["reasons"]] == ["unknown_record"]


def test_a_result_without_its_call_is_told_as_supplied(caller: Caller) -> None:
    run_id = caller.open_run()
    caller.report(run_id, a_result(1))
    assert [(call["name"], call["state"], call["args"]) for call in caller.run(run_id)["calls"]] == [
        ("", "supplied", None)
    ]


def test_a_thousand_events_fit_into_one_call(caller: Caller) -> None:
    events = [a_call(seq, f"c-{seq}", n=seq) for seq in range(1, 1001)]
    assert caller.report(caller.open_run(), *events) == {"accepted": 1000, "duplicates": 0, "next_seq": 1001}


def test_one_more_does_not(caller: Caller) -> None:
    events = [an_event(seq) for seq in range(1, 1002)]
    answer = caller.post(f"/runs/{caller.open_run()}/events", {"events": events})
    assert answer.problem == (422, "invalid", "events")


def test_the_time_of_receipt_is_the_databases(caller: Caller) -> None:
    run_id = caller.open_run()
    caller.report(run_id, an_event(1, at="1999-12-31T23:59:59Z"))
    with bind(caller.workspace_id), transaction.atomic():
        event = Event.objects.get(run_id=run_id)
        assert event.at.year == 1999
        assert Run.objects.filter(id=run_id, last_event_at__gte=Now() - timedelta(minutes=1)).exists()


def test_what_was_said_is_stored_as_it_was_sent(caller: Caller) -> None:
    from approvals.selectors.payloads import contents_of

    run_id = caller.open_run()
    caller.report(run_id, *ONE_OF_EACH)
    with bind(caller.workspace_id), transaction.atomic():
        ids = dict(Event.objects.filter(run_id=run_id).values_list("seq", "payload_id"))
        contents = contents_of(ids.values())
    assert {seq: contents[id] for seq, id in ids.items() if id} == {
        2: {"text": "I will look that up.", "author": "support"},
        3: {"text": "", "error": {"code": 429}, "data": {"model": "m-1"}},
        5: {"args": {}},
        6: {"result": None, "receipt": "<1@shop.example.com>"},
        7: {"args": {}},
        8: {"error": "refused"},
        9: {"data": {"ms": 12}},
        10: {"text": "Hello"},
        11: {"error": {"message": "out of quota"}},
    }


def interrupt(caller: Caller, run_id: str) -> None:
    """What the sweep does to a run that went silent."""
    with bind(caller.workspace_id), transaction.atomic():
        Run.objects.filter(id=run_id).update(
            status="interrupted", interrupted_at=Now(), interrupted_why="silent", silent_after=None
        )
