"""The small shapes that several pages share. Every value is ready to print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.utils.html import escape
from django.utils.safestring import SafeString

from dashboard.presenters.ages import When
from dashboard.presenters.chips import Chip, Tone

NOTHING: Final = SafeString("")
"""What an optional `SafeString` field holds when there is nothing to print."""

Shown = str | SafeString | When | Chip
"""What a template may print as it stands: plain text is escaped, the others bring their own markup."""


@dataclass(frozen=True, slots=True)
class Link:
    """A place to go, in words."""

    text: Shown
    url: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of a select or radio group. Prints itself as `<option>`: a list of agents is most of a page's values,
    and a template takes six times as long. `text` goes into an option, so use `text.plain` for what others wrote.
    """

    value: str
    text: str
    chosen: bool = False
    hint: str = ""

    def __str__(self) -> SafeString:
        selected = " selected" if self.chosen else ""
        return SafeString(f'<option value="{escape(self.value)}"{selected}>{escape(self.text)}</option>')


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and a value; with `url` the value is a link, with `copy` that text can be copied, as for support."""

    name: str
    value: Shown
    url: str = ""
    copy: str = ""


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab with its count (`text.capped`); `key` makes its element id."""

    key: str
    text: str
    url: str
    count: str
    current: bool = False


@dataclass(frozen=True, slots=True)
class Empty:
    """Kind words where there is nothing to list, and where to go instead."""

    title: str
    text: str
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class Trail:
    """The way back to the list as it was (filters and page kept), and on to its next item."""

    back: Link
    next: Link | None = None


@dataclass(frozen=True, slots=True)
class DecisionLine:
    """A decision on one line: in the log, and as history on the page of what it decided."""

    what: Chip
    who: str
    roles: str
    at: When
    url: str
    about: SafeString = NOTHING
    about_url: str = ""
    about_kind: str = ""  # run or campaign, where it has a page
    reason: SafeString = NOTHING
    gone: str = ""  # instead of the reason, where its text was erased or altered
    outcome: Chip | None = None


@dataclass(frozen=True, slots=True)
class DeliveryLine:
    """One recipient's delivery on one line."""

    address: SafeString
    state: Chip
    at: When | None
    campaign: SafeString = NOTHING
    campaign_url: str = ""
    note: SafeString = NOTHING
    message_id: SafeString = NOTHING
    authority_url: str = ""


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run on one line: in its lineage, and on the customer's page."""

    name: SafeString
    url: str
    state: Chip
    record: Chip | None
    at: When
    agent: SafeString = NOTHING
    did: SafeString = NOTHING
    current: bool = False


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason of a verdict: its sentence, its code, and the calls it names (links into the timeline)."""

    text: str
    code: str
    calls: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence with a link in it."""

    before: str
    link: Link
    after: str


@dataclass(frozen=True, slots=True)
class VerdictBox:
    """What the rules say about starting again.

    `outlook` says in one or two sentences what a replay would do now. `notes` are about other runs in which the same
    was asked, each with the words before and after its link.
    """

    tone: Tone
    title: str
    text: str
    reasons: tuple[Reason, ...] = ()
    outlook: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Stage:
    """One station on a job's way. `place` is `past`, `now` or `ahead`; `at` is set once it was reached."""

    text: str
    place: str
    at: When | None = None


@dataclass(frozen=True, slots=True)
class JobProgress:
    """The execution of a releasing decision, fragment `runs/page.html#job`.

    The fragment asks `url` again every `pace` while `moving`; `cancellable` says whether it can still be taken
    back, `stoppable` whether it can be stopped (their forms hide once a fragment says no). `text` never says
    done before it is. `stale` is the sentence of a fragment that the rest of its page is behind, `reload_url` that
    page.
    """

    url: str
    state: Chip
    text: str
    stages: tuple[Stage, ...]
    moving: bool
    cancellable: bool = False
    stoppable: bool = False
    alarm: str = ""
    detail: SafeString = NOTHING
    task: str = ""
    decision: Link | None = None
    result: Link | None = None
    pace: str = "2s"
    stale: str = ""
    reload_url: str = ""
