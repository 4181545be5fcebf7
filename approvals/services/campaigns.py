"""Decisions about a campaign: approve exactly what was shown, reject, take back, stop, and what is in doubt."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models.functions import Now

from approvals import faults
from approvals.access.actors import Actor
from approvals.access.desk import campaign_for, delivery_for
from approvals.exceptions import AlreadyDecided, Conflict, Invalid, Stale
from approvals.models import Campaign, Decision, Delivery, Job, Version, Workspace
from approvals.rules.decisions import RESOLUTIONS, reason_given
from approvals.rules.shown import Shown
from approvals.services import decisions

# What moves a campaign out of a state in which it waits.
_ANSWERS = ("approve", "reject", "cancel_send", "stop")


@transaction.atomic
def approve(*, by: Actor, campaign_id: UUID, shown: Shown) -> tuple[Decision, bool]:
    """Release a campaign, bound to the digest shown; (the decision, whether it only repeats one's own).

    NotAllowed, AlreadyDecided, Stale, or Conflict where nobody could be reached.
    """
    campaign, version = _locked(by, campaign_id)
    by.require("approve")
    if campaign.status != "pending":
        return _somebody_was_first(campaign, by, "approve"), True
    _refuse_stale(version, shown)
    if not Delivery.objects.filter(version_id=version.id, state="planned").exists():
        raise Conflict(
            "Nobody can be reached by this campaign, so there is nothing to approve.", code="no_audience"
        )
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
    decision = _record(by, "approve", campaign, _told(campaign, version), shown=shown, id=decision_id)
    faults.point("decide.before_commit")
    return decision, False


@transaction.atomic
def reject(*, by: Actor, campaign_id: UUID, shown: Shown, comment: str) -> tuple[Decision, bool]:
    """Refuse a campaign, with a comment for its proposer; raises like `approve`."""
    campaign, version = _locked(by, campaign_id)
    by.require("reject")
    if campaign.status != "pending":
        return _somebody_was_first(campaign, by, "reject"), True
    _refuse_stale(version, shown)
    comment = reason_given(comment, field="comment")
    Campaign.objects.filter(id=campaign.id).update(status="rejected", comment=comment, finished_at=Now())
    given = _told(campaign, version) | {"comment": comment}
    return _record(by, "reject", campaign, given, shown=shown), False


@transaction.atomic
def take_back(*, by: Actor, campaign_id: UUID) -> Decision:
    """Undo an approval while its job is held or queued; Conflict once a worker has it."""
    campaign, version = _locked(by, campaign_id)
    by.require("cancel_send")
    taken_back = campaign.status == "approved" and Job.objects.filter(
        campaign_id=campaign.id, status__in=["held", "queued"], claimed_at__isnull=True
    ).update(status="cancelled", outcome=f"Taken back by {by.name}.")
    if not taken_back:
        raise Conflict(
            "This campaign is not waiting to be sent, so it cannot be taken back. It can be stopped while it is"
            " being sent.",
            code="too_late",
        )
    Campaign.objects.filter(id=campaign.id).update(status="pending")
    return _record(by, "cancel_send", campaign, _told(campaign, version))


@transaction.atomic
def stop(*, by: Actor, campaign_id: UUID, reason: str) -> Decision:
    """Stop a campaign that is being sent: what has not begun is skipped, for good."""
    campaign, _ = _locked(by, campaign_id)
    by.require("stop_send")
    reason = reason_given(reason)
    if campaign.status != "sending":
        raise Conflict("This campaign is not being sent, so there is nothing to stop.")
    # A job in a worker's hands ends by itself: its next intent finds the campaign stopped. Jobs and deliveries come
    # before the campaign, whose trigger touches the queue: a lease that runs out takes them in this order too.
    Job.objects.filter(campaign_id=campaign.id, status__in=["held", "queued"]).update(
        status="cancelled", outcome=f"Stopped by {by.name}."
    )
    skipped = Delivery.objects.filter(campaign_id=campaign.id, state="planned").update(
        state="skipped", settled_at=Now(), reply=f"Stopped by {by.name}."
    )
    Campaign.objects.filter(id=campaign.id).update(status="stopped", finished_at=Now())
    return _record(by, "stop", campaign, {"reason": reason, "skipped": skipped})


@transaction.atomic
def resolve_delivery(*, by: Actor, delivery_id: UUID, resolution: str, reason: str) -> Decision:
    """What became of a delivery in doubt or failed: it happened, do it again (one job of its own), or leave it."""
    delivery = delivery_for(by, delivery_id)
    campaign, version = _locked(by, delivery.campaign_id)
    by.require("resolve_campaign")
    if resolution not in ("happened", "do_again", "leave"):
        raise Invalid(
            "resolution", "Say whether it happened, did not and is to be done again, or is to be left."
        )
    given = {
        "reason": reason_given(reason),
        "resolution": resolution,
        "meaning": RESOLUTIONS[resolution],
        "recipient": delivery.address,
        "state": delivery.state,
        "reply": delivery.reply,
    }
    open_ones = Delivery.objects.filter(
        id=delivery.id, state__in=["in_doubt", "failed"], resolved_at__isnull=True
    )
    if resolution == "happened":
        if delivery.state == "failed":
            raise Conflict("The server refused this message, so it was not sent. Do it again, or leave it.")
        resolved = open_ones.update(state="sent", resolved_at=Now(), reply=f"{by.name}: it happened.")
    elif resolution == "leave":
        resolved = open_ones.update(resolved_at=Now())
    else:
        resolved = open_ones.update(state="planned", reply="", settled_at=None)
    if not resolved:
        raise Conflict(
            "This delivery does not wait for a decision any more. Reload the page to see where it stands."
        )
    if resolution != "do_again":
        return _record(by, "resolve_delivery", campaign, given, target=delivery)
    decision_id = uuid4()
    Job.objects.create(
        workspace_id=campaign.workspace_id,
        decision_id=decision_id,
        kind="send",
        campaign_id=campaign.id,
        delivery_id=delivery.id,
        status="queued",
    )
    return _record(by, "send_again", campaign, given, target=delivery, id=decision_id, digest=version.digest)


def _locked(by: Actor, campaign_id: UUID) -> tuple[Campaign, Version]:
    """The campaign under its row lock, and its newest version: decisions on it come one after the other."""
    campaign_for(by, campaign_id)
    campaign = Campaign.objects.select_for_update(no_key=True).get(id=campaign_id)
    return campaign, Version.objects.filter(campaign_id=campaign.id).latest("number")


def _refuse_stale(version: Version, shown: Shown) -> None:
    if version.digest != shown.digest:
        raise Stale([f"Version {version.number} of this campaign took the place of the one you looked at."])


def _somebody_was_first(campaign: Campaign, by: Actor, kind: str) -> Decision:
    first = Decision.objects.filter(item_id=campaign.id, kind__in=_ANSWERS).order_by("-seq").first()
    if first is None:
        raise Conflict("This campaign does not wait for a decision. Reload the page to see where it stands.")
    if (first.actor_kind, first.actor_id, first.kind) == (by.kind, by.id, kind):
        return first
    raise AlreadyDecided(first.actor_name, first.kind, first.at, decisions.reason_of(first))


def _told(campaign: Campaign, version: Version) -> dict[str, Any]:
    return {
        "campaign": campaign.name,
        "version": version.number,
        "from": version.from_address,
        "subject": version.subject_line,
        "to_send": Delivery.objects.filter(version_id=version.id, state="planned").count(),
        "excluded": version.audience.exclude(state="addressable").count(),
    }


def _record(
    by: Actor,
    kind: str,
    campaign: Campaign,
    evidence: dict[str, Any],
    *,
    target: Delivery | None = None,
    shown: Shown | None = None,
    digest: str = "",
    id: UUID | None = None,
) -> Decision:
    return decisions.record(
        id=id,
        by=by,
        kind=kind,
        target_kind="delivery" if target else "campaign",
        target_id=target.id if target else campaign.id,
        item_id=campaign.id,
        agent=campaign.agent,
        digest=shown.digest if shown else digest,
        opened_at=shown.opened_at if shown else None,
        evidence=evidence,
    )
