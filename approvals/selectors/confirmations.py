"""What a held tool call asks for: the request that a runtime made before it runs the call."""

from collections.abc import Collection, Mapping
from uuid import UUID

from django.db import connection

from approvals.selectors.payloads import proven

# The newest request of each call: a runtime that was asked once more asks under a new id.
_REQUESTS = """
    select distinct on (c.call_id) c.call_id, e.payload_id, e.payload_hash
    from approvals_callevent c
    join approvals_event e on e.workspace_id = c.workspace_id and e.run_id = c.run_id and e.seq = c.seq
    where c.run_id = %s and e.run_id = %s and c.outcome = 'awaiting' and c.call_id = any(%s)
    order by c.call_id, c.seq desc
"""


def confirmation_of(run_id: UUID, call_id: str) -> dict[str, str] | None:
    """The request for one call: its `id` and `hint`; None where it was erased, altered, or holds no id."""
    return confirmations_of(run_id, [call_id]).get(call_id)


def confirmations_of(run_id: UUID, call_ids: Collection[str]) -> Mapping[str, dict[str, str]]:
    """The same for several calls of one run, by call id."""
    if not call_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_REQUESTS, [run_id, run_id, list(call_ids)])
        rows = cursor.fetchall()
    contents, _altered = proven({payload_id: hash for _, payload_id, hash in rows if payload_id})
    found = {}
    for call_id, payload_id, _ in rows:
        asked = (contents.get(payload_id) or {}).get("confirmation")
        if isinstance(asked, dict) and isinstance(asked.get("id"), str) and asked["id"]:
            hint = asked.get("hint")
            found[call_id] = {"id": asked["id"], "hint": hint if isinstance(hint, str) else ""}
    return found
