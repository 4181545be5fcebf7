"""The versions of a campaign: their list (`campaigns/_versions.html`), and the page of an older one
(`campaigns/version.html`), which is there to be looked at.

All that can be decided on that page are its own deliveries in doubt or failed (`ResolveDeliveries`).
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from dashboard.presenters.ages import When
from dashboard.presenters.campaigns import Audience, Count, Preview, ResolveDeliveries
from dashboard.presenters.parts import Fact, Link


@dataclass(frozen=True, slots=True)
class VersionLine:
    """One version in the list. `decided` is what was decided about it, by whom; `waits` what somebody has to settle.

    `here` marks the one whose page this is.
    """

    name: str
    url: str
    by: SafeString
    at: When
    decided: SafeString
    decided_at: When | None
    counts: tuple[Count, ...]
    waits: str = ""
    here: bool = False


@dataclass(frozen=True, slots=True)
class Versions:
    """The list, the newest first; `more` says how many older ones are not listed."""

    lines: tuple[VersionLine, ...]
    more: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionPage:
    """An older version: what it said, to whom, and what became of it. `title` is `text.plain`."""

    title: str
    heading: SafeString
    number: str
    campaign: Link
    note: str
    facts: tuple[Fact, ...]
    sends: str
    preview: Preview
    audience: Audience
    everybody: Link
    versions: Versions
    troubled: tuple[ResolveDeliveries, ...] = ()
