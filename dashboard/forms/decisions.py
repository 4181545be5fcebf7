"""The decision log's filter, as the address holds it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import ValidationError
from django.http import QueryDict

from approvals.exceptions import Invalid
from approvals.selectors.decisions import Wanted
from dashboard.forms import keys
from dashboard.forms.listed import ListForm, choice, day, parse, words

FILTER_NAMES = {
    "person": "Person",
    "kind": "Decision",
    "agent": "Agent",
    "since": "From",
    "until": "Until",
    "recipient": "Recipient",
    "text": "Words",
}
EXPORT_FORMATS = {"": "JSON Lines", "csv": "CSV"}
SHOW_NAMES = {"": "Decisions", "everything": "Everything"}
_IN_ADDRESS = {"since": "from", "text": "q"}  # where the field of an address has another name
_LONGEST_ADDRESS = 254


@dataclass(frozen=True, slots=True)
class Asked:
    """What an address asks for. `note` says what of it could not be used."""

    wanted: Wanted
    before: int | None = None
    note: str = ""


class DecisionsForm(ListForm):
    """The fields of the filter, and the place in the log."""

    person = words("Person")
    kind = words("Decision")
    agent = words("Agent", strip=False)
    until = day("Until")
    recipient = words("Recipient", length=_LONGEST_ADDRESS)
    q = words("Words")
    show = choice("Show", SHOW_NAMES)
    before = words("Place in the log")

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self.fields["from"] = day("From")

    def clean_before(self) -> int | None:
        """The number before which the page starts."""
        text = self.cleaned_data["before"]
        try:
            return keys.read_number(text) if text else None
        except ValueError as error:
            raise ValidationError("this is the first page instead") from error


def read(data: QueryDict | Mapping[str, Any]) -> Asked:
    """What the address asks for, whatever stands in it."""
    form = DecisionsForm(data)
    values = form.asked()
    wanted = Wanted(
        person=values["person"],
        kind=values["kind"],
        agent=values["agent"],
        since=values["from"] or None,
        until=values["until"] or None,
        recipient=values["recipient"],
        text=values["q"],
        decisions_only=values["show"] != "everything",
    )
    note = form.note()
    if wanted.since and wanted.until and wanted.until < wanted.since:
        note = f"The period ends before it begins. {note}".strip()
    return Asked(wanted, values["before"] or None, note)


class ExportForm(DecisionsForm):
    """What of the log is to be exported, and in which form."""

    format = choice("Format", EXPORT_FORMATS)


def read_export(data: QueryDict | Mapping[str, Any]) -> tuple[Wanted, bool]:
    """(what is to be exported, whether as CSV); Invalid where anything could not be read.

    A page may leave a filter out and say so. A file that is kept for years may not.
    """
    asked = read(data)
    form = ExportForm(data)
    values = form.asked()
    if note := form.note() or asked.note:
        raise Invalid(None, f"Nothing was exported. {note}")
    if asked.wanted.text:  # a search brings a limited number of entries, and a file would look complete
        raise Invalid(None, "Nothing was exported. A search finds some entries only; use the other filters.")
    return asked.wanted, values["format"] == "csv"


def read_query(query: str) -> Asked:
    """What a whole query asks for, as it travels inside another address."""
    return read(parse(query))


def address(wanted: Wanted, *, before: int | None = None) -> str:
    """The query of the address that asks for just this."""
    fields: dict[str, Any] = {_IN_ADDRESS.get(name, name): getattr(wanted, name) for name in FILTER_NAMES}
    fields["show"] = "" if wanted.decisions_only else "everything"
    return urlencode({name: value for name, value in {**fields, "before": before}.items() if value})


def export_address(wanted: Wanted, *, as_csv: bool = False) -> str:
    """The query of the address that exports just this."""
    query = address(wanted)
    return "&".join(filter(None, [query, "format=csv" if as_csv else ""]))


def filters(wanted: Wanted) -> dict[str, str | date]:
    """The filters that are on: name to value."""
    return {name: value for name in FILTER_NAMES if (value := getattr(wanted, name))}


def without(wanted: Wanted, name: str) -> Wanted:
    """The same without this filter."""
    nothing: Any = None if name in ("since", "until") else ""
    return replace(wanted, **{name: nothing})
