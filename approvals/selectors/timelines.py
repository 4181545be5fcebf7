"""A run's journal as a person reads it: every event that says something, with what it carried."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

AT_MOST = 400  # events besides calls, their results and the end; the newest count
CALLS = 2_000  # events of calls and ends
READ = 200_000  # characters: a longer payload is not opened for the page

_LINES = """
    with said as (
      select e.*, row_number() over (partition by e.type in ('tool_call', 'tool_result', 'ended')
                                     order by e.seq desc) as place
      from approvals_event e where e.run_id = %s and e.type <> 'heartbeat'
    )
    select e.seq, e.type, e.at, e.received_at, c.call_id, e.name, e.outcome, e.is_error, e.origin, e.provenance,
      e.late, e.payload_id, length(p.body), case when length(p.body) <= %s then p.body end
    from said e
    left join (select seq, call_id from approvals_callevent where run_id = %s) c on c.seq = e.seq
    left join approvals_payload p on p.id = e.payload_id
    where place <= case when e.type in ('tool_call', 'tool_result', 'ended') then %s else %s end
    order by e.seq
"""
_GAPS = """
    select before + 1, seq - 1 from (
      select e.seq, lag(e.seq, 1, 0) over (order by e.seq) as before from approvals_event e where e.run_id = %s
    ) numbered where seq > before + 1 order by 1 limit 100
"""


@dataclass(frozen=True, slots=True)
class Line:
    """One event. `content` is what it carried: None where there was nothing, it was erased, or it is too long."""

    seq: int
    type: str
    at: datetime
    received_at: datetime
    call_id: str
    name: str
    outcome: str
    is_error: bool
    origin: str
    provenance: str
    late: bool
    erased: bool = False
    length: int = 0  # of what was carried, in characters
    content: dict[str, Any] | None = None

    @property
    def too_long(self) -> bool:
        """Whether the content is there and not read."""
        return self.length > READ


@dataclass(frozen=True, slots=True)
class Timeline:
    """The lines by number, the gaps as (first, last) missing number, and how many events were left out.

    `calls_left_out` are those among them that made a call.
    """

    lines: tuple[Line, ...]
    gaps: Sequence[tuple[int, int]]
    left_out: int = 0
    calls_left_out: int = 0


def timeline_of(run_id: UUID) -> Timeline:
    """What a run's journal says, without its signs of life."""
    with connection.cursor() as cursor:
        cursor.execute(_LINES, [run_id, READ, run_id, CALLS, AT_MOST])
        lines = tuple(_line(row) for row in cursor.fetchall())
        cursor.execute(_GAPS, [run_id])
        gaps = [(first, last) for first, last in cursor.fetchall()]
        cursor.execute(
            "select count(*), count(*) filter (where type = 'tool_call') from approvals_event"
            " where run_id = %s and type <> 'heartbeat'",
            [run_id],
        )
        told, calls = cursor.fetchone()
    shown = sum(line.type == "tool_call" for line in lines)
    return Timeline(lines, gaps, told - len(lines), calls - shown)


def _line(row: tuple[Any, ...]) -> Line:
    *columns, payload_id, length, body = row
    seq, type, at, received_at, call_id, name, outcome, is_error, origin, provenance, late = columns
    return Line(
        seq=seq,
        type=type,
        at=at,
        received_at=received_at,
        call_id=call_id or "",
        name=name or "",
        outcome=outcome or "",
        is_error=is_error,
        origin=origin,
        provenance=provenance,
        late=late,
        erased=payload_id is not None and length is None,
        length=length or 0,
        content=json.loads(body) if body else None,
    )


@dataclass(frozen=True, slots=True)
class Given:
    """What a run was started with; `erased` when it is gone, `length` in characters."""

    value: Any = None
    erased: bool = False
    length: int = 0


def input_of(payload_id: UUID) -> Given:
    """The input of a run."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select length(body), case when length(body) <= %s then body end from approvals_payload where id = %s",
            [READ, payload_id],
        )
        row = cursor.fetchone()
    if row is None:
        return Given(erased=True)
    return Given(value=json.loads(row[1])["input"] if row[1] else None, length=row[0])
