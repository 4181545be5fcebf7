"""Whether the database stands where somebody last said that it is the real one."""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection


@dataclass(frozen=True, slots=True)
class Stand:
    """`known`: the place was ever written down. `moved`: the database is elsewhere now, so it is a copy.

    `unfinished`: somebody said that it is the real one, and not everything was held back yet.
    """

    known: bool
    moved: bool
    unfinished: bool = False
    restored_at: datetime | None = None


def stand() -> Stand:
    """Where the database stands now, compared with where it stood."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select (p.system, p.timeline, p.database, p.relation) <> (n.system, n.timeline, n.database, n.relation),"
            " p.restoring_since is not null, p.restored_at from approvals_place p, place_now() n"
        )
        row = cursor.fetchone()
    return Stand(True, *row) if row else Stand(known=False, moved=False)
