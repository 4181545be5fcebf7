"""*Who allowed this?* (`authority/page.html`). GET field of its form: `q`."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from dashboard.presenters.ages import When
from dashboard.presenters.chips import Chip
from dashboard.presenters.parts import NOTHING, Empty, Link


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectLine:
    """One message, run or call: what it was, who allowed it, and the log's entries behind that."""

    what: str
    name: SafeString
    url: str
    state: Chip
    at: When | None
    answer: SafeString
    of: Link | None = None
    mark: SafeString = NOTHING  # Message-ID or call id
    entries: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorityPage:
    """The form with what was asked, and what goes by that."""

    action: str
    query: str
    effects: tuple[EffectLine, ...] = ()
    summary: str = ""
    more: str = ""
    error: str = ""
    empty: Empty | None = None
