"""One batch of a campaign's sending, from its beginning to what becomes of its job; in between is `services/rounds`."""

from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from approvals.models import Campaign, Decision, Delivery, Job, Version, Workspace
from approvals.rules.callbacks import FINISHED
from approvals.rules.content import Content
from approvals.rules.decisions import TOO_LATE
from approvals.services import callbacks, jobs
from approvals.services.jobs import Claim

PATIENCE = 4  # how many times longer each wait for one recipient is than the one before it
STOPPED = "The campaign was stopped."
REFUSED = (
    "The mail server refuses the sender, so nothing more goes out until somebody lets it go on. It said: "
)
# When a recipient who was asked to wait is tried once more; at once, where somebody sends to them again.
# The one value to give along is settings.SEND_RETRY_S.
_WAIT = f"make_interval(secs => %s::float8 * power({PATIENCE}, d.attempt - 1))"
DUE_AGAIN = f"coalesce(d.settled_at + {_WAIT}, '-infinity')"


@dataclass(frozen=True, slots=True)
class Sealed:
    """The version that was approved, and how it may go out."""

    version_id: UUID
    digest: str
    content: Content
    paced: bool = False  # the workspace allows so many messages a minute


@dataclass(frozen=True, slots=True)
class Trouble:
    """What stopped the channel as a whole. With `needs_person` waiting would change nothing."""

    said: str
    needs_person: bool = False


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
    paced = Workspace.objects.filter(messages_per_minute__gt=0).exists()
    return Sealed(version.id, version.digest, content_of(version), paced)


def content_of(version: Version) -> Content:
    """What preview and message are made from."""
    return Content(version.from_address, version.reply_to, version.subject_line, version.text, version.html)


@transaction.atomic
def end_batch(*, held: Claim, trouble: Trouble | None = None, pace_s: float = 0) -> str:
    """Give the job back while recipients are left, else end it; the job's new status.

    After `trouble`, or when all that is left was asked to wait, it rests; so it does for `pace_s` seconds, where as
    many messages as the workspace allows have gone out.
    """
    campaign = Campaign.objects.select_for_update(no_key=True).get(id=held.target_id)
    if not jobs.is_ours(held):
        return "lost"
    if held.delivery_id is None and campaign.status != "sending":
        _skip_left(held)  # one that was asked to wait while the rest was skipped
        return "done" if jobs.finish(held, "done", f"Stopped: {_told(held)}") else "lost"
    if not _left(held).exists():
        ended = jobs.finish(held, "done", _told(held), then=lambda: _finish_campaign(campaign, held))
        return "done" if ended else "lost"
    if trouble is not None and trouble.needs_person:
        return "paused" if jobs.pause(held, outcome=f"{REFUSED}{trouble.said}") else "lost"
    wait_s = max(pace_s, settings.SEND_RETRY_S if trouble else _next_in(held))
    why = f"The mail server asked to wait, or was not there: {trouble.said}" if trouble else ""
    return "queued" if jobs.requeue(held, wait_s=wait_s, outcome=why) else "lost"


def _next_in(held: Claim) -> float:
    """Seconds until somebody may be written to: 0 while one is left who was not asked to wait."""
    left = _left(held)
    if left.filter(attempt=0).exists():
        return 0
    sql, values = left.values("id").query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(
            f"select extract(epoch from min({DUE_AGAIN}) - clock_timestamp())"  # noqa: S608 - our own words
            f" from approvals_delivery d where d.id in ({sql})",
            [settings.SEND_RETRY_S, *values],
        )
        [seconds] = cursor.fetchone()
    return max(0.0, float(seconds or 0))


def _finish_campaign(campaign: Campaign, held: Claim) -> None:
    """A campaign is finished with the last of its jobs."""
    others = Job.objects.filter(campaign_id=campaign.id, status__in=jobs.OPEN).exclude(id=held.job_id)
    if campaign.status == "sending" and not others.exists():
        with connection.cursor() as cursor:
            cursor.execute(
                "update approvals_campaign set status = 'finished', finished_at = clock_timestamp() where id = %s",
                [campaign.id],
            )
        callbacks.note(campaign_id=campaign.id, type=FINISHED)


def _left(held: Claim) -> QuerySet[Delivery]:
    """What is still to be sent by this job."""
    versions = Version.objects.filter(campaign_id=held.target_id)  # the way into the index
    planned = Delivery.objects.filter(version_id__in=versions.values("id"), state="planned")
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
