"""Filling one customer's page."""

from collections.abc import Sequence
from datetime import datetime

from approvals.selectors.decisions import Entry
from approvals.selectors.did import Attempt
from approvals.selectors.subjects import COUNTED, Counts, Place, Sent
from dashboard.forms import subjects as form
from dashboard.presenters import chips, did
from dashboard.presenters.ages import when
from dashboard.presenters.build_decisions import decision_line
from dashboard.presenters.parts import NOTHING, DeliveryLine, Link, RunLine, Trail
from dashboard.presenters.places import Places
from dashboard.presenters.subjects import SubjectPage
from dashboard.presenters.text import capped, plain, reveal_line, summary_line


def subject_page(
    *,
    places: Places,
    name: str,
    counts: Counts,
    runs: tuple[Sequence[Attempt], bool],
    sent: tuple[Sequence[Sent], bool],
    decisions: tuple[Sequence[Entry], bool],
    may_ask: bool,
    now: datetime,
) -> SubjectPage:
    """The whole page; each list comes with whether there is more of it. `may_ask` who allowed a delivery."""
    last_run, last_sent, last_entry = runs[0][-1:], sent[0][-1:], decisions[0][-1:]
    return SubjectPage(
        title=plain(name),
        heading=reveal_line(name),
        trail=Trail(Link("Queue", places.queue())),
        summary=_summary(counts),
        runs=tuple(run_line(run, places, now) for run in runs[0]),
        runs_older=(
            places.subject(name, form.address(runs=Place(last_run[0].at, last_run[0].id))) if runs[1] else ""
        ),
        deliveries=tuple(_delivery(one, places, now, may_ask=may_ask) for one in sent[0]),
        deliveries_older=places.subject(name, form.address(sent=last_sent[0].place)) if sent[1] else "",
        decisions=tuple(decision_line(entry, places, now) for entry in decisions[0]),
        decisions_older=places.subject(name, form.address(before=last_entry[0].seq)) if decisions[1] else "",
    )


def run_line(run: Attempt, places: Places, now: datetime) -> RunLine:
    """One run on one line."""
    return RunLine(
        name=summary_line(run.external_id, 100),
        url=places.run(run.id),
        state=did.state_of(run),
        record=did.record_of(run),
        at=when(run.at, now),
        agent=reveal_line(run.agent),
        did=summary_line(did.run_in_short(run)),
    )


def _delivery(one: Sent, places: Places, now: datetime, *, may_ask: bool) -> DeliveryLine:
    undecided = one.state == "planned" and one.campaign_status in ("pending", "returned", "rejected")
    troubled = one.state in ("failed", "in_doubt", "skipped")
    return DeliveryLine(
        address=reveal_line(one.address),
        state=chips.campaign_state(one.campaign_status) if undecided else chips.delivery_state(one.state),
        at=when(one.at, now) if one.at else None,
        campaign=summary_line(one.campaign, 100),
        campaign_url=places.campaign(one.campaign_id),
        note=summary_line(one.reply) if troubled else NOTHING,
        message_id=reveal_line(one.message_id),
        authority_url=places.authority(str(one.id)) if may_ask else "",
    )


def _summary(counts: Counts) -> str:
    if not (counts.runs or counts.deliveries or counts.decisions):
        return "Nothing is known of this customer in this workspace: no run, nothing sent, no decision."
    runs, deliveries = _many(counts.runs, "run"), _many(counts.deliveries, "delivery", "deliveries")
    return f"{runs}, {deliveries} and {_many(counts.decisions, 'decision')}."


def _many(number: int, one: str, many: str = "") -> str:
    return f"{capped(number, COUNTED)} {one if number == 1 else many or one + 's'}"
