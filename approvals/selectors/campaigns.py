"""One campaign as its pages show it: what would be sent to whom, how far it is, and what waits for a person.

What is shown is one version, the newest unless another is asked for, and beside it how far every version got. Lists
follow the recipients' positions, so that no page reads them all.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery

from approvals.exceptions import NotFound
from approvals.models import AudienceRow, Campaign, Decision, Delivery, Job, Place, Version, Workspace
from approvals.rules.content import Content
from approvals.selectors.attachments import content_of
from approvals.selectors.callbacks import Retried, Untold, retried_of, untold_of
from approvals.selectors.campaign_counts import audience_of, newest_version
from approvals.selectors.campaign_versions import TROUBLED, VersionFacts, versions_of
from approvals.selectors.decisions import NOT_AN_OUTCOME, Entry, entries_of
from approvals.selectors.job_progress import Progress, progress_of
from approvals.selectors.reach import spelling_of

EXCLUDED = ("duplicate", "suppressed", "refused", "already_sent")
PAUSED = 50  # sendings that wait for a person, on one page; each answer makes room for the next


@dataclass(frozen=True, slots=True)
class Paused:
    """A sending that waits for somebody to say whether it goes on: of the campaign, or once more to one `address`."""

    job_id: UUID
    address: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """The list that an audience was drawn from: its name (empty: it came with the proposal), how many rows it has, and
    which were picked. `rest`: of those, whoever an earlier version of the campaign had not reached."""

    list: str = ""
    rows: int = 0
    where: Mapping[str, str] = field(default_factory=dict)
    rest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignFacts:
    """A campaign and where it stands, with one of its `versions` (those are all, the newest first).

    `counts` are those of `campaign_counts`; `waiting` are the deliveries in doubt or failed that nobody has answered
    for yet, by state. Both are of the version alone, and `job` is the execution of its newest approval. `paused` is
    what of the whole campaign waits for a person. `hold_s`: seconds that an approval is held, so that it can be taken
    back. `restored`: the database was restored since it was proposed, so more may have become of it than it knows.
    `untold`: what its agent does not know because it could not be told; `retried`: what it is told again.
    """

    id: UUID
    external_id: str
    agent: str
    name: str
    purpose: str
    status: str
    send_by: datetime | None
    created_at: datetime
    run_id: UUID | None
    run_name: str
    version_id: UUID
    version: int
    digest: str
    content: Content
    counts: Mapping[str, int]
    waiting: Mapping[str, int]
    versions: Sequence[VersionFacts]
    job: Progress | None
    hold_s: int = 0
    paused: Sequence[Paused] = ()
    restored: bool = False
    untold: Untold | None = None
    retried: Retried | None = None
    drawn_from: Drawn | None = None

    @property
    def own(self) -> VersionFacts:
        """The version that is shown, among the others."""
        return next(one for one in self.versions if one.id == self.version_id)

    @property
    def old(self) -> int | None:
        """Its number where another version took its place, which its pages say in their address."""
        return self.version if self.version < self.versions[0].number else None

    @property
    def before(self) -> Sequence[VersionFacts]:
        """The versions before it, the newest first."""
        return [one for one in self.versions if one.number < self.version]

    @property
    def open_troubles(self) -> int:
        """Deliveries of any version for which somebody has to say what became of them."""
        return sum(one.open_troubles for one in self.versions)

    def total(self, *states: str) -> int:
        """Deliveries in one of these states, of every version together."""
        return sum(one.counts[state] for one in self.versions for state in states)

    @property
    def recipients(self) -> int:
        """Everybody whom it can be sent to."""
        return self.counts["addressable"]

    @property
    def excluded(self) -> int:
        """Everybody in the list who gets nothing."""
        return sum(self.counts[state] for state in EXCLUDED)


@dataclass(frozen=True, slots=True)
class Recipient:
    """One recipient with everything that their message is made from. `number` counts from 1, in the list's order.

    `erased`: nothing of them is known any more but their address, so there is no message to show or send.
    """

    delivery_id: UUID
    address: str
    message_id: str
    variables: Mapping[str, object]
    state: str
    attempted_at: datetime | None
    number: int
    previous_id: UUID | None
    next_id: UUID | None
    erased: bool = False


@dataclass(frozen=True, slots=True)
class Left:
    """Somebody in the list who gets nothing, and why."""

    position: int
    email: str
    state: str
    reason: str
    erased: bool = False


@dataclass(frozen=True, slots=True)
class Trouble:
    """A delivery in doubt or failed that nobody has answered for yet."""

    id: UUID
    position: int
    address: str
    state: str
    at: datetime | None
    reply: str


def facts_of(campaign: Campaign, number: int | None = None) -> CampaignFacts:
    """The campaign as it stands now, with its newest version or this one; NotFound where it has none of the number."""
    version = newest_version(campaign.id) if number is None else _version(campaign.id, number)
    versions = versions_of(campaign.id)
    own = next(one for one in versions if one.id == version.id)
    since = Place.objects.filter(restored_at__gt=campaign.created_at)
    hold_s, restored = (
        Workspace.objects.annotate(restored=Exists(since)).values_list("hold_s", "restored").get()
    )
    return CampaignFacts(
        id=campaign.id,
        external_id=campaign.external_id,
        agent=campaign.agent,
        name=campaign.name,
        purpose=campaign.purpose,
        status=campaign.status,
        send_by=campaign.send_by,
        created_at=campaign.created_at,
        run_id=campaign.run.id if campaign.run else None,
        run_name=campaign.run.external_id if campaign.run else "",
        version_id=version.id,
        version=version.number,
        digest=version.digest,
        content=content_of(version),
        counts={**audience_of(version.id), **own.counts},
        waiting=own.waiting,
        versions=versions,
        job=progress_of(campaign_id=campaign.id, delivery_id=None, version_id=version.id),
        hold_s=hold_s,
        paused=_paused(campaign.id),
        restored=restored,
        untold=untold_of(campaign.id),
        retried=retried_of(campaign.id),
        drawn_from=Drawn(**json.loads(version.drawn_from)) if version.drawn_from else None,
    )


def _version(campaign_id: UUID, number: int) -> Version:
    version = Version.objects.filter(campaign_id=campaign_id, number=number).first()
    if version is None:
        raise NotFound()
    return version


def _paused(campaign_id: UUID) -> list[Paused]:
    jobs = Job.objects.filter(campaign_id=campaign_id, status="paused").order_by("created_at", "id")
    rows = jobs.values_list("id", "delivery__address", "outcome")[:PAUSED]
    return [Paused(id, address or "", outcome) for id, address, outcome in rows]


def recipient_of(version_id: UUID, *, delivery_id: UUID | None = None, address: str = "") -> Recipient | None:
    """The recipient with this delivery or address, or the first one where neither is given; None without one."""
    everybody = Delivery.objects.filter(version_id=version_id)
    wanted = everybody
    if delivery_id is not None:
        wanted = everybody.filter(id=delivery_id)
    elif address:
        wanted = everybody.filter(dedupe_key=spelling_of(address))
    before = everybody.filter(position__lt=OuterRef("position")).order_by("-position")
    behind = everybody.filter(position__gt=OuterRef("position")).order_by("position")
    up_to_here = everybody.filter(position__lte=OuterRef("position")).order_by().values("version_id")
    own_row = AudienceRow.objects.filter(id=OuterRef("audience_row_id"))
    row = (
        wanted.order_by("position")
        .annotate(
            previous_id=Subquery(before.values("id")[:1]),
            next_id=Subquery(behind.values("id")[:1]),
            number=Subquery(up_to_here.annotate(number=Count("*")).values("number")),
            vars=Subquery(own_row.values("vars")),
            erased_at=Subquery(own_row.values("erased_at")),
        )
        .first()
    )
    if row is None:
        return None
    return Recipient(
        delivery_id=row.id,
        address=row.address,
        message_id=row.message_id,
        variables=json.loads(row.vars),
        state=row.state,
        attempted_at=row.attempted_at,
        number=row.number,
        previous_id=row.previous_id,
        next_id=row.next_id,
        erased=row.erased_at is not None,
    )


def addresses(version_id: UUID, *, at_most: int) -> Sequence[tuple[UUID, str]]:
    """(delivery, address) of the first recipients, in order."""
    rows = Delivery.objects.filter(version_id=version_id).order_by("position")
    return list(rows.values_list("id", "address")[:at_most])


def excluded(version_id: UUID, *, after: int = 0, size: int) -> tuple[list[Left], bool]:
    """(those who get nothing, behind this position; whether there are more)."""
    rows = AudienceRow.objects.filter(version_id=version_id, state__in=EXCLUDED, position__gt=after)
    found = [
        Left(row.position, row.email, row.state, row.reason, row.erased_at is not None)
        for row in rows.order_by("position")[: size + 1]
    ]
    return found[:size], len(found) > size


def troubled(version_id: UUID, state: str, *, after: int = 0, size: int) -> tuple[list[Trouble], bool]:
    """(the deliveries in this state that wait for an answer, behind this position; whether there are more)."""
    rows = _waiting(version_id).filter(state=state, position__gt=after).order_by("position")
    found = [
        Trouble(row.id, row.position, row.address, row.state, row.settled_at or row.attempted_at, row.reply)
        for row in rows[: size + 1]
    ]
    return found[:size], len(found) > size


def decisions_of(campaign_id: UUID, *, size: int) -> tuple[list[Entry], bool]:
    """(the newest decisions on the campaign and its deliveries, whether there are more)."""
    return entries_of(Decision.objects.filter(NOT_AN_OUTCOME, item_id=campaign_id).order_by("-seq"), size)


def _waiting(version_id: UUID) -> QuerySet[Any]:
    rows = Delivery.objects.filter(version_id=version_id, state__in=TROUBLED, resolved_at=None)
    return rows.order_by()
