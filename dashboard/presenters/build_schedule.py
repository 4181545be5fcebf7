"""Filling the form that approves something for a later time, and saying in words what a time means."""

from datetime import UTC, datetime

from approvals.rules.zones import Meaning, Moment, Zone, moment_of, pick_list, why_not_at
from approvals.selectors.campaigns import CampaignFacts
from dashboard.forms.schedule import Asked
from dashboard.presenters.acts import Act
from dashboard.presenters.ages import ahead
from dashboard.presenters.schedule import Answer, Instant, Schedule

UNTIL_THEN = "Until then it can be taken back."
_FIELDS = ("date", "time", "zone")


def schedule_of(
    facts: CampaignFacts,
    approve: Act,
    *,
    asked: Asked | None,
    zone: str,
    kept: tuple[tuple[str, str], ...],
    now: datetime,
) -> Schedule:
    """The form; `approve` is the act with the address of check and approval, `zone` the one that is remembered."""
    typed = asked or Asked()
    return Schedule(
        action=approve.action,
        shown=approve.shown,
        zones=pick_list(),
        kept=kept,
        date=typed.date,
        time=typed.time,
        zone=typed.zone or zone or "UTC",
        guess=not typed.zone and not zone,
        open=asked is not None,
        refused=approve.refused,
        date_error=typed.error_at("date"),
        time_error=typed.error_at("time"),
        zone_error=typed.error_at("zone"),
        error=typed.error if typed.wrong_at not in _FIELDS else "",
        answer=_answer(typed.meaning, facts, approve, now) if typed.meaning else None,
    )


def _answer(meant: Meaning, facts: CampaignFacts, approve: Act, now: datetime) -> Answer:
    instants = tuple(
        Instant(
            value=moment.at.isoformat(),
            text=_choice(moment, place, meant),
            hint=f"{_in_utc(moment)}, {_away(moment.at, now)}",
            refused=why_not_at(moment.at, now=now, hold_s=facts.hold_s, send_by=facts.send_by),
        )
        for place, moment in enumerate(meant.moments)
    )
    possible = any(not instant.refused for instant in instants)
    plain = meant.kind == "plain"
    return Answer(
        says=_says(meant, now),
        instants=instants,
        then=UNTIL_THEN if plain and possible else "",
        approve=approve if possible else None,
        button=f"Approve for {_short(meant.moments[0])}" if plain else "Approve for the time chosen",
    )


def _says(meant: Meaning, now: datetime) -> str:
    first, place = meant.moments[0], meant.zone.place
    match meant.kind:
        case "plain":
            return f"{sentence_of(first)}, {_away(first.at, now)}."
        case "gap":
            return (
                f"There is no {_day(meant.asked)} {meant.asked:%H:%M} in {place}: the clocks are put forward, past it."
                " Choose what you mean."
            )
        case "overlap":
            return (
                f"{_day(meant.asked)} {meant.asked:%H:%M} comes twice in {place}: the clocks are put back after the"
                " first time. Choose which one you mean."
            )


def sentence_of(moment: Moment) -> str:
    """`Thursday 3 December 2026 09:00 (Sydney, UTC+11) is Wednesday 2 December 22:00 UTC`, without its full stop."""
    return moment_words(moment) + (f" is {_in_utc(moment)}" if moment.zone.name != "UTC" else "")


def moment_words(moment: Moment) -> str:
    """`Thursday 3 December 2026 09:00 (Sydney, UTC+11)`."""
    at = f"{_day(moment.local)} {moment.local:%H:%M}"
    if moment.zone.name == "UTC":
        return f"{at} UTC"
    return f"{at} ({', '.join(filter(None, [moment.zone.place, moment.offset_name]))})"


def goes_out(at: datetime, zone: Zone, now: datetime) -> str:
    """`on Thursday 3 December 2026 09:00 (Sydney, UTC+11), in 2 days 18 hours`: within a sentence."""
    return f"on {moment_words(moment_of(at, zone))}, {_away(at, now)}"


def _choice(moment: Moment, place: int, meant: Meaning) -> str:
    at = f"{_day(moment.local)} {moment.local:%H:%M} ({moment.offset_name})"
    if meant.kind == "overlap":
        return f"The {('first', 'second')[place]} time: {at}"
    return f"{('Before', 'After')[place]} the change: {at}" if meant.kind == "gap" else at


def _in_utc(moment: Moment) -> str:
    """`22:00 UTC`, with its day where that is another one there."""
    at = moment.at.astimezone(UTC)
    if at.date() == moment.local.date():
        return f"{at:%H:%M} UTC"
    year = f" {at.year}" if at.year != moment.local.year else ""
    return f"{at:%A} {at.day} {at:%B}{year} {at:%H:%M} UTC"


def _away(at: datetime, now: datetime) -> str:
    return ahead((at - now).total_seconds())


def _day(local: datetime) -> str:
    return f"{local:%A} {local.day} {local:%B %Y}"


def _short(moment: Moment) -> str:
    place = moment.zone.place or moment.offset_name
    return f"{moment.local:%a} {moment.local.day} {moment.local:%b}, {moment.local:%H:%M} ({place})"
