"""What a campaign is compared with: the version that was decided on before, or the most similar one approved before."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models.functions import Left

from approvals.models import Campaign, Decision, Version
from approvals.rules.content import Content
from approvals.rules.words_changed import alike
from approvals.selectors.attachments import content_of

LOOKED_AT = 50  # approvals of the agent among which the nearest is looked for
ALIKE = 0.25  # of all the words of two letters that both must hold at least to be compared
FIRST = 5  # addresses that are named
_APPROVED = ("approved", "sending", "paused", "finished", "stopped")
_COMPARED = 20_000  # characters of a text that say which is the nearest
_DECIDED = ("approve", "return_campaign", "reject", "cancel_send", "stop")

# Whoever was erased has no address any more, and no key that both versions would know them by.
_ONLY_IN = """select count(*), (array_agg(a.address order by a.position))[:%s] from approvals_delivery a
where a.version_id = %s and a.address <> '' and not exists (select from approvals_delivery b
  where b.workspace_id = a.workspace_id and b.version_id = %s and b.dedupe_key = a.dedupe_key)"""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A version that somebody decided on before: of the same campaign, or of another one that was approved."""

    campaign_id: UUID
    name: str
    version_id: UUID
    version: int
    content: Content
    kind: str
    by: str
    at: datetime | None
    same_campaign: bool


@dataclass(frozen=True, slots=True)
class Lists:
    """How many recipients came and went between two versions, and the first of them, in the order of their lists."""

    came: int
    first_came: Sequence[str]
    gone: int
    first_gone: Sequence[str]


def reviewed_before(campaign_id: UUID, version: int) -> Earlier | None:
    """The newest earlier version of this campaign that somebody decided on; the one before where nobody did."""
    before = Version.objects.filter(campaign_id=campaign_id, number__lt=version).order_by("-number")
    decisions = Decision.objects.filter(item_id=campaign_id, kind__in=_DECIDED).order_by("-seq")
    decided = decisions.filter(digest__in=before.exclude(digest="").values("digest")).first()
    found = before.filter(digest=decided.digest).first() if decided else before.first()
    return _earlier(found, decided, same_campaign=True) if found else None


def approved_before(campaign_id: UUID, agent: str) -> Sequence[tuple[Version, Decision]]:
    """The versions behind the agent's last approvals of other campaigns, newest first; text and HTML cut short.

    An approval that was taken back does not count.
    """
    approvals = Decision.objects.filter(kind="approve", agent=agent).exclude(item_id=campaign_id)
    latest = {
        (decision.item_id, decision.digest): decision
        for decision in reversed(approvals.order_by("-seq")[:LOOKED_AT])
    }
    if not latest:
        return []
    standing = Campaign.objects.filter(
        id__in={item_id for item_id, _ in latest}, agent=agent, status__in=_APPROVED
    )
    versions: Any = (
        Version.objects.filter(campaign__in=standing, digest__in={digest for _, digest in latest})
        .annotate(beginning=Left("text", _COMPARED))
        .defer("text", "html")
    )
    pairs = [
        (version, latest[version.campaign_id, version.digest])
        for version in versions
        if (version.campaign_id, version.digest) in latest
    ]
    return sorted(pairs, key=lambda pair: -pair[1].seq)


def nearest(content: Content, before: Sequence[tuple[Version, Decision]]) -> Earlier | None:
    """The most similar of them, the newest of equals; None where none has much in common with it."""
    mine = f"{content.subject} {content.text[:_COMPARED]}"
    best, measure = None, ALIKE
    for version, decision in before:
        beginning: str = version.beginning  # type: ignore[attr-defined]  # annotated above
        common = alike(mine, f"{version.subject_line} {beginning}")
        if common > measure or (best is None and common == measure):
            best, measure = (version, decision), common
    return _earlier(*best, same_campaign=False) if best else None


def lists_changed(version_id: UUID, earlier_id: UUID) -> Lists:
    """Who is in one version and not in the other."""
    with connection.cursor() as cursor:
        cursor.execute(_ONLY_IN, [FIRST, version_id, earlier_id])
        came, first_came = cursor.fetchone()
        cursor.execute(_ONLY_IN, [FIRST, earlier_id, version_id])
        gone, first_gone = cursor.fetchone()
    return Lists(came, first_came or [], gone, first_gone or [])


def _earlier(version: Version, decision: Decision | None, *, same_campaign: bool) -> Earlier:
    campaign = Campaign.objects.get(id=version.campaign_id)
    return Earlier(
        campaign_id=campaign.id,
        name=campaign.name,
        version_id=version.id,
        version=version.number,
        content=content_of(version),
        kind=decision.kind if decision else "",
        by=decision.actor_name if decision else "",
        at=decision.at if decision else None,
        same_campaign=same_campaign,
    )
