"""Lists of recipients: sending one, following its import, and looking through its rows."""

from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_safe

from approvals.access.datasets import dataset_for
from approvals.exceptions import Invalid, Refusal
from approvals.rules.permissions import why_not
from approvals.selectors import datasets as selectors
from approvals.services import datasets as services
from dashboard.forms import datasets as forms
from dashboard.middleware import PageRequest
from dashboard.presenters import build_datasets
from dashboard.presenters.places import Places
from dashboard.views.deciding import SeeOther, deciding
from dashboard.views.shell import render_page

SIZE = 50
ENDED_EARLY = "The file did not come in whole. Send it again."


@require_safe
def page(request: PageRequest, slug: str) -> HttpResponse:
    """All lists, newest first, and the form that sends another."""
    request.actor.require("view")
    return _page(request, slug, forms.UploadForm())


@deciding("dataset_imported", on="workspace")
def upload(request: PageRequest, slug: str) -> HttpResponse:
    """Take a list; then to its page, or to that of its first import."""
    request.actor.require("import_audience")
    form = forms.UploadForm(request.POST, request.FILES)
    try:
        if getattr(request, "upload_too_big", False):
            raise services.too_big()
        if form.is_valid():
            if "whole" not in request.POST:  # the last field of the form
                raise Invalid("file", ENDED_EARLY)
            given = form.cleaned_data
            dataset, created = services.receive(
                by=request.actor,
                upload=services.Upload(
                    name=given["file"].name,
                    pieces=given["file"].chunks(),
                    encoding=given["encoding"],
                    address_column=given["address_column"],
                ),
            )
            return SeeOther(Places(slug).dataset(dataset.id, "" if created else "known=1"))
    except Refusal as refusal:
        form.full_clean()
        form.errors.clear()
        form.add_error(refusal.field if refusal.field in form.fields else "file", refusal.text)
        return _page(request, slug, form, status=refusal.status)
    return _page(request, slug, form, status=422)


@require_safe
def one(request: PageRequest, slug: str, dataset_id: UUID) -> HttpResponse:
    """One list: how far it is, what its rows are, and those that the address asks for."""
    dataset, asked = dataset_for(request.actor, dataset_id), forms.read(request.GET)
    shown = build_datasets.list_page(
        dataset,
        selectors.rows_of(dataset.id, asked.wanted, size=SIZE),
        asked,
        places=Places(slug),
        known=request.GET.get("known") == "1",
        now=timezone.now(),
    )
    return render_page(request, "datasets/page.html", shown, current="datasets")


@require_safe
def live(request: PageRequest, slug: str, dataset_id: UUID) -> HttpResponse:
    """The fragment that follows an import; once that is over, the page around it is asked for anew.

    Only the page has the rows and their numbers.
    """
    dataset = dataset_for(request.actor, dataset_id)
    progress = build_datasets.progress_of(dataset, Places(slug))
    response = render(request, "datasets/page.html#progress", {"progress": progress})
    if not progress.url:
        response["HX-Refresh"] = "true"
    return response


def _page(request: PageRequest, slug: str, form: forms.UploadForm, *, status: int = 200) -> HttpResponse:
    may = request.actor.may("import_audience")
    with transaction.atomic():
        lists = selectors.newest(before=_before(request), size=SIZE)
    shown = build_datasets.lists_page(
        places=Places(slug),
        lists=lists,
        form=form,
        limit_mb=settings.IMPORT_MOST_MB,
        refused="" if may else why_not("import_audience"),
        now=timezone.now(),
    )
    return render_page(request, "datasets/list.html", shown, status=status, current="datasets")


def _before(request: PageRequest) -> datetime | None:
    try:
        found = parse_datetime(request.GET.get("before", ""))
    except ValueError:
        return None
    return found if found is not None and timezone.is_aware(found) else None
