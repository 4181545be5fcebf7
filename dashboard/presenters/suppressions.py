"""Who is not to be written to (`suppressions/page.html`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from dashboard.presenters.chips import Chip
from dashboard.presenters.parts import Trail


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry; `release_url` is empty where there is nothing to release, or nobody here may."""

    id: str
    address: SafeString
    state: Chip
    scope: SafeString
    source: SafeString
    at: Any
    released: Any = None
    release_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionsPage:
    """The list, newest first, and the form that adds to it; `refused` is why this member may not."""

    title: str
    trail: Trail
    url: str
    add_url: str
    form: Any
    refused: str
    q: str
    note: str
    entries: tuple[Entry, ...]
    older: str
    wrong: str = ""
    wrong_id: str = ""
