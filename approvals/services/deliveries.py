"""What became of one delivery that is in doubt or failed: a person says so, or has it sent once more."""

from uuid import UUID, uuid4

from django.db import transaction
from django.db.models.functions import Now

from approvals.access.actors import Actor
from approvals.access.desk import delivery_for
from approvals.exceptions import Conflict, Invalid
from approvals.models import Decision, Delivery, Job, Version
from approvals.models.delivery import TAKEN
from approvals.rules.decisions import NOTHING_TO_SEND, REACHED_ANYWAY, RESOLUTIONS, reason_given
from approvals.rules.shown import Shown
from approvals.selectors.erasure import erased_recipient
from approvals.services import decisions
from approvals.services.campaigns import another_version, locked, record

# What can be said (the words are in rules.decisions).
OF_DELIVERIES = ("happened", "do_again", "leave")


@transaction.atomic
def resolve(
    *, by: Actor, delivery_id: UUID, shown: Shown, resolution: str, reason: str
) -> tuple[Decision, bool]:
    """What became of a delivery in doubt or failed: it happened, do it again (one job of its own), or leave it.

    (the decision, whether it only repeats one's own); NotFound, NotAllowed, AlreadyDecided, Stale, Conflict, Invalid.
    What is sent once more is what the delivery's own version says.
    """
    seen = delivery_for(by, delivery_id)
    campaign, _ = locked(by, seen.campaign_id, "resolve_campaign")
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
        own_version = Version.objects.get(id=delivery.version_id)
        if own_version.digest != shown.digest:
            raise another_version(own_version)
        if erased_recipient(delivery.audience_row_id):
            raise Conflict(NOTHING_TO_SEND, code="erased")
        if _reached_by_another(delivery):
            raise Conflict(REACHED_ANYWAY, code="already_sent")
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


def _reached_by_another(delivery: Delivery) -> bool:
    """Whether another version of the campaign reached this recipient, or may have."""
    same = Delivery.objects.filter(campaign_id=delivery.campaign_id, dedupe_key=delivery.dedupe_key)
    return same.filter(state__in=TAKEN).exclude(id=delivery.id).exists()


def _release_again(delivery: Delivery) -> UUID:
    """The job that sends one delivery once more; the id of the decision that it is for."""
    # Without the time of the last try, so that this one does not wait out a pause.
    Delivery.objects.filter(id=delivery.id).update(state="planned", reply="", settled_at=None)
    job = Job.objects.create(
        workspace_id=delivery.workspace_id,
        decision_id=uuid4(),
        kind="send",
        campaign_id=delivery.campaign_id,
        version_id=delivery.version_id,
        delivery_id=delivery.id,
        status="queued",
    )
    return job.decision_id
