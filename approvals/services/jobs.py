"""The life of a job: claimed once, fenced, settled by whoever holds the fence.

Every step is one conditional statement by the database's clock; a row count of 0 means that somebody was first, or
that the lease is over. A step that sees 0 does nothing more. A job ends through `_ended` alone, which appends to the
log what came of it; the database refuses the commit of one that does not (sql/0010_outcomes).
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from approvals.models import Job, Run
from approvals.rules.trials import IN_DOUBT as TEST_IN_DOUBT
from approvals.services import outcomes

# No worker has it: it can still be taken back. OPEN: something is still to come of it.
WAITING = ("held", "queued", "paused")
OPEN = (*WAITING, "running")


@dataclass(frozen=True, slots=True)
class Claim:
    """A job in this worker's hands until the lease ends."""

    job_id: UUID
    fence: int
    kind: str
    run_id: UUID | None
    campaign_id: UUID | None
    version_id: UUID | None
    delivery_id: UUID | None

    @property
    def target_id(self) -> UUID:
        """The new run of a replay, the campaign of a send."""
        target = self.run_id or self.campaign_id
        if target is None:
            raise ValueError("a job without a target")
        return target


def _lease() -> Any:
    """Postgres takes it as an interval; Django's types do not know that."""
    return timedelta(seconds=settings.LEASE_S)


@transaction.atomic
def claim(*, job_id: UUID, task_id: str) -> Claim | None:
    """Take a queued job that is due; None if it is not there to be taken. A wake-up may come twice or late."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            update approvals_job set status = 'running', fence = fence + 1, task_id = %s,
              claimed_at = clock_timestamp(), lease_until = clock_timestamp() + %s, intent_at = null
            where id = (select id from approvals_job
                        where id = %s and status = 'queued' and due_at <= clock_timestamp()
                        for update skip locked)
            returning id, fence, kind, run_id, campaign_id, version_id, delivery_id
            """,
            [task_id, _lease(), job_id],
        )
        row = cursor.fetchone()
    return Claim(*row) if row else None


def state_intent(held: Claim) -> bool:
    """Within a transaction: write down that the effect is about to happen; False if the lease is over."""
    return _update(held, "intent_at = clock_timestamp()", "and lease_until > clock_timestamp()")


def is_ours(held: Claim) -> bool:
    """Within a transaction: whether this worker still holds the job, which nobody takes from it before the commit.

    Asked before anything but the job itself is touched: a worker that only slept may wake up long after its job was
    taken back, given to another, or ended.
    """
    return _update(held, "fence = fence", "")


def accepted(held: Claim, outcome: str) -> bool:
    """Within a transaction: the runtime took the replay; from here the new run's own timers watch over it."""
    return _update(held, "accepted_at = clock_timestamp(), lease_until = null, outcome = %s", "", outcome)


def opened(held: Claim, outcome: str) -> bool:
    """Within a transaction: the runtime took the replay and tells of it to this worker, which keeps its lease."""
    return _update(
        held,
        "accepted_at = coalesce(accepted_at, clock_timestamp()), outcome = %s,"
        " lease_until = clock_timestamp() + %s",
        "",
        outcome,
        _lease(),
    )


def extend(held: Claim) -> bool:
    """Within a transaction: a whole lease from now on, for whoever still holds the job."""
    return _update(held, "lease_until = clock_timestamp() + %s", "", _lease())


def finish(held: Claim, status: str, outcome: str, *, then: Callable[[], object] | None = None) -> bool:
    """Within a transaction, at its end: the job is done, failed or in_doubt, with one sentence.

    `then` is what follows from that for its run or campaign. False, and nothing of it, if the lease was lost.
    """
    ended = _update(
        held,
        "status = %s, outcome = %s, finished_at = clock_timestamp(), lease_until = null",
        "",
        status,
        outcome,
    )
    if ended:
        _ended(held.job_id, then)
    return ended


def _ended(job_id: UUID, then: Callable[[], object] | None = None) -> None:
    """What follows first, so that the entry tells of it and is the last write."""
    if then is not None:
        then()
    outcomes.record(job_id)


def requeue(held: Claim, *, wait_s: float = 0, outcome: str = "") -> bool:
    """Within a transaction: give the job back to the queue, to be taken up again after `wait_s` seconds."""
    return _update(
        held,
        "status = 'queued', lease_until = null, queued_at = clock_timestamp(), outcome = %s,"
        " due_at = case when %s > 0 then clock_timestamp() + %s else now() end",
        "",
        outcome,
        wait_s,
        timedelta(seconds=wait_s),
    )


def pause(held: Claim, *, outcome: str) -> bool:
    """Within a transaction: the job waits for a person, who reads why and lets it go on or takes it back."""
    return _update(held, "status = 'paused', lease_until = null, due_at = now(), outcome = %s", "", outcome)


def _update(held: Claim, assignments: str, condition: str, *values: Any) -> bool:
    """Only for whoever holds the job. One that runs on without a lease is nobody's any more: its new run is watched.

    So it is after its doubt was ended by the first event, or by a person, and its worker wakes up with another answer.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            f"update approvals_job set {assignments}"  # noqa: S608 - the words are this module's own
            f" where id = %s and fence = %s and status = 'running' and lease_until is not null {condition}",
            [*values, held.job_id, held.fence],
        )
        return bool(cursor.rowcount == 1)


@transaction.atomic
def release(*, job_id: UUID) -> bool:
    """The hold is over: the job may be claimed. False if it was taken back meanwhile."""
    with connection.cursor() as cursor:
        cursor.execute(
            "update approvals_job set status = 'queued', queued_at = clock_timestamp()"
            " where id = %s and status = 'held' and due_at <= clock_timestamp()",
            [job_id],
        )
        return bool(cursor.rowcount == 1)


@transaction.atomic
def expire(*, job_id: UUID) -> str | None:
    """The lease ran out: queued again where nothing was about to happen, else in doubt. The new status, or None.

    A replay that its worker had heard of stays running: the new run's own timers watch over it from here.
    """
    job = (
        Job.objects.select_for_update(skip_locked=True, no_key=True)
        .filter(id=job_id, status="running")
        .extra(where=["lease_until < clock_timestamp()"])  # the database's clock, not this machine's
        .first()
    )
    if job is None:
        return None
    if job.kind == "send":
        return _expire_send(job)
    if job.accepted_at is not None:
        return _set(
            job, "running", "The worker was lost while the new run went on; it is watched from outside."
        )
    if job.intent_at is None:
        return _set(job, "queued", "The worker was lost before anything was asked for.")
    _set(job, "in_doubt", _LOST[job.kind])
    _ended(job.id)
    return "in_doubt"


_LOST = {
    "replay": "The worker was lost after it began to ask the runtime.",
    "test": f"The worker was lost while it was under way. {TEST_IN_DOUBT}",
}


def _expire_send(job: Job) -> str:
    """What was in a dead worker's hands is in doubt; the rest of the campaign goes on."""
    with connection.cursor() as cursor:
        cursor.execute(
            "update approvals_delivery set state = 'in_doubt', settled_at = clock_timestamp(), reply = %s"
            " where job_id = %s and state = 'attempting'",
            ["The worker was lost while this message was under way.", job.id],
        )
        cursor.execute(  # due as before: what has not begun may be long overdue
            "update approvals_job set status = 'queued', outcome = %s, lease_until = null where id = %s",
            ["The worker was lost; the rest goes on.", job.id],
        )
    return "queued"


def _set(job: Job, status: str, outcome: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(
            "update approvals_job set status = %s, outcome = %s, lease_until = null, due_at = now(),"
            " finished_at = case when %s = 'in_doubt' then clock_timestamp() end where id = %s",
            [status, outcome, status, job.id],
        )
    return status


@transaction.atomic
def follow(*, job_id: UUID) -> str | None:
    """A replay's job follows its run: the first event ends a doubt or a pause, the end of the run ends the job."""
    job = (
        Job.objects.select_for_update(skip_locked=True, no_key=True)
        .filter(id=job_id, kind="replay", status__in=["in_doubt", "paused", "running"])
        .first()
    )
    if job is None or job.run_id is None:
        return None
    run = Run.objects.get(id=job.run_id)
    if job.status != "running":
        if run.max_seq == 0:
            return None
        job.status, job.outcome, job.finished_at = "running", "The new run was heard from.", None
        job.accepted_at = run.last_event_at
        job.save(update_fields=["status", "outcome", "finished_at", "accepted_at"])
    if job.accepted_at is None or run.status == "running":
        return job.status
    job.status, job.outcome = _ENDINGS[run.status]
    job.lease_until, job.finished_at = None, run.ended_at or run.interrupted_at
    job.save(update_fields=["status", "outcome", "lease_until", "finished_at"])
    _ended(job.id)
    return job.status


_ENDINGS = {
    "completed": ("done", "The new run completed."),
    "failed": ("done", "The new run ended with a failure."),
    "cancelled": ("done", "The new run was cancelled by its runtime."),
    "interrupted": ("failed", "The new run was interrupted; it waits for a decision itself."),
}
