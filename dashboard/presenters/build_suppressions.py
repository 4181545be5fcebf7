"""Filling the list of who is not to be written to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from approvals.access.actors import Actor
from approvals.rules.permissions import why_not
from approvals.selectors.suppressions import Listed
from dashboard.forms.suppressions import Asked
from dashboard.presenters.ages import when
from dashboard.presenters.chips import Chip
from dashboard.presenters.parts import NOTHING, Link, Trail
from dashboard.presenters.places import Places
from dashboard.presenters.suppressions import Entry, SuppressionsPage
from dashboard.presenters.text import reveal_line

_REASONS = {
    "unsubscribed": Chip("unsubscribed", "warn", "The recipient asked for no more"),
    "bounced": Chip("bounced", "warn", "The address takes no mail"),
    "complained": Chip("complained", "danger", "The recipient said that it was spam"),
    "by_hand": Chip("by hand", "info", "A member put it on the list"),
}


def suppressions_page(
    *,
    actor: Actor,
    places: Places,
    asked: Asked,
    found: tuple[Sequence[Listed], bool],
    form: Any,
    now: datetime,
    wrong: tuple[str, str] = ("", ""),
) -> SuppressionsPage:
    """The whole page; `wrong` is the entry that was not released, and why."""
    entries, more = found
    may_release = actor.may("release_suppressed")
    query = {"q": asked.address} if asked.address else {}
    older = urlencode(query | {"before": entries[-1].at.isoformat()}) if more else ""
    return SuppressionsPage(
        title="Not to be written to",
        trail=Trail(Link("Lists of recipients", places.datasets())),
        url=places.suppressions(),
        add_url=places.suppress(),
        form=form,
        refused="" if actor.may("suppress") else why_not("suppress"),
        q=asked.address,
        note=asked.note,
        entries=tuple(_entry(entry, places, now, may_release=may_release) for entry in entries),
        older=places.suppressions(older) if more else "",
        wrong_id=wrong[0],
        wrong=wrong[1],
    )


def _entry(entry: Listed, places: Places, now: datetime, *, may_release: bool) -> Entry:
    return Entry(
        id=str(entry.id),
        address=reveal_line(entry.key or "(erased)"),
        state=_REASONS[entry.reason],
        scope=reveal_line(entry.scope) if entry.scope else NOTHING,
        source=reveal_line(entry.source),
        at=when(entry.at, now),
        released=when(entry.released_at, now) if entry.released_at else None,
        release_url=places.release(entry.id) if may_release and entry.released_at is None else "",
    )
