"""What a runtime is told of a campaign, and when it is tried again."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

from approvals.rules.callbacks import PAUSES_S, TYPES, body_of, pause_after, tried_at
from approvals.rules.permissions import PERMISSION_FOR_DECISION

AT = datetime(2026, 5, 4, 13, 30, 0, 120_000, tzinfo=UTC)
CAMPAIGN: dict[str, Any] = {
    "id": UUID(int=7),
    "external_id": "spring-2026",
    "name": "Spring for ann@shop.example",
    "status": "returned",
    "version": 2,
    "comment": "The date is wrong.",
    "digest": "d" * 64,
    "counts": {"total": 3, "planned": 3},
    "send_by": AT,
    "created_at": AT,
    "finished_at": None,
}


def test_it_is_what_an_agent_needs_to_go_on_and_nothing_else() -> None:
    assert json.loads(body_of("campaign.returned", AT, CAMPAIGN)) == {
        "type": "campaign.returned",
        "timestamp": "2026-05-04T13:30:00.120Z",
        "data": {
            "id": str(UUID(int=7)),
            "external_id": "spring-2026",
            "version": 2,
            "status": "returned",
            "comment": "The date is wrong.",
            "counts": {"total": 3, "planned": 3},
        },
    }


def test_it_says_why_where_nobodys_comment_does() -> None:
    data = json.loads(body_of("campaign.not_begun", AT, CAMPAIGN, reason="Its send_by was over."))["data"]
    assert data["reason"] == "Its send_by was over."
    assert data.keys() == {"id", "external_id", "version", "status", "comment", "counts", "reason"}


def test_it_is_the_same_text_each_time_in_whatever_zone_the_clock_was_read() -> None:
    elsewhere = AT.astimezone(timezone(timedelta(hours=10)))
    assert body_of("campaign.returned", elsewhere, CAMPAIGN) == body_of("campaign.returned", AT, CAMPAIGN)


def test_when_it_was_tried_follows_from_when_it_is_tried_again() -> None:
    for attempts, pause_s in enumerate(PAUSES_S, start=1):
        assert tried_at(AT + timedelta(seconds=pause_s), attempts) == AT
    assert tried_at(AT, 0) is None
    assert tried_at(AT, len(PAUSES_S) + 1) is None


def test_each_try_that_failed_waits_longer_and_after_the_last_one_there_is_none() -> None:
    pauses = [pause_after(attempts) for attempts in range(1, 10)]
    assert pauses == [10, 60, 300, 1_800, 7_200, 28_800, None, None, None]
    assert list(PAUSES_S) == sorted(PAUSES_S)


def test_every_kind_of_decision_that_is_told_of_is_one() -> None:
    assert TYPES.keys() <= PERMISSION_FOR_DECISION.keys()
    assert len({*TYPES.values()}) == len(TYPES)
