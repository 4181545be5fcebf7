"""Which run each row of a session belongs to."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from approvals.rules.observed import Head, Line, Row
from approvals.rules.sessions import (
    ENDS,
    QUIET,
    Known,
    awaiting_in,
    differences,
    ends_of,
    run_of_session,
    session_of_run,
    sort_rows,
)

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
HELLO = {"role": "user", "parts": [{"text": "Refund C-17"}]}


def at(second: float) -> datetime:
    return NOON + timedelta(seconds=second)


def row(name: str, second: float, invocation: str = "e-1", *lines: Line, **more: object) -> Row:
    return Row(event_id=name, invocation_id=invocation, at=at(second), digest=b"d" * 32, lines=lines, **more)  # type: ignore[arg-type]


def said(text: str, second: float) -> Line:
    return Line(type="message", at=at(second), content={"text": text, "author": "support"})


def call(id: str, second: float) -> Line:
    return Line(type="tool_call", at=at(second), call_id=id, name="send_email", content={"args": {}})


def result(id: str, second: float, outcome: str | None = None) -> Line:
    return Line(type="tool_result", at=at(second), call_id=id, name="send_email", outcome=outcome)


def known(name: str, second: float, run_id: object, invocation: str = "e-1", **more: object) -> Known:
    fields = {"digest": b"d" * 32} | more
    return Known(event_id=name, invocation_id=invocation, at=at(second), run_id=run_id, **fields)  # type: ignore[arg-type]


def test_each_invocation_with_a_message_is_a_run() -> None:
    sorted_rows = sort_rows(
        [],
        [
            row("a", 1, "e-1", said("hello", 1), input=HELLO),
            row("b", 2, "e-1", call("c-1", 2)),
            row("c", 3, "e-2", said("again", 3), input=HELLO),
        ],
    )
    first, second = sorted_rows.seeds
    assert (first.invocation_id, second.invocation_id) == ("e-1", "e-2")
    assert [run_id for _, run_id in sorted_rows.rows] == [first.run_id, first.run_id, second.run_id]
    assert [line.type for line in sorted_rows.journals[first.run_id]] == ["message", "tool_call"]


def test_an_invocation_of_which_nothing_is_said_is_no_run() -> None:
    sorted_rows = sort_rows([], [row("rewind", 1, "e-9")])
    assert sorted_rows.seeds == []
    assert [run_id for _, run_id in sorted_rows.rows] == [None]


def test_a_row_that_was_stored_late_goes_to_its_own_invocation() -> None:
    run_id, other = uuid4(), uuid4()
    sorted_rows = sort_rows(
        [known("a", 1, run_id), known("c", 9, other, "e-2")],
        [row("b", 5, "e-1", result("c-1", 5))],
    )
    assert sorted_rows.rows[0][1] == run_id
    assert sorted_rows.seeds == []


def test_rows_that_are_known_are_passed_over() -> None:
    run_id = uuid4()
    sorted_rows = sort_rows([known("a", 1, run_id)], [row("a", 1, "e-1", said("hello", 1), input=HELLO)])
    assert (sorted_rows.rows, sorted_rows.journals) == ([], {})


def test_a_session_that_was_made_for_a_replay_belongs_to_it_and_our_own_message_is_not_said_again() -> None:
    run_id = uuid4()
    sorted_rows = sort_rows(
        [],
        [row("a", 1, "e-7", said("Refund", 1), input=HELLO), row("b", 2, "e-7", call("c-1", 2))],
        whole=run_id,
        begun=[run_id],
    )
    assert sorted_rows.seeds == []
    assert {found for _, found in sorted_rows.rows} == {run_id}
    assert [line.type for line in sorted_rows.journals[run_id]] == ["tool_call"]


@pytest.mark.parametrize("begun", [True, False])
def test_what_follows_the_answers_of_a_replay_in_place_belongs_to_it(begun: bool) -> None:
    original, replay = uuid4(), uuid4()
    answer = row("b", 5, "e-1", result("c-1", 5, "supplied"), answers=("c-1",))
    sorted_rows = sort_rows(
        [known("a", 1, original)],
        [answer, row("c", 6, "e-1", said("done", 6))],
        in_place=[replay],
        begun=[replay] if begun else [],
    )
    assert {found for _, found in sorted_rows.rows} == {replay}
    types = [line.type for line in sorted_rows.journals[replay]]
    assert types == (
        ["message"] if begun else ["tool_result", "message"]
    )  # told by the worker, or lost with it


def test_an_answer_from_somebody_else_stays_with_the_run_it_answers() -> None:
    original = uuid4()
    sorted_rows = sort_rows(
        [known("a", 1, original)],
        [row("b", 5, "e-1", result("c-1", 5, "supplied"), answers=("c-1",))],
    )
    assert [found for _, found in sorted_rows.rows] == [original]
    assert [line.outcome for line in sorted_rows.journals[original]] == ["supplied"]


def test_rows_that_were_changed_deleted_or_missed_are_told_apart() -> None:
    rows = [
        known("same", 1, None),
        known("changed", 2, None),
        known("gone", 3, None),
        known("gone before", 4, None, deleted=True),
        known("heard of only", 5, None, digest=None),
    ]
    present = [
        Head("same", b"d" * 32),
        Head("changed", b"e" * 32),
        Head("heard of only", b"x" * 32),
        Head("new", b"n" * 32),
    ]
    edited, gone, missing = differences(rows, present)
    assert ([r.event_id for r in edited], [r.event_id for r in gone], missing) == (
        ["changed"],
        ["gone"],
        ["new"],
    )


def test_the_id_of_a_session_tells_the_run_it_was_made_for() -> None:
    run_id = uuid4()
    assert run_of_session(session_of_run(run_id)) == run_id
    assert run_of_session(session_of_run(run_id, attempt=3)) == run_id
    assert run_of_session("s-1") is None
    assert run_of_session("secondlook-tricky") is None


@pytest.mark.parametrize(
    ("lines", "waits"),
    [
        ([call("c", 1)], False),
        ([call("c", 1), result("c", 2)], False),
        ([call("c", 1), result("c", 2, "awaiting")], True),
        ([call("c", 1), result("c", 2, "awaiting"), result("c", 3)], False),
        ([call("c", 1), result("c", 2, "awaiting"), result("c", 3, "rejected")], False),
    ],
)
def test_a_call_waits_until_something_comes_of_it(lines: list[Line], waits: bool) -> None:
    assert awaiting_in(lines) == ({"c": "send_email"} if waits else {})


@pytest.mark.parametrize("name", ENDS)
def test_what_a_row_says_of_the_end_is_kept_and_read_again(name: str) -> None:
    ends, proven = ENDS[name]
    assert ends_of(row("a", 1, "e-1", said("hello", 1), ends=ends, proven=proven)) == name


def test_a_row_that_says_nothing_is_quiet() -> None:
    assert ends_of(row("a", 1)) == QUIET


def test_a_row_older_than_all_that_are_known_of_its_invocation_is_of_the_same_run() -> None:
    run_id = uuid4()
    there = [Known(event_id="b", invocation_id="e-1", at=at(5), digest=b"d" * 32, run_id=run_id)]
    found = sort_rows(there, [row("a", 1, "e-1", said("Hello", 1), input=HELLO)])
    assert not found.seeds
    assert [(one.event_id, of) for one, of in found.rows] == [("a", run_id)]


def test_a_message_of_the_same_time_as_its_answer_is_what_the_run_was_started_with() -> None:
    found = sort_rows(
        [], [row("a", 1, "e-1", said("Yes.", 1)), row("b", 1, "e-1", said("Hi", 1), input=HELLO)]
    )
    assert [seed.input for seed in found.seeds] == [HELLO]
