"""One campaign: exactly what would be sent to whom, how the sending goes, and the decisions about it."""

import math
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_POST, require_safe

from approvals.access.desk import campaign_for, delivery_for
from approvals.exceptions import Invalid, NotFound
from approvals.rules.shown import Shown
from approvals.selectors import campaigns as selectors
from approvals.selectors.job_progress import progress_of
from approvals.services import campaigns as services
from dashboard.forms import campaigns as forms
from dashboard.forms.shown import unpack
from dashboard.middleware import PageRequest
from dashboard.presenters import build_campaign, build_message, build_sending
from dashboard.presenters.ages import span
from dashboard.presenters.build_campaign import Lists
from dashboard.presenters.build_campaign_acts import Reader, Tried, offers
from dashboard.presenters.campaigns import Preview
from dashboard.presenters.places import Places
from dashboard.presenters.text import plural
from dashboard.views.deciding import trail_of
from dashboard.views.frames import framed
from dashboard.views.shell import render_page

SIZE = 50  # rows of each list
CHOICES = 100  # recipients that are offered in a list; of more, one is asked for by address


class SeeOther(HttpResponseRedirect):
    """Decided: look at the page, which is asked for with a GET whatever came before."""

    status_code = 303


@require_safe
def page(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """The campaign, with the message to the recipient that the address names."""
    asked = forms.read(request.GET)
    htmx: Any = getattr(request, "htmx", None)
    if htmx and not htmx.history_restore_request:
        facts = selectors.facts_of(campaign_for(request.actor, campaign_id))
        response = render(request, "campaigns/page.html#preview", {"preview": _preview(slug, facts, asked)})
    else:
        response = _answer(request, slug, campaign_id, asked)
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


@require_safe
def source(request: PageRequest, slug: str, campaign_id: UUID, delivery_id: UUID) -> HttpResponse:
    """The bytes of the message to one recipient, to keep."""
    del slug
    made = _made(request, campaign_id, delivery_id)
    if made.problem:
        raise Invalid(None, made.problem)
    response = HttpResponse(made.raw, content_type="message/rfc822")
    response["Content-Disposition"] = f'attachment; filename="{delivery_id}.eml"'
    return response


@require_POST
def approve(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Release exactly what was shown."""

    def decide(shown: Shown) -> str:
        decision, repeated = services.approve(by=request.actor, campaign_id=campaign_id, shown=shown)
        if repeated:
            return "You had approved this already, and nothing happened twice."
        return (
            f"Approved. Sending is queued: it starts {_start(decision.id)}, and can be taken back until then."
        )

    return _decided(request, slug, campaign_id, "approve", decide)


@require_POST
def reject(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Refuse it, with a comment for whoever proposed it."""

    def decide(shown: Shown) -> str:
        comment = forms.text_of(request.POST, "comment")
        _, repeated = services.reject(by=request.actor, campaign_id=campaign_id, shown=shown, comment=comment)
        if repeated:
            return "You had rejected this already, and nothing happened twice."
        return "Rejected. Nothing is sent, and whoever proposed it can read your comment."

    return _decided(request, slug, campaign_id, "reject", decide)


@require_POST
def take_back(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Undo an approval before a worker begins with it."""

    def decide(shown: Shown) -> str:
        _, repeated = services.take_back(by=request.actor, campaign_id=campaign_id, shown=shown)
        if repeated:
            return "You had taken it back already, and nothing happened twice."
        return "Taken back. Nothing was sent, and the campaign waits for a decision again."

    return _decided(request, slug, campaign_id, "take_back", decide)


@require_POST
def stop(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Stop it while it is being sent."""

    def decide(shown: Shown) -> str:
        reason = forms.text_of(request.POST, "reason")
        _, repeated = services.stop(by=request.actor, campaign_id=campaign_id, shown=shown, reason=reason)
        if repeated:
            return "You had stopped it already, and nothing happened twice."
        return "Stopped. What had not left by then is skipped for good."

    return _decided(request, slug, campaign_id, "stop", decide)


@require_POST
def resolve(request: PageRequest, slug: str, delivery_id: UUID) -> HttpResponse:
    """Say what became of deliveries in doubt or failed: one decision each, and all of them or none.

    The address names one of the form's deliveries, which says of which campaign they are.
    """
    with transaction.atomic():
        named = delivery_for(request.actor, delivery_id)
    resolution = request.POST.get("resolution", "")

    def decide(shown: Shown) -> str:
        ticked = forms.deliveries_of(request.POST)
        reason = forms.text_of(request.POST, "reason")
        with transaction.atomic():
            for one in ticked:
                if delivery_for(request.actor, one).campaign_id != named.campaign_id:
                    raise NotFound()
            outcomes = [
                services.resolve_delivery(
                    by=request.actor, delivery_id=one, shown=shown, resolution=resolution, reason=reason
                )
                for one in ticked
            ]
        new = sum(not repeated for _, repeated in outcomes)
        if not new:
            return "You had settled this already, and nothing happened twice."
        number = plural(new, "delivery", "deliveries")
        return f"Settled: {number}. {_SETTLED[resolution]}"

    return _decided(request, slug, named.campaign_id, named.state, decide, shown_for=delivery_id)


PERMISSIONS = {"approve": "approve", "reject": "reject", "take_back": "cancel_send", "stop": "stop_send"}
_SETTLED = {
    "happened": "They count as sent.",
    "do_again": "Sending them once more is queued.",
    "leave": "Nothing is sent again.",
}


def _decided(
    request: PageRequest,
    slug: str,
    campaign_id: UUID,
    act: str,
    decide: Callable[[Shown], str],
    *,
    shown_for: UUID | None = None,
) -> HttpResponse:
    """Decide, and lead back to the page; or the page again, with what is wrong beside its field."""
    with transaction.atomic():
        campaign_for(request.actor, campaign_id)
    request.actor.require(PERMISSIONS.get(act, "resolve_campaign"))
    asked = forms.read_next(request.POST)
    try:
        target = shown_for or campaign_id
        told = decide(unpack(request.POST.get("shown", ""), target=target, user_id=request.actor.id))
    except Invalid as invalid:
        tried = Tried(
            act=act,
            refusal=invalid,
            text=request.POST.get("reason") or request.POST.get("comment") or "",
            resolution=request.POST.get("resolution", ""),
            ticked=frozenset(request.POST.getlist("delivery")),
        )
        with transaction.atomic():
            return _answer(request, slug, campaign_id, asked, tried)
    messages.success(request, told)
    return SeeOther(Places(slug).campaign(campaign_id, forms.address(asked)))


def _answer(
    request: PageRequest,
    slug: str,
    campaign_id: UUID,
    asked: forms.Asked,
    tried: Tried | None = None,
) -> HttpResponse:
    """The whole page; with `tried`, once more for a form that came back."""
    facts = selectors.facts_of(campaign_for(request.actor, campaign_id))
    if tried and not offers(facts, tried.act):
        raise tried.refusal
    version, places = facts.version_id, Places(slug)
    reads_log = request.actor.may("read_log")
    lists = Lists(
        excluded=selectors.excluded(version, after=asked.excluded, size=SIZE),
        in_doubt=_troubled(version, "in_doubt", asked.in_doubt),
        failed=_troubled(version, "failed", asked.failed),
        decisions=selectors.decisions_of(facts.id, size=SIZE) if reads_log else ([], False),
        lacking=selectors.lacking(version, build_message.fields_of(facts.content)),
    )
    reader = Reader(request.actor, places, asked, trail_of(places, asked.back, facts.id), tried)
    shown = build_campaign.campaign_page(
        facts, _preview(slug, facts, asked), lists, reader, overdue_s=settings.OVERDUE_S, now=timezone.now()
    )
    status = tried.refusal.status if tried else 200
    return render_page(request, "campaigns/page.html", shown, status=status, current="queue")


def _preview(slug: str, facts: selectors.CampaignFacts, asked: forms.Asked) -> Preview:
    version, delivery_id = facts.version_id, asked.delivery_id
    wanted = selectors.recipient_of(version, delivery_id=delivery_id, address="" if delivery_id else asked.to)
    found = wanted is not None or not asked.to
    chosen = build_message.Chosen(
        recipient=wanted if found else selectors.recipient_of(version),
        found=found,
        addresses=selectors.addresses(version, at_most=CHOICES),
    )
    return build_message.preview_of(facts, chosen, places=Places(slug), asked=asked, now=timezone.now())


def _troubled(version_id: UUID, state: str, after: int) -> tuple[list[selectors.Trouble], bool]:
    """The list behind this position; from its beginning once nothing stands there any more."""
    rows = selectors.troubled(version_id, state, after=after, size=SIZE)
    return rows if rows[0] or not after else selectors.troubled(version_id, state, size=SIZE)


def _made(request: PageRequest, campaign_id: UUID, delivery_id: UUID) -> build_message.Made:
    facts = selectors.facts_of(campaign_for(request.actor, campaign_id))
    recipient = selectors.recipient_of(facts.version_id, delivery_id=delivery_id)
    if recipient is None:
        raise NotFound()
    return build_message.message_to(recipient, facts.content, timezone.now())


def _start(decision_id: UUID) -> str:
    """When the execution of a decision begins, as the end of a sentence."""
    with transaction.atomic():
        job = progress_of(decision_id=decision_id)
    left = math.ceil((job.due_at - job.now).total_seconds()) if job else 0
    return f"in {span(left)}" if left > 0 else "as soon as a worker has it"
