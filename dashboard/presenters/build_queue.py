"""Filling the queue's page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from approvals.selectors.did import Attempt, Mailing
from approvals.selectors.queue import COUNTED, FOUND, Choices, Counts, Item, Position, Wanted
from approvals.selectors.words import Found
from dashboard.forms import queue as form
from dashboard.presenters import chips, did
from dashboard.presenters.ages import due, when
from dashboard.presenters.parts import Choice, Empty, Link, Tab
from dashboard.presenters.places import Places
from dashboard.presenters.queue import QueueFilter, QueueLive, QueuePage, QueueRow
from dashboard.presenters.text import capped, plain, reveal_line, summary_line

_KIND = {"run": "Run", "campaign": "Campaign"}
_EMPTY = {
    "decide": (
        "Nothing waits for a decision",
        "Interrupted runs and proposed campaigns appear here by themselves. What happened before is under History.",
    ),
    "progress": ("Nothing is in progress", "Running agents, replays and campaigns being sent appear here."),
    "history": ("Nothing has happened yet", "Every run and campaign of this workspace will be listed here."),
}


@dataclass(frozen=True, slots=True)
class Told:
    """What the lineages and campaigns on the page did, by their ids."""

    attempts: Mapping[UUID, tuple[Attempt, ...]]
    mailings: Mapping[UUID, Mailing]


def queue_page(
    *,
    places: Places,
    asked: form.Asked,
    found: Found | None,
    counts: Counts,
    items: Sequence[Item],
    older: Position | None,
    told: Told,
    choices: Choices,
    may_propose: bool,
    now: datetime,
) -> QueuePage:
    """The whole page; `older` is the place behind the last row where there is more."""
    wanted = asked.wanted
    back = places.back(form.address(wanted, after=asked.after))
    return QueuePage(
        title="Queue",
        live=queue_live(places, wanted, counts),
        filter=_filter(places, asked, found, choices),
        rows=tuple(_row(places, item, told, back, now) for item in items),
        empty=None if items else _empty(places, asked),
        older_url=places.queue(form.address(wanted, after=older)) if older else "",
        first_url=places.queue(form.address(wanted)) if asked.after else "",
        new=Link("New campaign", places.new_campaign()) if may_propose else None,
    )


def queue_live(places: Places, wanted: Wanted, counts: Counts, made: datetime | None = None) -> QueueLive:
    """The tabs with their counts, and what is new since `made` (the moment of counting, for a fresh page)."""
    return QueueLive(
        url=places.queue_live(form.address(wanted, made=made or counts.at)),
        tabs=tuple(
            Tab(
                key=tab,
                text=text,
                url=places.queue(form.address(_on(wanted, tab))),
                count=capped(counts.tabs[tab], COUNTED),
                current=tab == wanted.tab,
            )
            for tab, text in form.TAB_NAMES.items()
        ),
        news=f"{capped(counts.new, COUNTED)} new" if counts.new else "",
        reload_url=places.queue(form.address(wanted)),
    )


def _on(wanted: Wanted, tab: str) -> Wanted:
    return Wanted(tab, wanted.kind, wanted.agent, wanted.tool, wanted.subject, wanted.text)


def _row(
    places: Places,
    item: Item,
    told: Told,
    back: str,
    now: datetime,
) -> QueueRow:
    tries = told.attempts.get(item.id, ())
    mailing = told.mailings.get(item.id)
    state = chips.queue_state(item.kind, item.state)
    if mailing:
        said, risk = did.mailing_in_short(mailing, item.state), did.mailing_risk(mailing, item.state)
        state = did.mailing_state(mailing, item.state)
    else:
        said, risk = did.lineage_in_short(tries, item.state), did.lineage_risk(tries)
    return QueueRow(
        kind=_KIND.get(item.kind, item.kind),
        title=summary_line(item.title),
        url=places.item(item.kind, item.target_id, back),
        state=chips.held(plain(did.held_in(tries)[:120])) if item.state == "awaiting" else state,
        risk=risk,
        agent=reveal_line(item.agent),
        did=summary_line(said, 240),
        age=when(item.since, now),
        subject=reveal_line(item.subject),
        subject_url=places.subject(item.subject) if item.subject else "",
        send_by=due(item.due, now) if item.due else None,
        attempts=f"{len(tries)} attempts" if len(tries) > 1 else "",
    )


def _filter(places: Places, asked: form.Asked, found: Found | None, choices: Choices) -> QueueFilter:
    wanted = asked.wanted
    on = form.filters(wanted)
    return QueueFilter(
        action=places.queue(),
        tab=wanted.tab,
        kinds=_choices(list(form.KIND_NAMES), wanted.kind, form.KIND_NAMES),
        agents=_choices(choices.agents, wanted.agent),
        tools=_choices(choices.tools, wanted.tool),
        subject=wanted.subject,
        text=wanted.text,
        applied=tuple(
            Link(
                f"{form.FILTER_NAMES[name]}: {form.KIND_NAMES[value] if name == 'kind' else plain(value)}",
                places.queue(form.address(form.without(wanted, name))),
            )
            for name, value in on.items()
        ),
        clear_url=places.queue(form.address(form.without(wanted, *on))),
        note=" ".join(filter(None, [asked.note, _many(found)])),
    )


def _many(found: Found | None) -> str:
    if found is None or found.whole:
        return ""
    return (
        f"Many items match; at most {FOUND:,} of them are looked at. Search for more words, or longer ones."
    )


def _choices(
    values: Sequence[str], chosen: str, names: Mapping[str, str] | None = None
) -> tuple[Choice, ...]:
    listed = values if not chosen or chosen in values else [chosen, *values]
    return (
        Choice("", "Any", not chosen),
        *(Choice(value, (names or {}).get(value) or plain(value), value == chosen) for value in listed),
    )


def _empty(places: Places, asked: form.Asked) -> Empty:
    wanted = asked.wanted
    if asked.after:
        return Empty(
            "Nothing further", "What stood here has moved on meanwhile.",
            Link("Back to the first page", places.queue(form.address(wanted))),
        )  # fmt: skip
    on = form.filters(wanted)
    if on:
        return Empty(
            "Nothing matches", "Try fewer filters, or look under History, which holds everything.",
            Link("Clear the filters", places.queue(form.address(form.without(wanted, *on)))),
        )  # fmt: skip
    title, text = _EMPTY[wanted.tab]
    link = Link("See the history", places.queue("tab=history")) if wanted.tab == "decide" else None
    return Empty(title, text, link)
