"""Filling the forms of the campaign's page: what can be decided now, by whom, and what came back with an error."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from approvals.rules.decisions import NOBODY_REACHED, OWN_PROPOSAL, RESTORED, TOO_LATE
from approvals.selectors.campaign_versions import VersionFacts
from approvals.selectors.campaigns import CampaignFacts, Paused, Trouble
from dashboard.forms import schedule as schedule_form
from dashboard.forms.shown import pack
from dashboard.forms.tried import Tried
from dashboard.presenters import chips
from dashboard.presenters.ages import span, when
from dashboard.presenters.build_schedule import schedule_of
from dashboard.presenters.build_sending import on_its_way, waits_for_somebody
from dashboard.presenters.campaigns import CampaignActs, PausedSend, ResolveDeliveries, Troubled
from dashboard.presenters.hand import Hand
from dashboard.presenters.parts import Choice, DeliveryLine, Link
from dashboard.presenters.places import Places
from dashboard.presenters.schedule import Schedule
from dashboard.presenters.text import count, plain, plural, reveal_line, summary_line

_CLOSED = {
    "returned": "It was returned with comments. What is sent is another version, with an approval of its own.",
    "finished": "There is nothing left to decide about it.",
    "stopped": (
        "It was stopped. Whoever got nothing can still be written to by another version, with an approval of its own."
    ),
    "rejected": "It was rejected. Whoever proposed it can read the comment, and propose another one.",
}
_ANSWERS: Mapping[str, tuple[Choice, ...]] = {
    "in_doubt": (
        Choice("happened", "It arrived", hint="Counts as sent. Nothing is sent again."),
        Choice("do_again", "It did not arrive: send it again", hint="One more message to each, at once."),
        Choice("leave", "Leave it", hint="Nothing is sent again; it stays in doubt."),
    ),
    "failed": (
        Choice("do_again", "Send it again", hint="One more message to each, at once."),
        Choice("leave", "Leave it", hint="Nothing is sent again; it stays failed."),
    ),
}
_TITLES = {
    "in_doubt": ("delivery in doubt", "deliveries in doubt"),
    "failed": ("failed delivery", "failed deliveries"),
}
_POSSIBLE = {
    "campaign_return": ("pending",),
    "campaign_reject": ("pending", "returned"),
    "campaign_stop": ("approved", "sending", "paused"),
}


@dataclass(frozen=True, slots=True)
class Timing:
    """What the reader asked of the form for a later time (None: nothing yet), and the zone they chose last.

    `kept` are the fields (name, value) of the page's address. `shown` binds to a page that is open already.
    """

    asked: schedule_form.Asked | None = None
    zone: str = ""
    kept: tuple[tuple[str, str], ...] = ()
    shown: str = ""


def offers(facts: CampaignFacts, tried: Tried) -> bool:
    """Whether the page has the form that came back, as things stand now."""
    if tried.act == "deliveries_resolve":
        return any(
            number and tried.target == part_of(facts.own, state) for state, number in facts.waiting.items()
        )
    return facts.status in _POSSIBLE[tried.act]


def part_of(version: VersionFacts, state: str) -> str:
    """What tells the form for a version's deliveries in this state from the others on a page."""
    return f"{version.id} {state}"


def acts_of(
    facts: CampaignFacts, hand: Hand, timing: Timing, now: datetime, *, lacking: int = 0
) -> CampaignActs:
    """The decisions that are possible now; those that are not this member's say whose they are.

    `lacking` is how many recipients bring no value for a merge field.
    """
    acts = _acts(facts, hand, timing, now, lacking)
    # What a person paused goes on as a whole, by one button: its job waits for nothing else.
    whole = next((_paused(one, facts, hand) for one in facts.paused if not one.address), None)
    paused = tuple(_paused(one, facts, hand) for one in facts.paused if one.address)
    return replace(acts, go_on=acts.go_on or whole, paused=paused, closed="" if paused else acts.closed)


def _paused(paused: Paused, facts: CampaignFacts, hand: Hand) -> PausedSend:
    shown = _shown(paused.job_id, facts, hand)
    act = hand.act("job_resume_send", paused.job_id, permission="resume_send", shown=shown)
    about = f"Sending once more to {paused.address} is paused" if paused.address else "The sending is paused"
    give_up = hand.act("job_give_up", paused.job_id, permission="cancel_send", shown=shown)
    return PausedSend(
        action=act.action,
        shown=act.shown,
        next=act.next,
        refused=act.refused,
        title=summary_line(about, 200),
        why=plain(paused.outcome),
        give_up=give_up if paused.address else None,
    )


def _go_on(facts: CampaignFacts, hand: Hand, shown: str) -> PausedSend:
    act = hand.act("campaign_go_on", facts.id, permission="resume_send", shown=shown)
    why = next((one.outcome for one in facts.paused if not one.address), "")
    return PausedSend(
        action=act.action,
        shown=act.shown,
        next=act.next,
        refused=act.refused,
        title=reveal_line("The sending is paused"),
        why=plain(why) or "Somebody paused it. What is under way still ends.",
    )


def later(facts: CampaignFacts, hand: Hand, timing: Timing, now: datetime) -> Schedule:
    """The form that approves a pending campaign for a later time."""
    shown = timing.shown or _shown(facts.id, facts, hand)
    act = hand.act("campaign_approve_at", facts.id, permission="approve", shown=shown)
    act = replace(act, refused=act.refused or _impossible(facts, hand, now))
    return schedule_of(facts, act, asked=timing.asked, zone=timing.zone, kept=timing.kept, now=now)


def _acts(facts: CampaignFacts, hand: Hand, timing: Timing, now: datetime, lacking: int) -> CampaignActs:
    shown = _shown(facts.id, facts, hand)
    match facts.status:
        case "pending":
            approve = hand.act("campaign_approve", facts.id, permission="approve", shown=shown)
            failed = facts.job.outcome if facts.job and facts.job.status == "failed" else ""
            before = plain(failed) or (RESTORED if facts.restored else "")
            return CampaignActs(
                approve=replace(approve, refused=approve.refused or _impossible(facts, hand, now)),
                approve_text=f"Approve for {plural(facts.counts['planned'], 'person', 'people')}",
                binding=(
                    f"{_unfilled(lacking, facts)}Bound to exactly this text and these recipients"
                    f" (digest {facts.digest[:12]}). {_held(facts)}"
                ),
                later=later(facts, hand, timing, now),
                return_=hand.reason_act(
                    "campaign_return", facts.id, permission="return_campaign", shown=shown
                ),
                reject=hand.reason_act("campaign_reject", facts.id, permission="reject", shown=shown),
                closed=before,
            )
        case "returned":
            reject = hand.reason_act("campaign_reject", facts.id, permission="reject", shown=shown)
            return CampaignActs(reject=reject, closed=_CLOSED["returned"])
        case "approved" | "sending" | "paused":
            return _on_their_way(facts, hand, shown)
        case status:
            return _closed(status, facts)


def _on_their_way(facts: CampaignFacts, hand: Hand, shown: str) -> CampaignActs:
    pause = hand.act("campaign_pause", facts.id, permission="pause_send", shown=shown)
    stop = hand.reason_act("campaign_stop", facts.id, permission="stop_send", shown=shown)
    if facts.status == "paused":
        return CampaignActs(go_on=_go_on(facts, hand, shown), stop=stop)
    # The forms that pause and stop it are there before it begins: once it does, the fragment shows them instead of the
    # one that takes it back.
    take_back = hand.act("campaign_take_back", facts.id, permission="cancel_send", shown=shown)
    can_take_back = facts.status == "approved" and facts.job is not None and facts.job.cancellable
    return CampaignActs(
        take_back=take_back if can_take_back else None,
        pause=None if waits_for_somebody(facts) else pause,
        stop=stop,
    )


def _closed(status: str, facts: CampaignFacts) -> CampaignActs:
    if facts.open_troubles:
        before = "" if status == "finished" else f"{_CLOSED[status]} "
        return CampaignActs(
            closed=f"{before}Somebody has to say what became of what is in doubt or failed.",
            closed_link=Link("Settle it", "#settle"),
        )
    if status == "finished" and on_its_way(facts):
        return CampaignActs(closed="Some of it is being sent once more.")
    return CampaignActs(closed=_CLOSED.get(status, ""))


def _unfilled(lacking: int, facts: CampaignFacts) -> str:
    if not lacking:
        return ""
    return f"{count(lacking)} of {count(facts.recipients)} would get an unfilled field. "


def _held(facts: CampaignFacts) -> str:
    if not facts.hold_s:
        return "It is queued, not sent at once."
    return f"It is held for {span(facts.hold_s)} first, in which you can take it back."


def _impossible(facts: CampaignFacts, hand: Hand, now: datetime) -> str:
    """Why it cannot be approved: by whoever proposed it, or by anybody."""
    if (facts.own.proposer_kind, facts.own.proposer_id) == (hand.actor.kind, hand.actor.id):
        return OWN_PROPOSAL
    if not facts.counts["planned"]:
        return NOBODY_REACHED
    return TOO_LATE if facts.send_by and facts.send_by < now else ""


def troubled_of(
    state: str,
    rows: Sequence[Trouble],
    of: VersionFacts,
    hand: Hand,
    *,
    old: bool,
    more_url: str,
    now: datetime,
) -> ResolveDeliveries:
    """The form that settles these deliveries `of` a version in `state`; `more_url` is where there are more of them.

    `old` where another version took its place: the form then says of which version they are.
    """
    # The address names one of them, which says of which campaign they all are. What is sent once more is what their
    # own version says, so that is what was shown.
    first = rows[0].id
    shown = pack(target=first, user_id=hand.actor.id, digest=of.digest)
    act = hand.act("deliveries_resolve", first, permission="resolve_campaign", shown=shown)
    tried = hand.tried.of("deliveries_resolve", part_of(of, state))
    return ResolveDeliveries(
        action=act.action,
        shown=act.shown,
        next=act.next,
        refused=act.refused,
        reason=tried.reason,
        reason_error=tried.error_at("reason"),
        title=plural(of.waiting[state], *_TITLES[state])
        + (f", of version {count(of.number)}" if old else ""),
        deliveries=tuple(
            Troubled(value=str(row.id), line=_delivery(row, hand, now), ticked=str(row.id) in tried.ticked)
            for row in rows
        ),
        choices=tuple(replace(choice, chosen=choice.value == tried.resolution) for choice in _ANSWERS[state]),
        delivery_error=tried.error_at("delivery"),
        resolution_error=tried.error_at("resolution"),
        more_url=more_url,
    )


def _delivery(row: Trouble, hand: Hand, now: datetime) -> DeliveryLine:
    return DeliveryLine(
        address=reveal_line(row.address),
        state=chips.delivery_state(row.state),
        at=when(row.at, now) if row.at else None,
        note=summary_line(row.reply, 300),
        authority_url=Places(hand.slug).authority(str(row.id)) if hand.actor.may("read_log") else "",
    )


def _shown(target: UUID, facts: CampaignFacts, hand: Hand) -> str:
    return pack(target=target, user_id=hand.actor.id, digest=facts.digest)
