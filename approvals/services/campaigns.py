"""Decisions about a campaign: approve exactly what was shown, reject, take back, stop, and what is in doubt."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models.functions import Now

from approvals import faults
from approvals.access.actors import Actor
from approvals.access.desk import campaign_for, delivery_for
from approvals.exceptions import DECIDED, Conflict, Invalid, Stale
from approvals.models import Campaign, Decision, Delivery, Job, Version, Workspace
from approvals.rules.callbacks import TYPES
from approvals.rules.decisions import NOBODY_REACHED, NOTHING_TO_SEND, RESOLUTIONS, TOO_LATE, reason_given
from approvals.rules.shown import Shown
from approvals.selectors.erasure import erased_recipient
from approvals.services import callbacks, decisions
from approvals.services.jobs import WAITING

# What can be said of a delivery in doubt or failed (the words are in rules.decisions).
OF_DELIVERIES = ("happened", "do_again", "leave")
# What moves a campaign out of a state in which it waits.
_ANSWERS = ("approve", "reject", "cancel_send", "stop")


@transaction.atomic
def approve(*, by: Actor, campaign_id: UUID, shown: Shown) -> tuple[Decision, bool]:
    """Release a campaign, bound to the digest shown.

    Here and below: (the decision, whether it only repeats one's own); NotFound, NotAllowed, AlreadyDecided, Stale,
    Conflict, Invalid.
    """
    campaign, version = locked(by, campaign_id, "approve")
    if campaign.status != "pending":
        return _somebody_was_first(campaign, by, "approve"), True
    _refuse_changed(campaign, version, shown)
    if not Delivery.objects.filter(version_id=version.id, state="planned").exists():
        raise Conflict(NOBODY_REACHED, code="no_audience")
    if Campaign.objects.filter(id=campaign.id, send_by__lt=Now()).exists():
        raise Conflict(TOO_LATE, code="send_by_passed")
    hold_s = Workspace.objects.values_list("hold_s", flat=True).get()
    Campaign.objects.filter(id=campaign.id).update(status="approved")
    decision_id = uuid4()
    Job.objects.create(
        workspace_id=campaign.workspace_id,
        decision_id=decision_id,
        kind="send",
        campaign_id=campaign.id,
        status="held" if hold_s else "queued",
        due_at=Now() + timedelta(seconds=hold_s),
    )
    decision = record(by, "approve", campaign, shown, told_of(campaign, version), id=decision_id)
    faults.point("decide.before_commit")
    return decision, False


@transaction.atomic
def reject(*, by: Actor, campaign_id: UUID, shown: Shown, comment: str) -> tuple[Decision, bool]:
    """Refuse a campaign, with a comment for its proposer."""
    campaign, version = locked(by, campaign_id, "reject")
    if campaign.status != "pending":
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
    # Approved means that no worker has begun with it: `sending.begin` takes the same lock before it does.
    taken_back = campaign.status == "approved" and Job.objects.filter(
        campaign_id=campaign.id, status__in=WAITING
    ).update(status="cancelled", outcome=f"Taken back by {by.name}.")
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
def stop(*, by: Actor, campaign_id: UUID, shown: Shown, reason: str) -> tuple[Decision, bool]:
    """Stop a campaign that is being sent: what has not begun is skipped, for good. Never refused as stale."""
    campaign, _ = locked(by, campaign_id, "stop_send")
    if campaign.status != "sending":
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
    Campaign.objects.filter(id=campaign.id).update(status="stopped", finished_at=Now())
    return record(by, "stop", campaign, shown, {"reason": reason, "skipped": skipped}), False


@transaction.atomic
def resolve_delivery(
    *, by: Actor, delivery_id: UUID, shown: Shown, resolution: str, reason: str
) -> tuple[Decision, bool]:
    """What became of a delivery in doubt or failed: it happened, do it again (one job of its own), or leave it."""
    seen = delivery_for(by, delivery_id)
    campaign, version = locked(by, seen.campaign_id, "resolve_campaign")
    if resolution not in OF_DELIVERIES:
        raise Invalid(
            "resolution", "Say whether it happened, did not and is to be done again, or is to be left."
        )
    kind = "send_again" if resolution == "do_again" else "resolve_delivery"
    delivery = Delivery.objects.select_for_update(no_key=True).get(id=seen.id)
    first = _last_resolution(delivery)
    # The second click of a double click may come when what the first one released is in doubt again already.
    decided_since = first is not None and first.at > shown.opened_at
    if delivery.state not in ("in_doubt", "failed") or delivery.resolved_at is not None or decided_since:
        if first is None:
            raise Conflict(
                "This delivery does not wait for a decision any more. Reload the page to see where it stands."
            )
        own = decisions.own_or_refused(first, by=by, kind=kind, target_id=delivery.id, resolution=resolution)
        return own, True
    about = ("delivery", delivery.id)
    given = {
        "reason": reason_given(reason),
        "resolution": resolution,
        "meaning": RESOLUTIONS[resolution],
        "recipient": delivery.address,
        "state": delivery.state,
        "reply": delivery.reply,
    }
    if resolution == "do_again":
        if version.digest != shown.digest:
            raise another_version(version)
        if erased_recipient(delivery.audience_row_id):
            raise Conflict(NOTHING_TO_SEND, code="erased")
        decision_id = _release_again(delivery)
        return record(by, kind, campaign, shown, given, target=about, id=decision_id), False
    if resolution == "happened" and delivery.state == "failed":
        raise Conflict("The server refused this message, so it was not sent. Do it again, or leave it.")
    one = Delivery.objects.filter(id=delivery.id)
    if resolution == "happened":
        one.update(state="sent", resolved_at=Now(), reply=f"{by.name}: it happened.")
    else:
        one.update(resolved_at=Now())
    return record(by, kind, campaign, shown, given, target=about), False


def _last_resolution(delivery: Delivery) -> Decision | None:
    """The newest answer to what became of one delivery."""
    answers = Decision.objects.filter(target_id=delivery.id, kind__in=["resolve_delivery", "send_again"])
    return answers.order_by("-seq").first()


def _release_again(delivery: Delivery) -> UUID:
    """The job that sends one delivery once more; the id of the decision that it is for."""
    # Without the time of the last try, so that this one does not wait out a pause.
    Delivery.objects.filter(id=delivery.id).update(state="planned", reply="", settled_at=None)
    job = Job.objects.create(
        workspace_id=delivery.workspace_id,
        decision_id=uuid4(),
        kind="send",
        campaign_id=delivery.campaign_id,
        delivery_id=delivery.id,
        status="queued",
    )
    return job.decision_id


def locked(by: Actor, campaign_id: UUID, permission: str) -> tuple[Campaign, Version]:
    """The campaign under its row lock, and its newest version: decisions on it come one after the other."""
    campaign_for(by, campaign_id)
    by.require(permission)
    campaign = Campaign.objects.select_for_update(no_key=True).get(id=campaign_id)
    return campaign, Version.objects.filter(campaign_id=campaign.id).latest("number")


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
    return {
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

    Of one about the campaign itself its runtime is told.
    """
    target_kind, target_id = target or ("campaign", campaign.id)
    id = id or uuid4()
    if target is None and kind in TYPES:
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
