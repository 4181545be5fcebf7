"""One version of a campaign, to look at: what it said, to whom, and what became of it.

What can be decided here are its own deliveries in doubt or failed; everything else stands on the campaign's page.
"""

from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from approvals.access.desk import campaign_for
from approvals.selectors import campaigns as selectors
from approvals.selectors.campaign_versions import decided_about
from dashboard.forms import campaigns as forms
from dashboard.forms.tried import Tried
from dashboard.middleware import PageRequest
from dashboard.presenters.build_campaign import audience_of, troubled_forms
from dashboard.presenters.build_versions import version_page
from dashboard.presenters.hand import Hand
from dashboard.presenters.places import Places
from dashboard.views import campaign_parts as parts
from dashboard.views.shell import render_page


@require_safe
def page(request: PageRequest, slug: str, campaign_id: UUID, number: int) -> HttpResponse:
    """The version with this number, with the message to the recipient that the address names."""
    asked = forms.read(request.GET)
    facts = selectors.facts_of(campaign_for(request.actor, campaign_id), number)
    htmx: Any = getattr(request, "htmx", None)
    if htmx and htmx.target == "preview":
        _, preview = parts.preview(slug, facts, asked)
        response = render(request, "campaigns/version.html#preview", {"preview": preview})
    else:
        response = shown(request, slug, facts, asked)
    patch_vary_headers(response, ["HX-Request"])
    return response


def shown(
    request: PageRequest,
    slug: str,
    facts: selectors.CampaignFacts,
    asked: forms.Asked,
    sent: Tried | None = None,
) -> HttpResponse:
    """The whole page; with `sent` as 422."""
    places, now = Places(slug), timezone.now()
    here = places.campaign(facts.id, forms.address(asked), facts.version)
    hand = Hand(request.actor, slug, here, sent or Tried())
    _, preview = parts.preview(slug, facts, asked, pushes=sent is None)
    shown_page = version_page(
        facts,
        preview,
        audience_of(facts, parts.listed(facts, asked), places, asked),
        troubled_forms(facts, parts.troubles(facts, asked, with_older=False), hand, asked=asked, now=now),
        decided_about(facts.id),
        places=places,
        now=now,
    )
    status = 422 if sent else 200
    return render_page(request, "campaigns/version.html", shown_page, status=status, current="queue")


def asked_before(request: PageRequest, path: str) -> forms.Asked:
    """What the page at `path` was asked for on which a form was sent; nothing where it was sent from another one."""
    try:
        there = urlsplit(request.POST.get("next", "")).path == path
    except ValueError:
        there = False
    return forms.read_next(request.POST) if there else forms.Asked()
