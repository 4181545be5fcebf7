"""Filling the part of a form that says which list a campaign goes to, and which rows of it."""

from collections.abc import Sequence

from approvals.rules.fields import SHORT
from dashboard.forms.whom import Whom as Form
from dashboard.forms.whom import can_be_picked, datalist, filter_names
from dashboard.presenters.proposals import Suggested, Whom
from dashboard.presenters.text import count

MOST_SUGGESTED = 50
ROWS_LOOKED_AT = 10_000
_NOT_ALL = "Suggested is what stands in the first {rows} rows of the list; anything else can be typed."


def whom_of(form: Form, *, url: str, values: Sequence[str], alone: bool = False) -> Whom:
    """What is asked now. `values` are some that the chosen column has; `alone` is the fragment."""
    dataset, shown = form.list_chosen(), {field.name for field in form.asked_now()}
    suggestions: dict[str, Sequence[str]] = {}
    if dataset is not None and "dataset" in form.fields and "column" in shown:
        suggestions["column"] = filter_names(dataset)  # elsewhere it is picked from them anyway
    if "value" in shown and values:
        suggestions["value"] = values
    form.suggest(suggestions)
    long = dataset is not None and dataset.stored > ROWS_LOOKED_AT
    return Whom(
        url=url,
        fields=tuple(form.asked_now()),
        later=() if alone else tuple(form.asked_later()),
        suggested=tuple(
            Suggested(id=datalist(name), values=tuple(v for v in texts if can_be_picked(v, longest=SHORT)))
            for name, texts in suggestions.items()
        ),
        note=_NOT_ALL.format(rows=count(ROWS_LOOKED_AT)) if "value" in suggestions and long else "",
    )
