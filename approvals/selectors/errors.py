"""What failed runs said at their end."""

import json
from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db import connection

from approvals.rules.digests import canonical
from approvals.rules.failures import Error

READ = 200_000  # characters: a longer payload is not opened

_ENDS = """
    select distinct on (e.run_id) e.run_id, p.body from approvals_event e
    join approvals_payload p on p.workspace_id = e.workspace_id and p.id = e.payload_id
    where e.run_id = any(%s) and e.type = 'ended' and e.outcome = 'failed' and length(p.body) <= %s
    order by e.run_id, e.seq
"""


def errors_of(run_ids: Collection[UUID]) -> dict[UUID, Error]:
    """The error of each of these runs that failed with one."""
    if not run_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_ENDS, [list(run_ids), READ])
        found = {run_id: error_in(json.loads(body)) for run_id, body in cursor.fetchall()}
    return {run_id: error for run_id, error in found.items() if error is not None}


def error_in(content: Any) -> Error | None:
    """The error that the content of an end carries; None where it carries none."""
    error = content.get("error") if isinstance(content, dict) else None
    if error is None:
        return None
    if not isinstance(error, dict):
        return Error(None, error if isinstance(error, str) else canonical(error))
    code, message = error.get("code"), error.get("message")
    return Error(
        code=None if code is None else code if isinstance(code, str) else canonical(code),
        message=message if isinstance(message, str) else canonical(error),
        completed=_names(error.get("completed")),
        open=_names(error.get("open")),
    )


def _names(calls: Any) -> tuple[str, ...] | None:
    """The names of tools, which may stand alone or within what else is known of a call."""
    if not isinstance(calls, list):
        return None
    named = (call.get("name") if isinstance(call, dict) else call for call in calls)
    return tuple(name if isinstance(name, str) and name else "a tool" for name in named)
