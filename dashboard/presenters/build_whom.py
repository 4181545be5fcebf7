"""Filling the part of a form that says which list a campaign goes to, and which rows of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from approvals.rules.fields import SHORT
from dashboard.forms.whom import Whom as Form
from dashboard.forms.whom import can_be_picked, datalist, filter_names
from dashboard.presenters.proposals import Suggested, Whom
from dashboard.presenters.text import count, listed

if TYPE_CHECKING:
    from approvals.models import Dataset

MOST_SUGGESTED = 50
ROWS_LOOKED_AT = 10_000
_NAMED = 5
_NOT_ALL = " These are of the first {rows} rows of the list; anything else can be typed."
_NOTHING = "No row that can be written to has anything in this column{where}."


def whom_of(form: Form, *, url: str, values: Sequence[str], alone: bool = False) -> Whom:
    """What is asked now. `values` are some that the chosen column has; `alone` is the fragment."""
    dataset, shown = form.list_chosen(), {field.name for field in form.asked_now()}
    suggestions: dict[str, Sequence[str]] = {}
    values = [value for value in values if can_be_picked(value, longest=SHORT)]
    if dataset is not None and "dataset" in form.fields and "column" in shown:
        # Elsewhere it is picked from them anyway.
        suggestions["column"] = [name for name in filter_names(dataset) if can_be_picked(name, longest=SHORT)]
    if "value" in shown and values:
        suggestions["value"] = values
    said = ""
    if dataset is not None and "value" in shown and form.column_chosen():
        said = _holds(values, dataset)
    form.suggest(suggestions, said=said)
    return Whom(
        url=url,
        fields=tuple(form.asked_now()),
        later=() if alone else tuple(form.asked_later()),
        suggested=tuple(
            Suggested(id=datalist(name), values=tuple(texts)) for name, texts in suggestions.items()
        ),
    )


def _holds(values: Sequence[str], dataset: Dataset) -> str:
    """What the column holds, in words."""
    long = dataset.stored > ROWS_LOOKED_AT
    if not values:
        where = f", as far as the first {count(ROWS_LOOKED_AT)} tell" if long else ""
        return _NOTHING.format(where=where)
    more = len(values) > _NAMED
    names = f"{', '.join(values[:_NAMED])} and others" if more else listed(list(values), _NAMED)
    return f"This column holds {names}.{_NOT_ALL.format(rows=count(ROWS_LOOKED_AT)) if long else ''}"
