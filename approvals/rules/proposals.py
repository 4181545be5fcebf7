"""What is proposed: the terms and content of a campaign, to whom, and what makes two proposals the same."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from approvals.exceptions import Invalid
from approvals.rules.addresses import Mailbox, Refused, check_header, check_mailbox
from approvals.rules.attachments import Wanted

CLOCKS_S = 60  # by which the clock of a machine that proposes may be behind ours
OVER = "This time is over. Choose a later one, or leave it empty."
_NOT_KEPT = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Recipient:
    """Whom to write to, and what `{{ name }}` stands for: text, numbers, true or false."""

    email: str
    vars: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A campaign as its proposer describes it. `reply_to`, `purpose` and `html` may be empty.

    The audience is `recipients`, the rows of an imported list that `where` picks, or with `rest` everybody in the
    version before who got nothing yet.
    """

    external_id: str
    name: str
    purpose: str
    send_by: datetime | None
    run_id: UUID | None
    sender: str
    reply_to: str
    subject: str
    text: str
    html: str
    recipients: Sequence[Recipient] = ()
    dataset_id: UUID | None = None
    where: Mapping[str, str] | None = None  # columns of the list, and the value of each
    rest: bool = False
    attachments: Sequence[Wanted] = ()


def body_of(proposal: Proposal) -> dict[str, Any]:
    """What makes two proposals the same, as one JSON object."""
    of_list = {"dataset_id": str(proposal.dataset_id), "where": proposal.where} if proposal.dataset_id else {}
    files = [[one.sha256, one.filename, one.content_type] for one in proposal.attachments]
    return (
        of_list
        | ({"attachments": files} if files else {})
        | ({"rest": True} if proposal.rest else {})
        | {
            "external_id": proposal.external_id,
            "name": proposal.name,
            "purpose": proposal.purpose,
            "send_by": proposal.send_by.isoformat() if proposal.send_by else None,
            "run_id": str(proposal.run_id) if proposal.run_id else None,
            "from": proposal.sender,
            "reply_to": proposal.reply_to,
            "subject": proposal.subject,
            "text": proposal.text,
            "html": proposal.html,
            "recipients": [[recipient.email, recipient.vars] for recipient in proposal.recipients],
        }
    )


def check_terms(proposal: Proposal) -> Mailbox:
    """The sender; Invalid naming the first field that cannot be sent as it is, whoever proposes it."""
    for field, line in (("name", proposal.name), ("subject", proposal.subject)):
        if not line.strip():
            raise Invalid(field, "This needs at least one character that is not a space.")
        if reason := check_header(line):
            raise Invalid(field, reason)
    for field, text in (("purpose", proposal.purpose), ("text", proposal.text), ("html", proposal.html)):
        if bad := _NOT_KEPT.search(text):
            raise Invalid(
                field, f"The character U+{ord(bad[0]):04X} is no text and cannot be sent; take it out."
            )
    if not proposal.text.strip():
        raise Invalid("text", "This needs at least one character that is not a space.")
    sender = check_mailbox(proposal.sender)
    if isinstance(sender, Refused):
        raise Invalid("from", sender.reason)
    reply_to = check_mailbox(proposal.reply_to) if proposal.reply_to else None
    if isinstance(reply_to, Refused):
        raise Invalid("reply_to", reply_to.reason)
    return sender


def refuse_over(proposal: Proposal, now: datetime, *, clocks_s: int = 0) -> None:
    """Invalid for a new version that nobody could approve any more, because its time to be sent by is over.

    `clocks_s`: so many seconds may be no more than a difference between two clocks. Not to be asked of what is known
    already, which stays known.
    """
    if proposal.send_by is not None and proposal.send_by <= now - timedelta(seconds=clocks_s):
        raise Invalid("send_by", OVER)
