"""What came of an execution, for the log."""

from collections import Counter
from typing import Any
from uuid import UUID

from django.db.models import Count

from approvals.access.actors import SECONDLOOK
from approvals.models import Decision, Delivery, Job
from approvals.selectors.targets import OF_A_JOB, where_of_job
from approvals.services import decisions


def record(job_id: UUID) -> Decision:
    """Append what came of a job that is done, failed or in doubt: the last write of the transaction in which it ends.

    A job that a person ends, by saying what became of it or by taking it back, has that person's decision instead.
    """
    job = Job.objects.select_related(*OF_A_JOB, "decision").get(id=job_id)
    where = where_of_job(job)
    if where is None:
        raise ValueError("a job without a target")
    evidence: dict[str, Any] = {
        **where.named,
        "status": job.status,
        "outcome": job.outcome,
        "decision": {"seq": job.decision.seq, "id": str(job.decision.id)},
    }
    if job.run is not None:
        evidence["run_status"] = job.run.status
    elif job.sample is None:  # a test is no delivery
        evidence["deliveries"] = _deliveries(job)
    return decisions.record(
        by=SECONDLOOK,
        kind="outcome",
        target_kind="job",
        target_id=job.id,
        item_id=where.item_id,
        agent=where.agent,
        subject=where.subject,
        evidence=evidence,
    )


def _deliveries(job: Job) -> dict[str, int]:
    """How many deliveries are in each state: of the whole campaign, or the one that was sent again."""
    if job.delivery is not None:
        return dict(Counter([job.delivery.state]))
    states = Delivery.objects.filter(version__campaign=job.campaign, version__digest=job.decision.digest)
    return dict(states.order_by().values_list("state").annotate(Count("id")))
