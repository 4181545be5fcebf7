"""The execution of a decision: how it is getting on, taking it back, and what became of it where nobody knows."""

from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import Resolver404
from django.urls import resolve as resolve_url
from django.views.decorators.http import require_safe
from django_htmx.middleware import HtmxDetails

from approvals.access.desk import job_for
from approvals.exceptions import Invalid, NotFound
from approvals.selectors.job_progress import Progress, decided_on, progress_of
from approvals.services import pauses, replays, runs, stops
from dashboard.forms import runs as forms
from dashboard.forms.tried import tried
from dashboard.middleware import PageRequest
from dashboard.presenters.build_job import job_progress
from dashboard.presenters.places import Places
from dashboard.views.deciding import answer, deciding, found
from dashboard.views.runs import shown


@require_safe
def progress(request: PageRequest, slug: str, job_id: UUID) -> HttpResponse:
    """The fragment that follows a job: asked for again while it moves."""
    told = progress_of(id=job_for(request.actor, job_id).id)
    if told is None:
        raise NotFound()
    job = job_progress(
        told,
        places=Places(slug),
        overdue_s=settings.OVERDUE_S,
        seen=request.GET.get("seen", "")[:20],
        page=_page_of(request, slug, told),
    )
    return render(request, "runs/page.html#job", {"job": job})


def _page_of(request: PageRequest, slug: str, told: Progress) -> str:
    """The page that asked: the one open in the browser, unless that is the answer to a form, which has no address."""
    path = HtmxDetails(request).current_url_abs_path or ""
    try:
        if resolve_url(urlsplit(path).path).url_name in ("run", "decision", "campaign"):
            return path
    except Resolver404:
        pass
    places = Places(slug)
    return places.campaign(told.campaign_id) if told.campaign_id else places.run(decided_on(told.id))


@deciding("cancel_replay", on="job")
def cancel(request: PageRequest, slug: str, job_id: UUID) -> HttpResponse:
    """Take a replay back that no worker has begun with."""
    _, seen = found(request, job_for, job_id, "cancel_replay")
    run_id = decided_on(job_id)
    decision, repeated = replays.cancel(by=request.actor, job_id=job_id, shown=seen)
    said = "Taken back: nothing was started."
    return answer(request, decision.kind, repeated=repeated, said=said, page=Places(slug).run(run_id))


@deciding("stop_replay", on="job")
def stop(request: PageRequest, slug: str, job_id: UUID) -> HttpResponse:
    """End a replay that a worker streams, while it goes on."""
    job, seen = found(request, job_for, job_id, "stop_replay")
    decision, repeated = stops.stop_replay(by=request.actor, job_id=job_id, shown=seen)
    said = "Stopped: its stream is closed within a few seconds. A call that was under way may still have happened."
    page = Places(slug).run(job.run_id or decided_on(job_id))
    return answer(request, decision.kind, repeated=repeated, said=said, page=page)


@deciding("resume_replay", on="job")
def resume(request: PageRequest, slug: str, job_id: UUID) -> HttpResponse:
    """Let a paused replay go on."""
    _, seen = found(request, job_for, job_id, "resume_replay")
    run_id = decided_on(job_id)
    decision, repeated = pauses.resume_replay(by=request.actor, job_id=job_id, shown=seen)
    said = "Queued: the replay goes on. You can follow it here."
    return answer(request, decision.kind, repeated=repeated, said=said, page=Places(slug).run(run_id))


@deciding("resume_send", on="job")
def resume_send(request: PageRequest, slug: str, job_id: UUID) -> HttpResponse:
    """Let a paused sending go on."""
    job, seen = found(request, job_for, job_id, "resume_send")
    decision, repeated = pauses.resume_send(by=request.actor, job_id=job_id, shown=seen)
    page = Places(slug).campaign(job.campaign_id or job.id)
    return answer(request, decision.kind, repeated=repeated, said="Queued: the sending goes on.", page=page)


@deciding("cancel_send", on="job")
def give_up(request: PageRequest, slug: str, job_id: UUID) -> HttpResponse:
    """Take back a paused message to one recipient."""
    job, seen = found(request, job_for, job_id, "cancel_send")
    decision, repeated = pauses.give_up(by=request.actor, job_id=job_id, shown=seen)
    page = Places(slug).campaign(job.campaign_id or job.id)
    return answer(request, decision.kind, repeated=repeated, said="Taken back: it is not sent.", page=page)


@deciding("resolve_run", on="job")
def resolve(request: PageRequest, slug: str, job_id: UUID) -> HttpResponse:
    """Say what became of a replay in doubt."""
    _, seen = found(request, job_for, job_id, "resolve_run")
    run_id = decided_on(job_id)
    given = forms.read_resolve(request.POST)
    try:
        decision, repeated = runs.resolve_job(
            by=request.actor, job_id=job_id, shown=seen, resolution=given.resolution, reason=given.reason
        )
    except Invalid as invalid:
        return shown(request, slug, run_id, tried("job_resolve", request.POST, invalid))
    said = {
        "happened": "Noted: the replay began. You can follow it here.",
        "did_not_happen": "Noted: nothing was begun. What it was to be told can be said again.",
        "do_again": "Queued: the replay will be started once more. You can follow it here.",
    }.get(given.resolution, "Noted: it is left as it is.")
    return answer(request, decision.kind, repeated=repeated, said=said, page=Places(slug).run(run_id))
