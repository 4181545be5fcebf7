"""What a stream says for the journal: whole events as rows, and of a call that is still being written one line."""

from typing import Any

from approvals.connectors.adk import ErrorFrame, Opened, Telling, Tick, Told
from approvals.rules.observed import Line, Row


def event(*parts: dict[str, Any], id: str = "e1", **more: Any) -> Told:
    return Told(
        {
            "id": id,
            "invocationId": "i1",
            "author": "support",
            "content": {"parts": list(parts), "role": "model"},
            **more,
        }
    )


def call(id: str, name: str = "send_email") -> dict[str, Any]:
    return {"functionCall": {"id": id, "name": name, "args": {}}}


def told(*items: Any) -> list[tuple[Any, ...]]:
    """The pieces of a stream: each line, and each whole event by its id and the calls in it."""
    telling = Telling()
    pieces = [piece for item in items for piece in telling.pieces(item)]
    return [
        (piece.type, piece.call_id, piece.name, piece.outcome)
        if isinstance(piece, Line)
        else (piece.event_id, *(line.call_id for line in piece.lines))
        for piece in pieces
    ]


def test_a_whole_event_is_a_row() -> None:
    [row] = Telling().pieces(event({"text": "Good morning."}))
    assert isinstance(row, Row)
    assert [line.type for line in row.lines] == ["message"]


def test_what_is_no_event_says_nothing() -> None:
    assert told(Opened(), Tick(), ErrorFrame("429", {})) == []


def test_words_that_are_still_being_written_say_nothing_yet() -> None:
    assert told(event({"text": "Good"}, partial=True)) == []


def test_the_first_piece_of_a_call_stands_for_all_until_the_whole_replaces_it() -> None:
    assert told(
        event(call("p1"), partial=True), event(call("p2"), partial=True), event(call("c1"), id="e2")
    ) == [
        ("tool_call", "p1", "send_email", None),
        ("tool_result", "p1", "send_email", "replaced"),
        ("e2", "c1"),
    ]


def test_two_tools_in_one_answer_are_two_calls() -> None:
    assert told(event(call("p1"), call("p2", "refund"), partial=True))[1] == (
        "tool_call",
        "p2",
        "refund",
        None,
    )


def test_another_writer_replaces_nothing() -> None:
    pieces = told(event(call("p1"), partial=True, branch="a"), event(call("c1"), id="e2", branch="b"))
    assert pieces == [("tool_call", "p1", "send_email", None), ("e2", "c1")]


def test_an_error_replaces_nothing() -> None:
    wrong = Told(
        {
            "id": "e2",
            "invocationId": "i1",
            "author": "support",
            "errorCode": "RESOURCE_EXHAUSTED",
            "errorMessage": "429",
        }
    )
    assert [piece[:2] for piece in told(event(call("p1"), partial=True), wrong)] == [
        ("tool_call", "p1"),
        ("e2", None),
    ]


def test_after_it_was_replaced_a_call_of_the_same_name_is_a_new_one() -> None:
    pieces = told(
        event(call("p1"), partial=True), event(call("c1"), id="e2"), event(call("p2"), id="e3", partial=True)
    )
    assert pieces[-1] == ("tool_call", "p2", "send_email", None)
