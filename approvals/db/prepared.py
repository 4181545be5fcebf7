"""A statement that the server plans once for each connection: where planning would cost more than doing it."""

from collections.abc import Mapping
from typing import Any

import psycopg
from django.db import connection

from approvals.db.binding import NotBound


def rows(statement: str, values: Mapping[str, Any]) -> list[Any]:
    """Within a bound transaction: what the statement returns."""
    if getattr(connection, "bound", None) is None:  # this does not pass the backend's own check
        raise NotBound(f"no workspace is bound to this transaction: {statement[:80]}")
    with connection.wrap_database_errors:
        cursor = psycopg.Cursor(connection.connection)
        return cursor.execute(statement.encode(), values, prepare=True).fetchall()
