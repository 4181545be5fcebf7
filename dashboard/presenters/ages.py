"""Moments and spans in words: relative for the eye, absolute with its zone for the record."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from dashboard.presenters.chips import Chip

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


@dataclass(frozen=True, slots=True)
class When:
    """A moment. Prints itself as `<time>`: relative, with the absolute time and zone in the title."""

    relative: str
    absolute: str
    iso: str
    time: str = ""

    def __str__(self) -> SafeString:
        # Numbers and our own words, none of which needs escaping; a list has one in every row.
        return mark_safe(f'<time datetime="{self.iso}" title="{self.absolute}">{self.relative}</time>')  # noqa: S308

    @property
    def clock(self) -> SafeString:
        """The time of day as `<time>`, where many moments of one day follow each other and seconds matter."""
        return format_html('<time datetime="{}" title="{}">{}</time>', self.iso, self.absolute, self.time)

    @property
    def full(self) -> SafeString:
        """The absolute time as `<time>`, for pages that are read later, printed, or have no pointer to
        hover with.
        """
        return format_html('<time datetime="{}">{}</time>', self.iso, self.absolute)


def when(at: datetime, now: datetime, zone: tzinfo = UTC) -> When:
    """The moment `at` as seen from `now` (both aware), absolute in `zone`."""
    local = at.astimezone(zone)
    iso = at.astimezone(UTC).isoformat(timespec="seconds")
    return When(_relative(at, now, local), absolute(at, zone), iso, f"{local:%H:%M:%S}")


def absolute(at: datetime, zone: tzinfo = UTC) -> str:
    """`29 Nov 2025, 17:25:03 UTC`."""
    local = at.astimezone(zone)
    return f"{_date(local)}, {local:%H:%M:%S} {local.tzname()}"


def span(seconds: float) -> str:
    """A length of time in at most two units: `8 s`, `4 min 12 s`, `2 h 5 min`, `3 days`. Never negative."""
    left = max(0, round(seconds))
    if left < _MINUTE:
        return f"{left} s"
    if left < _HOUR:
        return _two(left, _MINUTE, "min", 1, "s")
    if left < 2 * _DAY:
        return _two(left, _HOUR, "h", _MINUTE, "min")
    return f"{left // _DAY} days"


def ahead(seconds: float) -> str:
    """How far away something is, in words and never too long: `in 2 days 18 hours`, `in 5 minutes`, `in 40 seconds`.

    What has passed reads `42 minutes ago`.
    """
    left = abs(int(seconds))
    sizes = ((_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute"), (1, "second"))
    at = next((place for place, (size, _) in enumerate(sizes) if left >= size), len(sizes) - 1)
    parts: list[str] = []
    for size, unit in sizes[at : at + 2] if _HOUR <= left < 10 * _DAY else sizes[at : at + 1]:
        number, left = divmod(left, size)
        if number or not parts:
            parts.append(f"{number} {unit}{'' if number == 1 else 's'}")
    said = " ".join(parts)
    return f"{said} ago" if seconds < 0 else f"in {said}"


def due(at: datetime, now: datetime, zone: tzinfo = UTC) -> Chip:
    """A send-by moment as a chip: red once it has passed, amber within the hour."""
    left = (at - now).total_seconds()
    said = absolute(at, zone)
    if left < 0:
        return Chip(f"send-by passed {_short(-left)} ago", "danger", said)
    return Chip(f"send by: in {_short(left)}", "warn" if left < _HOUR else "quiet", said)


def _relative(at: datetime, now: datetime, local: datetime) -> str:
    gone = (now - at).total_seconds()
    if abs(gone) < 5:
        return "just now"
    if abs(gone) >= 30 * _DAY:
        return _date(local)
    return f"{_short(gone)} ago" if gone > 0 else f"in {_short(-gone)}"


def _short(seconds: float) -> str:
    """One unit is enough at a glance."""
    for size, unit in ((_DAY, "day"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= size:
            number = int(seconds // size)
            return f"{number} {unit}{'s' if unit == 'day' and number > 1 else ''}"
    return f"{int(seconds)} s"


def _two(left: int, size: int, unit: str, small: int, small_unit: str) -> str:
    rest = left % size // small
    return f"{left // size} {unit}" + (f" {rest} {small_unit}" if rest else "")


def _date(local: datetime) -> str:
    return f"{local.day} {_MONTHS[local.month - 1]} {local.year}"
