"""The test that a reviewer sends themselves: asking for it, and how the last one is getting on."""

from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from approvals.access.desk import campaign_for, delivery_for
from approvals.selectors.campaign_counts import newest_version
from approvals.selectors.campaigns import CampaignFacts, Recipient
from approvals.selectors.trials import last_of
from approvals.services.trials import send_test
from dashboard.forms import campaigns as forms
from dashboard.forms.tried import Tried
from dashboard.middleware import PageRequest
from dashboard.presenters.build_trial import last_test, trial_of
from dashboard.presenters.hand import Hand
from dashboard.presenters.places import Places
from dashboard.presenters.text import plain
from dashboard.presenters.trials import Trial
from dashboard.views.deciding import answer, deciding, found


@require_safe
def live(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """The fragment that follows the last test of whoever looks."""
    campaign_for(request.actor, campaign_id)
    version = newest_version(campaign_id).number
    last = last_of(request.actor.id, campaign_id)
    shown = last and last_test(
        campaign_id, version, last, Places(slug), overdue_s=settings.OVERDUE_S, now=timezone.now()
    )
    return render(request, "campaigns/_trial.html#last", {"last": shown})


@deciding("send_test", on="delivery")
def send(request: PageRequest, slug: str, delivery_id: UUID) -> HttpResponse:
    """Have the message that was shown sent to oneself. Where to is never taken from the form."""
    delivery, seen = found(request, delivery_for, delivery_id, "send_test")
    decision, repeated = send_test(by=request.actor, delivery_id=delivery_id, shown=seen)
    said = f"Queued: the test to {plain(_email(request))}. How it goes stands beside the message."
    page = Places(slug).campaign(delivery.campaign_id)
    return answer(request, decision.kind, repeated=repeated, said=said, page=page)


def trial(
    request: PageRequest, slug: str, facts: CampaignFacts, recipient: Recipient | None, asked: forms.Asked
) -> Trial | None:
    """What a page says of it beside the message to this recipient; None where there is no message to show."""
    if recipient is None or recipient.erased:
        return None
    back = Places(slug).campaign(facts.id, forms.address(asked))
    return trial_of(
        facts,
        recipient,
        last_of(request.actor.id, facts.id),
        Hand(request.actor, slug, back, Tried()),
        email=_email(request),
        overdue_s=settings.OVERDUE_S,
        now=timezone.now(),
    )


def _email(request: PageRequest) -> str:
    return str(getattr(request.user, "email", ""))
