"""One campaign: exactly what would be sent to whom, how the sending goes, and the decisions about it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from approvals.access.desk import campaign_for, delivery_for
from approvals.exceptions import Invalid, NotFound
from approvals.selectors import campaigns as selectors
from approvals.selectors.campaign_versions import decided_about, number_with
from approvals.selectors.job_progress import progress_of
from approvals.services import campaigns as services
from approvals.services import deliveries
from dashboard.forms import campaigns as forms
from dashboard.forms import schedule as schedule_form
from dashboard.forms.tried import Tried, tried
from dashboard.middleware import PageRequest
from dashboard.presenters import build_message, build_sending
from dashboard.presenters.ages import span
from dashboard.presenters.build_campaign import Lists, campaign_page
from dashboard.presenters.build_campaign_acts import Timing, offers, part_of
from dashboard.presenters.campaigns import Preview
from dashboard.presenters.hand import Hand
from dashboard.presenters.places import Places
from dashboard.presenters.text import plural
from dashboard.views import campaign_parts as parts
from dashboard.views import reviewing, trials, versions
from dashboard.views.deciding import answer, deciding, found, trail_of
from dashboard.views.frames import framed
from dashboard.views.shell import render_page

if TYPE_CHECKING:
    from approvals.models import Decision, Delivery

APPROVED = "Approved. Sending is queued:"
SETTLED = {
    "happened": "They count as sent.",
    "do_again": "Sending them once more is queued.",
    "leave": "Nothing is sent again.",
}


@require_safe
def page(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """The campaign, with the message to the recipient that the address names; one of an older version stands there."""
    asked = forms.read(request.GET)
    facts = selectors.facts_of(campaign_for(request.actor, campaign_id))
    number = number_with(facts.id, asked.delivery_id) if facts.before and asked.delivery_id else None
    if number not in (None, facts.version):
        return HttpResponseRedirect(Places(slug).campaign(facts.id, forms.address(asked), number))
    htmx: Any = getattr(request, "htmx", None)
    if htmx and htmx.target == "preview":
        at_home = (
            htmx.current_url_abs_path is None or urlsplit(htmx.current_url_abs_path).path == request.path
        )
        preview = _preview(request, slug, facts, asked, pushes=at_home)
        response = render(request, "campaigns/page.html#preview", {"preview": preview})
    else:
        response = shown_page(request, slug, facts, asked)
    patch_vary_headers(response, ["HX-Request"])
    return response


@require_safe
def live(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """How far the sending is; never what a reviewer is reading."""
    facts = selectors.facts_of(campaign_for(request.actor, campaign_id))
    places = Places(slug)
    shown = build_sending.progress_of(
        facts,
        places=places,
        back=places.back(forms.read(request.GET).back),
        overdue_s=settings.OVERDUE_S,
        now=timezone.now(),
        alone=True,
    )
    return render(request, "campaigns/page.html#progress", {"progress": shown})


@require_safe
def message(request: PageRequest, slug: str, campaign_id: UUID, delivery_id: UUID) -> HttpResponse:
    """The HTML of the message to one recipient, for the frame."""
    del slug
    made = _made(request, campaign_id, delivery_id)
    return framed(made.envelope.html or "")


@deciding("approve", on="campaign")
def approve(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Release exactly what was shown."""
    _, seen = found(request, campaign_for, campaign_id, "approve")
    decision, repeated = services.approve(by=request.actor, campaign_id=campaign_id, shown=seen)
    said = (
        "" if repeated else f"{APPROVED} it starts {_start(decision.id)}, and can be taken back until then."
    )
    return _done(request, campaign_id, decision, repeated, said)


@deciding("return_campaign", on="campaign")
def return_(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Give it back to whoever proposed it, with what is to be changed."""
    _, seen = found(request, campaign_for, campaign_id, "return_campaign")
    try:
        comment = request.POST.get("comment") or ""
        decision, repeated = services.return_(
            by=request.actor, campaign_id=campaign_id, shown=seen, comment=comment
        )
    except Invalid as invalid:
        return _again(request, slug, campaign_id, invalid, tried("campaign_return", request.POST, invalid))
    said = "Returned. Nothing is sent; whoever proposed it can read your comment and propose another version."
    return _done(request, campaign_id, decision, repeated, said)


@deciding("reject", on="campaign")
def reject(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Refuse it, with a comment for whoever proposed it."""
    _, seen = found(request, campaign_for, campaign_id, "reject")
    try:
        comment = request.POST.get("comment") or ""
        decision, repeated = services.reject(
            by=request.actor, campaign_id=campaign_id, shown=seen, comment=comment
        )
    except Invalid as invalid:
        return _again(request, slug, campaign_id, invalid, tried("campaign_reject", request.POST, invalid))
    said = "Rejected. Nothing is sent, and whoever proposed it can read your comment."
    return _done(request, campaign_id, decision, repeated, said)


@deciding("cancel_send", on="campaign")
def take_back(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Undo an approval before a worker begins with it."""
    _, seen = found(request, campaign_for, campaign_id, "cancel_send")
    decision, repeated = services.take_back(by=request.actor, campaign_id=campaign_id, shown=seen)
    said = "Taken back. Nothing was sent, and the campaign waits for a decision again."
    return _done(request, campaign_id, decision, repeated, said)


@deciding("pause_send", on="campaign")
def pause(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Hold it while it is being sent, until somebody lets it go on."""
    _, seen = found(request, campaign_for, campaign_id, "pause_send")
    decision, repeated = services.pause(by=request.actor, campaign_id=campaign_id, shown=seen)
    said = "Paused. What is under way still ends; then it waits until somebody lets it go on."
    return _done(request, campaign_id, decision, repeated, said)


@deciding("resume_send", on="campaign")
def go_on(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Let it go on after somebody paused it."""
    _, seen = found(request, campaign_for, campaign_id, "resume_send")
    decision, repeated = services.go_on(by=request.actor, campaign_id=campaign_id, shown=seen)
    return _done(request, campaign_id, decision, repeated, "Queued: the sending goes on.")


@deciding("stop", on="campaign")
def stop(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Stop it while it is being sent, or is paused."""
    _, seen = found(request, campaign_for, campaign_id, "stop_send")
    try:
        reason = request.POST.get("reason") or ""
        decision, repeated = services.stop(
            by=request.actor, campaign_id=campaign_id, shown=seen, reason=reason
        )
    except Invalid as invalid:
        return _again(request, slug, campaign_id, invalid, tried("campaign_stop", request.POST, invalid))
    said = "Stopped. What had not left by then is skipped."
    return _done(request, campaign_id, decision, repeated, said)


@deciding("resolve_delivery", on="delivery")
def resolve(request: PageRequest, slug: str, delivery_id: UUID) -> HttpResponse:
    """Say what became of deliveries in doubt or failed: one decision each, and all of them or none.

    The address names one of the form's deliveries, which says of which campaign they all are.
    """
    named, seen = found(request, delivery_for, delivery_id, "resolve_campaign")
    campaign_id = named.campaign_id
    resolution = request.POST.get("resolution") or ""
    try:
        ticked = forms.deliveries_of(request.POST)
        reason = request.POST.get("reason") or ""
        with transaction.atomic():
            if any(delivery_for(request.actor, one).campaign_id != campaign_id for one in ticked):
                raise NotFound()
            settled = [
                deliveries.resolve(
                    by=request.actor, delivery_id=one, shown=seen, resolution=resolution, reason=reason
                )
                for one in ticked
            ]
    except Invalid as invalid:
        return _again_of(request, slug, named, invalid)
    new = [decision for decision, repeated in settled if not repeated]
    said = f"Settled: {plural(len(new), 'delivery', 'deliveries')}. {SETTLED[resolution]}"
    return _done(request, campaign_id, settled[-1][0], not new, said)


def _done(
    request: PageRequest, campaign_id: UUID, decision: Decision, repeated: bool, said: str
) -> HttpResponse:
    page = Places(request.membership.slug).campaign(campaign_id)
    return answer(request, decision.kind, repeated=repeated, said=said, page=page)


def _again(request: PageRequest, slug: str, campaign_id: UUID, invalid: Invalid, sent: Tried) -> HttpResponse:
    """The page once more, with what was typed and what is wrong with it; a refusal where the form is gone."""
    with transaction.atomic():
        facts = selectors.facts_of(campaign_for(request.actor, campaign_id))
        if not offers(facts, sent):
            raise invalid
        return shown_page(request, slug, facts, forms.read_next(request.POST), sent)


def _again_of(request: PageRequest, slug: str, named: Delivery, invalid: Invalid) -> HttpResponse:
    """The same for a form about deliveries: the campaign's page, or that of their version if it is an older one."""
    with transaction.atomic():
        campaign = campaign_for(request.actor, named.campaign_id)
        facts = selectors.facts_of(campaign, number_with(campaign.id, named.id))
        sent = tried("deliveries_resolve", request.POST, invalid, target=part_of(facts.own, named.state))
        if not offers(facts, sent):
            raise invalid
        if facts.old is None:
            return shown_page(request, slug, facts, forms.read_next(request.POST), sent)
        path = Places(slug).campaign(facts.id, version=facts.old)
        return versions.shown(request, slug, facts, versions.asked_before(request, path), sent)


def shown_page(
    request: PageRequest,
    slug: str,
    facts: selectors.CampaignFacts,
    asked: forms.Asked,
    sent: Tried | None = None,
    *,
    time: schedule_form.Asked | None = None,
    status: int = 200,
) -> HttpResponse:
    """The whole page; with `sent` as 422. `time` is what was asked of the form for a later time."""
    places = Places(slug)
    may_read = request.actor.may("read_log")
    page = campaign_page(
        facts,
        _preview(request, slug, facts, asked, pushes=sent is None),
        Lists(
            listed=parts.listed(facts, asked),
            troubles=parts.troubles(facts, asked, with_older=True),
            decisions=selectors.decisions_of(facts.id, size=parts.SIZE) if may_read else ([], False),
            decided=decided_about(facts.id) if facts.before else {},
        ),
        reviewing.review_of(facts, places, asked, now=timezone.now()),
        Hand(request.actor, slug, places.campaign(facts.id, forms.address(asked)), sent or Tried()),
        asked=asked,
        timing=timing_of(request, asked, time),
        trail=trail_of(places, asked.back, facts.id),
        overdue_s=settings.OVERDUE_S,
        now=timezone.now(),
        comment=campaign_for(request.actor, facts.id).comment if facts.status == "returned" else "",
    )
    status = 422 if sent else status
    return render_page(request, "campaigns/page.html", page, status=status, current="queue")


def timing_of(
    request: PageRequest, asked: forms.Asked, time: schedule_form.Asked | None = None, *, shown: str = ""
) -> Timing:
    """What the form for a later time is made from, on the page of this address."""
    return Timing(time, schedule_form.remembered(request), forms.kept(asked), shown)


def _preview(
    request: PageRequest,
    slug: str,
    facts: selectors.CampaignFacts,
    asked: forms.Asked,
    *,
    pushes: bool = True,
) -> Preview:
    """The message that is shown, with the test of it that whoever looks can send themselves."""
    chosen, preview = parts.preview(slug, facts, asked, pushes=pushes)
    return replace(preview, trial=trials.trial(request, slug, facts, chosen.recipient, asked))


def _made(request: PageRequest, campaign_id: UUID, delivery_id: UUID) -> build_message.Made:
    facts = parts.facts_with(request.actor, campaign_id, delivery_id)
    recipient = selectors.recipient_of(facts.version_id, delivery_id=delivery_id)
    if recipient is None:
        raise NotFound()
    return build_message.message_to(recipient, build_message.without_files(facts.content)[0], timezone.now())


def _start(decision_id: UUID) -> str:
    """When the execution of a decision begins, as the end of a sentence."""
    with transaction.atomic():
        job = progress_of(decision_id=decision_id)
    left = math.ceil((job.due_at - job.now).total_seconds()) if job else 0
    return f"in {span(left)}" if left > 0 else "as soon as a worker has it"
