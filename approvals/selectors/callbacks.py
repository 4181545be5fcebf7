"""What runtimes were told of their campaigns, and what they could not be told."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from approvals.models import Callback
from approvals.rules.callbacks import tried_at


@dataclass(frozen=True, slots=True)
class Untold:
    """News that nobody tries to tell any more. `why` is what came of the last try, `runtime_id` who does not know."""

    campaign_id: UUID
    campaign: str
    runtime_id: UUID
    type: str
    at: datetime
    attempts: int
    why: str


@dataclass(frozen=True, slots=True)
class Retried:
    """News that were told in vain `attempts` times and are told again: `next_at`, or just now where that is None.

    `answer` is what came of the last try, at `last_at` if that is known; `behind` is how many news wait for these.
    """

    type: str
    attempts: int
    answer: str
    last_at: datetime | None
    next_at: datetime | None
    behind: int


def retried_of(campaign_id: UUID) -> Retried | None:
    """What the runtime of this campaign could not be told so far; None where nothing is told again."""
    waiting = Callback.objects.filter(campaign_id=campaign_id, status="waiting")
    first = waiting.filter(campaign__runtime__callback_url__gt="").order_by("number").first()
    if first is None:
        return None
    under_way = first.lease_until is not None
    failed = first.attempts - under_way
    if not failed:
        return None
    return Retried(
        type=first.type,
        attempts=failed,
        answer=first.answer,
        last_at=None if under_way else tried_at(first.due_at, failed),
        next_at=None if under_way else first.due_at,
        behind=waiting.filter(number__gt=first.number).count(),
    )


def newest(campaign_id: UUID) -> Callback | None:
    """The last news of a campaign, told or not; None where there never were any."""
    return Callback.objects.filter(campaign_id=campaign_id).order_by("-number").first()


def untold_of(campaign_id: UUID) -> Untold | None:
    """What the runtime of this campaign does not know and is not told any more; None where there is nothing."""
    return next(map(_untold, _told_of().filter(campaign_id=campaign_id)), None)


def untold(*, at_most: int) -> list[Untold]:
    """The same of all campaigns, the newest first."""
    return [_untold(row) for row in _told_of().order_by("-created_at", "-id")[:at_most]]


def given_up() -> QuerySet[Callback]:
    """News that were given up and that no newer ones overtook."""
    newer = Callback.objects.filter(campaign_id=OuterRef("campaign_id"), number__gt=OuterRef("number"))
    return Callback.objects.filter(~Exists(newer), status="given_up")


def _told_of() -> QuerySet[Callback]:
    """Those of runtimes that still want to be told."""
    return given_up().filter(campaign__runtime__callback_url__gt="").select_related("campaign")


def _untold(row: Callback) -> Untold:
    runtime_id = row.campaign.runtime_id
    assert runtime_id is not None  # nobody else is told
    return Untold(
        row.campaign_id, row.campaign.name, runtime_id, row.type, row.created_at, row.attempts, row.answer
    )
