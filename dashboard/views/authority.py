"""Who allowed this? From a message, a recipient, a run or a call back to the decision behind it."""

from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from approvals.selectors.authority import effects_of
from dashboard.forms import authority as forms
from dashboard.middleware import PageRequest
from dashboard.presenters.build_authority import authority_page
from dashboard.presenters.places import Places
from dashboard.views.shell import render_page

AT_MOST = 50


@require_safe
def page(request: PageRequest, slug: str) -> HttpResponse:
    """Everything that goes by the words of the address, each with its answer."""
    request.actor.require("view")
    request.actor.require("read_log")
    asked = forms.read(request.GET)
    found = effects_of(asked.query, at_most=AT_MOST)
    shown = authority_page(found, asked, places=Places(slug), now=timezone.now())
    return render_page(request, "authority/page.html", shown, current="authority")
