"""Filling the pages of caught mail. A message may be anything that somebody sent to the catcher."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, TypeVar

from django.urls import reverse

from dashboard.embedded.mailbox import Caught
from dashboard.presenters.ages import when
from dashboard.presenters.build_review import size_of
from dashboard.presenters.campaigns import Header
from dashboard.presenters.mail import MailList, MailMessage, MailRow
from dashboard.presenters.text import clip, count, plain, plural, reveal, reveal_line, summary_line

_FIRST = (
    "From",
    "Reply-To",
    "To",
    "Cc",
    "Subject",
    "Date",
    "Message-ID",
)  # what people look for, in this order
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Read:
    """A message taken apart: every header field, and its two bodies where it has them."""

    headers: tuple[tuple[str, str], ...]
    text: str
    html: str
    whole: EmailMessage

    def header(self, name: str) -> str:
        """The first field of this name, or nothing."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")

    @property
    def files(self) -> tuple[tuple[str, str, int], ...]:
        """The name, the type and the bytes of each attached file, decoded now: lists and searches need none."""
        return _or(lambda: _files(self.whole), ())


def read(raw: bytes) -> Read:
    """Take a message apart; what cannot be understood is shown as it came."""
    message = message_from_bytes(raw, policy=policy.default)
    headers = _or(lambda: [(name, str(value)) for name, value in message.items()], None)
    if headers is None:
        headers = [(name, str(value)) for name, value in message.raw_items()]
    return Read(tuple(headers), _body(message, "plain"), _body(message, "html"), message)


def mail_list(
    *, caught: Sequence[Caught], total: int, matching: int | None, words: str, older: str, now: datetime
) -> MailList:
    """The list. `matching` is how many match where something is searched for; `older` is the next page's query."""
    said = f"{plural(total, 'message was', 'messages were')} caught."
    if matching is not None:
        said = f"{count(matching)} of {plural(total, 'message')} {'matches' if matching == 1 else 'match'}."
    return MailList(
        total=said,
        rows=tuple(_row(one, now) for one in caught),
        action=reverse("mail"),
        text=words,
        older_url=f"{reverse('mail')}?{older}" if older else "",
    )


def mail_message(caught: Caught, now: datetime) -> MailMessage:
    """One message."""
    message = read(caught.raw)
    subject = message.header("Subject") or "(no subject)"
    return MailMessage(
        title=plain(subject[:200]),
        heading=summary_line(subject, 200),
        headers=tuple(Header(name, reveal_line(clip(value, 2_000)[0])) for name, value in _ordered(message)),
        text=reveal(clip(message.text)[0]),
        back_url=reverse("mail"),
        at=when(caught.received_at, now),
        html_url=reverse("mail_html", args=[caught.name]) if message.html else "",
        files=tuple(
            summary_line(f"{name or '(no name)'}, {kind}, {size_of(size)}", 300)
            for name, kind, size in message.files
        ),
        raw_url=reverse("mail_raw", args=[caught.name]),
    )


def matches(caught: Caught, words: str) -> bool:
    """Whether the words occur in the recipients or the subject."""
    sought = words.lower()
    return any(sought in text.lower() for text in (*caught.recipients, read(caught.raw).header("Subject")))


def _row(caught: Caught, now: datetime) -> MailRow:
    return MailRow(
        to=summary_line(", ".join(caught.recipients), 100),
        subject=summary_line(read(caught.raw).header("Subject") or "(no subject)", 120),
        url=reverse("mail_message", args=[caught.name]),
        at=when(caught.received_at, now),
    )


def _ordered(message: Read) -> list[tuple[str, str]]:
    places = {name.lower(): place for place, name in enumerate(_FIRST)}
    return sorted(message.headers, key=lambda header: places.get(header[0].lower(), len(places)))


def _body(message: EmailMessage, kind: str) -> str:
    part = _or(lambda: message.get_body(preferencelist=(kind,)), None)
    if part is None:
        return ""
    undecoded: Any = _or(lambda: part.get_payload(decode=True), None)
    otherwise = undecoded.decode("utf-8", "replace") if isinstance(undecoded, bytes) else ""
    return str(_or(part.get_content, otherwise))


def _files(message: EmailMessage) -> tuple[tuple[str, str, int], ...]:
    found = []
    for part in message.iter_attachments():
        undecoded: Any = part.get_payload(decode=True)
        size = len(undecoded) if isinstance(undecoded, bytes) else 0
        found.append((part.get_filename() or "", part.get_content_type(), size))
    return tuple(found)


def _or(attempt: Callable[[], _T], otherwise: _T) -> _T:
    """What the attempt brings, or `otherwise`: the standard library raises almost anything on malformed mail."""
    try:
        return attempt()
    except Exception:
        return otherwise
