"""Lists of recipients (`datasets/list.html` and `datasets/page.html`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from dashboard.presenters.chips import Chip
from dashboard.presenters.parts import Choice, Empty, Fact, Link, Trail


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an import is. `url` (empty once it is over) is asked again every `pace`; `total` 0: not counted yet."""

    state: Chip
    text: str
    done: int
    total: int
    trouble: SafeString
    url: str = ""
    pace: str = "1s"
    write: Link | None = None  # to a campaign, once it can be used


@dataclass(frozen=True, slots=True, kw_only=True)
class ListLine:
    """One list among the others."""

    name: SafeString
    url: str
    progress: Progress
    by: SafeString
    at: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ListsPage:
    """All lists, and the form that sends one; `refused` is why this member may not."""

    title: str
    form: Any
    upload_url: str
    limit: str
    refused: str = ""
    lists: tuple[ListLine, ...] = ()
    older: str = ""
    empty: Empty | None = None
    suppressions: Link
    new: Link


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLine:
    """One row: as it was given, as it is written to where that differs, and what became of it."""

    position: str
    email: SafeString
    address: SafeString
    values: tuple[Fact, ...]
    state: Chip
    reason: SafeString
    formula: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage:
    """One list: how it was read, how far it is, and its rows."""

    title: str
    heading: SafeString
    trail: Trail
    progress: Progress
    facts: tuple[Fact, ...]
    known: str = ""  # that this file was imported before
    states: tuple[Choice, ...] = ()
    q: str = ""
    note: str = ""
    rows: tuple[RowLine, ...] = ()
    older: str = ""
    first: str = ""
    url: str = ""
