"""How the execution of a releasing decision is getting on."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from approvals.exceptions import NotFound
from approvals.models import Job, Run
from approvals.rules.decisions import IN_PLACE
from approvals.rules.in_place import KIND
from approvals.selectors.payloads import proven


@dataclass(frozen=True, slots=True)
class Progress:
    """One job with what it made: the new run of a replay, or the campaign that it sends or shows in a test.

    `now` is the database's.
    """

    id: UUID
    decision_id: UUID
    kind: str
    status: str
    outcome: str
    task_id: str
    now: datetime
    created_at: datetime
    due_at: datetime
    queued_at: datetime | None
    claimed_at: datetime | None
    accepted_at: datetime | None
    finished_at: datetime | None
    run_id: UUID | None
    run_name: str
    run_status: str
    campaign_id: UUID | None
    campaign_name: str
    delivery_id: UUID | None
    in_place: bool = False  # a replay that goes on with what a person said
    chosen: tuple[datetime, str] | None = None  # when it is to begin, and the zone that a person said it in
    streamed: bool = False  # whether a worker holds its stream, so that it can be stopped from here

    @property
    def moving(self) -> bool:
        """Whether something will still happen by itself."""
        return self.status in ("held", "queued", "running")

    @property
    def cancellable(self) -> bool:
        """Whether it can still be taken back. A campaign in part sent waits for a worker too, and is stopped."""
        if self.kind == "replay":
            return self.status in ("held", "queued", "paused")
        if self.kind == "test":
            return False  # it is gone before anybody could think better of it
        fresh = self.status in ("held", "queued") and self.claimed_at is None
        return (fresh or self.status == "paused") and self.delivery_id is None

    @property
    def stoppable(self) -> bool:
        """Whether it goes on where it can be stopped."""
        going_on = self.status == "running" and self.accepted_at is not None and self.run_status == "running"
        return self.streamed and going_on

    def overdue(self, overdue_s: int) -> bool:
        """Whether it waits for a worker longer than it should."""
        waits = self.status in ("held", "queued")
        return waits and (self.now - self.due_at).total_seconds() > overdue_s


def progress_of(**which: Any) -> Progress | None:
    """The newest job with these column values (`id`, `decision_id`, `run_id`, ...), or None."""
    related = ("run__runtime", "campaign", "sample__campaign", "decision")
    jobs = Job.objects.select_related(*related).annotate(now=Now()).filter(**which)
    job = jobs.order_by("-created_at", "-id").first()
    if job is None:
        return None
    campaign = job.sample.campaign if job.sample else job.campaign
    return Progress(
        id=job.id,
        decision_id=job.decision_id,
        kind=job.kind,
        status=job.status,
        outcome=job.outcome,
        task_id=job.task_id,
        now=job.now,
        created_at=job.created_at,
        due_at=job.due_at,
        queued_at=job.queued_at,
        claimed_at=job.claimed_at,
        accepted_at=job.accepted_at,
        finished_at=job.finished_at,
        in_place=job.decision.kind in IN_PLACE,
        chosen=_chosen(job),
        streamed=bool(job.run and job.run.runtime.kind == KIND),
        run_id=job.run.id if job.run else None,
        run_name=job.run.external_id if job.run else "",
        run_status=job.run.status if job.run else "",
        campaign_id=campaign.id if campaign else None,
        campaign_name=campaign.name if campaign else "",
        delivery_id=job.delivery_id,
    )


def _chosen(job: Job) -> tuple[datetime, str] | None:
    """The time that its decision names, while it is ahead; None where it names none, or was erased."""
    if job.kind != "send" or job.status != "held":
        return None
    contents, _ = proven({job.decision.payload_id: job.decision.payload_hash})
    given = contents.get(job.decision.payload_id) or {}
    return (datetime.fromisoformat(given["at"]), str(given["zone"])) if "at" in given else None


@transaction.atomic
def decided_on(job_id: UUID) -> UUID:
    """The run that a replay was decided on (the job's own is the new one); NotFound where it is no replay."""
    run = Run.objects.filter(jobs__id=job_id).first()
    if run is None:
        raise NotFound()
    return run.replay_of_id or run.id
