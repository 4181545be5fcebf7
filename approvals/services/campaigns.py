"""Decisions about a campaign: approve exactly what was shown, return, reject, take back, pause, stop.

What became of single deliveries is decided in services/deliveries.
"""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Greatest, Now

from approvals import faults
from approvals.access.actors import Actor
from approvals.access.desk import campaign_for
from approvals.exceptions import DECIDED, Conflict, Invalid, Stale
from approvals.models import Campaign, Decision, Delivery, Job, Version, Workspace
from approvals.rules.callbacks import TYPES
from approvals.rules.decisions import NOBODY_REACHED, OWN_PROPOSAL, TOO_LATE, reason_given
from approvals.rules.shown import Shown
from approvals.rules.zones import why_not_at, written, zone_named
from approvals.selectors.attachments import attached_to
from approvals.selectors.campaign_counts import newest_version
from approvals.services import callbacks, decisions, overtaken
from approvals.services.jobs import OPEN, WAITING

# What moves a campaign out of a state in which it waits.
_ANSWERS = ("approve", "return_campaign", "reject", "cancel_send", "pause_send", "stop")


@transaction.atomic
def approve(
    *, by: Actor, campaign_id: UUID, shown: Shown, at: datetime | None = None, zone: str = ""
) -> tuple[Decision, bool]:
    """Release a campaign, bound to the digest shown; `at` (aware) for not before then, `zone` as it was said in.

    Here and below: (the decision, whether it only repeats one's own); NotFound, NotAllowed, AlreadyDecided, Stale,
    Conflict, Invalid.
    """
    campaign, version = locked(by, campaign_id, "approve")
    if campaign.status != "pending":
        return _somebody_was_first(campaign, by, "approve"), True
    _refuse_changed(campaign, version, shown)
    if (version.proposer_kind, version.proposer_id) == (by.kind, by.id):
        raise Conflict(OWN_PROPOSAL, code="own_proposal")
    if not Delivery.objects.filter(version_id=version.id, state="planned").exists():
        raise Conflict(NOBODY_REACHED, code="no_audience")
    hold_s, now = Workspace.objects.annotate(now=Now()).values_list("hold_s", "now").get()
    if campaign.send_by is not None and campaign.send_by < now:
        raise Conflict(TOO_LATE, code="send_by_passed")
    chosen: dict[str, str] = {}
    if at is not None:
        if reason := why_not_at(at, now=now, hold_s=hold_s, send_by=campaign.send_by):
            raise Invalid("at", reason)
        chosen = written(at, zone_named(zone or "UTC"))
    held_until = Now() + timedelta(seconds=hold_s)
    Campaign.objects.filter(id=campaign.id).update(status="approved")
    decision_id = uuid4()
    Job.objects.create(
        workspace_id=campaign.workspace_id,
        decision_id=decision_id,
        kind="send",
        campaign_id=campaign.id,
        version_id=version.id,
        status="held" if hold_s or at else "queued",
        due_at=Greatest(held_until, at) if at else held_until,
    )
    evidence = told_of(campaign, version) | chosen
    decision = record(by, "approve", campaign, shown, evidence, id=decision_id)
    faults.point("decide.before_commit")
    return decision, False


@transaction.atomic
def return_(*, by: Actor, campaign_id: UUID, shown: Shown, comment: str) -> tuple[Decision, bool]:
    """Give a campaign back to its proposer, with what is to be changed; their next version waits for a decision."""
    campaign, version = locked(by, campaign_id, "return_campaign")
    if campaign.status != "pending":
        return _somebody_was_first(campaign, by, "return_campaign"), True
    _refuse_changed(campaign, version, shown)
    comment = reason_given(comment, field="comment")
    Campaign.objects.filter(id=campaign.id).update(status="returned", comment=comment)
    given = told_of(campaign, version) | {"comment": comment}
    return record(by, "return_campaign", campaign, shown, given), False


@transaction.atomic
def reject(*, by: Actor, campaign_id: UUID, shown: Shown, comment: str) -> tuple[Decision, bool]:
    """Refuse a campaign for good, with a comment for its proposer; also one that was returned and came to nothing."""
    campaign, version = locked(by, campaign_id, "reject")
    if campaign.status not in ("pending", "returned"):
        return _somebody_was_first(campaign, by, "reject"), True
    _refuse_changed(campaign, version, shown)
    comment = reason_given(comment, field="comment")
    Campaign.objects.filter(id=campaign.id).update(status="rejected", comment=comment, finished_at=Now())
    given = told_of(campaign, version) | {"comment": comment}
    return record(by, "reject", campaign, shown, given), False


@transaction.atomic
def take_back(*, by: Actor, campaign_id: UUID, shown: Shown) -> tuple[Decision, bool]:
    """Undo an approval while its job is held, queued or paused; Conflict once a worker has it."""
    campaign, version = locked(by, campaign_id, "cancel_send")
    # Of the version alone: what is sent once more to one person, or is left of an older version, is not taken back.
    taken_back = campaign.status == "approved" and own_job(version).filter(status__in=WAITING).update(
        status="cancelled", outcome=f"Taken back by {by.name}."
    )
    if not taken_back:
        first = _last_answer(campaign) if campaign.status == "pending" else None
        if first is not None and first.kind == "cancel_send":
            return decisions.own_or_refused(first, by=by, kind="cancel_send", target_id=campaign.id), True
        raise Conflict(
            "This campaign is not waiting to be sent, so it cannot be taken back. It can be stopped while it is"
            " being sent.",
            code="too_late",
        )
    Campaign.objects.filter(id=campaign.id).update(status="pending")
    return record(by, "cancel_send", campaign, shown, told_of(campaign, version)), False


@transaction.atomic
def pause(*, by: Actor, campaign_id: UUID, shown: Shown) -> tuple[Decision, bool]:
    """Hold a campaign that is being sent until somebody lets it go on. Never refused as stale.

    What is under way ends by itself: the worker's next intent finds the campaign paused, and it lays the job down.
    """
    campaign, version = locked(by, campaign_id, "pause_send")
    if campaign.status != "sending":
        first = _last_answer(campaign) if campaign.status == "paused" else None
        if first is not None:
            own = decisions.own_or_refused(first, by=by, kind="pause_send", target_id=campaign.id)
            return own, True
        raise Conflict("This campaign is not being sent, so there is nothing to pause.")
    said = f"Paused by {by.name}."
    own_job(version).filter(status__in=("held", "queued")).update(status="paused", outcome=said)
    Campaign.objects.filter(id=campaign.id).update(status="paused")
    return record(by, "pause_send", campaign, shown, told_of(campaign, version)), False


@transaction.atomic
def go_on(*, by: Actor, campaign_id: UUID, shown: Shown) -> tuple[Decision, bool]:
    """Let a campaign that somebody paused go on, bound to the version shown."""
    campaign, version = locked(by, campaign_id, "resume_send")
    if campaign.status != "paused":
        went_on = Decision.objects.filter(item_id=campaign.id, kind="resume_send").order_by("-seq").first()
        if went_on is None or campaign.status != "sending":
            return _somebody_was_first(campaign, by, "resume_send"), True
        target_id = went_on.target_id
        return decisions.own_or_refused(went_on, by=by, kind="resume_send", target_id=target_id), True
    if version.digest != shown.digest:
        raise another_version(version)
    own = own_job(version)
    # In a worker's hands still, if nobody looked since; gone, if only a person or two are sent to again.
    job_id = own.values_list("id", flat=True).first()
    own.filter(status="paused").update(
        status="queued", queued_at=Now(), due_at=Now(), outcome=f"{by.name} let it go on."
    )
    Campaign.objects.filter(id=campaign.id).update(status="sending")
    about = ("job", job_id) if job_id else None
    return record(by, "resume_send", campaign, shown, told_of(campaign, version), target=about), False


@transaction.atomic
def stop(*, by: Actor, campaign_id: UUID, shown: Shown, reason: str) -> tuple[Decision, bool]:
    """Stop a campaign that is being sent, or is paused: what has not begun is skipped. Never refused as stale.

    Whoever got nothing can be written to again by another version alone, with an approval of its own.
    """
    campaign, _ = locked(by, campaign_id, "stop_send")
    if campaign.status not in ("sending", "paused"):
        first = _last_answer(campaign) if campaign.status == "stopped" else None
        if first is not None:
            return decisions.own_or_refused(first, by=by, kind="stop", target_id=campaign.id), True
        raise Conflict("This campaign is not being sent, so there is nothing to stop.")
    reason = reason_given(reason)
    # A job in a worker's hands ends by itself: its next intent finds the campaign stopped. Jobs and deliveries come
    # before the campaign, whose trigger touches the queue: a lease that runs out takes them in this order too.
    Job.objects.filter(campaign_id=campaign.id, status__in=WAITING).update(
        status="cancelled", outcome=f"Stopped by {by.name}."
    )
    skipped = Delivery.objects.filter(campaign_id=campaign.id, state="planned").update(
        state="skipped", settled_at=Now(), reply=f"Stopped by {by.name}."
    )
    overtaken.settle(campaign.id)
    Campaign.objects.filter(id=campaign.id).update(status="stopped", finished_at=Now())
    return record(by, "stop", campaign, shown, {"reason": reason, "skipped": skipped}), False


def own_job(version: Version) -> QuerySet[Job]:
    """The open job that sends a version to everybody in it; not those that send to one person again."""
    of_campaign = Job.objects.filter(campaign_id=version.campaign_id, delivery=None, status__in=OPEN)
    return of_campaign.filter(version_id=version.id)


def locked(by: Actor, campaign_id: UUID, permission: str) -> tuple[Campaign, Version]:
    """The campaign under its row lock, and its newest version: decisions on it come one after the other."""
    campaign_for(by, campaign_id)
    by.require(permission)
    campaign = Campaign.objects.select_for_update(no_key=True).get(id=campaign_id)
    return campaign, newest_version(campaign.id)


def _refuse_changed(campaign: Campaign, version: Version, shown: Shown) -> None:
    """Stale where another version is there now, or where somebody decided and took it back meanwhile."""
    if version.digest != shown.digest:
        raise another_version(version)
    last = _last_answer(campaign)
    if last is not None and last.at > shown.opened_at:
        raise Stale([f"{last.actor_name} {DECIDED[last.kind]} after you opened this page."])


def another_version(version: Version) -> Stale:
    """The refusal for whoever looked at an older version."""
    return Stale([f"Version {version.number} of this campaign took the place of the one you looked at."])


def _somebody_was_first(campaign: Campaign, by: Actor, kind: str) -> Decision:
    first = _last_answer(campaign)
    if first is None:
        raise Conflict("This campaign does not wait for a decision. Reload the page to see where it stands.")
    return decisions.own_or_refused(first, by=by, kind=kind, target_id=campaign.id)


def told_of(campaign: Campaign, version: Version) -> dict[str, Any]:
    """What a reviewer is told of it, in short."""
    files = [f"{one.filename} (SHA-256 {one.sha256})" for one in attached_to(version.id)]
    return ({"attached": files} if files else {}) | {
        "campaign": campaign.name,
        "version": version.number,
        "from": version.from_address,
        "subject": version.subject_line,
        "to_send": Delivery.objects.filter(version_id=version.id, state="planned").count(),
        "excluded": version.audience.exclude(state="addressable").count(),
    }


def _last_answer(campaign: Campaign) -> Decision | None:
    """The newest decision about the campaign itself that moved it."""
    answers = Decision.objects.filter(target_id=campaign.id, kind__in=_ANSWERS)
    return answers.order_by("-seq").first()


def record(
    by: Actor,
    kind: str,
    campaign: Campaign,
    shown: Shown,
    evidence: dict[str, Any],
    *,
    target: tuple[str, UUID] | None = None,
    id: UUID | None = None,
) -> Decision:
    """The entry about a campaign, or about its job or delivery `target` (kind and id).

    `campaign` is as it was before: where it is in another state now, its runtime is told.
    """
    target_kind, target_id = target or ("campaign", campaign.id)
    id = id or uuid4()
    if kind in TYPES and Campaign.objects.exclude(status=campaign.status).filter(id=campaign.id).exists():
        callbacks.note(campaign_id=campaign.id, type=TYPES[kind], decision_id=id)
    return decisions.record(
        id=id,
        by=by,
        kind=kind,
        target_kind=target_kind,
        target_id=target_id,
        item_id=campaign.id,
        agent=campaign.agent,
        digest=shown.digest,
        opened_at=shown.opened_at,
        evidence={"campaign": campaign.name, **evidence},
    )
