"""Starting a replay: claim, commit the intent, ask the runtime, write down what it said.

A runtime that streams is listened to until the run is over (tasks/streaming); any other one tells of it by itself.
"""

import time
from typing import Any
from uuid import UUID

from celery import shared_task
from django.conf import settings

from approvals import faults
from approvals.connectors.http import ReplayOrder, start_replay
from approvals.services import handover, jobs
from approvals.tasks import streaming
from approvals.tasks.base import WorkspaceTask

TOO_LATE = "The worker was held up for too long, so nothing was asked for. Decide again."


@shared_task(base=WorkspaceTask, bind=True, name="approvals.tasks.replay.execute")  # type: ignore[untyped-decorator]
def execute(self: Any, job_id: str) -> None:
    """One replay job, if it is there to be taken."""
    # The whole of it within half a lease, counted from before the claim: a worker that slept asks for nothing.
    until = time.monotonic() + settings.LEASE_S / 2
    held = jobs.claim(job_id=UUID(job_id), task_id=self.request.id or "")
    if held is None:
        return
    faults.point("replay.claimed")
    order = handover.prepare(held=held)
    if order is None:
        return
    faults.point("replay.intent")
    left = until - time.monotonic()
    if left <= 0:
        handover.settle(held=held, kind="refused", detail=TOO_LATE)
        return
    if isinstance(order, handover.StreamOrder):
        streaming.run(held, order, left)
        return
    outcome = start_replay(
        ReplayOrder(
            base_url=order.base_url,
            secret=order.secret,
            allowed_hosts=order.allowed_hosts,
            job_id=str(order.job_id),
            payload=order.payload,
            timeout_s=min(settings.RUNTIME_TIMEOUT_S, left),
        )
    )
    faults.point("replay.called")
    handover.settle(held=held, kind=outcome.kind, detail=outcome.detail)
    faults.point("replay.settled")
