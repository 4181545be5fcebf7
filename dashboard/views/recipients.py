"""Everybody in the list of a campaign or one of its versions: what became of each and why, to search, and to keep."""

from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from approvals.access.desk import campaign_for
from approvals.rules.content import fields_of
from approvals.selectors import campaigns, recipients
from approvals.selectors.contacts import contacts_by_delivery
from dashboard.forms import recipients as forms
from dashboard.middleware import PageRequest
from dashboard.presenters.build_recipients import recipients_page
from dashboard.presenters.places import Places
from dashboard.views.shell import render_page

SIZE = 50  # rows of a page


@require_safe
def page(request: PageRequest, slug: str, campaign_id: UUID, number: int | None = None) -> HttpResponse:
    """One page of the list, filtered as the address says: of the newest version, or the one with this number."""
    facts = campaigns.facts_of(campaign_for(request.actor, campaign_id), number)
    asked = forms.read(request.GET)
    of, wanted = _wanted(facts, asked)
    rows = recipients.page_of(of, wanted, after=asked.after, size=SIZE)
    contacts = contacts_by_delivery(
        [row.delivery_id for row in rows[0] if row.delivery_id], campaign_id=facts.id, agent=facts.agent
    )
    shown = recipients_page(
        facts,
        rows,
        contacts,
        asked=asked,
        places=Places(slug),
        may_trace=request.actor.may("read_log"),
        now=timezone.now(),
    )
    return render_page(request, "campaigns/recipients.html", shown, current="queue")


@require_safe
def export(
    request: PageRequest, slug: str, campaign_id: UUID, number: int | None = None
) -> StreamingHttpResponse:
    """The same list as a whole, for a spreadsheet; sent while it is read, each batch in a transaction of its own."""
    facts = campaigns.facts_of(campaign_for(request.actor, campaign_id), number)
    of, wanted = _wanted(facts, forms.read(request.GET))
    lines = recipients.csv_lines(request.membership.workspace_id, of, wanted)
    response = StreamingHttpResponse(
        lines if request.method == "GET" else iter(()), content_type="text/csv; charset=utf-8"
    )
    name = f"secondlook-{slug}-recipients-{facts.id.hex[:8]}{f'-version-{number}' if number else ''}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _wanted(facts: campaigns.CampaignFacts, asked: forms.Asked) -> tuple[recipients.Of, recipients.Wanted]:
    return (
        recipients.Of(facts.id, facts.version_id, facts.agent),
        recipients.Wanted(asked.show, asked.text, fields_of(facts.content)),
    )
