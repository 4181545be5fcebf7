"""The form that sends a list, and which of its rows an address asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict

from approvals.rules.csv_rows import LONGEST_NAME
from approvals.selectors.datasets import STATES, Wanted
from dashboard.forms import keys
from dashboard.forms.listed import ListForm, choice, words

# latin-1 and cp1252 have to be said; the others are found out.
ENCODINGS = {
    "": "UTF-8 or UTF-16: found out",
    "cp1252": "Windows (cp1252), as older Excel saves CSV in Western Europe",
    "latin-1": "ISO 8859-1 (latin-1)",
}


class UploadForm(forms.Form):
    """A list of recipients."""

    file = forms.FileField(
        label="CSV file",
        widget=forms.FileInput(attrs={"accept": ".csv,.txt,.tsv,text/csv"}),
        help_text="Its first row names the columns: one with the addresses, the others are what {{ name }} stands for.",
        error_messages={
            "required": "Choose a file.",
            "empty": "The file is empty.",
            "missing": "Choose a file.",
            "invalid": "Choose a file.",
        },
    )
    address_column = forms.CharField(
        label="Column with the addresses",
        required=False,
        max_length=LONGEST_NAME,
        help_text="Only where its name does not tell, as email or address do.",
    )
    encoding = forms.ChoiceField(label="Encoding", required=False, choices=[*ENCODINGS.items()])


class RowsForm(ListForm):
    """The fields of the address of a list."""

    state = choice("State", {"": "All rows", **{state: state for state in STATES}})
    q = words("Address")
    after = words("Place in the list")


@dataclass(frozen=True, slots=True)
class Asked:
    """Which rows, and a sentence on what of the address could not be read."""

    wanted: Wanted
    note: str


def read(data: QueryDict | Mapping[str, Any]) -> Asked:
    """What the address asks for."""
    form = RowsForm(data)
    values = form.asked()
    try:
        after = keys.read_number(values["after"]) if values["after"] else 0
    except ValueError:
        after = 0
    return Asked(Wanted(values["state"], values["q"], after), form.note())


def address(wanted: Wanted) -> str:
    """The query that asks for these rows."""
    fields = {"state": wanted.state, "q": wanted.text, "after": wanted.after or ""}
    return urlencode({name: value for name, value in fields.items() if value})
