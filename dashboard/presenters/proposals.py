"""Proposing on a page: choosing who gets it (`campaigns/new.html`), and writing it (`campaigns/write.html`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from dashboard.presenters.parts import NOTHING, Fact, Link, Trail


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyList:
    """A list that a campaign can use, and where one is written to it."""

    name: SafeString
    counted: str
    write: Link


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoosePage:
    """The first step. `form` sends a new list to `upload_url`; `refused` is why this member may not."""

    title: str
    trail: Trail
    lists: tuple[ReadyList, ...]
    more: Link
    typed: Link
    form: Any
    upload_url: str
    limit: str
    refused: str = ""
    wrong: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTick:
    """A file of the form: what it sends along, its name, its type and size; whether it is to be attached."""

    value: str
    name: SafeString
    told: str
    ticked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The part of the form that attaches files: those that are listed, what is wrong, and what the limits are."""

    listed: tuple[FileTick, ...]
    limits: str
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggested:
    """What a field offers, as the datalist with this id."""

    id: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Whom:
    """Who gets it, as far as it is chosen: the `fields` to show now. When they change, `url` is asked for more.

    Alone, as the fragment `campaigns/write.html#whom`, it has no `later`: those are for a browser that cannot ask.
    """

    url: str
    fields: tuple[Any, ...]
    later: tuple[Any, ...] = ()
    suggested: tuple[Suggested, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePage:
    """The form, for a campaign or another version of one. `form` prints its fields; `closed` switches it off.

    `whom` are those of them that say who gets it, where that is chosen on this page, and `message` then the others.

    `kept` are hidden fields (name, value); `notes` say what happens when it is sent, `warning` what changed since;
    `fields` are the merge fields that the recipients bring a value for.
    """

    title: str
    heading: SafeString
    trail: Trail
    form: Any
    files: Files
    action: str
    button: str
    whom: Whom | None = None
    message: tuple[Any, ...] = ()
    kept: tuple[tuple[str, str], ...]
    facts: tuple[Fact, ...] = ()
    links: tuple[Link, ...] = ()
    fields: tuple[SafeString, ...] = ()
    no_fields: str = ""
    notes: tuple[str, ...] = ()
    comment: SafeString = NOTHING
    warning: str = ""
    closed: str = ""
    closed_link: Link | None = None
