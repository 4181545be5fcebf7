"""Filling the campaign's page: what would be sent to whom, and the decisions that are possible now."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from approvals.selectors.campaigns import CampaignFacts, Left, Trouble
from approvals.selectors.decisions import Entry
from dashboard.forms import campaigns as form
from dashboard.presenters.ages import due, when
from dashboard.presenters.build_campaign_acts import Timing, acts_of, troubled_of
from dashboard.presenters.build_decisions import decision_line
from dashboard.presenters.build_sending import progress_of, state_of
from dashboard.presenters.campaigns import (
    Audience,
    CampaignPage,
    Count,
    Excluded,
    Preview,
)
from dashboard.presenters.hand import Hand
from dashboard.presenters.parts import NOTHING, DecisionLine, Fact, Link, Trail
from dashboard.presenters.places import Places
from dashboard.presenters.review import Review
from dashboard.presenters.text import count, plain, plural, reveal, reveal_line, summary_line

_SENDS = {
    "pending": "What will be sent",
    "approved": "What will be sent",
    "rejected": "What would have been sent",
    "sending": "What is being sent",
    "finished": "What was sent",
    "stopped": "What was sent until it was stopped",
}
_GETS_IT = {
    "pending": "will get it if you approve",
    "approved": "will get it",
    "rejected": "would have got it",
}


@dataclass(frozen=True, slots=True)
class Lists:
    """What stands in the lists of the page; each comes with whether there is more of it."""

    excluded: tuple[Sequence[Left], bool]
    in_doubt: tuple[Sequence[Trouble], bool]
    failed: tuple[Sequence[Trouble], bool]
    decisions: tuple[Sequence[Entry], bool]
    lacking: tuple[int, UUID | None]


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
) -> CampaignPage:
    """The whole page."""
    places = Places(hand.slug)
    undecided = facts.status in ("pending", "rejected")
    entries, more = lists.decisions
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
        audience=_audience(facts, lists, places, asked),
        review=review,
        acts=acts_of(facts, hand, timing, now),
        progress=(
            None
            if undecided
            else progress_of(
                facts, places=places, back=places.back(asked.back), overdue_s=overdue_s, now=now, alone=False
            )
        ),
        troubled=tuple(
            troubled_of(
                state,
                rows,
                facts,
                hand,
                more_url=(
                    places.campaign(facts.id, form.address(asked, **{state: rows[-1].position}))
                    if more_rows
                    else ""
                ),
                now=now,
            )
            for state, (rows, more_rows) in (("in_doubt", lists.in_doubt), ("failed", lists.failed))
            if rows
        ),
        decisions=tuple(_decision(entry, facts, places, now) for entry in entries),
        decisions_more=Link("There are older ones in the log", places.decisions()) if more else None,
        run=Link(summary_line(facts.run_name, 100), places.run(facts.run_id)) if facts.run_id else None,
    )


def _facts(facts: CampaignFacts, now: datetime) -> tuple[Fact, ...]:
    return (
        Fact("Agent", reveal_line(facts.agent)),
        Fact("Proposed", when(facts.created_at, now)),
        Fact("Id", summary_line(facts.external_id, 100)),
        *([Fact("Version", count(facts.version))] if facts.version > 1 else []),
        Fact("Digest", facts.digest[:12]),
    )


def _audience(facts: CampaignFacts, lists: Lists, places: Places, asked: form.Asked) -> Audience:
    rows, more = lists.excluded
    lacking, first = lists.lacking
    here = places.campaign(facts.id, form.address(asked, excluded=0))
    return Audience(
        counts=(
            Count(_GETS_IT.get(facts.status, "can be reached"), count(_reached(facts)), "ok"),
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
        more_url=(
            places.campaign(facts.id, form.address(asked, excluded=rows[-1].position)) + "#audience"
            if more
            else ""
        ),
        first_url=f"{here}#audience" if asked.excluded else "",
        open=bool(asked.excluded) or len(rows) <= 10,
        lacking=_lacking(lacking, facts) if lacking else "",
        lacking_all_url=places.recipients(facts.id, "show=lacking") if lacking > 1 else "",
        lacking_url=places.campaign(facts.id, form.address(asked, to=str(first))) if first else "",
    )


def _reached(facts: CampaignFacts) -> int:
    """Before it is sent nobody counts who was erased."""
    return facts.counts["planned"] if facts.status == "pending" else facts.recipients


def _lacking(number: int, facts: CampaignFacts) -> str:
    bring = "brings" if number == 1 else "bring"
    return (
        f"{count(number)} of the {plural(facts.recipients, 'recipient')} {bring} no value for a merge field,"
        " which would stand in the message as it was written."
    )


def _decision(entry: Entry, facts: CampaignFacts, places: Places, now: datetime) -> DecisionLine:
    """The line of the log; of what it is about, only a single recipient is news on this page.

    While its execution goes on, the box that follows it says how far it is: the list would fall behind.
    """
    about = reveal_line(str((entry.given or {}).get("recipient", "")))
    line = replace(decision_line(entry, places, now), about=about or NOTHING, about_url="")
    followed = facts.job is not None and facts.job.decision_id == entry.id and facts.job.moving
    return replace(line, outcome=None) if followed else line
