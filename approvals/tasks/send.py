"""Sending one batch of a campaign: intent, message, outcome, one recipient after the other."""

import json
import time
from email.utils import parseaddr
from typing import Any
from uuid import UUID

from celery import shared_task
from django.conf import settings

from approvals import faults
from approvals.connectors.smtp import Channel, Message, SmtpOutcome, SmtpSettings
from approvals.exceptions import Invalid
from approvals.rules.content import Content, envelope_for
from approvals.rules.messages import build
from approvals.services import jobs, sending
from approvals.services.suppressions import link_for
from approvals.tasks.base import WorkspaceTask

SEND_S = 20.0  # the longest that one message may take
STATES = {"sent": "sent", "failed": "failed", "in_doubt": "in_doubt", "not_sent": "planned"}


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
    trouble = None
    if time.monotonic() < deadline:  # else this process was held up, which is no trouble of the mail server
        with Channel(SmtpSettings(**settings.SMTP, timeout_s=SEND_S)) as channel:
            trouble = channel.open(deadline=deadline) or _send_batch(channel, held, sealed, deadline, latest)
    faults.point("send.batch_done")
    sending.end_batch(held=held, trouble=trouble.reply if trouble else "")


def _send_batch(
    channel: Channel, held: jobs.Claim, sealed: sending.Sealed, deadline: float, latest: float
) -> SmtpOutcome | None:
    """Up to a batch of messages until `deadline`, the last of which ends by `latest`.

    What stopped the channel as a whole, or None.
    """
    for _ in range(settings.SEND_BATCH):
        if time.monotonic() >= deadline:
            return None
        intent = sending.next_intent(held=held, sealed=sealed)
        if intent is None:
            return None
        faults.point("send.intent")
        outcome = _send(channel, sealed.content, intent, latest)
        faults.point("send.handed_over")
        reply = f"{outcome.code} {outcome.reply}" if outcome.code else outcome.reply
        stops = outcome.channel_wide and outcome.kind == "not_sent"
        settled = sending.settle(
            held=held, intent=intent, state=STATES[outcome.kind], reply=reply, counts=not stops
        )
        faults.point("send.settled")
        if stops:
            return outcome
        if not settled:
            return None
    return None


def _send(channel: Channel, content: Content, intent: sending.Intent, latest: float) -> SmtpOutcome:
    try:
        envelope, _ = envelope_for(
            content,
            delivery_id=str(intent.delivery_id),
            to=intent.address,
            variables=json.loads(intent.vars),
            message_id=intent.message_id,
            date=intent.date,
            unsubscribe=link_for(intent.delivery_id, settings.BASE_URL),
        )
        raw = build(envelope)
    except Invalid as invalid:
        return SmtpOutcome("failed", "mail", None, invalid.text, False)
    message = Message(envelope_from=parseaddr(content.from_address)[1], to=intent.address, raw=raw)
    return channel.send(message, deadline=min(time.monotonic() + SEND_S, latest))
