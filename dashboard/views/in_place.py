"""Deciding how a run goes on in its own session: answering its open calls, or a held one."""

from uuid import UUID

from django.http import HttpResponse

from approvals.access.desk import run_for
from approvals.exceptions import Invalid
from approvals.services import answers
from approvals.services.replays import Started
from dashboard.forms import runs as forms
from dashboard.forms.tried import tried
from dashboard.middleware import PageRequest
from dashboard.presenters.places import Places
from dashboard.views.deciding import answer, deciding, found
from dashboard.views.runs import shown

GOES_ON = "Queued: the run goes on in its own session. You can follow it here."


@deciding("answer_calls", on="run")
def answer_calls(request: PageRequest, slug: str, run_id: UUID) -> HttpResponse:
    """Say of every open call whether it happened, and let the agent go on."""
    _, seen = found(request, run_for, run_id, "answer_calls")
    given = forms.read_answers(request.POST)
    try:
        started = answers.answer_calls(
            by=request.actor, run_id=run_id, shown=seen, said=given.said, reason=given.reason
        )
    except Invalid as invalid:
        return shown(request, slug, run_id, tried("run_answer_calls", request.POST, invalid))
    return _goes_on(request, run_id, started)


@deciding("confirm_call", on="call")
def confirm_call(request: PageRequest, slug: str, run_id: UUID) -> HttpResponse:
    """Let a held call be made."""
    _, seen = found(request, run_for, run_id, "confirm_call")
    given = forms.read_held(request.POST)
    try:
        started = answers.confirm_call(
            by=request.actor, run_id=run_id, call_id=given.target, shown=seen, comment=given.comment
        )
    except Invalid as invalid:
        sent = tried("run_confirm_call", request.POST, invalid, target=given.target)
        return shown(request, slug, run_id, sent)
    return _goes_on(request, run_id, started)


@deciding("reject_call", on="call")
def reject_call(request: PageRequest, slug: str, run_id: UUID) -> HttpResponse:
    """Refuse a held call."""
    _, seen = found(request, run_for, run_id, "reject_call")
    given = forms.read_held(request.POST)
    try:
        started = answers.reject_call(
            by=request.actor, run_id=run_id, call_id=given.target, shown=seen, reason=given.reason
        )
    except Invalid as invalid:
        sent = tried("run_reject_call", request.POST, invalid, target=given.target)
        return shown(request, slug, run_id, sent)
    return _goes_on(request, run_id, started)


def _goes_on(request: PageRequest, run_id: UUID, started: Started) -> HttpResponse:
    page = Places(request.membership.slug).run(run_id)
    return answer(request, started.decision.kind, repeated=started.repeated, said=GOES_ON, page=page)
