"""The queue (`queue/page.html`). Fragment `queue/page.html#live`: the tabs with their counts and what is new.

GET fields of the filter form: `tab` (decide | progress | history), `kind`, `agent`, `tool`, `subject`, `q`.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from dashboard.presenters.ages import When
from dashboard.presenters.chips import Chip
from dashboard.presenters.parts import NOTHING, Choice, Empty, Link, Tab


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One lineage, campaign, job or delivery: what, which agent, for whom, age, what it did, how risky."""

    kind: str
    title: SafeString
    url: str
    state: Chip
    risk: Chip | None
    agent: SafeString
    did: SafeString
    age: When
    subject: SafeString = NOTHING
    subject_url: str = ""
    send_by: Chip | None = None
    attempts: str = ""


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """The filter form as it was sent. `applied` are the active filters, each a link that takes it off again.

    The first choice of each select is *any*, with an empty value. `note` says what could not be done as asked.
    """

    action: str
    tab: str
    kinds: tuple[Choice, ...]
    agents: tuple[Choice, ...]
    tools: tuple[Choice, ...]
    subject: str = ""
    text: str = ""
    applied: tuple[Link, ...] = ()
    clear_url: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class QueueLive:
    """What refreshes itself every 10 s: the tabs, and `news` (`3 new`) with the link that loads them.

    `url` answers the fragment `#live`; it carries the tab, the filters and when the page was made.
    """

    url: str
    tabs: tuple[Tab, ...]
    news: str = ""
    reload_url: str = ""


@dataclass(frozen=True, slots=True)
class QueuePage:
    """`rows` in the order they should be dealt with; `older` and `first` are the keyset links."""

    title: str
    live: QueueLive
    filter: QueueFilter
    rows: tuple[QueueRow, ...]
    empty: Empty | None = None
    older_url: str = ""
    first_url: str = ""
    new: Link | None = None
