"""Setting a workspace up: its runtimes, how far they are read, and adding one.

Nothing here connects to a runtime or its database: the worker that reads does, and what it found is shown.
"""

from dataclasses import asdict
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from approvals.access.desk import runtime_for
from approvals.exceptions import Conflict, Invalid
from approvals.selectors import runtimes as selectors
from approvals.selectors import workspaces
from approvals.selectors.callbacks import untold
from approvals.selectors.runtimes import RuntimeRow
from approvals.services import listening
from approvals.services import setup as services
from dashboard.forms.setup import CallbackForm, DatabaseForm, RuntimeForm, SendingForm
from dashboard.middleware import PageRequest
from dashboard.presenters import build_setup
from dashboard.presenters.places import Places
from dashboard.presenters.text import plain
from dashboard.views.deciding import SeeOther, deciding
from dashboard.views.shell import render_page

UNTOLD = 50  # campaigns whose agent could not be told, at most


@require_safe
def page(request: PageRequest, slug: str) -> HttpResponse:
    """The runtimes of the workspace, and the form to add one."""
    request.actor.require("set_up")
    return _page(request, slug, RuntimeForm())


@require_safe
def runtime(request: PageRequest, slug: str, runtime_id: UUID) -> HttpResponse:
    """One runtime, and the forms for another database address and for where it is told of its campaigns."""
    return _runtime(request, slug, runtime_id)


@require_safe
def live(request: PageRequest, slug: str, runtime_id: UUID) -> HttpResponse:
    """The fragment that follows the reading of one store."""
    row = _found(request, runtime_id)
    here = request.GET.get("here") == "1"
    shown = build_setup.reading_of(row, Places(slug), timezone.now(), here=here)
    return render(request, "setup/page.html#reading", {"reading": shown})


def add(request: PageRequest, slug: str) -> HttpResponse:
    """Add an ADK runtime. Whoever only looks, as after a reload, is led to the page with the form."""
    if request.method in ("GET", "HEAD"):
        return redirect(Places(slug).setup())
    return _add(request, slug)


@deciding("runtime_added", on="workspace")
def _add(request: PageRequest, slug: str) -> HttpResponse:
    """It is read from the next moment on."""
    request.actor.require("set_up")
    form = RuntimeForm(request.POST)
    if form.is_valid():
        try:
            added = services.add_runtime(by=request.actor, kind="adk", **form.cleaned_data)
        except Invalid as invalid:
            form.add_error(invalid.field if invalid.field in form.fields else None, invalid.text)
        except Conflict as taken:  # of its name, which somebody can change: no refusal of the act
            form.add_error("name", taken.text)
        else:
            name = plain(added.runtime.name)
            messages.success(request, f"Added: {name} is read within seconds. You can follow that here.")
            return SeeOther(Places(slug).setup())
    return _page(request, slug, form, status=422)


def sending(request: PageRequest, slug: str) -> HttpResponse:
    """Say how this workspace sends. Whoever only looks is led to the page with the form."""
    if request.method in ("GET", "HEAD"):
        return redirect(Places(slug).setup())
    return _sending(request, slug)


@deciding("workspace_held", on="workspace")
def _sending(request: PageRequest, slug: str) -> HttpResponse:
    """From now on; what was approved before keeps its hold. Each change is an entry of the log."""
    request.actor.require("set_up")
    form = SendingForm(request.POST)
    if not form.is_valid():
        return _page(request, slug, RuntimeForm(), sending=form, status=422)
    with transaction.atomic():
        before, wanted = workspaces.sending(), form.cleaned_data
        if wanted["hold_s"] != before.hold_s:
            services.set_hold(by=request.actor, hold_s=wanted["hold_s"])
        if wanted["messages_per_minute"] != before.messages_per_minute:
            services.set_pace(by=request.actor, messages_per_minute=wanted["messages_per_minute"])
    messages.success(request, "Stored. It holds for what is approved from now on.")
    return SeeOther(Places(slug).setup())


@deciding("runtime_changed", on="runtime")
def database(request: PageRequest, slug: str, runtime_id: UUID) -> HttpResponse:
    """Say where the store of an ADK runtime is now."""
    with transaction.atomic():
        row = _found(request, runtime_id)
    form = DatabaseForm(request.POST)
    if form.is_valid():
        try:
            services.set_runtime_database(by=request.actor, runtime=row.name, **form.cleaned_data)
        except Invalid as invalid:
            form.add_error("database_url", invalid.text)
        else:
            messages.success(request, "Stored: the database is read anew within seconds.")
            return SeeOther(Places(slug).runtime(runtime_id))
    return _runtime(request, slug, runtime_id, form, status=422)


@deciding("runtime_changed", on="runtime")
def callback(request: PageRequest, slug: str, runtime_id: UUID) -> HttpResponse:
    """Say where a runtime is told what became of its campaigns.

    A secret that it got by this is on the page that answers, and on no other: it is not stored to be shown later.
    """
    with transaction.atomic():
        row = _found(request, runtime_id)
    form = CallbackForm(request.POST)
    if not form.is_valid():
        return _runtime(request, slug, runtime_id, listens=form, status=422)
    try:
        changed = listening.set_callback(by=request.actor, runtime=row.name, **form.cleaned_data)
    except Invalid as invalid:
        form.add_error("callback_url", invalid.text)
        return _runtime(request, slug, runtime_id, listens=form, status=422)
    if changed.signing_secret:
        return _runtime(request, slug, runtime_id, secret=changed.signing_secret)
    told = (
        "what could not be told before is tried at once." if changed.runtime.callback_url else "it can ask."
    )
    messages.success(request, f"Stored: {told}")
    return SeeOther(Places(slug).runtime(runtime_id))


def _found(request: PageRequest, runtime_id: UUID) -> RuntimeRow:
    """The runtime, for whoever may set up; one that is not there is not there for anybody."""
    found = runtime_for(request.actor, runtime_id)
    request.actor.require("set_up")
    return selectors.runtime_row(found)


def _page(
    request: PageRequest,
    slug: str,
    form: RuntimeForm,
    *,
    sending: SendingForm | None = None,
    status: int = 200,
) -> HttpResponse:
    with transaction.atomic():
        shown = build_setup.setup_page(
            places=Places(slug),
            runtimes=selectors.all_runtimes(),
            untold=untold(at_most=UNTOLD),
            form=form,
            sending=sending or SendingForm(initial=asdict(workspaces.sending())),
            now=timezone.now(),
        )
    return render_page(request, "setup/page.html", shown, status=status, current="setup")


def _runtime(
    request: PageRequest,
    slug: str,
    runtime_id: UUID,
    form: DatabaseForm | None = None,
    *,
    listens: CallbackForm | None = None,
    secret: str = "",
    status: int = 200,
) -> HttpResponse:
    with transaction.atomic():
        row = _found(request, runtime_id)
        missed = untold(at_most=UNTOLD)
    shown = build_setup.runtime_page(
        places=Places(slug),
        runtime=row,
        untold=missed,
        form=(form or DatabaseForm()) if row.observed else None,
        listening=listens or CallbackForm(initial={"callback_url": row.callback_url}),
        secret=secret,
        now=timezone.now(),
    )
    return render_page(request, "setup/runtime.html", shown, status=status, current="setup")
