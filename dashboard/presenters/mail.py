"""The mail catcher of `up`: caught messages (`mail/list.html`) and one of them (`mail/message.html`)."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from dashboard.presenters.ages import When
from dashboard.presenters.campaigns import Header


@dataclass(frozen=True, slots=True)
class MailRow:
    """One caught message."""

    to: SafeString
    subject: SafeString
    url: str
    at: When


@dataclass(frozen=True, slots=True)
class MailList:
    """Caught messages, newest first. GET field of the search form: `q` (address or subject)."""

    total: str
    rows: tuple[MailRow, ...]
    action: str
    text: str = ""
    older_url: str = ""


@dataclass(frozen=True, slots=True)
class MailMessage:
    """One caught message: `title` is `text.plain`, HTML by its own address (a sandboxed frame), `raw_url`
    the bytes, attached files among them; `files` names these.
    """

    title: str
    heading: SafeString
    headers: tuple[Header, ...]
    text: SafeString
    back_url: str
    at: When
    html_url: str = ""
    raw_url: str = ""
    files: tuple[SafeString, ...] = ()
