"""What the filters of every list have in common: what cannot be searched for is left out with a note, not refused."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import SuspiciousOperation
from django.http import QueryDict

LONGEST_QUERY = 4_000  # characters
NAME_LENGTH = 200  # characters of an agent, a tool, a customer, a search


def words(label: str, *, length: int = NAME_LENGTH, strip: bool = True) -> forms.CharField:
    """An optional line of text."""
    return forms.CharField(
        label=label,
        required=False,
        strip=strip,
        max_length=length,
        error_messages={"max_length": f"it is longer than {length} characters"},
    )


def choice(label: str, choices: Mapping[str, str]) -> forms.ChoiceField:
    """One of a few values, or nothing."""
    return forms.ChoiceField(
        label=label,
        required=False,
        choices=[*choices.items()],
        error_messages={"invalid_choice": "there is no such choice"},
    )


def day(label: str) -> forms.DateField:
    """A day as `2025-11-29`, or nothing."""
    return forms.DateField(
        label=label,
        required=False,
        input_formats=["%Y-%m-%d"],
        error_messages={"invalid": "it is not a day like 2025-11-29"},
    )


def parse(query: str) -> QueryDict:
    """A query that travels inside another address; an empty one for what cannot be one."""
    try:
        return QueryDict(query[:LONGEST_QUERY])
    except (ValueError, SuspiciousOperation):
        return QueryDict()


class ListForm(forms.Form):
    """A filter in an address. `asked` holds what could be read, `note` says what could not."""

    def asked(self) -> dict[str, Any]:
        """The values that are all right; a field that is not stands at its empty value."""
        self.full_clean()
        return {name: self.cleaned_data.get(name) or "" for name in self.fields}

    def note(self) -> str:
        """One sentence on what was left out; empty where nothing was."""
        parts = [
            f"{self.fields[name].label} ({str(errors[0]).rstrip('.').lower()})"
            for name, errors in self.errors.items()
            if name in self.fields
        ]
        return f"Left out, because it could not be read: {', '.join(parts)}." if parts else ""
