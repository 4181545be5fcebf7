"""A replay that a worker hears of while it happens: its lease, its journal as it comes, and how it ends.

Each step is one short transaction that begins with the question whether the worker still has the job and the run still
runs. Who is told no leaves everything as it is and closes the stream: somebody else has decided.

The runtime's own store shows the same events. Whoever writes an event down first inserts its `StoredRow`; the other one
finds it there and adds no line. Both lock the session before they look and the runs after it, so neither misses what
the other one writes, and they never wait for each other in a circle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

from django.db import connection, transaction
from django.db.models.functions import Now

from approvals.db.binding import current_workspace
from approvals.models import AgentSession, Event, Observation, Run, Runtime
from approvals.rules.observed import Line, Row
from approvals.rules.sessions import ends_of, finding, hidden_by
from approvals.services import jobs, lineages, lines, runs
from approvals.services.handover import StreamOrder
from approvals.services.jobs import Claim

# A row is written down unless the store showed it before; a line that no row stands for always is.
Piece = Row | Line

OPENED = "The runtime took the replay and tells what the new run does."
_NEVER_LISTED = datetime(1970, 1, 1, tzinfo=UTC)  # of a session that was not seen in its store yet


@dataclass(frozen=True, slots=True)
class Listening:
    """A stream in this worker's hands: the job, the new run, and the session that the stream is of."""

    held: Claim
    run_id: UUID
    session: int  # the key of its AgentSession


def opened(*, held: Claim, order: StreamOrder, session_id: str) -> Listening | None:
    """The runtime took the turn, in this session; from here the new run's timers watch over it. None: lost.

    For the first session of the order, the journal begins with what the stream will not tell: what was answered from
    outside, and that there may be calls which nobody sees.
    """
    # In a transaction of its own: whoever waits here for somebody else's insert holds nothing that they could want.
    listening = Listening(held, order.run_id, _session(order, session_id))
    with transaction.atomic():
        _lock(listening)
        run = lineages.lock(Run.objects.get(id=order.run_id))
        if run.status != "running" or not jobs.opened(held, OPENED):
            return None
        runs.watch(run)
        if session_id == order.session_id:
            lines.append({run.id: _not_told_yet(run, _beginning(order, run.runtime))})
    return listening


@transaction.atomic
def _session(order: StreamOrder, session_id: str) -> int:
    key = {"app": order.app, "user": order.user, "session": session_id}
    runtime_id = Run.objects.values_list("runtime_id", flat=True).get(id=order.run_id)
    workspace_id = current_workspace()
    AgentSession.objects.bulk_create(
        [AgentSession(workspace_id=workspace_id, runtime_id=runtime_id, updated_at=_NEVER_LISTED, **key)],
        ignore_conflicts=True,
    )
    return AgentSession.objects.values_list("id", flat=True).get(runtime_id=runtime_id, **key)


def _beginning(order: StreamOrder, runtime: Runtime) -> list[Line]:
    now = datetime.now(UTC)
    first = [
        Line(
            type="tool_result",
            at=now,
            call_id=answer.call_id,
            name=answer.name,
            outcome="supplied",
            content={"result": answer.response},
        )
        for answer in order.supplied
    ]
    facts = Observation.objects.filter(runtime=runtime).values_list("facts", flat=True).first() or {}
    if why := hidden_by(facts, order.app, declared=runtime.hides_calls):
        first.append(finding("hidden", why, at=now))
    return first


def _not_told_yet(run: Run, first: Sequence[Line]) -> list[Line]:
    """Those of the first lines that the journal does not have: the store may have shown them a moment ago."""
    told = set(
        Event.objects.filter(run=run, type__in=["finding", "tool_result"]).values_list(
            "type", "call_id", "origin"
        )
    )
    return [line for line in first if (line.type, line.call_id, line.origin) not in told]


@transaction.atomic
def heard(*, listening: Listening, pieces: Sequence[Piece] = ()) -> bool:
    """Write down what came, and keep the lease. False, and nothing of it: the job was lost, or the run is over."""
    if pieces:
        _lock(listening)
        lines.lock([listening.run_id])
    if not _goes_on(listening) or not jobs.extend(listening.held):
        return False
    _write(listening, pieces)
    return True


def _lock(listening: Listening) -> None:
    """In the open transaction, before any run is locked: whoever reads the store waits, or is waited for."""
    AgentSession.objects.select_for_update(no_key=True).get(id=listening.session)


def _goes_on(listening: Listening) -> bool:
    return Run.objects.filter(id=listening.run_id, status="running").exists()


def _write(listening: Listening, pieces: Sequence[Piece]) -> None:
    """In the open transaction, under both locks: the lines of these pieces, in their order."""
    new = _store(listening, [piece for piece in pieces if isinstance(piece, Row) and piece.event_id])
    journal: list[Line] = []
    for piece in pieces:
        if isinstance(piece, Line):
            journal.append(piece)
        elif not piece.event_id or piece.event_id in new:
            new.discard(piece.event_id)  # told twice, it is one event all the same
            journal.extend(piece.lines)
    lines.append({listening.run_id: journal})


_STORE = """
    insert into approvals_storedrow (workspace_id, session_id, run_id, event_id, invocation_id, at, ends, answers)
    select %s, %s, %s, * from unnest(%s::text[], %s::text[], %s::timestamptz[], %s::text[], %s::boolean[])
    on conflict (workspace_id, session_id, event_id) do nothing returning event_id
"""


def _store(listening: Listening, rows: Sequence[Row]) -> set[str]:
    """The ids of the events among these that were not known here."""
    if not rows:
        return set()
    values = (
        (row.event_id, row.invocation_id, row.at, ends_of(row), bool(row.answers))
        for row in {row.event_id: row for row in rows}.values()
    )
    columns = [list(column) for column in zip(*values, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(_STORE, [current_workspace(), listening.session, listening.run_id, *columns])
        return {event_id for (event_id,) in cursor.fetchall()}


@transaction.atomic
def ended(
    *,
    listening: Listening,
    pieces: Sequence[Piece],
    outcome: Literal["completed", "failed"],
    sentence: str,
    error: Mapping[str, Any] | None = None,
) -> bool:
    """The new run came to its end, and with it the job. False, and nothing of it, as in `heard`.

    `sentence` is what came of the job; `error` is why the run failed: a JSON object with a message.
    """
    end = Line(
        type="ended", at=datetime.now(UTC), outcome=outcome, content={"error": dict(error)} if error else None
    )
    if not _last_words(listening, [*pieces, end]):
        return False
    return jobs.finish(listening.held, "done", sentence)


@transaction.atomic
def broken(*, listening: Listening, pieces: Sequence[Piece], sentence: str) -> bool:
    """The stream broke off: the new run is interrupted, and the job failed with the sentence. False as in `heard`."""
    if not _last_words(listening, pieces):
        return False
    Run.objects.filter(id=listening.run_id).update(
        status="interrupted",
        interrupted_at=Now(),
        interrupted_why="broken",
        silent_after=None,
        overlong_after=None,
    )
    return jobs.finish(listening.held, "failed", sentence)


def _last_words(listening: Listening, pieces: Sequence[Piece]) -> bool:
    _lock(listening)
    run = lineages.lock(Run.objects.get(id=listening.run_id))
    if run.status != "running" or not jobs.is_ours(listening.held):
        return False
    _write(listening, pieces)
    return True
