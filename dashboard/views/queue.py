"""The queue: what needs a decision, what is in progress, and everything that ever was."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from approvals.selectors import did
from approvals.selectors import queue as selectors
from dashboard.forms import queue as forms
from dashboard.middleware import PageRequest
from dashboard.presenters import build_queue
from dashboard.presenters.places import Places
from dashboard.views.shell import render_page


@require_safe
def page(request: PageRequest, slug: str) -> HttpResponse:
    """One page of a tab, filtered as the address says."""
    request.actor.require("view")
    asked = forms.read(request.GET)
    found = selectors.search(asked.wanted.text)
    items, more = selectors.page_of(asked.wanted, found, after=asked.after)
    shown = build_queue.queue_page(
        places=Places(slug),
        asked=asked,
        found=found,
        counts=selectors.counts(asked.wanted, found),
        items=items,
        older=items[-1].position if more else None,
        told=build_queue.Told(
            attempts=did.attempts_of([item.id for item in items if item.kind == "run"]),
            mailings=did.mailings_of([item.id for item in items if item.kind == "campaign"]),
        ),
        choices=selectors.choices(),
        may_propose=request.actor.may("propose"),
        now=timezone.now(),
    )
    return render_page(request, "queue/page.html", shown, current="queue")


@require_safe
def live(request: PageRequest, slug: str) -> HttpResponse:
    """The counts of the tabs, and how much came to this one since the page was made; never the rows."""
    request.actor.require("view")
    asked = forms.read(request.GET)
    found = selectors.search(asked.wanted.text)
    counts = selectors.counts(asked.wanted, found, made=asked.made)
    shown = build_queue.queue_live(Places(slug), asked.wanted, counts, asked.made)
    return render(request, "queue/page.html#live", {"live": shown})
