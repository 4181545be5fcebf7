"""Filling the test that a reviewer sends themselves."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from django.urls import reverse

from approvals.rules.addresses import Refused
from approvals.selectors.campaigns import CampaignFacts, Recipient
from approvals.selectors.trials import LastTrial
from approvals.services.trials import own_address
from dashboard.forms.shown import pack
from dashboard.presenters.ages import when
from dashboard.presenters.build_job import job_progress
from dashboard.presenters.hand import Hand
from dashboard.presenters.places import Places
from dashboard.presenters.text import count, reveal_line, summary_line
from dashboard.presenters.trials import LastTest, Trial


def trial_of(
    facts: CampaignFacts,
    recipient: Recipient,
    last: LastTrial | None,
    hand: Hand,
    *,
    email: str,
    overdue_s: int,
    now: datetime,
) -> Trial:
    """The form that sends the message to this recipient to `email`, which is whose page it is."""
    shown = pack(target=recipient.delivery_id, user_id=hand.actor.id, digest=facts.digest)
    act = hand.act("delivery_test", recipient.delivery_id, permission="send_test", shown=shown)
    address = own_address(email)
    if isinstance(address, Refused):
        act = replace(act, refused=act.refused or address.reason)
    return Trial(
        act=act,
        to=reveal_line(email),
        whose=summary_line(recipient.address, 100),
        last=(
            last_test(facts.id, facts.version, last, Places(hand.slug), overdue_s=overdue_s, now=now)
            if last
            else None
        ),
    )


def last_test(
    campaign_id: UUID, version: int, last: LastTrial, places: Places, *, overdue_s: int, now: datetime
) -> LastTest:
    """How the newest test of a campaign is getting on, whose newest version is this one."""
    of_another = f", version {count(last.version)}" if last.version != version else ""
    return LastTest(
        url=reverse("campaign_test", args=[places.slug, campaign_id]),
        at=when(last.at, now),
        of=summary_line(f"{last.address}{of_another}", 120),
        job=job_progress(last.progress, places=places, overdue_s=overdue_s),
    )
