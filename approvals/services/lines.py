"""What we saw ourselves of a run, in its store or on its stream, written into its journal."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from approvals.db.binding import current_workspace
from approvals.models import Payload
from approvals.rules.observed import Line
from approvals.services import payloads

# The lineage's first run and then the run, as the journal's trigger takes them (sql/0003_journal), in one order for
# everybody who takes many.
_LOCK = """
    select r.id, r.max_seq from approvals_run r where r.id = any(%s) or r.id in
      (select own.lineage_id from approvals_run own where own.id = any(%s))
    order by (r.id <> r.lineage_id), r.id for no key update
"""

# One statement, so that the journal's triggers move each run once.
_INSERT = """
    insert into approvals_event (workspace_id, provenance, run_id, seq, type, at, call_id, name, outcome, is_error,
      origin, payload_id, payload_hash)
    select %s, 'observed', * from unnest(%s::uuid[], %s::integer[], %s::text[], %s::timestamptz[], %s::text[],
      %s::text[], %s::text[], %s::boolean[], %s::text[], %s::uuid[], %s::bytea[])
"""


def lock(run_ids: Collection[UUID]) -> dict[UUID, int]:
    """In the open transaction: lock these runs with the roots of their lineages; the last number of each's journal."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [list(run_ids), list(run_ids)])
        last = dict(cursor.fetchall())
    return {run_id: last[run_id] for run_id in run_ids}


def append(journals: Mapping[UUID, Sequence[Line]]) -> None:
    """In the open transaction: add these lines to the journals of these runs, after what is there."""
    journals = {run_id: lines for run_id, lines in journals.items() if lines}
    if not journals:
        return
    last = lock(journals)
    contents: list[Payload] = []
    rows: list[tuple[Any, ...]] = []
    for run_id, lines in journals.items():
        for seq, line in enumerate(lines, start=last[run_id] + 1):
            stored = None
            if line.content is not None:
                payload, stored = payloads.prepare(line.content)
                contents.append(payload)
            rows.append(
                (
                    *(run_id, seq, line.type, line.at, line.call_id, line.name, line.outcome, line.is_error),
                    *(line.origin, stored.id if stored else None, stored.hash if stored else None),
                )
            )
    payloads.store_all(contents, using="default")
    columns = [list(column) for column in zip(*rows, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, [current_workspace(), *columns])
