"""Filling the forms of the campaign's page: what can be decided now, by whom, and what came back with an error."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.urls import reverse

from approvals.access.actors import Actor
from approvals.exceptions import Invalid
from approvals.rules.permissions import why_not
from approvals.selectors.campaigns import CampaignFacts, Trouble
from dashboard.forms import campaigns as form
from dashboard.forms.shown import pack
from dashboard.presenters import chips
from dashboard.presenters.acts import Act, ReasonAct
from dashboard.presenters.ages import when
from dashboard.presenters.build_sending import on_its_way
from dashboard.presenters.campaigns import CampaignActs, ResolveDeliveries, Troubled
from dashboard.presenters.parts import Choice, DeliveryLine, Trail
from dashboard.presenters.places import Places
from dashboard.presenters.text import plural, reveal_line, summary_line

NOBODY = "Nobody in the list can be reached, so there is nothing to approve."
_CLOSED = {
    "approved": "It is approved. Until a worker begins with it, it can be taken back.",
    "sending": "It is being sent. It can be stopped; what has left cannot be called back.",
    "finished": "There is nothing left to decide about it.",
    "stopped": "It was stopped. What had not left by then is not sent any more.",
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
    "approve": ("pending",),
    "reject": ("pending",),
    "take_back": ("approved",),
    "stop": ("approved", "sending"),
}
_FIELDS = ("comment", "reason", "delivery", "resolution")


@dataclass(frozen=True, slots=True)
class Tried:
    """A form that came back: which one, what was wrong with it, and what was typed into it.

    `act` is approve, reject, take_back, stop, or the state of the deliveries that were to be settled.
    """

    act: str
    refusal: Invalid
    text: str = ""
    resolution: str = ""
    ticked: frozenset[str] = frozenset()

    def error_at(self, *fields: str) -> str:
        """What was wrong with one of these fields."""
        return self.refusal.text if self.refusal.field in fields else ""

    @property
    def error(self) -> str:
        """What was wrong and belongs to none of the fields that people fill in."""
        return "" if self.refusal.field in _FIELDS else self.refusal.text


@dataclass(frozen=True, slots=True)
class Reader:
    """Who looks at the page, from where, and what it was asked for."""

    actor: Actor
    places: Places
    asked: form.Asked
    trail: Trail
    tried: Tried | None = None

    def tried_with(self, act: str) -> Tried | None:
        """What was tried, if it was this."""
        return self.tried if self.tried and self.tried.act == act else None


def offers(facts: CampaignFacts, act: str) -> bool:
    """Whether the page has the form of this act (see `Tried`) as things stand."""
    if act in _ANSWERS:
        return facts.waiting.get(act, 0) > 0
    return facts.status in _POSSIBLE.get(act, ())


def acts_of(facts: CampaignFacts, reader: Reader) -> CampaignActs:
    """The decisions that are possible now; those that are not this member's say whose they are."""
    match facts.status:
        case "pending":
            return CampaignActs(
                approve=_act(
                    "approve", "approve", facts, reader, impossible="" if facts.recipients else NOBODY
                ),
                approve_text=f"Approve for {plural(facts.recipients, 'person', 'people')}",
                binding=(
                    f"Bound to exactly this text and these recipients (digest {facts.digest[:12]})."
                    " It is queued, not sent at once."
                ),
                reject=_reason_act("reject", "reject", facts, reader),
            )
        case "approved":
            # The form that stops it is there too: once it begins, the fragment shows it in place of the other.
            return CampaignActs(
                take_back=_act("take_back", "cancel_send", facts, reader),
                stop=_reason_act("stop", "stop_send", facts, reader),
                closed=_CLOSED["approved"],
            )
        case "sending":
            return CampaignActs(
                stop=_reason_act("stop", "stop_send", facts, reader), closed=_CLOSED["sending"]
            )
        case status if sum(facts.waiting.values()):
            return CampaignActs(
                closed=f"{'' if status == 'finished' else _CLOSED['stopped'] + ' '}"
                "What is in doubt or failed waits for an answer beside this box."
            )
        case "finished" if on_its_way(facts):
            return CampaignActs(closed="Some of it is being sent once more.")
        case status:
            return CampaignActs(closed=_CLOSED.get(status, ""))


def _act(name: str, permission: str, facts: CampaignFacts, reader: Reader, *, impossible: str = "") -> Act:
    tried = reader.tried_with(name)
    return Act(
        action=reverse(f"campaign_{name}", args=[reader.places.slug, facts.id]),
        shown=_shown(facts.id, facts, reader),
        next=reader.places.campaign(facts.id, form.address(reader.asked)),
        refused=impossible if reader.actor.may(permission) else why_not(permission),
        error=tried.error if tried else "",
    )


def _reason_act(name: str, permission: str, facts: CampaignFacts, reader: Reader) -> ReasonAct:
    act, tried = _act(name, permission, facts, reader), reader.tried_with(name)
    return ReasonAct(
        action=act.action,
        shown=act.shown,
        next=act.next,
        refused=act.refused,
        error=act.error,
        reason=tried.text if tried else "",
        reason_error=tried.error_at("reason", "comment") if tried else "",
    )


def troubled_of(
    state: str,
    shown: tuple[Sequence[Trouble], bool],
    facts: CampaignFacts,
    reader: Reader,
    now: datetime,
) -> ResolveDeliveries:
    """The form that settles the deliveries in `state`; `shown` are those to list, and whether there are more."""
    rows, more = shown
    places, asked = reader.places, reader.asked
    tried = reader.tried_with(state)
    return ResolveDeliveries(
        # The address names one of them, which says of which campaign they are.
        action=reverse("deliveries_resolve", args=[places.slug, rows[0].id]),
        shown=_shown(rows[0].id, facts, reader),
        next=places.campaign(facts.id, form.address(asked)),
        refused="" if reader.actor.may("resolve_campaign") else why_not("resolve_campaign"),
        error=tried.error if tried else "",
        reason=tried.text if tried else "",
        reason_error=tried.error_at("reason") if tried else "",
        title=plural(facts.waiting[state], *_TITLES[state]),
        deliveries=tuple(
            Troubled(
                value=str(row.id),
                line=_delivery(row, now),
                ticked=tried is not None and str(row.id) in tried.ticked,
            )
            for row in rows
        ),
        choices=tuple(
            replace(choice, chosen=tried is not None and choice.value == tried.resolution)
            for choice in _ANSWERS[state]
        ),
        delivery_error=tried.error_at("delivery") if tried else "",
        resolution_error=tried.error_at("resolution") if tried else "",
        more_url=places.campaign(facts.id, form.address(asked, **{state: rows[-1].position})) if more else "",
    )


def _delivery(row: Trouble, now: datetime) -> DeliveryLine:
    return DeliveryLine(
        address=reveal_line(row.address),
        state=chips.delivery_state(row.state),
        at=when(row.at, now) if row.at else None,
        note=summary_line(row.reply, 300),
    )


def _shown(target: UUID, facts: CampaignFacts, reader: Reader) -> str:
    return pack(target=target, user_id=reader.actor.id, digest=facts.digest)
