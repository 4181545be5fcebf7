"""What a date and a time of day in a zone mean: one instant, none where the clock skips it, or two where it repeats.

A person says when something goes out as the clock on a wall shows it. Which instant that is gets said back before
anybody approves it; where the clock leaves a choice, the person chooses, and what is stored is the instant in UTC.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from difflib import get_close_matches
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo, available_timezones

from approvals.exceptions import Invalid

FURTHEST = timedelta(days=366)  # ahead: who approves a text for later than that will not remember it
LONGEST_ZONE = 64  # characters
_FURTHEST_EAST, _FURTHEST_WEST = timedelta(hours=14), timedelta(hours=-12)  # of any zone in use

_DATE = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::00)?")
_OFFSET = re.compile(r"(?:utc|gmt)?([+\-\u2212])([0-9]{1,2})(?::?([0-9]{2}))?", re.IGNORECASE)
# The rooms of the database whose names are a place; the others are abbreviations and old names of countries.
_AREAS = (
    "Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific",
)  # fmt: skip
_NO_ZONES = frozenset({"Factory", "localtime", "posixrules"})  # files that some systems keep beside the zones


@dataclass(frozen=True, slots=True)
class Zone:
    """A zone: its name as it is written (`Australia/Sydney`, `+10:00`, `UTC`), and what the clock there does."""

    name: str
    clock: tzinfo

    @property
    def place(self) -> str:
        """The name as people say it: `Sydney`, `Buenos Aires`; empty for a fixed offset, which says it all."""
        return self.name.rpartition("/")[2].replace("_", " ") if self.name[0] not in "+-" else ""


@dataclass(frozen=True, slots=True)
class Moment:
    """An instant in UTC, and the time that the clock in a zone shows then."""

    at: datetime
    local: datetime  # without a zone
    offset: timedelta
    zone: Zone

    @property
    def offset_name(self) -> str:
        """`UTC+11`, `UTC-3:30`, `UTC`."""
        return offset_name(self.offset)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What somebody's time means. `moments` holds one where it is plain, else two in order.

    In a gap they are as long before and after the jump as the time asked for lies behind its beginning and before its
    end; in an overlap they are the first and the second time that the clock shows it.
    """

    kind: Literal["plain", "gap", "overlap"]
    asked: datetime  # without a zone
    zone: Zone
    moments: tuple[Moment, ...]


@lru_cache(maxsize=1)
def _known() -> Mapping[str, str]:
    """Every zone there is, by its name in small letters."""
    return {name.casefold(): name for name in available_timezones() if name not in _NO_ZONES}


@lru_cache(maxsize=1)
def pick_list() -> Sequence[str]:
    """The names to choose from, in order: `UTC`, then every place. Whatever else is a zone is accepted too."""
    places = [name for name in _known().values() if name.partition("/")[0] in _AREAS]
    return ("UTC", *sorted(places))


def zone_named(text: str, *, field: str = "zone") -> Zone:
    """The zone of this name, however it is capitalised, or of a fixed offset such as +10:00; Invalid for none."""
    text = text.strip()
    if not text:
        raise Invalid(field, "Choose a time zone, such as Europe/Paris, UTC or +10:00.")
    if len(text) <= LONGEST_ZONE:
        if (found := _OFFSET.fullmatch(text)) is not None:
            return _fixed(found, field)
        written = re.sub(r"\s+", "_", text)
        name = "UTC" if written.casefold() in ("z", "utc", "gmt") else _known().get(written.casefold())
        if name is not None:
            return Zone(name, UTC if name == "UTC" else ZoneInfo(name))
        if near := _near(written):
            raise Invalid(field, f"There is no time zone of this name. Did you mean {near}?")
    raise Invalid(
        field,
        "There is no time zone of this name. Choose one from the list, or write an offset such as +10:00.",
    )


def zone_stored(name: str) -> Zone:
    """The zone that was stored under this name; UTC where this machine does not know it any more."""
    try:
        return zone_named(name)
    except Invalid:
        return Zone("UTC", UTC)


def _fixed(found: re.Match[str], field: str) -> Zone:
    sign, hours, minutes = found.groups(default="00")
    offset = timedelta(hours=int(hours), minutes=int(minutes)) * (1 if sign == "+" else -1)
    if int(minutes) >= 60 or not _FURTHEST_WEST <= offset <= _FURTHEST_EAST:
        raise Invalid(field, "An offset lies between -12:00 and +14:00.")
    if not offset:
        return Zone("UTC", UTC)
    return Zone(f"{'-' if offset < timedelta() else '+'}{int(hours):02}:{int(minutes):02}", timezone(offset))


def _near(written: str) -> str:
    """Zones whose name, or the last part of it, is like this, as the end of a question."""
    by_place = {name.rpartition("/")[2].casefold(): name for name in reversed(pick_list())}
    by_name = {name.casefold(): name for name in pick_list()}
    wanted = written.casefold()
    close = get_close_matches(wanted, by_place, n=2, cutoff=0.75)
    names = [by_place[place] for place in close] or [
        by_name[name] for name in get_close_matches(wanted, by_name, n=2, cutoff=0.8)
    ]
    return " or ".join(names)


def local_given(day: str, clock: str) -> datetime:
    """The date and time that somebody typed (`2026-12-03`, `09:00`), without a zone; Invalid, with `date` or `time`."""
    return datetime.combine(_day(day.strip()), _clock(clock.strip(), day.strip()))


def _day(text: str) -> date:
    if not text:
        raise Invalid("date", "Choose a date.")
    found = _DATE.fullmatch(text)
    if found is None:
        raise Invalid("date", "Write the date as year, month and day, such as 2026-12-03.")
    try:
        return date(*(int(part) for part in found.groups()))
    except ValueError:
        raise Invalid("date", f"There is no {text} in the calendar; choose another day.") from None


def _clock(text: str, day: str) -> time:
    if not text:
        raise Invalid("time", "Choose a time of day.")
    found = _TIME.fullmatch(text)
    if found is None:
        raise Invalid("time", "Write the time as hours and minutes, such as 09:00 or 17:30.")
    hours, minutes = (int(part) for part in found.groups())
    if (hours, minutes) == (24, 0):
        raise Invalid("time", f"There is no 24:00: the end of {day} is 00:00 of the next day.")
    try:
        return time(hours, minutes)
    except ValueError:
        raise Invalid("time", f"There is no {text} on a clock; the last minute of a day is 23:59.") from None


def meaning(local: datetime, zone: Zone) -> Meaning:
    """What this date and time (without a zone) are in `zone`. Invalid before year 2 and after 9998, for want of UTC."""
    if not 2 <= local.year <= 9998:
        raise Invalid("date", "This date is out of reach; choose one within a year from now.")
    first, second = (local.replace(tzinfo=zone.clock, fold=fold).astimezone(UTC) for fold in (0, 1))
    # Read with the offset before a jump and with the one after it. What comes out later than it went in was skipped.
    if first == second:
        return Meaning("plain", local, zone, (moment_of(first, zone),))
    if first < second:
        return Meaning("overlap", local, zone, (moment_of(first, zone), moment_of(second, zone)))
    return Meaning("gap", local, zone, (moment_of(second, zone), moment_of(first, zone)))


def moment_of(at: datetime, zone: Zone) -> Moment:
    """The instant `at` (aware), as the clock in `zone` shows it."""
    there = at.astimezone(zone.clock)
    return Moment(
        at.astimezone(UTC), there.replace(tzinfo=None, fold=0), there.utcoffset() or timedelta(), zone
    )


def offset_name(offset: timedelta) -> str:
    """`UTC+11`, `UTC-3:30`, `UTC`."""
    if not offset:
        return "UTC"
    hours, seconds = divmod(round(abs(offset).total_seconds()), 3600)
    minutes, seconds = divmod(seconds, 60)
    rest = f":{minutes:02}" if minutes or seconds else ""
    return f"UTC{'-' if offset < timedelta() else '+'}{hours}{rest}{f':{seconds:02}' if seconds else ''}"


def instant_given(text: str, *, field: str = "at") -> datetime:
    """The instant (UTC) that a form sends back: `2026-12-02T22:00:00+00:00`, or with Z. Invalid for anything else."""
    try:
        at = datetime.fromisoformat(text) if len(text) <= 40 else None
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise Invalid(field, "Choose the time at which it goes out, and look at what that means first.")
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise Invalid(field, "This time is out of reach; choose one within a year from now.") from None


def why_not_at(at: datetime, *, now: datetime, hold_s: int, send_by: datetime | None) -> str:
    """Why something cannot be approved to go out at this instant; empty where it can. All are aware."""
    if at <= now:
        return "This time has passed. Choose a later one, or approve it now."
    if at - now > FURTHEST:
        return "This is more than a year ahead. Choose a time within a year."
    if send_by is not None and at > send_by:
        return (
            f"This is after {_utc(send_by)}, by which it has to be sent, as whoever proposed it said."
            " Choose an earlier time."
        )
    if at < now + timedelta(seconds=hold_s):
        return (
            f"Every approval is held for {hold_s:,} seconds, so that it can be taken back, and this is sooner."
            " Choose a later time, or approve it now: then it goes out when the hold is over."
        )
    return ""


def _utc(at: datetime) -> str:
    there = at.astimezone(UTC)
    return f"{there.day} {there:%B %Y %H:%M} UTC"


def written(at: datetime, zone: Zone) -> dict[str, str]:
    """What the log keeps of an instant that was chosen: `at` in UTC, the `zone`, and `local`, as its clock has it."""
    moment = moment_of(at, zone)
    return {
        "at": moment.at.isoformat(),
        "zone": zone.name,
        "local": f"{moment.local:%Y-%m-%d %H:%M} ({moment.offset_name})",
    }
