"""A test of a campaign's message to whoever asks for it: the decision, and the one message that it releases.

It goes to the decider's own address as the database has it, and to no other. It is bound to the version and to the
recipient that were shown, and touches neither: no delivery, count, state or place in the queue knows of it. The list of
who is not to be written to is not asked, and the workspace's pace does not hold it back: somebody writes to themselves.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models.functions import Now

from approvals import faults
from approvals.access.actors import Actor
from approvals.access.desk import delivery_for
from approvals.exceptions import Conflict, Stale
from approvals.models import AudienceRow, Decision, Delivery, Job, Member, User, Version
from approvals.rules.addresses import Address, Refused, check_address
from approvals.rules.content import Content
from approvals.rules.decisions import ERASED
from approvals.rules.permissions import allowed
from approvals.rules.shown import Shown
from approvals.rules.trials import AN_HOUR, TOO_MANY
from approvals.selectors.attachments import content_of
from approvals.selectors.erasure import erased_recipient
from approvals.services import decisions, jobs
from approvals.services.jobs import Claim
from approvals.services.rounds import not_allowed

NOTHING = "Nothing was sent."
LEFT = f"Whoever asked for this test may not send themselves one any more. {NOTHING}"
ANOTHER = "This message is not the one that you looked at. Reload the page and look again."


@dataclass(frozen=True, slots=True)
class Trial:
    """Everything that one message is made from; its attached files are not read yet."""

    content: Content
    to: str
    variables: Mapping[str, object]
    date: datetime


@transaction.atomic
def send_test(*, by: Actor, delivery_id: UUID, shown: Shown) -> tuple[Decision, bool]:
    """Have the message of one recipient sent to oneself.

    (the decision, whether it only repeats one's own); NotFound, NotAllowed, Stale, Conflict.
    """
    delivery = delivery_for(by, delivery_id)
    by.require("send_test")
    # The second click of a double click waits here for the first, and each of a person's tests is counted.
    member = Member.objects.select_for_update(no_key=True).get(user_id=by.id)
    version = Version.objects.get(id=delivery.version_id)
    if version.digest != shown.digest:
        raise Stale([ANOTHER])
    mine = Decision.objects.filter(kind="send_test", actor_kind="member", actor_id=by.id)
    again = mine.filter(target_id=delivery.id, at__gt=shown.opened_at).order_by("-seq").first()
    if again is not None:
        return again, True
    if erased_recipient(delivery.audience_row_id):
        raise Conflict(ERASED, code="erased")
    to = own_address(User.objects.get(id=member.user_id).email)
    if isinstance(to, Refused):
        raise Conflict(to.reason, code="address")
    if mine.filter(at__gt=Now() - timedelta(hours=1)).count() >= AN_HOUR:
        raise Conflict(TOO_MANY, code="too_many")
    decision_id = uuid4()
    Job.objects.create(
        workspace_id=delivery.workspace_id,
        decision_id=decision_id,
        kind="test",
        sample_id=delivery.id,
        status="queued",
    )
    decision = decisions.record(
        id=decision_id,
        by=by,
        kind="send_test",
        target_kind="delivery",
        target_id=delivery.id,
        item_id=delivery.campaign_id,
        agent=delivery.campaign.agent,
        digest=shown.digest,
        opened_at=shown.opened_at,
        evidence={
            "campaign": delivery.campaign.name,
            "version": version.number,
            "recipient": delivery.address,
            "to": to.normal,
        },
    )
    faults.point("decide.before_commit")
    return decision, False


def own_address(email: str) -> Address | Refused:
    """Where a test to a person with this address goes, or why none can."""
    address = check_address(email)
    if isinstance(address, Refused):
        return Refused(f"Your own address cannot be written to: {address.reason}")
    reason = not_allowed(address.normal)
    return Refused(reason) if reason else address


@transaction.atomic
def prepare(*, held: Claim) -> Trial | None:
    """What the message of this claim is made from. None where there is none: the job has then ended, and says why."""
    sample = _sample_of(held)
    version = Version.objects.annotate(now=Now()).get(id=sample.version_id)
    asked_by = Decision.objects.values_list("actor_id", flat=True).get(jobs__id=held.job_id)
    member = Member.objects.select_related("user").filter(user_id=asked_by, user__is_active=True).first()
    may = member is not None and allowed(member.roles, "send_test")
    to = own_address(member.user.email) if member and may else Refused(LEFT)
    if erased_recipient(sample.audience_row_id):
        to = Refused(f"{ERASED} {NOTHING}")
    if isinstance(to, Refused):
        jobs.finish(held, "failed", to.reason)
        return None
    variables = json.loads(AudienceRow.objects.get(id=sample.audience_row_id).vars)
    return Trial(content_of(version), to.normal, variables, version.now.replace(microsecond=0))


@transaction.atomic
def state_intent(*, held: Claim) -> bool:
    """Write down that the message is about to leave; False where it must not: the lease is over, or it was erased."""
    # Whoever erases them waits for this, or is waited for.
    Job.objects.select_for_update(no_key=True).filter(id=held.job_id).first()
    if erased_recipient(_sample_of(held).audience_row_id):
        jobs.finish(held, "failed", f"{ERASED} {NOTHING}")
        return False
    return jobs.state_intent(held)


@transaction.atomic
def settle(*, held: Claim, status: str, sentence: str) -> bool:
    """What came of it: done, failed or in_doubt. False, and nothing of it, where the lease was lost."""
    return jobs.finish(held, status, sentence)


def _sample_of(held: Claim) -> Delivery:
    return Delivery.objects.get(id__in=Job.objects.filter(id=held.job_id).values("sample_id"))
