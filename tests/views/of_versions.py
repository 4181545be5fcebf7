"""Campaigns with several versions, each as far as a test wants it."""

from __future__ import annotations

from itertools import count
from typing import Any
from uuid import uuid4

from django.db.models.functions import Now

from approvals.access.actors import Actor, TokenBearer
from approvals.models import Campaign, Delivery, Job, Version
from approvals.rules.addresses import Mailbox, check_mailbox
from approvals.rules.proposals import Proposal, Recipient
from approvals.services import versions
from tests.world import World

SENDER = "Northwind <hello@northwind.example.com>"
_numbers = count(1)


def renewed(
    world: World, campaign: Campaign, *recipients: str, by: Actor | None = None, text: str = "Corrected."
) -> Version:
    """The next version: to these, or to everybody who got nothing yet. An agent proposes it unless a member does."""
    sender = check_mailbox(SENDER)
    assert isinstance(sender, Mailbox)
    proposal = Proposal(
        external_id=campaign.external_id, name=campaign.name, purpose="", send_by=None, run_id=None, sender=SENDER,
        reply_to="", subject="Hello again", text=text, html="", rest=not recipients,
        recipients=[Recipient(address, {"name": "Ann"}) for address in recipients],
    )  # fmt: skip
    token = TokenBearer(world.workspace.id, uuid4(), world.runtime.id, None, "ab12")
    with world.bound():
        locked = Campaign.objects.select_for_update(no_key=True).get(id=campaign.id)
        return versions.renew(
            locked, proposal, by=by or token, sender=sender, body_digest=f"body {next(_numbers)}"
        )


def began(world: World, campaign: Campaign, *states: str) -> Job:
    """A worker has it and got its first deliveries into these states; the job, which is still running."""
    with world.bound():
        job = Job.objects.get(campaign_id=campaign.id, delivery=None, status__in=["held", "queued"])
        Job.objects.filter(id=job.id, status="held").update(status="queued")
        Job.objects.filter(id=job.id).update(status="running", fence=1, claimed_at=Now(), task_id="task-1")
        Campaign.objects.filter(id=campaign.id).update(status="sending")
        planned = Delivery.objects.filter(campaign_id=campaign.id, state="planned").order_by("position")
        for delivery, state in zip(list(planned), states, strict=False):
            mine = Delivery.objects.filter(id=delivery.id)
            mine.update(state="attempting", job=job, fence=1, attempt=1, attempted_at=Now())
            if state != "attempting":
                mine.update(state=state, settled_at=Now(), reply="250 kept" if state == "sent" else "lost")
        return Job.objects.get(id=job.id)


def half_sent(world: World, *states: str, of: int = 4) -> Campaign:
    """A campaign to `of` guests whose first deliveries ended so, and which is still being sent."""
    campaign = world.campaign(recipients=[f"guest{number}@example.com" for number in range(1, of + 1)])
    world.approved(campaign)
    began(world, campaign, *states)
    return campaign


def of_version(world: World, campaign: Campaign, number: int, **which: Any) -> list[Delivery]:
    """The deliveries of one version, in order."""
    rows = Delivery.objects.filter(campaign_id=campaign.id, version__number=number, **which)
    return world.read(lambda: list(rows.order_by("position")))
