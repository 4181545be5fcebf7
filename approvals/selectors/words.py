"""Looking words up, through the narrow functions of sql/0009_search."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection


@dataclass(frozen=True, slots=True)
class Found:
    """The items, or entries of the log, in which the words occur. `whole` is false where there may be more of them."""

    ids: Sequence[UUID]
    whole: bool = True


def found_by(function: str, text: str, *, at_most: int) -> Found | None:
    """What `search_items` or `search_decisions` finds, at most so much; None where nothing is searched for."""
    if not text:
        return None
    with connection.cursor() as cursor:
        cursor.execute(f"select * from {function}(%s, %s)", [text, at_most + 1])  # noqa: S608 - our own words
        ids = [row[0] for row in cursor.fetchall()]
    known = [id for id in ids if id is not None]  # null says that there is more than was looked at
    return Found(known[:at_most], whole=len(known) == len(ids) <= at_most)
