"""What the list of a campaign's recipients is asked for in its address."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import ValidationError
from django.http import QueryDict

from approvals.selectors.recipients import SHOWS
from dashboard.forms import keys
from dashboard.forms.listed import ListForm, choice, words

SHOW_NAMES: Mapping[str, str] = {
    "planned": "Planned",
    "attempting": "Being sent",
    "sent": "Sent",
    "failed": "Failed",
    "in_doubt": "In doubt",
    "skipped": "Skipped",
    "duplicate": "Duplicates",
    "suppressed": "Not to be written to",
    "refused": "Cannot be addressed",
    "already_sent": "Reached by an earlier version",
    "lacking": "Without a value for a merge field",
    "linked": "With a link among their values",
    "contacted": "Written to before, or waiting elsewhere",
}
_LONGEST_ADDRESS = 254


@dataclass(frozen=True, slots=True)
class Asked:
    """Whom to list (one of SHOWS, or empty), whose address holds `text`, behind which row; `note` as everywhere."""

    show: str = ""
    text: str = ""
    after: int = 0
    note: str = ""


class RecipientsForm(ListForm):
    """The fields of the address."""

    show = choice("Show", {name: SHOW_NAMES.get(name, name) for name in SHOWS})
    q = words("Address", length=_LONGEST_ADDRESS)
    after = words("Place in the list")

    def clean_after(self) -> int:
        """The row behind which the page starts."""
        text = self.cleaned_data["after"]
        try:
            return min(keys.read_number(text), 2**31 - 1) if text else 0
        except ValueError as error:
            raise ValidationError("this is the first page instead") from error


def read(data: QueryDict | Mapping[str, Any]) -> Asked:
    """What the address asks for, whatever stands in it."""
    form = RecipientsForm(data)
    values = form.asked()
    return Asked(values["show"], values["q"], values["after"] or 0, form.note())


def address(asked: Asked, **changes: str | int) -> str:
    """The query of the address that asks for this, with these changes."""
    wanted = replace(asked, **changes)  # type: ignore[arg-type]
    fields = {"show": wanted.show, "q": wanted.text, "after": wanted.after}
    return urlencode({name: value for name, value in fields.items() if value})
