"""Who is not to be written to: looking somebody up, adding an address, releasing one."""

from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from approvals.exceptions import Conflict, Invalid
from approvals.selectors import suppressions as selectors
from approvals.services import suppressions as services
from dashboard.forms import suppressions as forms
from dashboard.middleware import PageRequest
from dashboard.presenters.build_suppressions import suppressions_page
from dashboard.presenters.places import Places
from dashboard.views.deciding import SeeOther, deciding
from dashboard.views.shell import render_page

SIZE = 50
ADDED = "Added: nothing is sent to this address any more, also by campaigns that are approved already."


@require_safe
def page(request: PageRequest, slug: str) -> HttpResponse:
    """The list, newest first; with an address, what is known of that one."""
    request.actor.require("view")
    return _page(request, slug, forms.SuppressForm())


@deciding("suppress", on="workspace")
def add(request: PageRequest, slug: str) -> HttpResponse:
    """Put an address on the list."""
    request.actor.require("suppress")
    form = forms.SuppressForm(request.POST)
    if form.is_valid():
        try:
            services.suppress(by=request.actor, **form.cleaned_data)
        except Invalid as invalid:
            form.add_error(invalid.field if invalid.field in form.fields else None, invalid.text)
        except Conflict as there:  # of the address, which somebody can change: no refusal of the act
            form.add_error("address", there.text)
        else:
            messages.success(request, ADDED)
            return SeeOther(Places(slug).suppressions())
    return _page(request, slug, form, status=422)


@deciding("unsuppress", on="suppression")
def release(request: PageRequest, slug: str, suppression_id: UUID) -> HttpResponse:
    """Let an address be written to again."""
    try:
        services.release(
            by=request.actor, suppression_id=suppression_id, reason=request.POST.get("reason") or ""
        )
    except Invalid as invalid:
        wrong = (str(suppression_id), invalid.text)
        return _page(request, slug, forms.SuppressForm(), status=422, wrong=wrong)
    messages.success(request, "Released: campaigns may write to this address again.")
    return SeeOther(Places(slug).suppressions())


def _page(
    request: PageRequest,
    slug: str,
    form: forms.SuppressForm,
    *,
    status: int = 200,
    wrong: tuple[str, str] = ("", ""),
) -> HttpResponse:
    asked = forms.read(request.GET)
    with transaction.atomic():
        found = selectors.listed(address=asked.address, before=asked.before, size=SIZE)
    shown = suppressions_page(
        actor=request.actor,
        places=Places(slug),
        asked=asked,
        found=found,
        form=form,
        now=timezone.now(),
        wrong=wrong,
    )
    return render_page(request, "suppressions/page.html", shown, status=status, current="datasets")
