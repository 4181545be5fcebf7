"""When a run may start again, and what stands in the way, over its whole lineage."""

from itertools import product

import pytest

from approvals.rules.verdict import OVERRIDABLE, REASON_TEXT, Verdict, forceable, verdict_of
from tests.rules.factories import RECORDS, call, run

STATUSES = ["running", "completed", "failed", "interrupted", "cancelled"]


def codes(*lineage, target="r1"):
    return list(verdict_of(lineage, target).codes)


# One run alone.


@pytest.mark.parametrize("status", ["interrupted", "failed", "cancelled"])
def test_a_run_that_ended_without_a_call_may_start_again(status):
    verdict = verdict_of([run(status=status)], "r1")
    assert verdict == Verdict(may_start_again=True, reasons=())


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"status": "running", "record": "none"}, ["still_running"]),
        ({"status": "running", "record": "called"}, ["still_running", "tools_called"]),
        ({"status": "running", "record": "unknown"}, ["still_running", "unknown_record"]),
        ({"status": "completed", "record": "none"}, ["succeeded"]),
        ({"status": "completed", "record": "called"}, ["succeeded", "tools_called"]),
        ({"status": "interrupted", "record": "called"}, ["tools_called"]),
        ({"status": "interrupted", "record": "unknown"}, ["unknown_record"]),
        ({"status": "failed", "record": "called"}, ["tools_called"]),
        ({"status": "failed", "record": "unknown"}, ["unknown_record"]),
        ({"status": "cancelled", "record": "called"}, ["tools_called"]),
        ({"status": "interrupted", "late_events": 1}, ["late_events"]),
        ({"status": "interrupted", "record": "called", "late_events": 2}, ["tools_called", "late_events"]),
        ({"status": "interrupted", "has_input": False}, ["input_missing"]),
        (
            {"status": "running", "record": "called", "has_input": False, "late_events": 1},
            ["input_missing", "still_running", "tools_called", "late_events"],
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_one_run_is_refused_for_exactly_its_own_reasons(facts, expected):
    assert codes(run(**facts)) == expected


def test_a_call_that_was_seen_counts_whatever_the_record_says():
    assert codes(run(record="none", calls=(call(),))) == ["tools_called"]


def test_a_call_beside_an_unknown_record_gives_both_reasons():
    assert codes(run(record="unknown", calls=(call(),))) == ["tools_called", "unknown_record"]


@pytest.mark.parametrize(
    "state", ["open", "answered", "failed", "supplied", "rejected", "awaiting", "unknown"]
)
def test_a_call_counts_in_every_state(state):
    assert codes(run(record="called", calls=(call(state=state),))) == ["tools_called"]


def test_no_call_is_only_believed_once_the_database_has_written_it_down():
    assert codes(run(record="none", settled=False)) == ["unknown_record"]


def test_what_a_restore_may_have_forgotten_is_for_a_person_to_decide():
    verdict = verdict_of([run(restored=True)], "r1")
    assert verdict.codes == ("restored",) and forceable(verdict)
    assert codes(run(), run("r2", restored=True)) == ["restored"]


# The lineage.


def test_what_the_original_did_counts_for_its_replay():
    assert codes(run("r1", record="called"), run("r2"), target="r2") == ["tools_called"]


def test_what_a_replay_did_counts_for_the_original():
    assert codes(run("r1"), run("r2", record="called"), target="r1") == ["tools_called"]


def test_a_replay_that_never_started_does_not_count():
    never = run("r2", status="failed", record="unknown", started=False)
    assert codes(run("r1"), never) == []


def test_a_late_event_proves_that_it_did_start():
    late = run("r2", status="failed", record="unknown", started=False, late_events=1)
    assert codes(run("r1"), late) == ["unknown_record", "late_events"]


def test_a_call_proves_that_it_did_start():
    called = run("r2", status="failed", record="called", started=False)
    assert codes(run("r1"), called) == ["tools_called"]


@pytest.mark.parametrize("started", [True, False])
def test_a_replay_under_way_or_about_to_be_is_in_flight(started):
    waiting = run("r2", status="running", record="none", started=started)
    assert codes(run("r1"), waiting) == ["replay_in_flight"]


def test_a_running_original_is_in_flight_for_its_replay():
    assert codes(run("r1", status="running"), run("r2"), target="r2") == ["replay_in_flight"]


def test_a_replay_that_completed_means_the_work_is_done():
    assert codes(run("r1"), run("r2", status="completed")) == ["succeeded"]


def test_only_the_input_of_the_run_itself_is_needed():
    assert codes(run("r1"), run("r2", has_input=False), target="r1") == []


def test_a_run_outside_its_lineage_is_a_mistake():
    with pytest.raises(ValueError, match="not in the lineage"):
        verdict_of([run("r1")], "r2")


# What the reasons say.


def test_each_reason_comes_with_its_sentence_in_the_fixed_order():
    everything = [
        run("r1", status="running", record="unknown", has_input=False, late_events=1),
        run("r2", status="running", record="called"),
        run("r3", status="completed", record="none", restored=True),
    ]
    reasons = verdict_of(everything, "r1").reasons
    assert [(reason.code, reason.text) for reason in reasons] == list(REASON_TEXT.items())


def test_the_codes_are_these_in_this_order():
    assert list(REASON_TEXT) == [
        "input_missing",
        "still_running",
        "replay_in_flight",
        "succeeded",
        "tools_called",
        "unknown_record",
        "late_events",
        "restored",
    ]


def test_tools_called_names_every_call_of_the_lineage_in_order():
    first, second, third = call("r1", "c1"), call("r1", "c2"), call("r2", "c1")
    lineage = [
        run("r1", record="called", calls=(first, second)),
        run("r2", record="called", calls=(third,)),
        run("r3"),
    ]
    (reason,) = verdict_of(lineage, "r3").reasons
    assert reason.calls == (first, second, third)


def test_a_reason_names_only_the_calls_of_the_runs_it_is_about():
    lineage = [run("r1", record="called"), run("r2", record="called", late_events=1)]
    late = verdict_of(lineage, "r1").reasons[-1]
    assert (late.code, late.calls) == ("late_events", lineage[1].calls)


def test_a_call_that_several_reasons_name_is_acknowledged_once():
    lineage = [run("r1", status="completed", record="called", late_events=1)]
    verdict = verdict_of(lineage, "r1")
    assert len(verdict.reasons) == 3
    assert verdict.calls == lineage[0].calls


@pytest.mark.parametrize("text", REASON_TEXT.values())
def test_a_sentence_is_short_and_ends(text):
    assert text.endswith(".") and len(text) < 160


# Every combination of one attempt, against the rule in plain words.


EVERY_ATTEMPT = list(product(STATUSES, RECORDS, [True, False], [0, 1], [True, False]))


@pytest.mark.parametrize(("status", "record", "started", "late", "has_input"), EVERY_ATTEMPT)
def test_nothing_starts_again_by_itself_unless_it_provably_did_nothing(
    status, record, started, late, has_input
):
    other = run("r2", status, record, started=started, late_events=late, has_input=has_input)
    verdict = verdict_of([run("r1"), other], "r1")
    did_nothing = record == "none" and late == 0 and status != "completed"
    never_began = not started and late == 0 and record != "called"
    assert verdict.may_start_again is (status != "running" and (did_nothing or never_began))
    assert verdict.may_start_again is (not verdict.reasons)


# What a person may override.


def test_a_person_may_override_these_and_no_others():
    assert set(REASON_TEXT) - OVERRIDABLE == {"input_missing", "still_running", "replay_in_flight"}


@pytest.mark.parametrize(
    ("lineage", "may"),
    [
        ([run(record="called")], True),
        ([run(record="unknown")], True),
        ([run(late_events=1)], True),
        ([run(status="completed", record="called")], True),
        ([run(status="running", record="called")], False),
        ([run(record="called"), run("r2", status="running")], False),
        ([run(record="called", has_input=False)], False),
    ],
)
def test_force_is_open_only_when_every_reason_can_be_overridden(lineage, may):
    assert forceable(verdict_of(lineage, "r1")) is may


def test_a_run_that_may_start_anyway_needs_no_force():
    assert not forceable(verdict_of([run()], "r1"))


def test_calls_that_were_not_made_are_not_told_as_made():
    def text(*states, code="tools_called", **facts):
        calls = tuple(call(call_id=f"c{place}", state=state) for place, state in enumerate(states))
        verdict = verdict_of([run(record="called", calls=calls, **facts)], "r1")
        return next(reason.text for reason in verdict.reasons if reason.code == code)

    assert "no tool is known to have run" in text("rejected", "supplied")
    assert text("rejected", "open") == text() == REASON_TEXT["tools_called"]
    held = {"code": "succeeded", "status": "completed"}
    assert "waits for a confirmation" in text("awaiting", is_head=True, **held)
    assert text("awaiting", is_head=False, **held) == REASON_TEXT["succeeded"]
    assert text("answered", is_head=True, **held) == REASON_TEXT["succeeded"]
