"""Sending one campaign, one recipient a transaction: an intent is committed before each message, and its outcome is
settled only by whoever still holds the job's fence."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from approvals.models import AudienceRow, Campaign, Decision, Delivery, Job, Version
from approvals.rules.content import Content
from approvals.rules.decisions import ERASED, TOO_LATE
from approvals.services import jobs
from approvals.services.jobs import Claim

RETRY_S = 30.0  # after a server that was not there, or asked to wait
ATTEMPTS = 5  # for one recipient whose server keeps asking to wait
STOPPED = "The campaign was stopped."
_WAIT: Any = timedelta(seconds=RETRY_S)


@dataclass(frozen=True, slots=True)
class Intent:
    """One message that is about to go out: everything its bytes are made from."""

    delivery_id: UUID
    address: str
    message_id: str
    vars: str
    date: datetime


@dataclass(frozen=True, slots=True)
class Sealed:
    """The version that was approved."""

    version_id: UUID
    content: Content


@transaction.atomic
def begin(*, held: Claim) -> Sealed | None:
    """Start, or go on with, the campaign of this claim. None where it must not: the job is then ended with why."""
    campaign = Campaign.objects.select_for_update(no_key=True).get(id=held.target_id)
    if not jobs.is_ours(held):
        return None
    version = Version.objects.filter(campaign_id=campaign.id).latest("number")
    approved = Decision.objects.filter(jobs__id=held.job_id).values_list("digest", flat=True).get()
    if approved != version.digest:
        # It waits for a decision again: the one that was made is about another content.
        approved_one = Campaign.objects.filter(id=campaign.id, status="approved")
        jobs.finish(
            held,
            "failed",
            "The campaign is not the one that was approved any more; nothing was sent.",
            then=lambda: approved_one.update(status="pending"),
        )
        return None
    if held.delivery_id is None:
        if campaign.status == "approved":
            if Campaign.objects.filter(id=campaign.id, send_by__lt=Now()).exists():
                # Approved in time, but no worker took it in time: a person decides again.
                this = Campaign.objects.filter(id=campaign.id)
                said = f"Nothing was sent. {TOO_LATE}"
                jobs.finish(held, "failed", said, then=lambda: this.update(status="pending"))
                return None
            Campaign.objects.filter(id=campaign.id).update(status="sending")
        elif campaign.status != "sending":
            _skip_left(held)
            jobs.finish(held, "done", STOPPED)
            return None
    return Sealed(version.id, content_of(version))


def content_of(version: Version) -> Content:
    """What preview and message are made from."""
    return Content(version.from_address, version.reply_to, version.subject_line, version.text, version.html)


_INTENT = """
    update approvals_delivery d set state = 'attempting', job_id = j.id, fence = j.fence, attempt = d.attempt + 1,
      attempted_at = date_trunc('second', clock_timestamp()), settled_at = null, reply = ''
    from approvals_job j, approvals_campaign c
    where d.id = (
        select next.id from approvals_delivery next
        where next.version_id = %s and next.state = 'planned' and {whose}
          and (next.attempt = 0 or next.settled_at is null or next.settled_at < clock_timestamp() - %s)
        order by next.attempt, next.position limit 1 for update skip locked)
      and j.id = %s and j.fence = %s and j.status = 'running' and j.lease_until > clock_timestamp()
      and c.id = j.campaign_id and d.campaign_id = c.id and (j.delivery_id is not null or c.status = 'sending')
    returning d.id, d.address, d.message_id, d.audience_row_id, d.attempted_at
"""
_THIS_ONE = _INTENT.format(whose="next.id = %s")
# A recipient that somebody sends to again has a job of its own.
_ANY_OTHER = _INTENT.format(
    whose="""not exists (select from approvals_job own where own.campaign_id = %s
          and own.delivery_id = next.id and own.status in ('held', 'queued', 'paused', 'running'))"""
)


@transaction.atomic
def next_intent(*, held: Claim, sealed: Sealed) -> Intent | None:
    """Mark the next planned delivery as being attempted; None when there is none, or the job is no longer ours."""
    # A stop takes this row; whoever comes second sees what the first one did.
    Campaign.objects.select_for_update(no_key=True).get(id=held.target_id)
    while row := _mark_next(held, sealed):
        id, address, message_id, audience_row_id, date = row
        vars, erased_at = AudienceRow.objects.values_list("vars", "erased_at").get(id=audience_row_id)
        if erased_at is None:
            return Intent(delivery_id=id, address=address, message_id=message_id, vars=vars, date=date)
        _skip_erased(id)
    return None


def _mark_next(held: Claim, sealed: Sealed) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(
            _THIS_ONE if held.delivery_id else _ANY_OTHER,
            [sealed.version_id, held.delivery_id or held.target_id, _WAIT, held.job_id, held.fence],
        )
        return cursor.fetchone()


def _skip_erased(delivery_id: UUID) -> None:
    """Erased while it was asked to wait: it never leaves. It was not attempted, whatever the row says so far."""
    one = Delivery.objects.filter(id=delivery_id)
    one.update(state="planned", attempt=F("attempt") - 1)
    one.update(state="skipped", settled_at=Now(), reply=ERASED)


@transaction.atomic
def settle(*, held: Claim, intent: Intent, state: str, reply: str, counts: bool = True) -> bool:
    """Write down what became of one message; False if the lease was lost meanwhile and it is in doubt already.

    `state` is sent, failed, in_doubt, or planned for one that certainly was not sent. `counts` is false where that
    was the channel's fault: such an attempt says nothing about the recipient.
    """
    free = 0 if counts else 1
    with connection.cursor() as cursor:
        cursor.execute(
            "update approvals_delivery set settled_at = clock_timestamp(), reply = %s,"
            " attempt = attempt - %s,"
            " state = case when %s = 'planned' and attempt - %s >= %s then 'failed' else %s end"
            " where id = %s and state = 'attempting' and job_id = %s and fence = %s",
            [reply, free, state, free, ATTEMPTS, state, intent.delivery_id, held.job_id, held.fence],
        )
        return bool(cursor.rowcount == 1)


@transaction.atomic
def end_batch(*, held: Claim, trouble: str = "") -> str:
    """Give the job back while recipients are left, else end it; the job's new status.

    `trouble` is what stopped the channel as a whole; then, or when all that is left was asked to wait, it rests.
    """
    campaign = Campaign.objects.select_for_update(no_key=True).get(id=held.target_id)
    if not jobs.is_ours(held):
        return "lost"
    if held.delivery_id is None and campaign.status != "sending":
        _skip_left(held)  # one that was asked to wait while the rest was skipped
        return "done" if jobs.finish(held, "done", f"Stopped: {_told(held)}") else "lost"
    left = _left(held)
    if left.exists():
        waits = bool(trouble) or not left.filter(attempt=0).exists()
        why = f"The mail server asked to wait, or was not there: {trouble}" if trouble else ""
        given_back = jobs.requeue(held, wait_s=RETRY_S if waits else 0, outcome=why)
        return "queued" if given_back else "lost"
    ended = jobs.finish(held, "done", _told(held), then=lambda: _finish_campaign(campaign, held))
    return "done" if ended else "lost"


def _finish_campaign(campaign: Campaign, held: Claim) -> None:
    """A campaign is finished with the last of its jobs."""
    others = Job.objects.filter(campaign_id=campaign.id, status__in=jobs.OPEN).exclude(id=held.job_id)
    if campaign.status == "sending" and not others.exists():
        with connection.cursor() as cursor:
            cursor.execute(
                "update approvals_campaign set status = 'finished', finished_at = clock_timestamp() where id = %s",
                [campaign.id],
            )


def _left(held: Claim) -> QuerySet[Delivery]:
    """What is still to be sent by this job."""
    planned = Delivery.objects.filter(campaign_id=held.target_id, state="planned")
    if held.delivery_id:
        return planned.filter(id=held.delivery_id)
    own = Job.objects.filter(campaign_id=held.target_id, status__in=jobs.OPEN)
    return planned.exclude(id__in=own.filter(delivery__isnull=False).values("delivery_id"))


def _skip_left(held: Claim) -> None:
    _left(held).update(state="skipped", settled_at=Now(), reply=STOPPED)


def _told(held: Claim) -> str:
    ours = Delivery.objects.filter(job_id=held.job_id)
    counts = {state: ours.filter(state=state).count() for state in ("sent", "failed", "in_doubt")}
    return f"{counts['sent']} sent, {counts['failed']} failed, {counts['in_doubt']} in doubt."
