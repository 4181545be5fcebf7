"""What people and the sweep do to a run without starting it again."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from approvals.access.actors import Actor
from approvals.access.desk import run_for
from approvals.exceptions import Conflict, Invalid, NotFound
from approvals.models import Decision, Job, Run, ToolCall
from approvals.rules.decisions import RESOLUTIONS, reason_given
from approvals.selectors.lineages import judged
from approvals.services import decisions, replays


@transaction.atomic
def interrupt(*, run_id: UUID, why: str) -> bool:
    """The sweep: a run that went silent ("silent") or on for too long ("overlong"). False if it moved meanwhile."""
    timer = {"silent": "silent_after", "overlong": "overlong_after"}[why]
    overdue = Run.objects.filter(id=run_id, status="running", **{f"{timer}__lt": Now()})
    return (
        overdue.update(
            status="interrupted",
            interrupted_at=Now(),
            interrupted_why=why,
            silent_after=None,
            overlong_after=None,
        )
        == 1
    )


@transaction.atomic
def declare_interrupted(*, by: Actor, run_id: UUID, reason: str) -> Decision:
    """A person says that a run which looks alive is dead; only then may it be decided about."""
    run = run_for(by, run_id)
    by.require("declare_interrupted")
    reason = reason_given(reason)
    replays.lock_lineage(run)
    _refuse_unless_handed_over(run)
    declared = Run.objects.filter(id=run.id, status="running", started_at__isnull=False).update(
        status="interrupted",
        interrupted_at=Now(),
        interrupted_why="declared",
        silent_after=None,
        overlong_after=None,
    )
    if not declared:
        raise Conflict("This run is not running any more. Reload the page to see where it stands.")
    return _record(by, "declare_interrupted", run, {"reason": reason})


def _refuse_unless_handed_over(run: Run) -> None:
    """A replay that a worker may still be handing over is taken back or resolved, not declared dead."""
    if (
        Job.objects.filter(run_id=run.id, accepted_at__isnull=True)
        .exclude(status__in=["failed", "cancelled"])
        .exists()
    ):
        raise Conflict(
            "This replay has not been taken up yet. Take it back, or resolve it if it is in doubt."
        )


@transaction.atomic
def dismiss(*, by: Actor, run_id: UUID, reason: str) -> Decision:
    """Nothing is to be done about this lineage; it leaves the queue."""
    run = run_for(by, run_id)
    by.require("dismiss")
    reason = reason_given(reason)
    replays.lock_lineage(run)
    dismissed = Run.objects.filter(
        id=run.id, status__in=["interrupted", "failed"], dismissed_at__isnull=True
    ).update(dismissed_at=Now())
    if not dismissed:
        raise Conflict("There is nothing to dismiss: only an interrupted or failed run waits for a decision.")
    return _record(by, "dismiss", run, {"reason": reason})


@transaction.atomic
def reopen(*, by: Actor, run_id: UUID, reason: str) -> Decision:
    """A dismissed lineage waits for a decision again."""
    run = run_for(by, run_id)
    by.require("reopen")
    reason = reason_given(reason)
    replays.lock_lineage(run)
    if not Run.objects.filter(id=run.id, dismissed_at__isnull=False).update(dismissed_at=None):
        raise Conflict("This run was not dismissed, so there is nothing to reopen.")
    return _record(by, "reopen", run, {"reason": reason})


@transaction.atomic
def resolve_call(*, by: Actor, run_id: UUID, call_id: str, resolution: str, reason: str) -> Decision:
    """A person found out what became of an open call: it happened, it did not happen, or leave it."""
    run = run_for(by, run_id)
    by.require("resolve_run")
    if resolution not in ("happened", "did_not_happen", "leave"):
        raise Invalid("resolution", "Say whether it happened, did not happen, or is to be left.")
    reason = reason_given(reason)
    call = ToolCall.objects.filter(run_id=run.id, call_id=call_id).first()
    if call is None:
        raise NotFound()
    if call.state != "open":
        raise Conflict("The outcome of this call is known meanwhile. Reload the page to see it.")
    given = {"reason": reason, "resolution": resolution, "call_id": call_id, "name": call.name}
    return _record(by, "resolve_run", run, given, target_kind="call")


@transaction.atomic
def resolve_job(*, by: Actor, job_id: UUID, resolution: str, reason: str) -> Decision:
    """A replay in doubt: it happened (the new run began), it did not and is to be done again, or leave it."""
    job = Job.objects.select_related("run").filter(id=job_id, kind="replay").first()
    if job is None or job.run is None:
        raise NotFound()
    run = run_for(by, job.run.id)
    by.require("resolve_run")
    if resolution not in ("happened", "do_again", "leave"):
        raise Invalid(
            "resolution", "Say whether it happened, did not and is to be done again, or is to be left."
        )
    given = {"reason": reason_given(reason), "resolution": resolution, "meaning": RESOLUTIONS[resolution]}
    run = replays.lock_lineage(run)
    if not Job.objects.select_for_update(no_key=True).filter(id=job.id, status="in_doubt"):
        raise Conflict("This is not in doubt any more. Reload the page to see what became of it.")
    if resolution == "happened":
        return _the_replay_began(by, job, run, given)
    if resolution == "do_again":
        return _the_replay_never_began(by, job, run, given)
    return _leave(by, job, run, given)


def _the_replay_began(by: Actor, job: Job, run: Run, given: dict[str, Any]) -> Decision:
    """From here the new run's own silence is watched, as if the runtime had answered."""
    Job.objects.filter(id=job.id).update(
        status="running", accepted_at=Now(), finished_at=None, outcome=f"{by.name}: it happened."
    )
    watch(run)
    return _record(by, "resolve_run", run, given, target_kind="job", target_id=job.id)


def _the_replay_never_began(by: Actor, job: Job, run: Run, given: dict[str, Any]) -> Decision:
    if run.max_seq:
        raise Conflict(
            "Events of the new run arrived meanwhile, so it did begin. Reload the page to see them."
        )
    Job.objects.filter(id=job.id).update(status="failed", outcome=f"{by.name}: it did not happen.")
    never_began(run)
    original = Run.objects.get(id=run.replay_of_id or run.id)
    _, _, digest = judged(original)
    started = replays.start(by=by, run=original, kind="replay_again", evidence=given, digest=digest)
    return started.decision


def _leave(by: Actor, job: Job, run: Run, given: dict[str, Any]) -> Decision:
    """Nobody will know: the new run counts as interrupted with an unknown record, and leaves the queue."""
    Job.objects.filter(id=job.id).update(status="failed", outcome=f"{by.name} left it in doubt.")
    Run.objects.filter(id=run.id, status="running").update(
        status="interrupted", interrupted_at=Now(), interrupted_why="declared", dismissed_at=Now()
    )
    return _record(by, "resolve_run", run, given, target_kind="job", target_id=job.id)


def watch(run: Run) -> None:
    """In the open transaction: start the timers of a replay that its runtime took."""
    runtime = run.runtime
    Run.objects.filter(id=run.id, status="running", last_event_at__isnull=True).update(
        silent_after=Now() + timedelta(seconds=runtime.silence_s),
        overlong_after=Now() + timedelta(seconds=runtime.time_limit_s),
    )


def never_began(run: Run) -> None:
    """In the open transaction: a replay that certainly was never handed over counts for nothing."""
    Run.objects.filter(id=run.id, status="running", max_seq=0).update(status="cancelled", started_at=None)


def _record(
    by: Actor,
    kind: str,
    run: Run,
    evidence: dict[str, Any],
    *,
    target_kind: str = "run",
    target_id: UUID | None = None,
) -> Decision:
    return decisions.record(
        by=by,
        kind=kind,
        target_kind=target_kind,
        target_id=target_id or run.id,
        item_id=run.lineage_id,
        agent=run.agent,
        subject=run.subject,
        evidence={"run": run.external_id, **evidence},
    )
