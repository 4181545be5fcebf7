"""Who gets a campaign, asked one thing after the other: which of the fields are there yet, and what they suggest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.html import escape

from dashboard.presenters.text import plain

if TYPE_CHECKING:
    from approvals.models import Dataset

WHOM = ("who", "dataset", "column", "value")  # in the order in which they are asked


class Whom(forms.Form):
    """The part of a proposal that says which list it goes to, and which rows of it.

    Each field has a name of WHOM. What a browser without JavaScript shows is all of them.
    """

    def message_fields(self) -> list[forms.BoundField]:
        """All the others."""
        return [field for field in self.visible_fields() if field.name not in WHOM]

    def asked_now(self) -> list[forms.BoundField]:
        """Those that make sense after what is chosen so far, and what was filled in all the same, to be mended."""
        return [field for field in self._all() if self._is_asked(field.name) or _was_sent(field)]

    def asked_later(self) -> list[forms.BoundField]:
        """The rest of them."""
        now = {field.name for field in self.asked_now()}
        return [field for field in self._all() if field.name not in now]

    def list_chosen(self) -> Dataset | None:
        """The list whose rows are meant, if one is."""
        raise NotImplementedError

    def column_chosen(self) -> str:
        """The column to filter by, as the list calls it; empty for none that it has."""
        raise NotImplementedError

    def suggest(self, suggestions: Mapping[str, Sequence[str]], *, said: str) -> None:
        """Have fields, by their name, offer the options of the datalist that has the id of `datalist`.

        `said` is what the column holds, for whoever is to say a value of it: not every browser shows what it suggests.
        """
        for name in suggestions:
            self.fields[name].widget.attrs["list"] = datalist(name)
        if "value" in self.fields:
            self["value"].help_text = escape(said)  # help is printed as markup

    def chosen(self, name: str) -> str:
        """What a field says, whether or not it was sent."""
        return str(self[name].value() or "") if name in self.fields else ""

    def _all(self) -> list[forms.BoundField]:
        return [self[name] for name in WHOM if name in self.fields]

    def _is_asked(self, name: str) -> bool:
        who = self.chosen("who")
        some = who == "some" and self.list_chosen() is not None
        return {"who": True, "dataset": who in ("all", "some"), "column": some, "value": some}[name]


def datalist(name: str) -> str:
    """The id of what a field suggests."""
    return f"suggested-{name}"


def filter_names(dataset: Dataset) -> list[str]:
    """The columns of a list that rows can be picked by."""
    return [name for name in dataset.columns if name != dataset.address_column]


def can_be_picked(text: str, *, longest: int) -> bool:
    """Whether a field can bring this text back as it is, and whoever picks it sees all of it."""
    return bool(text) and len(text) <= longest and text == text.strip(" ") == plain(text)


def _was_sent(field: Any) -> bool:
    return bool(field.form.is_bound and (field.value() or field.errors))
