"""What recorded runs of ADK come to under the rules about turns."""

import json
from typing import Any

import pytest

from approvals.connectors.adk import Closed, ErrorFrame, Opened, Told, note
from approvals.rules.turns import Again, Attempt, Done, HandedOn, next_step
from tests.connectors.adk.given import items_of, sample, streamed
from tests.servers.http import Half


def attempt_of(body: bytes) -> Attempt:
    attempt = Attempt()
    for item in items_of(Half(streamed(body))):
        note(attempt, item)
    return attempt


def attempt_at(*events: dict[str, Any]) -> Attempt:
    return attempt_of(b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events))


def told(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"author": "a", "content": {"role": "model", "parts": list(parts)}, **more}


def call(name: str, call_id: str) -> dict[str, Any]:
    return {"functionCall": {"id": call_id, "name": name, "args": {}}}


@pytest.mark.parametrize(
    "name",
    [
        "normal",
        "stream_call",
        "parallel",
        "confirm_yes",
        "confirm_yes_answer",
        "orphan_support_slow_answered",
    ],
)
def test_a_run_that_came_to_its_end_is_done(name: str) -> None:
    assert next_step([attempt_of(sample(name))]) == Done()


def test_a_429_before_any_call_waits_as_long_as_the_provider_asked() -> None:
    step = next_step([attempt_of(sample("rate_before"))])
    assert isinstance(step, Again)
    assert step.wait_s == 7


@pytest.mark.parametrize(
    ("name", "code", "completed", "unanswered"),
    [
        ("rate_after", "rate_limited", ["lookup_customer", "send_email"], []),
        ("tool_error", "failed", [], ["charge_card"]),
        ("parallel_fail", "failed", [], ["send_email", "charge_card"]),
        ("thought_only", "no_content", [], []),
        ("empty_stop", "no_content", [], []),
    ],
)
def test_a_run_that_failed_is_handed_on_with_its_calls(
    name: str, code: str, completed: list[str], unanswered: list[str]
) -> None:
    step = next_step([attempt_of(sample(name))])
    assert isinstance(step, HandedOn)
    assert step.code == code
    assert [one.name for one in step.completed] == completed
    assert sorted(one.name for one in step.open) == sorted(unanswered)


def test_an_empty_turn_is_tried_again() -> None:
    assert isinstance(next_step([attempt_of(sample("empty"))]), Again)


def test_a_tool_that_runs_after_a_confirmation_counts_though_its_call_is_not_shown() -> None:
    answered = sample("confirm_yes_answer").split(b"\n\n")[0] + b"\n\n"
    limited = b'data: {"error": "429 RESOURCE_EXHAUSTED. {}"}\n\n'
    step = next_step([attempt_of(answered + limited)])
    assert isinstance(step, HandedOn)
    assert [one.name for one in step.completed] == ["send_email"]


def test_a_held_call_is_open_and_the_question_about_it_is_no_call() -> None:
    attempt = attempt_of(sample("confirm_yes"))
    assert [one.name for one in attempt.completed] == ["lookup_customer"]
    assert [one.name for one in attempt.open] == ["send_email"]


@pytest.mark.parametrize(
    "words", ["429 RESOURCE_EXHAUSTED", "_ResourceExhaustedError: 429 RESOURCE_EXHAUSTED. 'retryDelay': '7s'"]
)
def test_what_a_model_says_is_no_429(words: str) -> None:
    assert next_step([attempt_at(told({"text": words}))]) == Done()


@pytest.mark.parametrize(
    "frame",
    [
        {"error": "429 RESOURCE_EXHAUSTED. {'retryDelay': '9s'}"},
        {
            "error": "Oops",
            "error_details": {"error_type": "_ResourceExhaustedError", "error_message": "retryDelay: 9s"},
        },
        {"author": "a", "errorCode": "_ResourceExhaustedError", "errorMessage": "'retryDelay': '9s'"},
    ],
)
def test_every_version_has_its_own_way_of_telling_a_429(frame: dict[str, Any]) -> None:
    step = next_step([attempt_at(frame)])
    assert isinstance(step, Again)
    assert step.wait_s == 9


def test_a_call_that_was_only_begun_is_a_call() -> None:
    begun = told(call("send_email", "p1"), partial=True)
    step = next_step([attempt_at(begun, {"error": "429 RESOURCE_EXHAUSTED."})])
    assert isinstance(step, HandedOn)
    assert [one.name for one in step.open] == ["send_email"]


def test_the_parts_of_a_call_belong_to_who_writes_them() -> None:
    attempt = attempt_at(
        told(call("send_email", "p1"), partial=True),
        told(call("refund", "p2"), partial=True, author="b"),
        told(call("send_email", "c1")),
    )
    assert [(one.name, one.id) for one in attempt.open] == [("send_email", "c1"), ("refund", "p2")]


def test_a_long_running_tool_may_leave_the_turn_open() -> None:
    assert next_step([attempt_at(told(call("order", "c1"), longRunningToolIds=["c1"]))]) == Done()
    assert next_step([attempt_at(told(call("order", "c1"), longRunningToolIds=[]))]) != Done()


def test_an_older_version_shows_an_answer_without_content_as_such() -> None:
    for event in (told(finishReason="STOP"), told({"text": "hm", "thought": True}), told({"text": " \n"})):
        step = next_step([attempt_at(event)])
        assert isinstance(step, HandedOn)
        assert step.code == "no_content"
    assert next_step([attempt_at(told({"inlineData": {"data": "aGk="}}))]) == Done()
    assert next_step([attempt_at({"author": "a", "actions": {"stateDelta": {"a": 1}}})]) == Done()


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"content": 1, "actions": [], "longRunningToolIds": {}},
        {"content": {"parts": [None, {"functionCall": 3}, {"functionResponse": []}, {"text": 5}]}},
        {"content": {"parts": [{"functionCall": {"id": 1, "name": None}}]}},
        {"errorCode": 429, "errorMessage": {"a": 1}},
    ],
)
def test_an_event_of_another_form_breaks_nothing(odd: dict[str, Any]) -> None:
    attempt = Attempt()
    note(attempt, Opened())
    assert not attempt.anything
    note(attempt, Told(odd))
    note(attempt, ErrorFrame("", {"error_type": None, "x": [1]}))
    assert attempt.anything
    note(attempt, Closed("broken", ""))
    assert not attempt.clean
    next_step([attempt])
