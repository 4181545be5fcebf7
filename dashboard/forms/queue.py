"""The queue's filter, as the address holds it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import ValidationError
from django.http import QueryDict

from approvals.selectors.queue import TABS, Position, Wanted
from dashboard.forms import keys
from dashboard.forms.listed import ListForm, choice, parse, words

TAB_NAMES = dict(zip(TABS, ("Needs a decision", "In progress", "History"), strict=True))
KIND_NAMES = {"run": "Runs", "campaign": "Campaigns"}
FILTER_NAMES = {"kind": "Kind", "agent": "Agent", "tool": "Tool", "subject": "Customer", "text": "Search"}
_IN_ADDRESS = {"text": "q"}  # where the field of an address has another name


@dataclass(frozen=True, slots=True)
class Asked:
    """What an address asks for. `note` says what of it could not be read and was left out."""

    wanted: Wanted
    after: Position | None = None
    made: datetime | None = None
    note: str = ""


class QueueForm(ListForm):
    """The fields of the filter, the place in the list, and when the asking page was made."""

    tab = choice("Tab", TAB_NAMES)
    kind = choice("Kind", KIND_NAMES)
    agent = words("Agent", strip=False)
    tool = words("Tool", strip=False)
    subject = words("Customer")
    q = words("Search")
    after = words("Place in the list")
    made = words("Time of the page")

    def clean_after(self) -> Position | None:
        """The place behind which the page starts."""
        text = self.cleaned_data["after"]
        if not text:
            return None
        try:
            due, since, item_id = keys.read_parts(text, 3)
            return Position(
                None if due == "-" else keys.read_moment(due), keys.read_moment(since), keys.read_id(item_id)
            )
        except ValueError as error:
            raise ValidationError("this is the first page instead") from error

    def clean_made(self) -> datetime | None:
        """When the page was made."""
        text = self.cleaned_data["made"]
        try:
            return keys.read_moment(text) if text else None
        except ValueError as error:
            raise ValidationError("it is no moment") from error


def read(data: QueryDict | Mapping[str, Any]) -> Asked:
    """What the address asks for, whatever stands in it."""
    form = QueueForm(data)
    values = form.asked()
    wanted = Wanted(
        tab=values["tab"] or TABS[0],
        kind=values["kind"],
        agent=values["agent"],
        tool=values["tool"],
        subject=values["subject"],
        text=values["q"],
    )
    return Asked(wanted, values["after"] or None, values["made"] or None, form.note())


def read_query(query: str) -> Asked:
    """What a whole query asks for, as it travels inside another address."""
    return read(parse(query))


def address(wanted: Wanted, *, after: Position | None = None, made: datetime | None = None) -> str:
    """The query of the address that asks for just this."""
    fields = {name: getattr(wanted, name) for name in ("tab", *FILTER_NAMES)}
    if fields["tab"] == TABS[0]:
        fields["tab"] = ""
    fields["after"] = keys.write(after.due, after.since, after.id) if after else ""
    fields["made"] = keys.write(made) if made else ""
    return urlencode({_IN_ADDRESS.get(name, name): value for name, value in fields.items() if value})


def filters(wanted: Wanted) -> dict[str, str]:
    """The filters that are on: name to value."""
    return {name: value for name in FILTER_NAMES if (value := getattr(wanted, name))}


def without(wanted: Wanted, *names: str) -> Wanted:
    """The same without these filters."""
    return replace(wanted, **dict.fromkeys(names, ""))
