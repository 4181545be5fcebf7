"""One customer: everything that was done, sent and decided on their behalf."""

from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from approvals.selectors import subjects as selectors
from approvals.selectors.decisions import Entry
from approvals.selectors.reach import reach_of
from dashboard.forms import subjects as forms
from dashboard.middleware import PageRequest
from dashboard.presenters.build_subjects import subject_page
from dashboard.presenters.places import Places
from dashboard.views.shell import render_page

SIZE = 20  # rows of each list


@require_safe
def page(request: PageRequest, slug: str) -> HttpResponse:
    """The customer whom the address names; one that nobody has heard of has an empty page."""
    request.actor.require("view")
    asked = forms.read(request.GET)
    reach = reach_of(asked.name)
    decisions: tuple[list[Entry], bool] = ([], False)
    if request.actor.may("read_log"):
        decisions = selectors.decisions_of(reach, before=asked.before, size=SIZE)
    shown = subject_page(
        places=Places(slug),
        name=asked.name,
        counts=selectors.counts_of(asked.name, reach),
        runs=selectors.runs_of(asked.name, after=asked.runs, size=SIZE),
        sent=selectors.deliveries_of(reach, after=asked.sent, size=SIZE),
        decisions=decisions,
        may_ask=request.actor.may("read_log"),
        now=timezone.now(),
    )
    return render_page(request, "subjects/page.html", shown)
