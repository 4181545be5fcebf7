"""One campaign's content as one recipient gets it: what the reviewer previews and the worker sends is made here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from approvals.rules.attachments import Attached
from approvals.rules.messages import Envelope, merge


@dataclass(frozen=True, slots=True)
class Content:
    """The sealed content of a version; texts may hold `{{ name }}` slots.

    `enclosed` are the parts that `attached` becomes in a message, once somebody has read the files.
    """

    from_address: str
    reply_to: str
    subject: str
    text: str
    html: str
    attached: Sequence[Attached] = ()
    enclosed: Sequence[str] = ()


def fields_of(content: Content) -> Sequence[str]:
    """The names of every merge field of a content."""
    return fields_in(content.subject, content.text, content.html)


def fields_in(*templates: str) -> Sequence[str]:
    """The names of the merge fields in these texts."""
    return sorted(set().union(*(merge(one, {})[1] for one in templates)))


def envelope_for(
    content: Content,
    *,
    delivery_id: str,
    to: str,
    variables: Mapping[str, object],
    date: datetime,
    message_id: str | None = None,
    unsubscribe: str = "",
) -> tuple[Envelope, set[str]]:
    """(the message for one recipient, the merge fields that have no value for them).

    `unsubscribe` is the address with which they unsubscribe by one click, RFC 8058; without it none is named.
    ValueError where attached files are not `enclosed` yet, so that none is left out by mistake.
    """
    if len(content.enclosed) != len(content.attached):
        raise ValueError("the attached files have to be read first")
    subject, missing_in_subject = merge(content.subject, variables)
    text, missing_in_text = merge(content.text, variables)
    html, missing_in_html = merge(content.html, variables, html=True)
    envelope = Envelope(
        delivery_id=delivery_id,
        from_address=content.from_address,
        reply_to=content.reply_to or None,
        to=to,
        subject=subject,
        text=text,
        html=html or None,
        message_id=message_id,
        date=date,
        headers=_one_click(unsubscribe) if unsubscribe else {},
        attachments=content.enclosed,
    )
    return envelope, missing_in_subject | missing_in_text | missing_in_html


def _one_click(address: str) -> Mapping[str, str]:
    return {"List-Unsubscribe": f"<{address}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
