"""Who is not to be written to."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from approvals.models import Suppression

AT_A_TIME = 5_000  # keys of one query


class Listed(NamedTuple):
    """One entry of the list."""

    id: UUID
    key: str
    scope: str
    reason: str
    source: str
    at: datetime
    released_at: datetime | None


def suppressed_among(keys: Sequence[str], *, agent: str) -> frozenset[str]:
    """Those of these addresses, in their normal spelling, that get nothing from this agent."""
    found: set[str] = set()
    for start in range(0, len(keys), AT_A_TIME):
        some = Suppression.objects.filter(
            dedupe_key__in=keys[start : start + AT_A_TIME], scope__in=["", agent], released_at=None
        )
        found.update(some.values_list("dedupe_key", flat=True))
    return frozenset(found)


def listed(*, address: str = "", before: datetime | None = None, size: int = 50) -> tuple[list[Listed], bool]:
    """Entries, newest first, and whether there are more; those of one address where one is given."""
    entries = Suppression.objects.order_by("-at", "id")
    if address:
        entries = entries.filter(dedupe_key=address.strip().lower())
    if before is not None:
        entries = entries.filter(at__lt=before)
    found = [
        Listed(*row)
        for row in entries.values_list("id", "dedupe_key", "scope", "reason", "source", "at", "released_at")[
            : size + 1
        ]
    ]
    return found[:size], len(found) > size
