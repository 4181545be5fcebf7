"""What a restored database holds back: each paused job goes on once a person says so, or is taken back.

To take back a paused replay or approval is the same as for one that waits (services.replays, services.campaigns).
"""

from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from approvals.access.actors import Actor
from approvals.access.desk import job_for
from approvals.exceptions import Conflict, NotFound
from approvals.models import Campaign, Decision, Delivery, Job, Run
from approvals.rules.shown import Shown
from approvals.services import campaigns, decisions, lineages, replays, sending

_ANSWERS = ("resume_replay", "resume_send", "cancel_replay", "cancel_send")


@transaction.atomic
def resume_replay(*, by: Actor, job_id: UUID, shown: Shown) -> tuple[Decision, bool]:
    """Let a paused replay go on.

    Here and below: (the decision, whether it only repeats one's own); NotFound, NotAllowed, AlreadyDecided, Stale,
    Conflict.
    """
    seen = job_for(by, job_id)
    if seen.run_id is None:
        raise NotFound()
    by.require("resume_replay")
    run = lineages.lock(Run.objects.get(id=seen.run_id))
    job = Job.objects.get(id=seen.id)
    if job.status != "paused":
        return _somebody_was_first(job, by, "resume_replay"), True
    replays.refuse_begun(job, run)
    case = lineages.judge(run)
    lineages.refuse_stale(case, shown)
    _go_on(job, by)
    evidence = lineages.evidence_of(case, {})
    return lineages.record(by, "resume_replay", run, shown, evidence, target=("job", job.id)), False


@transaction.atomic
def resume_send(*, by: Actor, job_id: UUID, shown: Shown) -> tuple[Decision, bool]:
    """Let a paused sending go on: of a campaign, or once more to one recipient."""
    seen = job_for(by, job_id)
    if seen.campaign_id is None:
        raise NotFound()
    campaign, version = campaigns.locked(by, seen.campaign_id, "resume_send")
    job = Job.objects.get(id=seen.id)
    if job.status != "paused":
        return _somebody_was_first(job, by, "resume_send"), True
    if version.digest != shown.digest:
        raise campaigns.another_version(version)
    _go_on(job, by)
    if campaigns.own_job(version).filter(id=job.id).exists():  # else it only ends what an older version left
        Campaign.objects.filter(id=campaign.id, status="paused").update(status="sending")
    given = campaigns.told_of(campaign, version) | _recipient_of(job)
    return campaigns.record(by, "resume_send", campaign, shown, given, target=("job", job.id)), False


@transaction.atomic
def give_up(*, by: Actor, job_id: UUID, shown: Shown) -> tuple[Decision, bool]:
    """Take back a paused job that was to send to one recipient once more: it is not sent."""
    seen = job_for(by, job_id)
    if seen.campaign_id is None or seen.delivery_id is None:
        raise NotFound()
    campaign, _ = campaigns.locked(by, seen.campaign_id, "cancel_send")
    job = Job.objects.get(id=seen.id)
    if job.status != "paused":
        return _somebody_was_first(job, by, "cancel_send"), True
    said = f"Taken back by {by.name}."
    Job.objects.filter(id=job.id, status="paused").update(status="cancelled", outcome=said)
    Delivery.objects.filter(id=seen.delivery_id, state="planned").update(
        state="skipped", settled_at=Now(), reply=said
    )
    sending.finish_if_over(campaign, job_id=job.id)
    return campaigns.record(
        by, "cancel_send", campaign, shown, _recipient_of(job), target=("job", job.id)
    ), False


def _go_on(job: Job, by: Actor) -> None:
    resumed = Job.objects.filter(id=job.id, status="paused").update(
        status="queued", queued_at=Now(), due_at=Now(), outcome=f"{by.name} let it go on."
    )
    if not resumed:
        raise _gone()


def _somebody_was_first(job: Job, by: Actor, kind: str) -> Decision:
    first = Decision.objects.filter(target_id=job.id, kind__in=_ANSWERS).order_by("-seq").first()
    if first is None:
        raise _gone()
    return decisions.own_or_refused(first, by=by, kind=kind, target_id=job.id)


def _gone() -> Conflict:
    return Conflict("This is not paused any more. Reload the page to see where it stands.", code="not_paused")


def _recipient_of(job: Job) -> dict[str, str]:
    return {"recipient": job.delivery.address} if job.delivery else {}
