"""Stopping a replay that a worker streams, while it goes on."""

from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from approvals.access.actors import Actor
from approvals.access.desk import job_for
from approvals.exceptions import Conflict, NotFound
from approvals.models import Decision, Job, Run
from approvals.rules.in_place import KIND
from approvals.rules.shown import Shown
from approvals.services import decisions, lineages


@transaction.atomic
def stop_replay(*, by: Actor, job_id: UUID, shown: Shown) -> tuple[Decision, bool]:
    """End it here; (the decision, whether it only repeats one's own). Its worker sees that and closes the stream.

    NotFound, NotAllowed, AlreadyDecided, and Conflict where it does not go on.
    """
    job = job_for(by, job_id)
    if job.run_id is None:
        raise NotFound()
    by.require("stop_replay")
    run = lineages.lock(Run.objects.get(id=job.run_id))
    if run.runtime.kind != KIND:
        raise Conflict(
            "Its runtime runs this replay on its own, so it cannot be stopped from here. Stop it there."
        )
    stopped = run.status == "running" and Job.objects.filter(
        id=job.id, status="running", accepted_at__isnull=False
    ).update(status="failed", outcome=f"Stopped by {by.name}.", finished_at=Now(), lease_until=None)
    if not stopped:
        first = Decision.objects.filter(target_id=job.id, kind="stop_replay").first()
        if first is not None:
            return decisions.own_or_refused(first, by=by, kind="stop_replay", target_id=job.id), True
        raise Conflict(
            "This replay does not go on just now, so there is nothing to stop. Reload the page to see where it is.",
            code="too_late",
        )
    Run.objects.filter(id=run.id).update(
        status="interrupted",
        interrupted_at=Now(),
        interrupted_why="stopped",
        silent_after=None,
        overlong_after=None,
    )
    evidence = {"run": run.external_id}
    return lineages.record(by, "stop_replay", run, shown, evidence, target=("job", job.id)), False
