"""A refusal is one sentence with a stable code, the same for API, form and tooltip."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from approvals.exceptions import (
    DECIDED,
    AlreadyDecided,
    Conflict,
    Invalid,
    NotAllowed,
    NotFound,
    Refusal,
    Stale,
    Unavailable,
)
from approvals.rules.permissions import PERMISSION_FOR_DECISION

NOON = datetime(2026, 5, 3, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("refusal", "status", "code", "title"),
    [
        (Refusal("No."), 400, "refused", "Bad Request"),
        (NotFound(), 404, "not_found", "Not Found"),
        (NotAllowed("No."), 403, "not_allowed", "Forbidden"),
        (Conflict("No."), 409, "conflict", "Conflict"),
        (Stale(["One more call."]), 409, "stale", "Conflict"),
        (AlreadyDecided("Ann", "approve", NOON), 409, "already_decided", "Conflict"),
        (Invalid("seq", "No."), 422, "invalid", "Unprocessable Entity"),
        (Unavailable("No."), 503, "unavailable", "Service Unavailable"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Refusal) else "",
)
def test_each_refusal_has_its_status_and_code(refusal, status, code, title):
    assert refusal.as_problem() == {
        **refusal.extra,
        **({"field": refusal.field} if refusal.field else {}),
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": str(refusal),
        "code": code,
    }


def test_invalid_input_names_its_field():
    assert (
        Invalid("events[0].seq", "A sequence number is at least 1.").as_problem()["field"] == "events[0].seq"
    )


def test_a_refusal_without_a_field_has_no_such_member():
    assert "field" not in NotFound().as_problem()


def test_code_and_status_can_be_set_for_one_case():
    problem = Conflict("No.", code="replay_refused", status=423).as_problem()
    assert (problem["code"], problem["status"]) == ("replay_refused", 423)


def test_extra_members_never_hide_a_standard_one():
    problem = Conflict("No.", extra={"status": 200, "reasons": []}).as_problem()
    assert (problem["status"], problem["reasons"]) == (409, [])


def test_what_changed_travels_with_a_stale_decision():
    assert Stale(["One more call."]).as_problem()["changed"] == ["One more call."]


def test_the_second_decider_reads_who_decided_what_when_and_why():
    refusal = AlreadyDecided(
        "Ann", "force_replay", NOON.astimezone(timezone(timedelta(hours=2))), "She asked."
    )
    assert refusal.text == (
        "Ann already forced this run to start again on 3 May 2026 at 12:00 UTC."
        " Nothing of yours happened. The reason given: “She asked.”"
    )
    assert refusal.extra["decision"] == {
        "who": "Ann",
        "what": "force_replay",
        "when": "2026-05-03T12:00:00+00:00",
        "why": "She asked.",
    }


def test_without_a_reason_nothing_is_said_about_one():
    assert "reason" not in AlreadyDecided("Ann", "dismiss", NOON).text


def test_every_kind_of_decision_can_be_told():
    assert set(DECIDED) == set(PERMISSION_FOR_DECISION)
