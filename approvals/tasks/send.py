"""Sending one batch of a campaign: rounds of intents, messages and outcomes over several connections."""

import time
from dataclasses import replace
from typing import Any
from uuid import UUID

from celery import shared_task
from django.conf import settings

from approvals import faults
from approvals.connectors.smtp import Lines, SmtpSettings
from approvals.exceptions import Conflict, Unavailable
from approvals.selectors.attachments import with_files
from approvals.services import jobs, sending
from approvals.services.sending import Sealed, Trouble
from approvals.tasks.base import WorkspaceTask
from approvals.tasks.batch import Batch, trouble_of

SEND_S = 20.0  # the longest that one message may take
UNTIL_THEN = "Until then nothing more goes out; afterwards let the sending go on."


@shared_task(base=WorkspaceTask, bind=True, name="approvals.tasks.send.execute")  # type: ignore[untyped-decorator]
def execute(self: Any, job_id: str) -> None:
    """One batch of a send job, if it is there to be taken; the rest goes back to the queue."""
    # Counted from before the claim, so that it is over before the lease is, however long this process slept.
    began = time.monotonic()
    held = jobs.claim(job_id=UUID(job_id), task_id=self.request.id or "")
    if held is None:
        return
    faults.point("send.claimed")
    sealed = sending.begin(held=held)
    if sealed is None:
        return
    # Half a lease for the batch, so that its last message still ends well within it.
    deadline = began + settings.LEASE_S / 2
    latest = began + settings.LEASE_S * 0.9
    sealed, trouble = _with_files(sealed)
    pace_s = 0.0
    # Later than that this process was held up, which is no trouble of the mail server.
    if trouble is None and time.monotonic() < deadline:
        with Lines(SmtpSettings(**settings.SMTP, timeout_s=SEND_S), settings.SEND_CONNECTIONS) as lines:
            closed = lines.open(deadline=deadline)
            if closed is not None:
                trouble = trouble_of(closed)
            else:
                trouble, pace_s = Batch(held, sealed, lines, deadline=deadline, latest=latest).run()
    faults.point("send.batch_done")
    sending.end_batch(held=held, trouble=trouble, pace_s=pace_s)


def _with_files(sealed: Sealed) -> tuple[Sealed, Trouble | None]:
    """(the version with its attached files, read once for the batch; what is wrong with them, and nothing is sent)."""
    try:
        return replace(sealed, content=with_files(sealed.content)), None
    except Conflict as conflict:
        return sealed, Trouble(f"{conflict.text} {UNTIL_THEN}", needs_person=True, of_files=True)
    except Unavailable as unavailable:
        return sealed, Trouble(unavailable.text, of_files=True)
