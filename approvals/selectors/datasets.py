"""Imported audiences: how far each is, what its rows are, and finding one of them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import Q

from approvals.models import Dataset, DatasetRow

STATES = ("addressable", "duplicate", "suppressed", "refused")
_LAST = "\U0010ffff"  # sorts behind whatever follows a beginning


@dataclass(frozen=True, slots=True)
class Wanted:
    """Rows of a dataset: of one state (empty: all), whose address begins like this, behind a position."""

    state: str = ""
    text: str = ""
    after: int = 0


class RowFound(NamedTuple):
    """One row as it was given, as it is written to, and what it is."""

    position: int
    email: str
    address: str
    vars: dict[str, str]
    state: str
    reason: str
    formula: bool
    erased: bool = False


def status_of(dataset: Dataset) -> str:
    """waiting, importing, ready or failed."""
    if dataset.ended_at is not None:
        return "failed" if dataset.trouble else "ready"
    return "importing" if dataset.lease_until is not None else "waiting"


def told(dataset: Dataset) -> dict[str, Any]:
    """A dataset in the shape of the API."""
    return {
        "id": dataset.id,
        "name": dataset.name,
        "status": status_of(dataset),
        "trouble": dataset.trouble or dataset.notice,
        "sha256": dataset.sha256,
        "bytes": dataset.size,
        "encoding": dataset.encoding,
        "delimiter": dataset.delimiter,
        "columns": dataset.columns,
        "address_column": dataset.address_column,
        "created_at": dataset.created_at,
        "counts": {
            "total": dataset.total,
            **{state: getattr(dataset, state) for state in STATES},
            "formulas": dataset.formulas,
        },
    }


def newest(*, before: datetime | None = None, size: int) -> tuple[list[Dataset], bool]:
    """Datasets, newest first, and whether there are more."""
    rows = Dataset.objects.order_by("-created_at")
    found = list(rows.filter(created_at__lt=before)[: size + 1] if before else rows[: size + 1])
    return found[:size], len(found) > size


def ready(*, size: int) -> list[Dataset]:
    """The newest datasets that a campaign can use."""
    return list(
        Dataset.objects.filter(ended_at__isnull=False, trouble="", addressable__gt=0).order_by("-created_at")[
            :size
        ]
    )


def rows_of(dataset_id: UUID, wanted: Wanted, *, size: int) -> tuple[list[RowFound], bool]:
    """Rows in the order of the file, and whether there are more.

    An address is found by its beginning; a row that cannot be written to by any part of what was given.
    """
    rows = DatasetRow.objects.filter(dataset_id=dataset_id, position__gt=wanted.after)
    states: Sequence[str] = [wanted.state] if wanted.state else STATES
    found: list[RowFound] = []
    for state in states if wanted.text else [wanted.state]:
        of_state = rows.filter(state=state) if state else rows
        if wanted.text:
            of_state = of_state.filter(_begins(wanted.text, state))
        fields = ("position", "email", "address", "vars", "state", "reason", "formula", "erased_at")
        found += [
            RowFound(*row)._replace(vars=json.loads(row[3]), erased=row[7] is not None)
            for row in of_state.order_by("position").values_list(*fields)[: size + 1]
        ]
    found.sort()
    return found[:size], len(found) > size


_VALUES = """
    select value from (select r.vars::jsonb ->> %s as value from approvals_datasetrow r
                       where r.dataset_id = %s and r.position <= %s and r.state = 'addressable') first
    where value <> '' group by value order by count(*) desc, value limit %s
"""


def values_of(dataset_id: UUID, column: str, *, rows: int, at_most: int) -> list[str]:
    """What stands most often in a column among the first so many rows, of those that can be written to."""
    with connection.cursor() as cursor:
        cursor.execute(_VALUES, [column, dataset_id, rows + 1, at_most])  # the names of the columns are row 1
        return [value for (value,) in cursor.fetchall()]


def _begins(text: str, state: str) -> Q:
    text = text.lower()
    if state in ("addressable", "suppressed"):
        # An erased row has no key; saying so leads to the index.
        return Q(dedupe_key__gte=text, dedupe_key__lt=text + _LAST, erased_at=None)
    return Q(email__icontains=text) | Q(address__icontains=text)
