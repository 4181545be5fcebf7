"""One customer: the runs on their behalf, what was sent to them, and what was decided about them, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from approvals.models import Decision, Delivery, Run
from approvals.selectors.decisions import NOT_AN_OUTCOME, Entry, entries_of
from approvals.selectors.did import Attempt, runs_in_short
from approvals.selectors.reach import Reach

COUNTED = 1_000  # where a count stops counting


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a list that is ordered by time: behind this row."""

    at: datetime
    id: UUID


@dataclass(frozen=True, slots=True)
class Sent:
    """One delivery to them, or on their behalf."""

    id: UUID
    address: str
    state: str
    at: datetime | None
    reply: str
    message_id: str
    campaign_id: UUID
    campaign: str
    campaign_status: str
    campaign_at: datetime

    @property
    def place(self) -> Place:
        """The place behind this delivery."""
        return Place(self.campaign_at, self.id)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many of each there are, up to COUNTED."""

    runs: int
    deliveries: int
    decisions: int


def runs_of(name: str, *, after: Place | None = None, size: int) -> tuple[list[Attempt], bool]:
    """(their runs behind `after`, whether there are more)."""
    rows = _runs(name).order_by("-created_at", "-id")
    if after:
        rows = rows.filter(Q(created_at__lt=after.at) | Q(created_at=after.at, id__lt=after.id))
    ids = list(rows.values_list("id", flat=True)[: size + 1])
    return runs_in_short(ids[:size]), len(ids) > size


def deliveries_of(reach: Reach, *, after: Place | None = None, size: int) -> tuple[list[Sent], bool]:
    """(the deliveries to them and those that a run of theirs proposed, whether there are more)."""
    rows = _deliveries(reach).order_by("-campaign__created_at", "-id")
    if after:
        rows = rows.filter(
            Q(campaign__created_at__lt=after.at) | Q(campaign__created_at=after.at, id__lt=after.id)
        )
    found = [
        Sent(
            id=row.id,
            address=row.address,
            state=row.state,
            at=row.settled_at or row.attempted_at,
            reply=row.reply,
            message_id=row.message_id if row.attempt else "",
            campaign_id=row.campaign.id,
            campaign=row.campaign.name,
            campaign_status=row.campaign.status,
            campaign_at=row.campaign.created_at,
        )
        for row in rows.select_related("campaign")[: size + 1]
    ]
    return found[:size], len(found) > size


def decisions_of(reach: Reach, *, before: int | None = None, size: int) -> tuple[list[Entry], bool]:
    """(the decisions before this number, whether there are more)."""
    rows = _decisions(reach).order_by("-seq")
    return entries_of(rows.filter(seq__lt=before) if before is not None else rows, size)


def counts_of(name: str, reach: Reach) -> Counts:
    """How much there is."""
    lists: Sequence[QuerySet[Run] | QuerySet[Delivery] | QuerySet[Decision]] = (
        _runs(name), _deliveries(reach), _decisions(reach),
    )  # fmt: skip
    return Counts(*(rows.order_by()[:COUNTED].count() for rows in lists))


def _decisions(reach: Reach) -> QuerySet[Decision]:
    return Decision.objects.filter(reach.decisions, NOT_AN_OUTCOME)


def _runs(name: str) -> QuerySet[Run]:
    return Run.objects.filter(subject=name)


def _deliveries(reach: Reach) -> QuerySet[Delivery]:
    return Delivery.objects.filter(Q(id__in=reach.deliveries) | Q(version_id__in=reach.proposed))
