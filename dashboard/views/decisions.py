"""The decision log: who allowed what, when, why, and what they saw."""

from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from approvals.access.desk import decision_for
from approvals.selectors import decisions as selectors
from approvals.selectors.queue import choices
from dashboard.forms import decisions as forms
from dashboard.middleware import PageRequest
from dashboard.presenters.build_decisions import decisions_page
from dashboard.presenters.build_entry import decision_page
from dashboard.presenters.places import Places
from dashboard.views.shell import render_page


@require_safe
def page(request: PageRequest, slug: str) -> HttpResponse:
    """One page of the log, filtered as the address says."""
    request.actor.require("read_log")
    asked = forms.read(request.GET)
    found = selectors.search(asked.wanted.text)
    entries, more = selectors.page_of(asked.wanted, before=asked.before, found=found)
    shown = decisions_page(
        places=Places(slug),
        asked=asked,
        whole=found is None or found.whole,
        entries=entries,
        more=more,
        people=selectors.people(),
        agents=choices().agents,
        now=timezone.now(),
    )
    return render_page(request, "decisions/page.html", shown, current="decisions")


@require_safe
def entry(request: PageRequest, slug: str, decision_id: UUID) -> HttpResponse:
    """One entry: what its decider saw, and what came of it."""
    decision = decision_for(request.actor, decision_id)
    back = forms.read_query(request.GET.get("back", ""))
    shown = decision_page(
        selectors.opened(decision),
        places=Places(slug),
        overdue_s=settings.OVERDUE_S,
        now=timezone.now(),
        back=forms.address(back.wanted, before=back.before),
    )
    return render_page(request, "decisions/entry.html", shown, current="decisions")
