"""One run: what it did, what the rules say, and the decisions about it."""

from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from approvals.access.desk import run_for
from approvals.exceptions import Invalid
from approvals.selectors.run_pages import open_run
from approvals.services import replays, runs
from dashboard.forms import runs as forms
from dashboard.forms.tried import Tried, tried
from dashboard.middleware import PageRequest
from dashboard.presenters.build_run import run_page
from dashboard.presenters.hand import Hand
from dashboard.presenters.places import Places
from dashboard.views.deciding import answer, back_of, deciding, found, trail_of
from dashboard.views.shell import render_page

QUEUED = "Queued: this run will be started again. You can follow it here."


@require_safe
def page(request: PageRequest, slug: str, run_id: UUID) -> HttpResponse:
    """The run, with the forms that its state and this member's roles allow."""
    return shown(request, slug, run_id)


def shown(request: PageRequest, slug: str, run_id: UUID, sent: Tried | None = None) -> HttpResponse:
    """The page; with `sent` once more, as 422, with what was sent and what was wrong with it."""
    places, back = Places(slug), back_of(request)
    with transaction.atomic():
        opened = open_run(run_for(request.actor, run_id))
        made = run_page(
            opened,
            Hand(request.actor, slug, places.run(run_id, places.back(back)), sent or Tried()),
            places=places,
            trail=trail_of(places, back, opened.run.lineage_id),
            overdue_s=settings.OVERDUE_S,
        )
    return render_page(request, "runs/page.html", made, status=422 if sent else 200, current="queue")


@deciding("replay", on="run")
def replay(request: PageRequest, slug: str, run_id: UUID) -> HttpResponse:
    """Start a run again that nothing stands in the way of."""
    _, seen = found(request, run_for, run_id, "replay")
    started = replays.replay(by=request.actor, run_id=run_id, shown=seen)
    return _answer(request, run_id, started.decision.kind, started.repeated, QUEUED)


@deciding("force_replay", on="run")
def force(request: PageRequest, slug: str, run_id: UUID) -> HttpResponse:
    """Start a run again in spite of what it did."""
    _, seen = found(request, run_for, run_id, "force_replay")
    given = forms.read_force(request.POST)
    try:
        started = replays.force(
            by=request.actor,
            run_id=run_id,
            shown=seen,
            reason=given.reason,
            ticked=given.ticked,
            unknown_ticked=given.unknown_ticked,
        )
    except Invalid as invalid:
        return shown(request, slug, run_id, tried("run_force", request.POST, invalid))
    return _answer(request, run_id, started.decision.kind, started.repeated, QUEUED)


@deciding("declare_interrupted", on="run")
def declare_interrupted(request: PageRequest, slug: str, run_id: UUID) -> HttpResponse:
    """Say that a run which looks alive is dead."""
    _, seen = found(request, run_for, run_id, "declare_interrupted")
    reason = forms.read_reason(request.POST)
    try:
        decision, repeated = runs.declare_interrupted(
            by=request.actor, run_id=run_id, shown=seen, reason=reason
        )
    except Invalid as invalid:
        return shown(request, slug, run_id, tried("run_declare_interrupted", request.POST, invalid))
    said = "Noted: this run counts as interrupted. It needs a decision now."
    return _answer(request, run_id, decision.kind, repeated, said)


@deciding("dismiss", on="run")
def dismiss(request: PageRequest, slug: str, run_id: UUID) -> HttpResponse:
    """Say that nothing is to be done about it."""
    _, seen = found(request, run_for, run_id, "dismiss")
    reason = forms.read_reason(request.POST)
    try:
        decision, repeated = runs.dismiss(by=request.actor, run_id=run_id, shown=seen, reason=reason)
    except Invalid as invalid:
        return shown(request, slug, run_id, tried("run_dismiss", request.POST, invalid))
    return _answer(request, run_id, decision.kind, repeated, "Dismissed: this run left the queue.")


@deciding("reopen", on="run")
def reopen(request: PageRequest, slug: str, run_id: UUID) -> HttpResponse:
    """Take back that nothing is to be done about it."""
    _, seen = found(request, run_for, run_id, "reopen")
    reason = forms.read_reason(request.POST)
    try:
        decision, repeated = runs.reopen(by=request.actor, run_id=run_id, shown=seen, reason=reason)
    except Invalid as invalid:
        return shown(request, slug, run_id, tried("run_reopen", request.POST, invalid))
    return _answer(request, run_id, decision.kind, repeated, "Reopened: this run needs a decision again.")


@deciding("resolve_run", on="call")
def resolve_call(request: PageRequest, slug: str, run_id: UUID) -> HttpResponse:
    """Say what became of a call without an answer."""
    _, seen = found(request, run_for, run_id, "resolve_run")
    given = forms.read_resolve(request.POST)
    try:
        decision, repeated = runs.resolve_call(
            by=request.actor,
            run_id=run_id,
            call_id=given.target,
            shown=seen,
            resolution=given.resolution,
            reason=given.reason,
        )
    except Invalid as invalid:
        sent = tried("run_resolve_call", request.POST, invalid, target=given.target)
        return shown(request, slug, run_id, sent)
    return _answer(request, run_id, decision.kind, repeated, "Noted: what became of this call is recorded.")


def _answer(request: PageRequest, run_id: UUID, kind: str, repeated: bool, said: str) -> HttpResponse:
    page = Places(request.membership.slug).run(run_id)
    return answer(request, kind, repeated=repeated, said=said, page=page)
