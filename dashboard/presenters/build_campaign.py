"""Filling the campaign's page: what would be sent to whom, and the decisions that are possible now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from approvals.selectors.campaign_versions import Said, VersionFacts
from approvals.selectors.campaigns import CampaignFacts, Left, Trouble
from approvals.selectors.decisions import Entry
from dashboard.forms import campaigns as form
from dashboard.presenters import chips
from dashboard.presenters.ages import due, when
from dashboard.presenters.build_campaign_acts import Timing, acts_of, troubled_of
from dashboard.presenters.build_decisions import decision_line
from dashboard.presenters.build_proposals import CLOSED
from dashboard.presenters.build_sending import earlier_of, progress_of, state_of
from dashboard.presenters.build_untold import tell_again_of, told_again_of
from dashboard.presenters.build_versions import versions_of
from dashboard.presenters.campaigns import (
    Audience,
    CampaignPage,
    Count,
    Excluded,
    Preview,
    ResolveDeliveries,
)
from dashboard.presenters.hand import Hand
from dashboard.presenters.parts import NOTHING, DecisionLine, Fact, Link, Trail
from dashboard.presenters.places import Places
from dashboard.presenters.review import Review
from dashboard.presenters.text import count, plain, plural, reveal, reveal_line, summary_line

_SENDS = {
    "pending": "What will be sent",
    "returned": "What was proposed",
    "approved": "What will be sent",
    "rejected": "What would have been sent",
    "sending": "What is being sent",
    "paused": "What is being sent",
    "finished": "What was sent",
    "stopped": "What was sent until it was stopped",
}
_GETS_IT = {
    "pending": "will get it if you approve",
    "returned": "would get it as it is",
    "approved": "will get it",
    "rejected": "would have got it",
}


@dataclass(frozen=True, slots=True)
class Troubles:
    """One page of the deliveries of a version that are in doubt or failed, and whether there are more."""

    of: VersionFacts
    state: str
    rows: Sequence[Trouble]
    more: bool


@dataclass(frozen=True, slots=True)
class Listed:
    """What stands under *Who gets it*: those who get nothing (with whether there are more) or lack a value."""

    excluded: tuple[Sequence[Left], bool]
    lacking: tuple[int, UUID | None]


@dataclass(frozen=True, slots=True)
class Lists:
    """What stands in the lists of the page; `decisions` come with whether there are more."""

    listed: Listed
    troubles: Sequence[Troubles]
    decisions: tuple[Sequence[Entry], bool]
    decided: Mapping[str, Said]


def campaign_page(
    facts: CampaignFacts,
    preview: Preview,
    lists: Lists,
    review: Review,
    hand: Hand,
    *,
    asked: form.Asked,
    timing: Timing,
    trail: Trail,
    overdue_s: int,
    now: datetime,
    comment: str = "",
) -> CampaignPage:
    """The whole page. `comment` is what whoever returned or rejected it last said."""
    places = Places(hand.slug)
    undecided = facts.status in ("pending", "returned", "rejected")
    entries, more = lists.decisions
    acts = acts_of(facts, hand, timing, now, lacking=lists.listed.lacking[0])
    new_version = (
        Link("New version", places.new_version(facts.id))
        if hand.actor.may("propose") and facts.status not in CLOSED
        else None
    )
    if facts.status == "returned":  # what it waits for stands first among what can be done
        acts = replace(acts, comment=reveal(comment), new_version=new_version)
    return CampaignPage(
        title=plain(facts.name[:200]),
        heading=summary_line(facts.name, 300),
        trail=trail,
        state=state_of(facts),
        send_by=due(facts.send_by, now) if facts.send_by and facts.status == "pending" else None,
        purpose=reveal(facts.purpose),
        facts=_facts(facts, now),
        sends=_SENDS[facts.status],
        preview=preview,
        audience=audience_of(facts, lists.listed, places, asked),
        review=review,
        acts=acts,
        progress=(
            None
            if undecided
            else progress_of(
                facts, places=places, back=places.back(asked.back), overdue_s=overdue_s, now=now, alone=False
            )
        ),
        versions=versions_of(facts, lists.decided, places=places, now=now),
        troubled=troubled_forms(facts, lists.troubles, hand, asked=asked, now=now),
        untold=tell_again_of(facts, hand),
        retried=told_again_of(facts, now),
        decisions=_decisions(entries, facts, places, now),
        decisions_more=Link("There are older ones in the log", places.decisions()) if more else None,
        run=Link(summary_line(facts.run_name, 100), places.run(facts.run_id)) if facts.run_id else None,
        new_version=None if acts.new_version else new_version,
    )


def troubled_forms(
    facts: CampaignFacts, troubles: Sequence[Troubles], hand: Hand, *, asked: form.Asked, now: datetime
) -> tuple[ResolveDeliveries, ...]:
    """A form for the deliveries of each version in each state; of one that is not shown here, its page has the rest."""
    places = Places(hand.slug)

    def more_url(one: Troubles) -> str:
        if one.of.id != facts.version_id:
            return places.campaign(facts.id, version=one.of.number) + "#settle"
        further = form.address(asked, **{one.state: one.rows[-1].position})
        return places.campaign(facts.id, further, facts.old)

    newest = facts.versions[0].number
    return tuple(
        troubled_of(
            one.state,
            one.rows,
            one.of,
            hand,
            old=one.of.number != newest,
            more_url=more_url(one) if one.more else "",
            now=now,
        )
        for one in troubles
    )


def _facts(facts: CampaignFacts, now: datetime) -> tuple[Fact, ...]:
    who = facts.own.proposer_name
    return (
        *_agent(facts),
        Fact("Proposed", when(facts.own.created_at, now)),
        *([Fact("Proposed by", reveal_line(who))] if facts.own.proposer_kind == "member" else []),
        *([Fact("Version", count(facts.version))] if facts.version > 1 else []),
        Fact("Digest", facts.digest[:12]),
        Fact("External id", summary_line(facts.external_id, 100), copy=facts.external_id),
        Fact("Campaign id", str(facts.id), copy=str(facts.id)),
    )


def _agent(facts: CampaignFacts) -> tuple[Fact, ...]:
    """A campaign that a person began bears their name in place of an agent's."""
    if facts.versions[-1].proposer_kind != "member":
        return (Fact("Agent", reveal_line(facts.agent)),)
    if facts.agent == facts.own.proposer_name:
        return ()
    return (Fact("First proposed by", reveal_line(facts.agent)),)


def audience_of(facts: CampaignFacts, listed: Listed, places: Places, asked: form.Asked) -> Audience:
    """Who gets it and who does not."""
    rows, more = listed.excluded
    lacking, first = listed.lacking
    gets_it = "could be reached" if facts.old else _GETS_IT.get(facts.status, "can be reached")

    def here(**changes: str | int) -> str:
        return places.campaign(facts.id, form.address(asked, **changes), facts.old)

    return Audience(
        counts=(
            Count(gets_it, count(_reached(facts)), "ok"),
            Count("excluded", count(facts.excluded), "warn" if facts.excluded else "quiet"),
            Count("in the list", count(facts.counts["total"])),
        ),
        excluded=tuple(
            Excluded(
                reveal_line(row.email) or reveal_line("erased" if row.erased else "(empty)"),
                plain(row.reason),
                f"row {count(row.position)}",
            )
            for row in rows
        ),
        excluded_title=f"{count(facts.excluded)} {'gets' if facts.excluded == 1 else 'get'} nothing, and why",
        more_url=f"{here(excluded=rows[-1].position)}#audience" if more else "",
        first_url=f"{here(excluded=0)}#audience" if asked.excluded else "",
        open=bool(asked.excluded) or len(rows) <= 10,
        lacking=_lacking(lacking, facts) if lacking else "",
        lacking_all_url=places.recipients(facts.id, "show=lacking", facts.old) if lacking > 1 else "",
        lacking_url=here(to=str(first)) if first else "",
        drawn=_drawn(facts),
        earlier=earlier_of(facts) if facts.status in ("pending", "returned") and not facts.old else "",
    )


def _drawn(facts: CampaignFacts) -> str:
    """Where the audience comes from, and which part of that it is."""
    drawn = facts.drawn_from
    if drawn is None:
        return ""
    which = " and ".join(
        f"{reveal_line(name)} is {reveal_line(value)}" for name, value in drawn.where.items()
    )
    of_list = f"From the list {reveal_line(drawn.list)} of {plural(drawn.rows, 'row')}" if drawn.list else ""
    parts = [of_list or "From the version before", f"those whose {which}" if which else ""]
    if drawn.rest:
        parts.append("whoever an earlier version had not reached")
    return f"{', '.join(part for part in parts if part)}."


def _reached(facts: CampaignFacts) -> int:
    """Before it is sent nobody counts who was erased."""
    waits = facts.status in ("pending", "returned") and not facts.old
    return facts.counts["planned"] if waits else facts.recipients


def _lacking(number: int, facts: CampaignFacts) -> str:
    bring = "brings" if number == 1 else "bring"
    return (
        f"{count(number)} of the {plural(facts.recipients, 'recipient')} {bring} no value for a merge field,"
        " which would stand in the message as it was written."
    )


def _decisions(
    entries: Sequence[Entry], facts: CampaignFacts, places: Places, now: datetime
) -> tuple[DecisionLine, ...]:
    """The lines, the newest first; where there are several versions each says which one it is about."""
    lines: list[DecisionLine] = []
    number = 0  # of the version that counted when an entry was written: a stop does not tell it
    for entry in reversed(entries):
        line, given = _decision(entry, facts, places, now), entry.given or {}
        if isinstance(told := given.get("version"), int):
            number = told
        if len(facts.versions) > 1 and number and (told or entry.kind == "stop"):
            line = replace(line, what=chips.of_version(line.what, entry.kind, number))
        lines.append(line)
    return tuple(reversed(lines))


def _decision(entry: Entry, facts: CampaignFacts, places: Places, now: datetime) -> DecisionLine:
    """The line of the log; of what it is about, only a single recipient is news on this page.

    While its execution goes on, the box that follows it says how far it is: the list would fall behind.
    """
    about = reveal_line(str((entry.given or {}).get("recipient", "")))
    line = replace(decision_line(entry, places, now), about=about or NOTHING, about_url="")
    followed = facts.job is not None and facts.job.decision_id == entry.id and facts.job.moving
    return replace(line, outcome=None) if followed else line
