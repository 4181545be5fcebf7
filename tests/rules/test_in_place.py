"""Going on in place: when it is possible, and what the agent is told."""

from dataclasses import replace

import pytest

from approvals.exceptions import Invalid
from approvals.rules.in_place import (
    DID_NOT_HAPPEN,
    MOST_ANSWERED,
    Said,
    answers_given,
    held,
    hint_of,
    unanswered,
    why_no_answers,
    why_not_held,
)
from approvals.rules.verdict import RecordFacts
from tests.rules.factories import call, run


def broken_off(*states, **more):
    calls = tuple(call(call_id=f"c{number}", state=state) for number, state in enumerate(states, start=1))
    return run(record="called", calls=calls, **more)


def test_open_and_aborted_calls_are_to_be_answered_and_held_ones_apart():
    facts = broken_off(
        "open", "aborted", "awaiting", "answered", "failed", "supplied", "rejected", "withdrawn"
    )
    assert [one.call_id for one in unanswered(facts)] == ["c1", "c2"]
    assert [one.call_id for one in held(facts)] == ["c3"]


@pytest.mark.parametrize("status", ["interrupted", "failed"])
@pytest.mark.parametrize("state", ["open", "aborted"])
def test_a_run_that_broke_off_with_an_open_call_can_be_answered(status, state):
    assert why_no_answers("adk", broken_off("answered", state, status=status)) == ""


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        (broken_off("open", status="running"), "still running"),
        (broken_off("open", status="cancelled"), "is cancelled"),
        (broken_off("open", "awaiting"), "asks first"),
        (broken_off("answered"), "no call open"),
        (broken_off(*["open"] * (MOST_ANSWERED + 1)), "51 calls open; at most 50"),
    ],
)
def test_else_one_sentence_says_why(facts, why):
    said = why_no_answers("adk", facts)
    assert why in said and said.endswith(".")


@pytest.mark.parametrize("why", ["restored", "altered", "edited", "deleted", "unreadable"])
def test_nobody_goes_on_from_a_history_that_is_not_known(why):
    unknown = RecordFacts("unknown", complete=False, why=why)
    dead, waiting = broken_off("open"), broken_off("awaiting", status="completed")
    assert "Part of its history" in why_no_answers("adk", replace(dead, record=unknown))
    assert "Part of its history" in why_not_held("adk", replace(waiting, record=unknown), waiting.calls[0])


def test_a_held_call_is_answered_once_its_run_is_over_for_now():
    asked = call(state="awaiting")
    assert why_not_held("adk", broken_off("awaiting", status="completed"), asked) == ""
    assert "not come to the point" in why_not_held("adk", broken_off("awaiting", status="running"), asked)
    assert why_not_held("http", broken_off("awaiting", status="completed"), asked)
    assert why_not_held("adk", broken_off("open"), call(state="open")) == (
        "This call does not ask for a confirmation."
    )


def test_an_object_is_given_as_it_is_a_text_as_the_result_and_else_that_it_did_not_happen():
    calls = [call(call_id="c1"), call(call_id="c2"), call(call_id="c3")]
    said = {
        "c1": Said(happened=True, result=' {"id": 7} '),
        "c2": Said(happened=True, result="[1]", receipt=" r-1 "),
        "c3": Said(happened=False, result="ignored", receipt="ignored"),
    }
    first, second, third = answers_given(calls, said)
    assert (first["response"], "receipt" in first) == ({"id": 7}, False)
    assert (second["response"], second["receipt"]) == ({"result": "[1]"}, "r-1")
    assert (third["response"], third["happened"], "receipt" in third) == (DID_NOT_HAPPEN, False, False)


def test_every_call_that_nothing_was_said_of_is_named():
    calls = [call(call_id="c1", name="a"), call(call_id="c2", name="b"), call(call_id="c3", name="")]
    with pytest.raises(Invalid, match=r"happened: b, a tool\."):
        answers_given(calls, {"c1": Said(happened=False), "c2": Said()})


def test_the_words_that_adk_asks_with_itself_are_left_out_and_those_of_an_application_kept():
    standard = "Please approve or reject the tool call pay() by responding with a FunctionResponse"
    assert [hint_of(asked) for asked in (standard, "Pay 400 EUR?", None)] == ["", "Pay 400 EUR?", ""]
