"""One batch of a campaign's sending, from its beginning to what becomes of its job; in between is `services/rounds`."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet, TextField
from django.db.models.functions import Cast, Now

from approvals.models import Campaign, Decision, Delivery, Job, Member, Version, Workspace
from approvals.rules.callbacks import (
    APPROVER_LEFT,
    FINISHED,
    LINKS_LEAD_NOWHERE,
    NOT_BEGUN,
    NOT_THE_APPROVED,
    SEND_BY_OVER,
)
from approvals.rules.callbacks import OVERDUE as TOLD_OVERDUE
from approvals.rules.content import Content
from approvals.rules.decisions import TOO_LATE
from approvals.rules.permissions import allowed
from approvals.selectors.attachments import content_of
from approvals.services import callbacks, jobs, overtaken, own_address
from approvals.services.jobs import Claim

PATIENCE = 4  # how many times longer each wait for one recipient is than the one before it
STOPPED = "The campaign was stopped."
CHANGED = "The campaign is not the one that was approved any more; nothing was sent."
REPLACED = "Another version took the place of the one that was approved: "
LEFT_THE_ROLE = "Nothing was sent: {name}, who approved this, may not approve campaigns any more."
OVERDUE = (
    "It was to go out at {at}, and nobody could send it for more than {hours}. Let it go on, or take it back."
)
REFUSED = (
    "The mail server refuses the sender, so nothing more goes out until somebody lets it go on. It said: "
)
NOTHING_LEFT = "Nothing more goes out until an operator has mended this and somebody lets it go on."
WAITS = "The mail server asked to wait, or was not there: "
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
    """What stopped the channel as a whole. With `needs_person` waiting would change nothing.

    `of_files`: it is no word of the mail server's, but what is wrong with the attached files.
    """

    said: str
    needs_person: bool = False
    of_files: bool = False


@transaction.atomic
def begin(*, held: Claim) -> Sealed | None:
    """Start, or go on with, the campaign of this claim. None where it must not: the job then says why.

    What is sent is the version that the decision is bound to: of a campaign its newest, to one recipient theirs.
    """
    campaign = Campaign.objects.select_for_update(no_key=True).get(id=held.target_id)
    if not jobs.is_ours(held):
        return None
    overtaken.settle(campaign.id)
    version = _version_of(held)
    if not Decision.objects.filter(jobs__id=held.job_id, digest=version.digest).exists():
        _not_begun(held, campaign, CHANGED, told=NOT_THE_APPROVED)
        return None
    if held.delivery_id is None and _is_replaced(version):
        _end_replaced(held, campaign)
        return None
    if _has_no_address(held, campaign):
        return None
    if held.delivery_id is None and not _may_begin(held, campaign):
        return None
    paced = Workspace.objects.filter(messages_per_minute__gt=0).exists()
    return Sealed(version.id, version.digest, content_of(version), paced)


def _is_replaced(version: Version) -> bool:
    """Whether another version took the place of this one: then nothing more of it goes out by itself."""
    return Version.objects.filter(campaign_id=version.campaign_id, number__gt=version.number).exists()


def _end_replaced(held: Claim, campaign: Campaign) -> str:
    """Whoever was under way when the other version came is in that one too, so nobody is lost; the job's status."""
    _skip_left(held)
    began = Delivery.objects.filter(job_id=held.job_id).exists()
    status, said = ("done", f"{REPLACED}{_told(held)}") if began else ("failed", CHANGED)
    return (
        status
        if jobs.finish(held, status, said, then=lambda: finish_if_over(campaign, job_id=held.job_id))
        else "lost"
    )


def _has_no_address(held: Claim, campaign: Campaign) -> bool:
    """Whether the job was laid down because the links in its messages would lead nowhere."""
    goes_out = held.delivery_id is not None or campaign.status in ("approved", "sending")
    why = own_address.why_nothing_is_sent() if goes_out else ""
    paused = bool(why) and jobs.pause(held, outcome=f"{NOTHING_LEFT} {why}")
    if paused and held.delivery_id is None and campaign.status == "approved":
        callbacks.note(campaign_id=campaign.id, type=NOT_BEGUN, reason=LINKS_LEAD_NOWHERE)
    return paused


def _may_begin(held: Claim, campaign: Campaign) -> bool:
    """Whether the campaign's own job goes on; where not it is ended, or laid down, with why."""
    if campaign.status == "approved":
        if Campaign.objects.filter(id=campaign.id, send_by__lt=Now()).exists():
            # Approved in time, but no worker took it in time: a person decides again.
            _not_begun(held, campaign, f"Nothing was sent. {TOO_LATE}", told=SEND_BY_OVER)
        elif who := _left_the_role(held):
            _not_begun(held, campaign, LEFT_THE_ROLE.format(name=who), told=APPROVER_LEFT)
        elif due_at := _overdue_since(held):
            hours = f"{settings.START_OVERDUE_S / 3600:g} h"
            if jobs.pause(held, outcome=OVERDUE.format(at=f"{due_at:%Y-%m-%d %H:%M} UTC", hours=hours)):
                callbacks.note(campaign_id=campaign.id, type=NOT_BEGUN, reason=TOLD_OVERDUE)
        else:
            Campaign.objects.filter(id=campaign.id).update(status="sending")
            return True
        return False
    if campaign.status == "paused":
        jobs.pause(held, outcome=_who_paused(campaign))
        return False
    if campaign.status == "stopped":
        _skip_left(held)
        jobs.finish(held, "done", STOPPED)
    elif campaign.status != "sending":  # it waits for another decision, and nobody in it is given up
        jobs.finish(held, "failed", CHANGED)
    return campaign.status == "sending"


def _not_begun(held: Claim, campaign: Campaign, why: str, *, told: str) -> None:
    """The job ends before anything was sent, and the campaign waits for a decision again: `told` to its agent."""

    def waits_again() -> None:
        if Campaign.objects.filter(id=campaign.id, status="approved").update(status="pending"):
            callbacks.note(campaign_id=campaign.id, type=NOT_BEGUN, reason=told)

    jobs.finish(held, "failed", why, then=waits_again)


def _version_of(held: Claim) -> Version:
    if held.version_id is None:
        raise ValueError("a job that sends nothing")
    return Version.objects.get(id=held.version_id)


def _left_the_role(held: Claim) -> str:
    """The name of whoever approved, where the role was taken from them meanwhile; members themselves stay."""
    approved = Decision.objects.get(jobs__id=held.job_id)
    them = Member.objects.annotate(who=Cast("user_id", TextField())).filter(who=approved.actor_id)
    roles = them.values_list("roles", flat=True).first() if approved.actor_kind == "member" else None
    return "" if roles is None or allowed(roles, "approve") else approved.actor_name


def _overdue_since(held: Claim) -> datetime | None:
    """When it was to begin, if that is longer ago than anybody would expect."""
    late = Job.objects.filter(id=held.job_id, due_at__lt=Now() - timedelta(seconds=settings.START_OVERDUE_S))
    return late.values_list("due_at", flat=True).first()


def _who_paused(campaign: Campaign) -> str:
    paused = Decision.objects.filter(target_id=campaign.id, kind="pause_send").order_by("-seq").first()
    return f"Paused by {paused.actor_name}." if paused else "It was paused."


@transaction.atomic
def end_batch(*, held: Claim, trouble: Trouble | None = None, pace_s: float = 0) -> str:
    """Give the job back while recipients are left, else end it; the job's new status.

    After `trouble`, or when all that is left was asked to wait, it rests; so it does for `pace_s` seconds, where as
    many messages as the workspace allows have gone out.
    """
    campaign = Campaign.objects.select_for_update(no_key=True).get(id=held.target_id)
    if not jobs.is_ours(held):
        return "lost"
    overtaken.settle(campaign.id)
    if held.delivery_id is None and (elsewhere := _ended_elsewhere(held, campaign)):
        return elsewhere
    left = _left(held)
    if not left.exists():
        ended = jobs.finish(
            held, "done", _told(held), then=lambda: finish_if_over(campaign, job_id=held.job_id)
        )
        return "done" if ended else "lost"
    if held.delivery_id is None and campaign.status == "paused":
        return "paused" if jobs.pause(held, outcome=_who_paused(campaign)) else "lost"
    if trouble is not None and trouble.needs_person:
        said = trouble.said if trouble.of_files else f"{REFUSED}{trouble.said}"
        return "paused" if jobs.pause(held, outcome=said) else "lost"
    wait_s = max(pace_s, settings.SEND_RETRY_S if trouble else _next_in(left))
    why = f"{'' if trouble.of_files else WAITS}{trouble.said}" if trouble else ""
    return "queued" if jobs.requeue(held, wait_s=wait_s, outcome=why) else "lost"


def _ended_elsewhere(held: Claim, campaign: Campaign) -> str:
    """The status of the job where another version came or somebody stopped the campaign; empty where it goes on."""
    if _is_replaced(_version_of(held)):
        return _end_replaced(held, campaign)
    if campaign.status in ("sending", "paused"):
        return ""
    _skip_left(held)  # one that was asked to wait while the rest was skipped
    return "done" if jobs.finish(held, "done", f"Stopped: {_told(held)}") else "lost"


def _next_in(left: QuerySet[Delivery]) -> float:
    """Seconds until one of them may be written to: 0 while somebody is left with whom nothing was tried yet.

    Whoever an older version's message is under way to is waited for: what becomes of that decides.
    """
    same = Delivery.objects.filter(campaign_id=OuterRef("campaign_id"), dedupe_key=OuterRef("dedupe_key"))
    under_way = same.filter(state="attempting").exclude(id=OuterRef("id"))
    if left.filter(~Exists(under_way), settled_at=None).exists():
        return 0
    sql, values = left.exclude(settled_at=None).values("id").query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(
            f"select extract(epoch from min({DUE_AGAIN}) - clock_timestamp())"  # noqa: S608 - our own words
            f" from approvals_delivery d where d.id in ({sql})",
            [settings.SEND_RETRY_S, *values],
        )
        [seconds] = cursor.fetchone()
    return settings.SEND_RETRY_S if seconds is None else max(0.0, float(seconds))


def finish_if_over(campaign: Campaign, *, job_id: UUID) -> None:
    """Within a transaction: a campaign that is being sent is finished with the last of its jobs, which this one is."""
    others = Job.objects.filter(campaign_id=campaign.id, status__in=jobs.OPEN).exclude(id=job_id)
    if campaign.status in ("sending", "paused") and not others.exists():
        with connection.cursor() as cursor:
            cursor.execute(
                "update approvals_campaign set status = 'finished', finished_at = clock_timestamp() where id = %s",
                [campaign.id],
            )
        callbacks.note(campaign_id=campaign.id, type=FINISHED)


def _left(held: Claim) -> QuerySet[Delivery]:
    """What is still to be sent by this job."""
    planned = Delivery.objects.filter(version=_version_of(held), state="planned")
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
