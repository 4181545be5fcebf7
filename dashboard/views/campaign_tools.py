"""Saying which tools of a runtime propose campaigns."""

from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from approvals.access.desk import runtime_for
from approvals.exceptions import Conflict, Invalid
from approvals.selectors import runtimes as selectors
from approvals.selectors.runtimes import RuntimeRow
from approvals.services import campaign_tools as services
from dashboard.forms.setup import CampaignToolForm
from dashboard.middleware import PageRequest
from dashboard.presenters import build_setup
from dashboard.presenters.places import Places
from dashboard.presenters.text import plain
from dashboard.views.deciding import SeeOther, deciding
from dashboard.views.shell import render_page


@require_safe
def page(request: PageRequest, slug: str, runtime_id: UUID) -> HttpResponse:
    """The tools of one runtime, and the form for another one."""
    return _page(request, slug, runtime_id, CampaignToolForm())


@deciding("runtime_changed", on="runtime")
def change(request: PageRequest, slug: str, runtime_id: UUID) -> HttpResponse:
    """Declare a tool, or take one away."""
    with transaction.atomic():
        row = _found(request, runtime_id)
    form = CampaignToolForm(request.POST)
    if form.is_valid():
        tool, remove = form.cleaned_data["tool"], bool(request.POST.get("remove"))
        act = services.withdraw if remove else services.declare
        try:
            act(by=request.actor, runtime=row.name, tool=tool)
        except Invalid as invalid:
            form.add_error("tool", invalid.text)
        except Conflict as known:  # it is as it was asked for, or there are many: no refusal of the act
            form.add_error("tool", known.text)
        else:
            said = "proposes nothing any more" if remove else "proposes campaigns from now on"
            messages.success(request, f"Stored: {plain(tool)} {said}.")
            return SeeOther(Places(slug).campaign_tools(runtime_id))
    return _page(request, slug, runtime_id, form, status=422)


def _found(request: PageRequest, runtime_id: UUID) -> RuntimeRow:
    """The runtime, for whoever may set up; one that is not there is not there for anybody."""
    found = runtime_for(request.actor, runtime_id)
    request.actor.require("set_up")
    return selectors.runtime_row(found)


def _page(
    request: PageRequest, slug: str, runtime_id: UUID, form: CampaignToolForm, *, status: int = 200
) -> HttpResponse:
    with transaction.atomic():
        row = _found(request, runtime_id)
    shown = build_setup.tools_page(places=Places(slug), runtime=row, form=form)
    return render_page(request, "setup/campaign_tools.html", shown, status=status, current="setup")
