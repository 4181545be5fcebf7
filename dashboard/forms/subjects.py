"""Which customer, and how far into each of the three lists, as the address holds it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import ValidationError
from django.http import QueryDict

from approvals.exceptions import Invalid
from approvals.selectors.subjects import Place
from dashboard.forms import keys
from dashboard.forms.listed import ListForm, words

LONGEST_NAME = 500
_FROM_THE_BEGINNING = ValidationError("this is the beginning instead")


@dataclass(frozen=True, slots=True)
class Asked:
    """The customer and the places in their lists."""

    name: str
    runs: Place | None
    sent: Place | None
    before: int | None


class SubjectForm(ListForm):
    """The fields of the address."""

    name = words("Customer", length=LONGEST_NAME, strip=False)
    runs = words("Place in the runs")
    sent = words("Place in what was sent")
    before = words("Place in the decisions")

    def clean_runs(self) -> Place | None:
        """The place behind which the runs start."""
        return _place(self.cleaned_data["runs"])

    def clean_sent(self) -> Place | None:
        """The place behind which the deliveries start."""
        return _place(self.cleaned_data["sent"])

    def clean_before(self) -> int | None:
        """The number before which the decisions start."""
        text = self.cleaned_data["before"]
        try:
            return keys.read_number(text) if text else None
        except ValueError as error:
            raise _FROM_THE_BEGINNING from error


def read(data: QueryDict | Mapping[str, Any]) -> Asked:
    """What the address asks for; Invalid where it names nobody. A place that cannot be read is the beginning."""
    form = SubjectForm(data)
    values = form.asked()
    if not values["name"].strip():
        raise Invalid(
            "name",
            "This address names no customer that could be looked up. Open one from a run, or search the queue.",
            status=400,
        )
    return Asked(values["name"], values["runs"] or None, values["sent"] or None, values["before"] or None)


def address(*, runs: Place | None = None, sent: Place | None = None, before: int | None = None) -> str:
    """The query (without the name) that continues one of the lists."""
    fields = {
        "runs": keys.write(runs.at, runs.id) if runs else "",
        "sent": keys.write(sent.at, sent.id) if sent else "",
        "before": before or "",
    }
    return urlencode({name: value for name, value in fields.items() if value})


def _place(text: str) -> Place | None:
    if not text:
        return None
    try:
        at, row_id = keys.read_parts(text, 2)
        return Place(keys.read_moment(at), keys.read_id(row_id))
    except ValueError as error:
        raise _FROM_THE_BEGINNING from error
