"""A test of a campaign's message: what a reviewer is sent who wants to see it in their own mailbox.

It is the message as one recipient gets it, addressed to the reviewer and marked as a test. It never carries the
recipient's link for unsubscribing: whoever tries the buttons of a test must not unsubscribe somebody else.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from approvals.rules.content import Content, envelope_for
from approvals.rules.messages import Envelope, message_id_of

AN_HOUR = 10  # tests that one person may ask for, in one workspace
MARK = "[Test] "  # in front of the subject
TOO_MANY = (
    f"You had {AN_HOUR} tests sent within the last hour, which is as many as one person may. Look at those, or wait a"
    " little."
)

# What came of it, in the words its page shows. `{said}` is what the mail server or the network said.
SENT = "The mail server took it: {said}"
REFUSED = "The mail server refused it, so nothing was sent. It said: {said}"
NOT_SENT = "Nothing was sent, and it is not tried again by itself. What was in the way: {said}"
IN_DOUBT = "The test may have arrived; look in your mailbox. Send another if it did not."
UNANSWERED = f"No answer came to the end of the message ({{said}}). {IN_DOUBT}"
UNWRITABLE = "This message cannot be written, so nothing was sent: {said}"

_NAME = re.compile(r"<?test-([0-9a-f]{32})@[!-;=?-~]+>?")


def trial_of(
    content: Content, *, job_id: UUID, to: str, variables: Mapping[str, object], date: datetime
) -> Envelope:
    """The message of one test, to the address `to`, with the variables of the recipient whose message it shows.

    Its boundary and its Message-ID are the job's own. Raises Invalid for a variable that cannot be merged.
    """
    envelope, _ = envelope_for(content, delivery_id=_name(job_id), to=to, variables=variables, date=date)
    return replace(envelope, subject=f"{MARK}{envelope.subject}")


def message_id_of_trial(job_id: UUID, from_address: str) -> str:
    """The Message-ID of a test, by which it is never taken for the recipient's own; Invalid for an unusable sender."""
    return message_id_of(_name(job_id), from_address)


def job_of(message_id: str) -> UUID | None:
    """The job whose test goes by this Message-ID, with or without `<` and `>`; None for any other text."""
    found = _NAME.fullmatch(message_id)
    return UUID(found[1]) if found else None


def ending_of(kind: str, said: str) -> tuple[str, str]:
    """(the state of the job, the sentence about it) for how the sending ended, as `rules.smtp` names it.

    A message that was not sent for now has failed too: a person who waits for it clicks again.
    """
    state, sentence = {
        "sent": ("done", SENT),
        "failed": ("failed", REFUSED),
        "not_sent": ("failed", NOT_SENT),
        "in_doubt": ("in_doubt", UNANSWERED),
    }[kind]
    return state, sentence.format(said=said)


def _name(job_id: UUID) -> str:
    return f"test-{job_id.hex}"
