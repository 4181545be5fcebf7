"""Sending one test to the reviewer who asked for it: once, whatever happens."""

import time
from email.utils import parseaddr
from typing import Any
from uuid import UUID

import structlog
from celery import shared_task
from django.conf import settings

from approvals import faults
from approvals.connectors.smtp import Channel, Message, SmtpOutcome, SmtpSettings
from approvals.exceptions import Conflict, Invalid, Unavailable
from approvals.rules.messages import build
from approvals.rules.trials import UNWRITABLE, ending_of, trial_of
from approvals.selectors.attachments import with_files
from approvals.services import jobs, trials
from approvals.tasks import batch
from approvals.tasks.base import WorkspaceTask
from approvals.tasks.send import SEND_S

log = structlog.get_logger(__name__)


@shared_task(base=WorkspaceTask, bind=True, name="approvals.tasks.trials.execute")  # type: ignore[untyped-decorator]
def execute(self: Any, job_id: str) -> None:
    """One test, if it is there to be taken."""
    # Counted from before the claim, so that it is over before the lease is, however long this process slept.
    deadline = time.monotonic() + settings.LEASE_S / 2
    held = jobs.claim(job_id=UUID(job_id), task_id=self.request.id or "")
    if held is None:
        return
    faults.point("test.claimed")
    trial = trials.prepare(held=held)
    message = _written(held, trial) if trial else None
    if message is None or time.monotonic() >= deadline:
        return  # whoever slept leaves it to the clock, which queues it again
    with Channel(SmtpSettings(**settings.SMTP, timeout_s=SEND_S)) as channel:
        # A server that is not there is found out before the intent: of that nobody is ever in doubt.
        outcome = channel.open(deadline=deadline)
        if outcome is None:
            if not trials.state_intent(held=held):
                return
            faults.point("test.intent")
            outcome = channel.send(message, deadline=deadline)
            faults.point("test.handed_over")
    _settle(held, outcome)
    faults.point("test.settled")


def _written(held: jobs.Claim, trial: trials.Trial) -> Message | None:
    """The message with its files, which are read while no transaction is open; None where it cannot be written."""
    try:
        envelope = trial_of(
            with_files(trial.content),
            job_id=held.job_id,
            to=trial.to,
            variables=trial.variables,
            date=trial.date,
        )
        raw = build(envelope)
    except (Invalid, Conflict, Unavailable) as refusal:
        trials.settle(held=held, status="failed", sentence=UNWRITABLE.format(said=refusal.text))
        return None
    except Exception:
        log.exception("a test could not be written", job=str(held.job_id))
        trials.settle(held=held, status="failed", sentence=batch.UNWRITABLE)
        return None
    return Message(envelope_from=parseaddr(trial.content.from_address)[1], to=trial.to, raw=raw)


def _settle(held: jobs.Claim, outcome: SmtpOutcome) -> None:
    status, sentence = ending_of(outcome.kind, batch.said(outcome))
    trials.settle(held=held, status=status, sentence=sentence)
