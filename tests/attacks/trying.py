"""An attack as Postgres answers it."""

from collections.abc import Iterable, Mapping
from typing import Any

import psycopg


def tried(
    connection: psycopg.Connection[Any],
    statements: Iterable[str],
    values: Mapping[str, Any],
    *,
    workspace: object,
    subject: str = "",
) -> str:
    """What Postgres says to the last statement, in a transaction that is bound to `workspace` and undone.

    The answer is "SQLSTATE message (constraint)", or "N rows" where it went through.
    """
    cursor = psycopg.ClientCursor(connection)
    try:
        with connection.transaction(force_rollback=True):
            if workspace:
                cursor.execute(
                    "select set_config('app.workspace_id', %s, true), set_config('app.subject', %s, true)",
                    [str(workspace), subject],
                )
            rows = -1
            for statement in statements:
                rows = cursor.execute(statement, values if "%(" in statement else None).rowcount
            cursor.execute("set constraints all immediate")
            return f"{rows} rows"
    except psycopg.Error as error:
        name = f" ({error.diag.constraint_name})" if error.diag.constraint_name else ""
        return f"{error.sqlstate} {error.diag.message_primary}{name}"
