"""What is proposed: the terms and content of a campaign, to whom, and what makes two proposals the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from approvals.rules.attachments import Wanted


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
