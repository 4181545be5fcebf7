"""What people and the sweep do to a run without starting it again."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from approvals.access.actors import Actor
from approvals.access.desk import job_for
from approvals.exceptions import Conflict, Invalid, NotFound
from approvals.models import Decision, Job, Run
from approvals.rules.decisions import IN_PLACE, RESOLUTIONS, reason_given
from approvals.rules.in_place import UNANSWERED
from approvals.rules.shown import Shown
from approvals.selectors.resolutions import resolutions_of
from approvals.services import decisions, jobs, lineages, replays
from approvals.services.lineages import Case

# What can be said of an open call, and of a replay in doubt (the words are in rules.decisions).
OF_CALLS = ("happened", "did_not_happen", "leave")
OF_JOBS = ("happened", "do_again", "leave")
OF_JOBS_IN_PLACE = ("happened", "did_not_happen", "leave")  # what was to be answered is decided anew


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
def declare_interrupted(*, by: Actor, run_id: UUID, shown: Shown, reason: str) -> tuple[Decision, bool]:
    """A person says that a run which looks alive is dead; only then may it be decided about.

    Here and below: (the decision, whether it only repeats one's own); NotFound, NotAllowed, Stale, AlreadyDecided,
    Conflict, Invalid.
    """
    case = lineages.open_case(by, run_id, "declare_interrupted")
    run = case.run
    if run.status != "running":
        first = _last(run, "declare_interrupted") if run.interrupted_why == "declared" else None
        if first is not None:
            return decisions.own_or_refused(first, by=by, kind=first.kind, target_id=run.id), True
        raise Conflict("This run is not running any more. Reload the page to see where it stands.")
    _refuse_unless_handed_over(run)
    lineages.refuse_stale(case, shown)
    given = {"reason": reason_given(reason)}
    Run.objects.filter(id=run.id).update(
        status="interrupted",
        interrupted_at=Now(),
        interrupted_why="declared",
        silent_after=None,
        overlong_after=None,
    )
    return _record(by, "declare_interrupted", case, shown, given), False


def _refuse_unless_handed_over(run: Run) -> None:
    """A replay that a worker may still be handing over is taken back or resolved, not declared dead."""
    if run.started_at is None or Job.objects.filter(
        run_id=run.id, accepted_at__isnull=True, status__in=[*jobs.OPEN, "in_doubt"]
    ):
        raise Conflict(
            "This replay has not been taken up yet. Take it back, or resolve it if it is in doubt."
        )


@transaction.atomic
def dismiss(*, by: Actor, run_id: UUID, shown: Shown, reason: str) -> tuple[Decision, bool]:
    """Nothing is to be done about this lineage; it leaves the queue."""
    case = lineages.open_case(by, run_id, "dismiss")
    run = case.run
    if run.dismissed_at is not None:
        first = lineages.last_decision(run.lineage_id, replays.PUT_ASIDE)
        if first is not None:
            return decisions.own_or_refused(first, by=by, kind="dismiss", target_id=run.id), True
    replays.already_started(case, by, "dismiss")  # never one's own: it raises for whoever let it start again
    lineages.refuse_superseded(case)
    if run.status not in ("interrupted", "failed"):
        raise Conflict("There is nothing to dismiss: only an interrupted or failed run waits for a decision.")
    lineages.refuse_stale(case, shown)
    given = {"reason": reason_given(reason)}
    Run.objects.filter(id=run.id).update(dismissed_at=Now())
    return _record(by, "dismiss", case, shown, given), False


@transaction.atomic
def reopen(*, by: Actor, run_id: UUID, shown: Shown, reason: str) -> tuple[Decision, bool]:
    """A dismissed lineage waits for a decision again."""
    case = lineages.open_case(by, run_id, "reopen")
    run = case.run
    if run.dismissed_at is None:
        first = _last(run, "reopen")
        if first is not None:
            return decisions.own_or_refused(first, by=by, kind="reopen", target_id=run.id), True
        raise Conflict("This run was not dismissed, so there is nothing to reopen.")
    lineages.refuse_superseded(case)
    given = {"reason": reason_given(reason)}
    Run.objects.filter(id=run.id).update(dismissed_at=None)
    return _record(by, "reopen", case, shown, given), False


@transaction.atomic
def resolve_call(
    *, by: Actor, run_id: UUID, call_id: str, shown: Shown, resolution: str, reason: str
) -> tuple[Decision, bool]:
    """A person found out what became of an open or aborted call: it happened, it did not happen, or leave it.

    Who knows better than an earlier answer may give another one, having seen it.
    """
    case = lineages.open_case(by, run_id, "resolve_run")
    if resolution not in OF_CALLS:
        raise Invalid("resolution", "Say whether it happened, did not happen, or is to be left.")
    call = next(
        (c for fact in case.facts for c in fact.calls if (c.run_id, c.call_id) == (str(run_id), call_id)),
        None,
    )
    if call is None:
        raise NotFound()
    if call.state not in UNANSWERED:
        raise Conflict("The outcome of this call is known meanwhile. Reload the page to see it.")
    earlier = resolutions_of(run_id).get(call_id)
    if earlier is not None and earlier.decision.at > shown.opened_at:
        own = decisions.own_or_refused(
            earlier.decision, by=by, kind="resolve_run", target_id=run_id, resolution=resolution
        )
        return own, True
    given = {"reason": reason_given(reason), "resolution": resolution, "meaning": RESOLUTIONS[resolution]}
    given |= {"call_id": call_id, "name": call.name}
    return _record(by, "resolve_run", case, shown, given, target=("call", run_id)), False


@transaction.atomic
def resolve_job(
    *, by: Actor, job_id: UUID, shown: Shown, resolution: str, reason: str
) -> tuple[Decision, bool]:
    """A replay in doubt: it happened (the new run began), it did not and is to be done again, or leave it.

    An answer in place did not happen and is left to be given anew: what it was about may be different by then.
    """
    job = job_for(by, job_id)
    if job.run_id is None:
        raise NotFound()
    case = lineages.open_case(by, job.run_id, "resolve_run")
    in_place = job.decision.kind in IN_PLACE
    if resolution not in (OF_JOBS_IN_PLACE if in_place else OF_JOBS):
        again = "did not happen" if in_place else "did not and is to be done again"
        raise Invalid("resolution", f"Say whether it happened, {again}, or is to be left.")
    job = Job.objects.select_for_update(no_key=True).get(id=job.id)
    if job.status != "in_doubt":
        first = Decision.objects.filter(target_id=job.id, kind__in=["resolve_run", "replay_again"]).first()
        if first is not None:
            kind = "replay_again" if resolution == "do_again" else "resolve_run"
            own = decisions.own_or_refused(first, by=by, kind=kind, target_id=job.id, resolution=resolution)
            return own, True
        raise Conflict("This is not in doubt any more. Reload the page to see what became of it.")
    given = {"reason": reason_given(reason), "resolution": resolution, "meaning": RESOLUTIONS[resolution]}
    if resolution == "happened":
        return _the_replay_began(by, job, case, shown, given), False
    if resolution == "did_not_happen":
        return _the_answer_never_came(by, job, case, shown, given), False
    if resolution == "do_again":
        return _the_replay_never_began(by, job, case, shown, given), False
    return _leave(by, job, case, shown, given), False


def _the_replay_began(by: Actor, job: Job, case: Case, shown: Shown, given: dict[str, Any]) -> Decision:
    """From here the new run's own silence is watched, as if the runtime had answered."""
    Job.objects.filter(id=job.id).update(
        status="running", accepted_at=Now(), finished_at=None, outcome=f"{by.name}: it happened."
    )
    watch(case.run)
    return _record(by, "resolve_run", case, shown, given, target=("job", job.id))


def _the_replay_never_began(by: Actor, job: Job, case: Case, shown: Shown, given: dict[str, Any]) -> Decision:
    """One more release, so it is bound to what was shown like the first."""
    _take_as_never_begun(by, job, case, shown)
    run = case.run
    again = lineages.judge(Run.objects.get(id=run.replay_of_id or run.id))
    started = replays.start(
        by=by,
        run=again.run,
        kind="replay_again",
        evidence=lineages.evidence_of(again, given),
        digest=again.digest,
        shown=shown,
        target=("job", job.id),
    )
    return started.decision


def _the_answer_never_came(by: Actor, job: Job, case: Case, shown: Shown, given: dict[str, Any]) -> Decision:
    """The attempt that was to be answered counts again, and waits for its answer."""
    _take_as_never_begun(by, job, case, shown)
    return _record(by, "resolve_run", case, shown, given, target=("job", job.id))


def _take_as_never_begun(by: Actor, job: Job, case: Case, shown: Shown) -> None:
    if case.run.max_seq:
        raise Conflict(
            "Events of the new run arrived meanwhile, so it did begin. Reload the page to see them."
        )
    lineages.refuse_stale(case, shown)
    Job.objects.filter(id=job.id).update(status="failed", outcome=f"{by.name}: it did not happen.")
    never_began(case.run)


def _leave(by: Actor, job: Job, case: Case, shown: Shown, given: dict[str, Any]) -> Decision:
    """Nobody will know: the new run counts as interrupted with an unknown record, and leaves the queue."""
    Job.objects.filter(id=job.id).update(status="failed", outcome=f"{by.name} left it in doubt.")
    Run.objects.filter(id=case.run.id, status="running").update(
        status="interrupted", interrupted_at=Now(), interrupted_why="declared", dismissed_at=Now()
    )
    return _record(by, "resolve_run", case, shown, given, target=("job", job.id))


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


def _last(run: Run, kind: str) -> Decision | None:
    return Decision.objects.filter(target_id=run.id, kind=kind).order_by("-seq").first()


def _record(
    by: Actor,
    kind: str,
    case: Case,
    shown: Shown,
    given: dict[str, Any],
    *,
    target: tuple[str, UUID] | None = None,
) -> Decision:
    return lineages.record(by, kind, case.run, shown, lineages.evidence_of(case, given), target=target)
