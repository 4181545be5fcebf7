"""Postgres backend: each transaction starts by naming its workspace, local to the transaction.

Session-level settings would leak to the next request through persistent connections, so nothing is ever set for
longer than a transaction. The execute wrapper is the first line (it refuses a tenant query without a workspace in
Python); row-level security in the database is the second.
"""

import re
from collections.abc import Callable
from typing import Any

from django.db.backends.postgresql import base

from approvals.db import binding
from approvals.db.binding import Binding, BindingError, NotBound

# Every table of the domain belongs to a workspace, but for people, process heartbeats and the database's place.
TENANT_TABLE = re.compile(r"\bapprovals_(?!user\b|beat\b|place\b)\w+", re.IGNORECASE)
BIND = (
    "select set_config('app.workspace_id', %(workspace)s, true), set_config('app.subject', %(subject)s, true)"
)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's backend plus the binding. `bound` is what the open transaction is bound to."""

    # The `migrate` command switches this off for the owner, whom no request ever reaches.
    guarded = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.bound: Binding | None = None
        self._bound_at: str | None = None  # the savepoint that bound it; None: the transaction itself
        # What approvals.db.prepared had this connection plan, by what name; `planned` counts names, none comes twice.
        self.plans: dict[object, bytes] = {}
        self.planned = 0
        self.execute_wrappers.append(self._refuse_unbound)

    def _refuse_unbound(
        self, execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]
    ) -> Any:
        if self.bound is None and self.guarded:
            # Besides text there are psycopg's own compositions.
            text = sql if isinstance(sql, str) else sql.as_string(self.connection)
            if TENANT_TABLE.search(text):
                raise NotBound(f"no workspace is bound to this transaction: {text[:80]}")
        return execute(sql, params, many, context)

    def close(self) -> None:
        """Close the connection: with it ends the transaction that was bound, also where it ended by being lost."""
        super().close()
        self.bound = self._bound_at = None
        self.plans = {}

    def _set_autocommit(self, autocommit: bool) -> None:
        super()._set_autocommit(autocommit)  # type: ignore[misc]
        self.bound = None
        if not autocommit:
            self._bind(at=None)

    def _savepoint(self, sid: str) -> None:
        super()._savepoint(sid)  # type: ignore[misc]
        if self.bound is None:
            self._bind(at=sid)
        elif binding.current() not in (self.bound, None):
            raise BindingError(f"a transaction for workspace {self.bound.workspace_id} is open")

    def _savepoint_commit(self, sid: str) -> None:
        super()._savepoint_commit(sid)  # type: ignore[misc]
        if self._bound_at == sid and self.bound is not None:
            self._execute_binding("", "")
            self.bound = self._bound_at = None

    def _savepoint_rollback(self, sid: str) -> None:
        super()._savepoint_rollback(sid)  # type: ignore[misc]
        if self._bound_at == sid:
            self.bound = self._bound_at = None

    def _bind(self, *, at: str | None) -> None:
        wanted = binding.current()
        if wanted is not None:
            self._execute_binding(str(wanted.workspace_id), wanted.subject or "")
        self.bound, self._bound_at = wanted, at

    def _execute_binding(self, workspace_id: str, subject: str) -> None:
        # Straight to psycopg: this is no query of the application, and must not be counted as one.
        with self.wrap_database_errors:
            self.connection.execute(BIND, {"workspace": workspace_id, "subject": subject})
