"""When the rows of an invocation say that it is over, and how sure that is."""

from datetime import UTC, datetime, timedelta
from typing import Any

from approvals.rules.observed import Line, Row, end_of

START = datetime(2026, 11, 30, 12, tzinfo=UTC)


def test_an_invocation_without_rows_or_without_a_last_word_is_not_over() -> None:
    assert end_of([], root_is_llm=True) is None
    assert end_of([asked()], root_is_llm=True) is None
    assert end_of([asked(), called("a")], root_is_llm=True) is None
    assert end_of([asked(), said(), called("a")], root_is_llm=True) is None


def test_a_final_answer_ends_it_unless_an_agent_of_several_steps_may_speak_on() -> None:
    assert ending([asked(), said()]) == ("completed", "inferred")
    assert end_of([asked(), said()], root_is_llm=False) is None


def test_a_final_answer_beside_an_open_call_ends_nothing() -> None:
    assert ending([asked(), called("a"), said()]) is None
    assert ending([asked(), called("a"), called("b"), answered("a"), said()]) is None
    assert ending([asked(), called("a"), answered("a"), said()]) == ("completed", "inferred")
    assert ending([asked(), called("a"), answered("a", outcome="awaiting"), said()]) is None


def test_parts_of_a_streamed_call_wait_for_no_answer() -> None:
    assert ending([called("p", content={"args": {}, "partial": True}), said()]) == ("completed", "inferred")


def test_an_answer_that_names_no_call_answers_an_open_one_of_its_name() -> None:
    assert ending([called("a", "code"), answered("x", "code"), said()]) == ("completed", "inferred")
    assert ending([called("a", "code"), called("b", "code"), answered("x", "code"), said()]) is None
    assert ending([called("a", "mail"), answered("x", "code"), said()]) is None


def test_an_error_ends_it_as_failed_unless_something_came_after() -> None:
    assert ending([asked(), called("a"), wrong()]) == ("failed", "inferred")
    assert ending([asked(), wrong(), called("a")]) is None
    assert ending([asked(), wrong(), asked(), said()]) == ("completed", "inferred")


def test_a_confirmation_that_is_asked_for_ends_it_until_somebody_answers() -> None:
    waiting = row(ends="waiting")
    assert ending([asked(), called("a"), waiting]) == ("completed", "inferred")
    assert end_of([asked(), called("a"), waiting], root_is_llm=False) is not None
    assert ending([asked(), called("a"), waiting, asked()]) is None


def test_a_mark_proves_the_end_and_an_error_before_it_is_how_it_ended() -> None:
    assert ending([asked(), said(), mark()]) == ("completed", "live")
    assert ending([asked(), mark()]) == ("completed", "live")
    assert ending([asked(), wrong(), mark()]) == ("failed", "live")
    end = end_of([asked(), said(), mark()], root_is_llm=False)
    assert end is not None and end.at == mark().at


def test_a_mark_after_which_it_went_on_proves_nothing() -> None:
    assert ending([asked(), said(), mark(), asked()]) is None
    assert ending([asked(), said(), mark(), asked(), said()]) == ("completed", "inferred")


def test_rows_without_a_word_change_nothing() -> None:
    assert ending([asked(), said(), row()]) == ("completed", "inferred")


def test_the_mark_of_an_agent_that_handed_over_proves_nothing() -> None:
    handed = [asked(), called("t", "transfer_to_agent"), answered("t", "transfer_to_agent")]
    assert ending([*handed, mark()]) is None
    assert ending([*handed, mark(), said()]) == ("completed", "inferred")
    assert ending([*handed, said(), row(), mark()]) == ("completed", "inferred")


def ending(rows: list[Row]) -> tuple[str | None, str] | None:
    end = end_of(rows, root_is_llm=True)
    return end and (end.outcome, end.origin)


def row(*lines: Line, **fields: Any) -> Row:
    return Row(event_id="ev", invocation_id="e-1", at=START + timedelta(seconds=5), lines=lines, **fields)


def asked() -> Row:
    return row(Line(type="message", at=START, content={"text": "please", "author": "user"}))


def said() -> Row:
    return row(
        Line(type="message", at=START, content={"text": "done", "author": "support"}), ends="completed"
    )


def wrong() -> Row:
    return row(Line(type="message", at=START, content={"text": "", "error": {}}), ends="failed")


def mark() -> Row:
    return row(ends="completed", proven=True)


def called(call_id: str, name: str = "mail", **fields: Any) -> Row:
    return row(Line(type="tool_call", at=START, call_id=call_id, name=name, **fields))


def answered(call_id: str, name: str = "mail", **fields: Any) -> Row:
    return row(Line(type="tool_result", at=START, call_id=call_id, name=name, **fields))
