"""Filling *Who allowed this?*"""

from datetime import datetime

from approvals.rules.authority import NOT_THERE, SENT_BY_A_TOOL, Effect
from approvals.selectors.authority import Found
from dashboard.forms.authority import Asked
from dashboard.presenters import chips
from dashboard.presenters.ages import when
from dashboard.presenters.authority import AuthorityPage, EffectLine
from dashboard.presenters.build_timeline import anchor_of
from dashboard.presenters.chips import Chip
from dashboard.presenters.parts import NOTHING, Empty, Link
from dashboard.presenters.places import Places
from dashboard.presenters.text import plural, reveal_line, summary_line

_WHAT = {"delivery": "Mail to", "test": "Test to", "run": "Run", "call": "Call of"}


def authority_page(found: Found, asked: Asked, *, places: Places, now: datetime) -> AuthorityPage:
    """The whole page."""
    number = len(found.effects)
    return AuthorityPage(
        action=places.authority(),
        query=asked.query,
        effects=tuple(_line(effect, places, now) for effect in found.effects),
        summary=f"{plural(number, 'thing goes', 'things go')} by this." if number and not found.more else "",
        more=f"These are the first {number}. Ask for a Message-ID, a run or a call to see fewer."
        if found.more
        else "",
        error=asked.note,
        empty=_empty(asked, found),
    )


def _empty(asked: Asked, found: Found) -> Empty | None:
    if found.effects or not asked.query:
        return None
    return Empty(
        "Nothing here goes by that",
        f"{NOT_THERE} Copy it whole, as it stands in the message or on the page. {SENT_BY_A_TOOL}",
    )


def _line(effect: Effect, places: Places, now: datetime) -> EffectLine:
    return EffectLine(
        what=_WHAT[effect.what],
        name=summary_line(effect.name, 100),
        url=_url(effect, places),
        state=_state(effect),
        at=when(effect.at, now) if effect.at else None,
        answer=summary_line(effect.answer, 1_000),
        of=None if effect.what == "run" else Link(summary_line(effect.item, 100), _of(effect, places)),
        mark=reveal_line(effect.message_id or effect.call_id) if effect.what != "run" else NOTHING,
        entries=tuple(
            Link(
                f"Entry {step.seq}: {chips.decision_kind(step.kind).label}", places.decision(step.decision_id)
            )
            for step in effect.steps
        ),
    )


def _of(effect: Effect, places: Places) -> str:
    return places.campaign(effect.item_id) if effect.what == "delivery" else _url(effect, places)


def _url(effect: Effect, places: Places) -> str:
    if effect.what == "delivery":  # the very message, of whichever version it is
        return places.campaign(effect.item_id, f"to={effect.id}")
    if effect.what == "test":
        return places.campaign(effect.item_id)
    page = places.run(effect.item_id)
    return f"{page}#{anchor_of(effect.seq)}" if effect.what == "call" else page


def _state(effect: Effect) -> Chip:
    match effect.what:
        case "delivery":
            return chips.delivery_state(effect.state)
        case "test":
            return chips.job_state(effect.state)
        case "call":
            return chips.call_state(effect.state)
        case _:
            return chips.run_state(effect.state)
