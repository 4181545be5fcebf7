"""A short transaction that only reads, for what is read in many of them while somebody downloads."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import connection, transaction

from approvals.db.binding import bind


@contextmanager
def reading(workspace_id: UUID) -> Iterator[None]:
    """One such transaction of the workspace."""
    with bind(workspace_id), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("set transaction read only")
        yield
