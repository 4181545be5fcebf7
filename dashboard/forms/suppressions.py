"""The forms of the list of who is not to be written to."""

from dataclasses import dataclass
from datetime import datetime

from django import forms
from django.http import QueryDict
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from approvals.rules.addresses import MAX_ADDRESS
from approvals.rules.decisions import LONGEST_REASON
from approvals.services.suppressions import LONGEST_SCOPE
from dashboard.forms.listed import ListForm, words


class SuppressForm(forms.Form):
    """An address that is not to be written to."""

    address = forms.CharField(
        label="Address", max_length=MAX_ADDRESS, error_messages={"required": "This is missing."}
    )
    scope = forms.CharField(
        label="Agent",
        required=False,
        max_length=LONGEST_SCOPE,
        help_text="Only what this agent sends. Leave it empty for everything.",
    )
    reason = forms.CharField(
        label="Reason",
        required=False,
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="How you know, in at least 10 characters.",
    )


class SearchForm(ListForm):
    """The fields of the address."""

    q = words("Address", length=MAX_ADDRESS)


@dataclass(frozen=True, slots=True)
class Asked:
    """An address to look for, and before when the list goes on."""

    address: str
    before: datetime | None
    note: str


def read(data: QueryDict) -> Asked:
    """What the address asks for; a moment that is none is the beginning."""
    form = SearchForm(data)
    values = form.asked()
    try:
        before = parse_datetime(data.get("before", ""))
    except ValueError:
        before = None
    if before is not None and timezone.is_naive(before):
        before = None
    return Asked(values["q"], before, form.note())
