"""Telling a runtime one piece of news: claim, ask over HTTP, write down what came of it."""

import time
from typing import Any
from uuid import UUID

from celery import shared_task
from django.conf import settings

from approvals import faults
from approvals.connectors.http import News, tell
from approvals.services import callbacks
from approvals.tasks.base import WorkspaceTask

TELL_S = 10.0  # the longest that one try may take: campaigns wait for the same worker


@shared_task(base=WorkspaceTask, bind=True, name="approvals.tasks.callbacks.execute")  # type: ignore[untyped-decorator]
def execute(self: Any, callback_id: str) -> None:
    """One callback, if it is due and its turn. Whoever kills this worker has it told once more, under the same id."""
    del self
    # Counted from before the claim, so that a worker that slept does not speak after somebody else has.
    until = time.monotonic() + settings.LEASE_S / 2
    held = callbacks.claim(callback_id=UUID(callback_id))
    if held is None:
        return
    faults.point("callback.claimed")
    left = until - time.monotonic()
    if left <= 0:
        return  # its lease runs out, and somebody else takes it
    told = tell(
        News(
            url=held.url,
            secret=held.secret,
            message_id=str(held.callback_id),
            body=held.body,
            timeout_s=min(TELL_S, left),
        )
    )
    faults.point("callback.called")
    callbacks.settle(held=held, kind=told.kind, detail=told.detail)
    faults.point("callback.settled")
