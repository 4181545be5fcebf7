"""What helps to decide on a campaign: findings about its message, where it leads, whom it reaches again, what changed.

Templates: `campaigns/_review.html` (`Looks`), `campaigns/_changed.html` (`Changed`), `campaigns/recipients.html`.
GET fields of the recipients page: `show`, `q`, `after`.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from dashboard.presenters.chips import Chip
from dashboard.presenters.parts import NOTHING, Choice, DeliveryLine, Empty, Link


@dataclass(frozen=True, slots=True)
class FindingLine:
    """One thing to look at: how grave it is (in words too), a sentence, and the words of the message it is about."""

    grade: Chip
    text: str
    words: tuple[SafeString, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkLine:
    """One link target: its address, what its links read, where they stand, and what is doubtful."""

    url: SafeString
    words: tuple[SafeString, ...]
    where: str
    doubts: tuple[FindingLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Looks:
    """What was found in the message to the chosen recipient. `quiet` stands where nothing was.

    `open` keeps the list of links unfolded; `more` says how many are not listed.
    """

    findings: tuple[FindingLine, ...]
    links: tuple[LinkLine, ...]
    links_title: str
    size: str
    quiet: str = ""
    more: str = ""
    open: bool = False


@dataclass(frozen=True, slots=True)
class Again:
    """How many recipients something is to be known of, with the first of them and the way to all.

    `campaigns` are those that it is about, and `further` says how many more there are.
    """

    text: str
    names: SafeString
    link: Link
    campaigns: tuple[Link, ...] = ()
    further: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a text: `same`, `gone` or `came`."""

    kind: str
    text: SafeString


@dataclass(frozen=True, slots=True)
class Difference:
    """One part of the message that changed, word by word; `note` is what words do not tell."""

    name: str
    parts: tuple[Part, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """What differs from one earlier version. `about` names it; `same` lists the parts that are as they were."""

    about: SafeString
    url: str
    differences: tuple[Difference, ...]
    same: str = ""
    people: tuple[str, ...] = ()
    names: tuple[tuple[str, SafeString], ...] = ()


@dataclass(frozen=True, slots=True)
class Changed:
    """What the campaign is compared with; `none` where there is nothing; `warnings` are about the sender."""

    changes: tuple[Change, ...] = ()
    warnings: tuple[FindingLine, ...] = ()
    none: str = ""


@dataclass(frozen=True, slots=True)
class Review:
    """The part of the page that looks beyond the message: `again`, `changed`, and the way to the list of everybody.

    `only`: to whom this installation writes at all, where that is not everybody.
    """

    everybody: Link
    only: str = ""
    again: tuple[Again, ...] = ()
    changed: Changed | None = None
    ask: Link | None = None
    ask_why: str = ""


@dataclass(frozen=True, slots=True)
class RecipientLine:
    """One row of the list: `line` as everywhere, `row` is its place, `contact` what this agent did before."""

    row: str
    line: DeliveryLine
    see_url: str = ""
    contact: str = ""


@dataclass(frozen=True, slots=True)
class RecipientsPage:
    """Everybody in the list of a campaign. `title` is `text.plain`."""

    title: str
    heading: SafeString
    campaign: Link
    action: str
    shows: tuple[Choice, ...]
    text: str
    rows: tuple[RecipientLine, ...]
    export: Link
    error: str = ""
    empty: Empty | None = None
    more_url: str = ""
    first_url: str = ""
    note: SafeString = NOTHING
