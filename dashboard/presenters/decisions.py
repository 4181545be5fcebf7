"""The decision log (`decisions/page.html`) and one entry of it (`decisions/entry.html`).

GET fields of the filter form: `q`, `person`, `kind`, `agent`, `from` and `until` (dates), `recipient`, `show`.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from dashboard.presenters.ages import When
from dashboard.presenters.chips import Chip, Tone
from dashboard.presenters.parts import (
    NOTHING,
    Choice,
    DecisionLine,
    Empty,
    Fact,
    JobProgress,
    Link,
    Trail,
    VerdictBox,
)


@dataclass(frozen=True, slots=True)
class DecisionFilter:
    """The filter form as it was sent; dates as `2025-11-29`. `zone` names the zone of those days."""

    action: str
    people: tuple[Choice, ...]
    kinds: tuple[Choice, ...]
    agents: tuple[Choice, ...]
    zone: str = "UTC"
    since: str = ""
    until: str = ""
    recipient: str = ""
    text: str = ""
    shows: tuple[Choice, ...] = ()
    applied: tuple[Link, ...] = ()
    clear_url: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class LogBox:
    """The log as a whole: where it ends, whether it was verified, and what of it can be taken along.

    `tone` is that of the verification.
    """

    head: str
    hash_short: str
    hash: str
    verified: SafeString
    tone: Tone
    exports: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class DecisionsPage:
    """The log, newest first."""

    filter: DecisionFilter
    rows: tuple[DecisionLine, ...]
    empty: Empty | None = None
    older_url: str = ""
    first_url: str = ""
    log: LogBox | None = None


@dataclass(frozen=True, slots=True)
class SeenCall:
    """A call as the decider saw it, and whether they ticked it."""

    name: SafeString
    args: SafeString
    state: Chip
    ticked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Exactly what the decider saw: `digest` names it (empty where nothing was shown that could change),
    `erased` says when its texts were taken out (structure stays).
    """

    digest: str = ""
    facts: tuple[Fact, ...] = ()
    verdict: VerdictBox | None = None
    calls: tuple[SeenCall, ...] = ()
    calls_note: str = ""
    acknowledged: tuple[str, ...] = ()
    headers: tuple[Fact, ...] = ()
    text: SafeString = NOTHING
    text_title: str = ""
    html: SafeString = NOTHING
    erased: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionPage:
    """One entry. `facts` hold person, roles, sign-in method, opened, decided; `chain` the numbers an
    auditor needs.
    """

    title: str
    what: Chip
    who: str
    at: When
    sentence: SafeString
    trail: Trail
    target: Link
    facts: tuple[Fact, ...]
    reason: SafeString = NOTHING
    seen: Seen
    outcome: JobProgress | None = None
    outcome_text: str = ""
    chain: tuple[Fact, ...] = ()
    packet_url: str = ""


@dataclass(frozen=True, slots=True)
class PacketEntry:
    """An entry that followed, in a packet. `at` is absolute: a packet is read later."""

    number: str
    at: str
    sentence: SafeString
    reason: SafeString
    facts: tuple[Fact, ...]
    warning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """The evidence packet of one entry (`decisions/packet.html`): all that is printed is read from `sealed`.

    `sealed` are the lines of the log that rules/verify_log reads, harmless within a page.
    """

    title: str
    workspace: str
    made: str
    at: str
    sentence: SafeString
    facts: tuple[Fact, ...]
    reason: SafeString
    seen: Seen
    bound: str
    after: tuple[PacketEntry, ...]
    after_note: str
    chain: tuple[Fact, ...]
    file: str
    hash: str
    sealed: SafeString
