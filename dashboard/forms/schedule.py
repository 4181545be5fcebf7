"""The time at which something that is approved goes out, as somebody types it, and as the form sends it back.

What is typed is only ever read to be explained; a decision carries the instant that was explained.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from django.http import HttpRequest, HttpResponse, QueryDict

from approvals.exceptions import Invalid
from approvals.rules.zones import Meaning, Zone, instant_given, local_given, meaning, moment_of, zone_named

COOKIE = "zone"  # the zone that somebody chose last in this browser
_REMEMBERED_S = 365 * 24 * 3600
_LONGEST = 100  # characters of a field that are given back


@dataclass(frozen=True, slots=True)
class Asked:
    """A time as it was typed and what it means, or which field is `wrong_at` and why (`error`)."""

    date: str = ""
    time: str = ""
    zone: str = ""
    meaning: Meaning | None = None
    wrong_at: str = ""
    error: str = ""

    def error_at(self, field: str) -> str:
        """The error, if it is about this field."""
        return self.error if self.wrong_at == field else ""


def read(data: QueryDict | Mapping[str, str]) -> Asked:
    """What the fields `date`, `time` and `zone` say, whatever stands in them."""
    day, clock, zone = ((data.get(name) or "")[:_LONGEST] for name in ("date", "time", "zone"))
    try:
        meant = meaning(local_given(day, clock), zone_named(zone))
    except Invalid as invalid:
        return Asked(day, clock, zone, wrong_at=invalid.field or "", error=invalid.text)
    return Asked(day, clock, meant.zone.name, meant)


def chosen(data: QueryDict) -> tuple[datetime, Zone]:
    """The instant (UTC) that a decision carries in `at`, and the `zone` that it is told in; Invalid without them."""
    return instant_given(data.get("at") or ""), zone_named(data.get("zone") or "")


def asked_again(data: QueryDict, invalid: Invalid) -> Asked:
    """The fields as they were before a decision that was not accepted, with what was wrong."""
    wrong_at = invalid.field or ""
    try:
        at, zone = chosen(data)
    except Invalid:
        return replace(read(data), wrong_at=wrong_at, error=invalid.text)
    local = moment_of(at, zone).local
    return Asked(f"{local:%Y-%m-%d}", f"{local:%H:%M}", zone.name, wrong_at=wrong_at, error=invalid.text)


def remembered(request: HttpRequest) -> str:
    """The zone that was chosen last in this browser; empty where there is none."""
    try:
        return zone_named(request.COOKIES.get(COOKIE, "")).name
    except Invalid:
        return ""


def remember(response: HttpResponse, zone: Zone, *, secure: bool) -> None:
    """Keep the zone for the next time."""
    response.set_cookie(
        COOKIE, zone.name, max_age=_REMEMBERED_S, secure=secure, httponly=True, samesite="Lax"
    )
