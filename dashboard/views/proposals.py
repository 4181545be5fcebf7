"""Proposing by a member: who gets it, what they get, and another version of a campaign that is there.

Whatever is refused, the form comes back with all that was typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from approvals.access.datasets import dataset_for
from approvals.access.desk import campaign_for
from approvals.exceptions import Conflict, Invalid, NotFound, Stale
from approvals.rules.permissions import why_not
from approvals.selectors import campaigns as selectors
from approvals.selectors import datasets
from approvals.selectors.campaign_counts import counts_of, newest_version
from approvals.services import proposals as services
from dashboard.forms import proposals as forms
from dashboard.forms.attached import already, only_attaches
from dashboard.forms.datasets import UploadForm
from dashboard.forms.shown import unpack
from dashboard.forms.whom import WHOM, Whom
from dashboard.middleware import PageRequest
from dashboard.presenters import build_proposals, build_whom
from dashboard.presenters.places import Places
from dashboard.presenters.proposals import Files
from dashboard.views import attaching as attaching_of
from dashboard.views.attaching import Attaching
from dashboard.views.deciding import SeeOther, deciding, keep_refused
from dashboard.views.shell import render_page

if TYPE_CHECKING:
    from approvals.models import Campaign, Dataset

LISTS = 50  # ready lists that are offered
_READS = ("GET", "HEAD")
CHOOSE_FIRST = "Choose first who gets it; a list that is still being imported can be used once it is ready."
USED = (
    "What you proposed with this form before is closed by now, so it gets no other version. What you typed is still"
    " here: send it once more to propose it as a campaign of its own."
)
ANOTHER_VERSION = (
    "Version {number} took the place of the one you looked at, so nothing was proposed. What you typed is still here."
    " Look at that version first; if you send this, it takes the place of version {number}."
)


def new(request: PageRequest, slug: str) -> HttpResponse:
    """The form, or first whom it is for; a POST proposes."""
    return _look(request, slug) if request.method in _READS else _propose(request, slug)


@require_safe
def _look(request: PageRequest, slug: str) -> HttpResponse:
    request.actor.require("propose")
    dataset = _list_asked_for(request)
    if dataset is None and "typed" not in request.GET:
        return _choose(request, slug)
    if dataset is not None and datasets.status_of(dataset) != "ready":
        return redirect(Places(slug).dataset(dataset.id))
    form = _form(dataset, None, initial=_chosen(request))
    if dataset is not None and _asks_for_whom(request):
        return _whom(request, form, Places(slug).new_campaign(f"list={dataset.id}"))
    made = forms.fresh_id(request.actor.id)
    return _write(request, slug, dataset, form, made, attaching=Attaching())


@deciding("propose", on="workspace")
def _propose(request: PageRequest, slug: str) -> HttpResponse:
    request.actor.require("propose")
    with transaction.atomic():
        dataset = _list_asked_for(request)
    usable = dataset is not None and datasets.status_of(dataset) == "ready"
    if not usable and "typed" not in request.GET:
        return _choose(request, slug, wrong=CHOOSE_FIRST)
    attaching = attaching_of.taken(request)
    form, status = _form(dataset, request), 422
    try:
        made = forms.id_of(request.POST, user_id=request.actor.id)
    except Invalid as invalid:
        made = forms.fresh_id(request.actor.id)
        form.add_error(None, invalid.text)
    else:
        if only_attaches(request.POST):
            form = _form(dataset, None, initial=forms.as_typed(form, request.POST))
            return _write(request, slug, dataset, form, made, attaching=attaching, status=attaching.status)
    if not attaching.wrong and form.is_valid():
        try:
            proposal = form.told(external_id=made[0], attachments=attaching.wanted)
            campaign, created = services.propose(by=request.actor, proposal=proposal)
        except Invalid as invalid:
            form.refused(invalid)
        except Conflict as closed:
            keep_refused(request, "propose", ("workspace", request.membership.workspace_id), closed)
            form.add_error(None, USED)
            made, status = forms.fresh_id(request.actor.id), closed.status
        else:
            return _done(request, slug, campaign, created=created)
    return _write(request, slug, dataset, form, made, attaching=attaching, status=status)


def new_version(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """The form with what the newest version says; a POST proposes the next one."""
    answer = _look_at_newest if request.method in _READS else _revise
    return answer(request, slug, campaign_id=campaign_id)


@require_safe
def _look_at_newest(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    campaign = _found(request, campaign_id)
    facts = selectors.facts_of(campaign)
    form = _version_form(facts, None, chosen=_chosen(request))
    if _asks_for_whom(request):
        return _whom(request, form, Places(slug).new_version(campaign_id))
    attaching = attaching_of.listed(request.actor, already(facts.content.attached))
    return _version(request, slug, campaign, facts, form, attaching=attaching)


@deciding("new_version", on="campaign")
def _revise(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    with transaction.atomic():
        campaign = _found(request, campaign_id)
        facts = selectors.facts_of(campaign)
        form = _version_form(facts, request)
    attaching = attaching_of.taken(request)
    warning, status = "", 422
    try:
        shown = unpack(request.POST.get("shown", ""), target=campaign_id, user_id=request.actor.id)
    except Invalid as invalid:
        form.add_error(None, invalid.text)
    else:
        if shown.digest != facts.digest:
            warning = ANOTHER_VERSION.format(number=facts.version)
        if only_attaches(request.POST):
            with transaction.atomic():
                form = _version_form(facts, None, initial=forms.as_typed(form, request.POST))
            status = attaching.status
        elif not attaching.wrong and form.is_valid():
            proposal = form.told(external_id=campaign.external_id, attachments=attaching.wanted)
            try:
                services.revise(by=request.actor, campaign_id=campaign_id, shown=shown, proposal=proposal)
            except Invalid as invalid:
                form.refused(invalid)
            except Conflict as conflict:
                keep_refused(request, "new_version", ("campaign", campaign_id), conflict)
                status = conflict.status
                with transaction.atomic():
                    campaign = _found(request, campaign_id)
                    facts = selectors.facts_of(campaign)
                warning = ANOTHER_VERSION.format(number=facts.version) if isinstance(conflict, Stale) else ""
            else:
                return _done(request, slug, campaign, created=True)
    with transaction.atomic():
        return _version(
            request, slug, campaign, facts, form, attaching=attaching, warning=warning, status=status
        )


def _found(request: PageRequest, campaign_id: UUID) -> Campaign:
    """The campaign, for whoever may propose; one that is not there is not there for anybody."""
    campaign = campaign_for(request.actor, campaign_id)
    request.actor.require("propose")
    return campaign


def _list_asked_for(request: PageRequest) -> Dataset | None:
    """The list that the address names; NotFound for one that is not there."""
    asked = request.GET.get("list")
    if not asked:
        return None
    try:
        return dataset_for(request.actor, UUID(asked))
    except ValueError:
        raise NotFound() from None


def _chosen(request: PageRequest) -> dict[str, str]:
    """What the address says of who gets it, which is asked for while the form is filled in."""
    return {name: request.GET[name] for name in WHOM if name in request.GET}


def _asks_for_whom(request: PageRequest) -> bool:
    htmx: Any = getattr(request, "htmx", None)
    return bool(htmx and htmx.target == "whom")


def _whom(request: PageRequest, form: Any, url: str) -> HttpResponse:
    """The fields that follow from what is chosen, alone."""
    whom = build_whom.whom_of(form, url=url, values=_values(form), alone=True)
    return render(request, "campaigns/write.html#whom", {"whom": whom})


def _values(form: Any) -> list[str]:
    """What the column that rows are picked by holds, as far as one is chosen."""
    if not isinstance(form, Whom) or not (dataset := form.list_chosen()) or not form.column_chosen():
        return []
    with transaction.atomic():
        return datasets.values_of(
            dataset.id,
            form.column_chosen(),
            rows=build_whom.ROWS_LOOKED_AT,
            at_most=build_whom.MOST_SUGGESTED,
        )


def _form(
    dataset: Dataset | None, sent: PageRequest | None, *, initial: dict[str, str] | None = None
) -> forms.TypedForm | forms.ListedForm:
    given = sent.POST if sent else None
    return (
        forms.ListedForm(given, dataset=dataset, initial=initial)
        if dataset
        else forms.TypedForm(given, initial=initial)
    )


def _version_form(
    facts: selectors.CampaignFacts,
    sent: PageRequest | None,
    *,
    initial: Mapping[str, str] | None = None,
    chosen: Mapping[str, str] | None = None,
) -> forms.VersionForm:
    """The form with what was sent and is judged, with what was typed, or with what the newest version says.

    `chosen` is who gets it, where that was chosen anew.
    """
    content = facts.content
    return forms.VersionForm(
        sent.POST if sent else None,
        rest=build_proposals.rest_of(facts),
        lists=datasets.ready(size=LISTS),
        initial=initial
        or {
            "name": facts.name,
            "purpose": facts.purpose,
            "who": "rest",
            "sender": content.from_address,
            "reply_to": content.reply_to,
            "subject": content.subject,
            "text": content.text,
            "html": content.html,
            "send_by": facts.send_by,
            **(chosen or {}),
        },
    )


def _choose(request: PageRequest, slug: str, *, wrong: str = "") -> HttpResponse:
    may = request.actor.may("import_audience")
    with transaction.atomic():
        lists = datasets.ready(size=LISTS)
    page = build_proposals.choose_page(
        places=Places(slug),
        lists=lists,
        form=UploadForm(),
        limit_mb=settings.IMPORT_MOST_MB,
        refused="" if may else why_not("import_audience"),
        wrong=wrong,
    )
    return render_page(request, "campaigns/new.html", page, status=422 if wrong else 200, current="queue")


def _write(
    request: PageRequest,
    slug: str,
    dataset: Dataset | None,
    form: forms.ProposalForm,
    made: tuple[str, str],
    *,
    attaching: Attaching,
    status: int = 200,
) -> HttpResponse:
    external_id, shown = made
    page = build_proposals.write_page(
        places=Places(slug),
        dataset=dataset,
        form=form,
        files=_files(attaching),
        external_id=external_id,
        shown=shown,
        values=_values(form),
    )
    return render_page(request, "campaigns/write.html", page, status=status, current="queue")


def _version(
    request: PageRequest,
    slug: str,
    campaign: Campaign,
    facts: selectors.CampaignFacts,
    form: forms.VersionForm,
    *,
    attaching: Attaching,
    warning: str = "",
    status: int = 200,
) -> HttpResponse:
    page = build_proposals.version_page(
        facts,
        places=Places(slug),
        form=form,
        files=_files(attaching),
        user_id=request.actor.id,
        comment=campaign.comment,
        warning=warning,
        values=_values(form),
    )
    return render_page(request, "campaigns/write.html", page, status=status, current="queue")


def _files(attaching: Attaching) -> Files:
    return build_proposals.files_of(attaching.files, attaching.sizes, attaching.wrong)


def _done(request: PageRequest, slug: str, campaign: Campaign, *, created: bool) -> HttpResponse:
    """To its page, with what it is now."""
    with transaction.atomic():
        version = newest_version(campaign.id)
        to_send = counts_of(version.id)["planned"]
    if created:
        messages.success(request, build_proposals.proposed_text(version.number, to_send))
    else:
        messages.success(request, "You already proposed this. Nothing happened twice.")
    return SeeOther(Places(slug).campaign(campaign.id))
