"""Approving a campaign for a later time: first what that time means, and then, by POST, exactly that instant."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from approvals.access.desk import campaign_for
from approvals.exceptions import Invalid
from approvals.selectors import campaigns as selectors
from approvals.services import campaigns as services
from dashboard.forms import campaigns as forms
from dashboard.forms import schedule as schedule_form
from dashboard.forms.shown import unpack
from dashboard.forms.tried import Tried
from dashboard.middleware import PageRequest
from dashboard.presenters.build_campaign_acts import later
from dashboard.presenters.build_schedule import goes_out
from dashboard.presenters.hand import Hand
from dashboard.presenters.places import Places
from dashboard.views.campaigns import shown_page, timing_of
from dashboard.views.deciding import answer, deciding, found


def approve_at(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """A GET says what the time means, and never acts; a POST approves."""
    if request.method in ("GET", "HEAD"):
        return check(request, slug, campaign_id)
    return _approve_at(request, slug, campaign_id=campaign_id)


@require_safe
def check(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """What a date, a time and a zone mean, as the fragment of a page that stays open, or in a page of its own."""
    facts = selectors.facts_of(campaign_for(request.actor, campaign_id))
    asked, time = forms.read(request.GET), schedule_form.read(request.GET)
    htmx: Any = getattr(request, "htmx", None)
    if htmx and htmx.target == "later":
        response = _fragment(request, slug, facts, asked, time)
    else:
        response = shown_page(request, slug, facts, asked, time=time)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _fragment(
    request: PageRequest,
    slug: str,
    facts: selectors.CampaignFacts,
    asked: forms.Asked,
    time: schedule_form.Asked,
) -> HttpResponse:
    """The form anew, bound to what the open page showed; a note where that is not what is there any more."""
    page = Places(slug).campaign(facts.id, forms.address(asked))
    shown = request.GET.get("shown") or ""
    try:
        current = unpack(shown, target=facts.id, user_id=request.actor.id).digest == facts.digest
    except Invalid:
        current = False
    if facts.status != "pending" or not current:
        return render(request, "campaigns/_schedule.html#schedule", {"reload_url": page})
    timing = timing_of(request, asked, time, shown=shown)
    schedule = later(facts, Hand(request.actor, slug, page, Tried()), timing, timezone.now())
    return render(request, "campaigns/_schedule.html#schedule", {"schedule": schedule})


@deciding("approve", on="campaign")
def _approve_at(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Release exactly what was shown, at exactly the instant that was explained."""
    _, seen = found(request, campaign_for, campaign_id, "approve")
    try:
        at, zone = schedule_form.chosen(request.POST)
        decision, repeated = services.approve(
            by=request.actor, campaign_id=campaign_id, shown=seen, at=at, zone=zone.name
        )
    except Invalid as invalid:
        return _again(request, slug, campaign_id, invalid)
    said = f"Approved. It goes out {goes_out(at, zone, timezone.now())}, and can be taken back until then."
    response = answer(
        request, decision.kind, repeated=repeated, said=said, page=Places(slug).campaign(campaign_id)
    )
    schedule_form.remember(response, zone, secure=settings.SECURE)
    return response


def _again(request: PageRequest, slug: str, campaign_id: UUID, invalid: Invalid) -> HttpResponse:
    """The page once more, with the time as it was and what is wrong with it; a refusal where the form is gone."""
    with transaction.atomic():
        facts = selectors.facts_of(campaign_for(request.actor, campaign_id))
        if facts.status != "pending":
            raise invalid
        time = schedule_form.asked_again(request.POST, invalid)
        return shown_page(request, slug, facts, forms.read_next(request.POST), time=time, status=422)
