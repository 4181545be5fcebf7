"""Pages that say no: somebody was first (`decided.html`), it changed (`stale.html`), and plain refusals
(`refused.html`).
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from dashboard.presenters.ages import When
from dashboard.presenters.chips import Chip
from dashboard.presenters.parts import NOTHING, Fact, Link


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedPage:
    """The loser's screen: who decided what, when and why; that nothing of the reader's happened; the way
    on.

    `did` is `exceptions.DECIDED` of the decision (`rejected this campaign`); `tried` is what the reader was
    about to do; `yours` where they decided it themselves; `typed` is their text, kept so that it can be copied.
    """

    who: str
    did: str
    what: Chip
    at: When
    about: Link
    reason: SafeString = NOTHING
    tried: str
    yours: bool = False
    typed: str = ""
    now: str = ""
    on: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StalePage:
    """It changed since the reader looked: what changed (one sentence each), their text kept, and the link
    that reloads.
    """

    about: Link
    tried: str
    changes: tuple[SafeString, ...]
    opened: When | None = None
    typed: str = ""
    reload_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedPage:
    """Any other refusal: one title, the refusal's sentence, its stable code, and the way on."""

    title: str
    text: str
    code: str = ""
    facts: tuple[Fact, ...] = ()
    typed: str = ""
    on: tuple[Link, ...] = ()
