"""Telling the runtime that proposed a campaign what became of it.

News are written down in the transaction that makes them (`note`), and told afterwards by a worker: claimed by one
conditional update, told between two transactions, settled by whoever still holds the fence. This is the one effect
that is repeated when a worker was lost: the id under which it is told stays the same, and the standard has a receiver
recognise by it what it heard before. News that are never told would leave an agent waiting; news that are told twice
cost nothing.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models.functions import Now

from approvals.access.actors import Actor
from approvals.access.desk import campaign_for
from approvals.exceptions import Conflict
from approvals.models import Callback, Campaign, Decision, Runtime
from approvals.rules.callbacks import body_of, pause_after
from approvals.rules.shown import Shown
from approvals.selectors import campaign_counts
from approvals.selectors.callbacks import newest
from approvals.services import decisions, secrets

NO_ADDRESS = "This runtime has no callback address any more."
UNSIGNED = f"{secrets.UNREADABLE} Then have this told again."
NOTHING_UNTOLD = "Nothing waits to be told again about this campaign. Reload the page to see where it stands."
NOBODY_LISTENS = (
    "Its runtime has no callback address, so there is nobody to tell; an admin can say one on Setup."
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A callback in this worker's hands until the lease ends, with all that is needed to tell it."""

    callback_id: UUID
    fence: int
    attempts: int  # with this one
    url: str
    secret: str = field(repr=False)
    body: str = field(repr=False)


@transaction.atomic
def note(*, campaign_id: UUID, type: str, decision_id: UUID | None = None, reason: str = "") -> None:
    """News of a campaign as it stands now, for the runtime that proposed it, if that wants to be told.

    `reason` says why, where no comment does. Called in the transaction that makes the news, under the campaign's lock
    and before its entry in the log; the decision may follow until the commit.
    """
    campaign = Campaign.objects.filter(id=campaign_id, runtime__callback_url__gt="").first()
    if campaign is None:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "select clock_timestamp(), coalesce(max(number), 0) + 1 from approvals_callback where campaign_id = %s",
            [campaign_id],
        )
        at, number = cursor.fetchone()
    Callback.objects.create(
        workspace_id=campaign.workspace_id,
        campaign_id=campaign_id,
        number=number,
        decision_id=decision_id,
        type=type,
        body=body_of(type, at, campaign_counts.told(campaign_id), reason=reason),
    )


@transaction.atomic
def claim(*, callback_id: UUID) -> Claim | None:
    """Take a callback that is due and whose turn it is.

    None if it is not there to be taken, nobody listens, or nothing can be signed: the last two give it up.
    """
    with connection.cursor() as cursor:
        lease: Any = timedelta(seconds=settings.LEASE_S)  # Django's types do not know that it is an interval
        cursor.execute(
            """
            update approvals_callback set fence = fence + 1, attempts = attempts + 1,
              lease_until = clock_timestamp() + %s
            where id = (select c.id from approvals_callback c
                        where c.id = %s and c.status = 'waiting' and c.due_at <= clock_timestamp()
                          and (c.lease_until is null or c.lease_until < clock_timestamp())
                          and not exists (select from approvals_callback b where b.workspace_id = c.workspace_id
                                          and b.campaign_id = c.campaign_id and b.number < c.number
                                          and b.status = 'waiting')
                        for update skip locked)
            returning campaign_id, fence, attempts, body
            """,
            [lease, callback_id],
        )
        row = cursor.fetchone()
    if row is None:
        return None
    campaign_id, fence, attempts, body = row
    runtime = Runtime.objects.get(id__in=Campaign.objects.filter(id=campaign_id).values("runtime_id"))
    secret = secrets.signing(bytes(runtime.signing_secret))
    held = Claim(callback_id, fence, attempts, runtime.callback_url, secret or "", body)
    if not runtime.callback_url or secret is None:
        _give_up(held, UNSIGNED if runtime.callback_url else NO_ADDRESS)
        return None
    return held


@transaction.atomic
def settle(*, held: Claim, kind: str, detail: str) -> bool:
    """Write down what came of it: told, gone or not_told. False if this worker holds the callback no more."""
    if kind == "told":
        return _update(held, status="told", told_at=Now(), answer=detail, lease_until=None)
    pause_s = None if kind == "gone" else pause_after(held.attempts)
    if pause_s is None:
        return _give_up(held, detail)
    return _update(held, answer=detail, lease_until=None, due_at=Now() + timedelta(seconds=pause_s))


def _give_up(held: Claim, why: str) -> bool:
    return _update(held, status="given_up", answer=why, lease_until=None)


def _update(held: Claim, **values: Any) -> bool:
    mine = Callback.objects.filter(id=held.callback_id, fence=held.fence, lease_until__isnull=False)
    return mine.update(**values) == 1


@transaction.atomic
def tell_again(*, by: Actor, campaign_id: UUID, shown: Shown) -> tuple[Decision, bool]:
    """Have the last news of a campaign told again that were given up; older ones are overtaken by them.

    (The decision, whether it only repeats one's own); NotFound, NotAllowed, AlreadyDecided, Conflict.
    """
    campaign_for(by, campaign_id)
    by.require("tell_again")
    campaign = Campaign.objects.select_for_update(no_key=True).get(id=campaign_id)
    last = newest(campaign_id)
    if last is None or last.status != "given_up":
        first = Decision.objects.filter(target_id=campaign_id, kind="tell_again").order_by("-seq").first()
        if first is None or first.at < shown.opened_at:
            raise Conflict(NOTHING_UNTOLD)
        return decisions.own_or_refused(first, by=by, kind="tell_again", target_id=campaign_id), True
    if campaign.runtime is None or not campaign.runtime.callback_url:
        raise Conflict(NOBODY_LISTENS)
    Callback.objects.filter(id=last.id, status="given_up").update(status="waiting", attempts=0, due_at=Now())
    decision = decisions.record(
        by=by,
        kind="tell_again",
        target_kind="campaign",
        target_id=campaign_id,
        item_id=campaign_id,
        agent=campaign.agent,
        digest=shown.digest,
        opened_at=shown.opened_at,
        evidence={"campaign": campaign.name, "told": last.type, "answer": last.answer},
    )
    return decision, False
