"""Every version of a campaign: who proposed it, how far it got, and what was decided about it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, QuerySet

from approvals.models import Decision, Delivery, Version
from approvals.rules.states import DELIVERY

TROUBLED = ("in_doubt", "failed")
WRITTEN = ("sent", "in_doubt", "failed")
# What is said of a version as a whole.
_ABOUT = ("approve", "return_campaign", "reject", "cancel_send", "stop")


@dataclass(frozen=True, slots=True)
class VersionFacts:
    """One version. `counts` are its deliveries by state, `waiting` those in doubt or failed that nobody answered for,
    and `overtaken` how many of the failed a newer version wrote to since.

    The proposer's kind and id are those of an actor; both are empty where nobody knows any more.
    """

    id: UUID
    number: int
    digest: str
    proposer_kind: str
    proposer_id: str
    proposer_name: str
    created_at: datetime
    counts: Mapping[str, int]
    waiting: Mapping[str, int]
    overtaken: int = 0

    @property
    def open_troubles(self) -> int:
        """How many deliveries wait for somebody to say what became of them."""
        return sum(self.waiting.values())

    @property
    def tried(self) -> bool:
        """Whether any of it left, or may have, or was refused."""
        return any(self.counts[state] for state in ("attempting", "sent", *TROUBLED))


@dataclass(frozen=True, slots=True)
class Said:
    """The newest decision about a version as a whole: its kind, and whose it was."""

    kind: str
    by: str
    at: datetime


def versions_of(campaign_id: UUID) -> tuple[VersionFacts, ...]:
    """All of them, the newest first."""
    rows = list(Version.objects.filter(campaign_id=campaign_id).order_by("-number").only(
        "id", "number", "digest", "proposer_kind", "proposer_id", "proposer_name", "created_at", "workspace_id"
    ))  # fmt: skip
    everything = Delivery.objects.filter(version_id__in=[row.id for row in rows])
    counts = _by_version(everything)
    waiting = _by_version(everything.filter(state__in=TROUBLED, resolved_at=None))
    since = _by_version(overtaken(campaign_id)) if len(rows) > 1 else {}
    return tuple(
        VersionFacts(
            id=row.id,
            number=row.number,
            digest=row.digest,
            proposer_kind=row.proposer_kind,
            proposer_id=row.proposer_id,
            proposer_name=row.proposer_name,
            created_at=row.created_at,
            counts={state: counts[row.id].get(state, 0) for state in DELIVERY.states},
            waiting=waiting[row.id],
            overtaken=sum(since.get(row.id, {}).values()),
        )
        for row in rows
    )


def overtaken(campaign_id: UUID) -> QuerySet[Delivery]:
    """The deliveries of this campaign that failed, and whose recipient a newer version of it wrote to."""
    newer = written_to(campaign_id).filter(version__number__gt=OuterRef("version__number"))
    return Delivery.objects.filter(
        Exists(newer), campaign_id=campaign_id, version_id__in=_ids(campaign_id), state="failed"
    )


def written_to(campaign_id: UUID) -> QuerySet[Delivery]:
    """Within another query, the deliveries by which any version of this campaign wrote to the same recipient."""
    return Delivery.objects.filter(
        dedupe_key=OuterRef("dedupe_key"), campaign_id=campaign_id, state__in=WRITTEN
    )


def _ids(campaign_id: UUID) -> QuerySet[Version, Any]:
    """The way into the index."""
    return Version.objects.filter(campaign_id=campaign_id).values("id")


def number_with(campaign_id: UUID, delivery_id: UUID) -> int | None:
    """The number of the version of this campaign that the delivery is of; None where it is of another campaign."""
    found = Delivery.objects.filter(id=delivery_id, campaign_id=campaign_id)
    return found.values_list("version__number", flat=True).first()


def decided_about(campaign_id: UUID) -> Mapping[str, Said]:
    """What was decided last about each version as a whole, by the digest that the decision is bound to."""
    entries = Decision.objects.filter(item_id=campaign_id, target_id=campaign_id, kind__in=_ABOUT)
    return {entry.digest: Said(entry.kind, entry.actor_name, entry.at) for entry in entries.order_by("seq")}


def _by_version(rows: QuerySet[Any]) -> Mapping[UUID, Mapping[str, int]]:
    found: dict[UUID, dict[str, int]] = defaultdict(dict)
    counted: Sequence[tuple[UUID, str, int]] = list(
        rows.order_by().values_list("version_id", "state").annotate(number=Count("*"))
    )
    for version_id, state, number in counted:
        found[version_id][state] = number
    return found
