"""What was read of a runtime's store becomes runs and lines of their journals.

One call takes a handful of sessions in one transaction. What is known already is passed over, so reading the same
again changes nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

from django.db import connection
from django.db.models.functions import Now

from approvals.db.binding import current_workspace
from approvals.models import Event, Job, Run, StoredRow, ToolCall
from approvals.rules import sessions
from approvals.rules.digests import canonical, sha256_hex
from approvals.rules.observed import Head, Line, Row, Session, SessionKey, end_of
from approvals.rules.sessions import ENDS, QUIET, Known, Seed, Sorted, ends_of
from approvals.selectors.stored import columns_of, rows_of
from approvals.services import lines, payloads
from approvals.services.observations import Watch
from approvals.services.secrets import keyed_digest

LONGEST_NAME = 1_000  # characters of an external id


@dataclass(frozen=True, slots=True)
class Read:
    """One session as it was read: the rows that were not known, and all that are there if that was looked up."""

    session: Session
    rows: Sequence[Row]
    present: Sequence[Head] | None = None


@dataclass(slots=True)
class _Batch:
    """What is written down of all sessions of one call."""

    seeds: list[tuple[SessionKey, Seed]] = field(default_factory=list)
    rows: list[tuple[int, Row, UUID | None]] = field(default_factory=list)  # with the session's own id here
    journals: dict[UUID, list[Line]] = field(default_factory=lambda: defaultdict(list))
    touched: dict[UUID, tuple[SessionKey, int]] = field(default_factory=dict)


def take(watch: Watch, reads: Sequence[Read], *, at: datetime) -> None:
    """In the open transaction, by whoever holds the watch: write down what these sessions show. `at` is now."""
    own, old = _kept(watch, reads)
    known = rows_of(old)
    ours = _ours(watch, old, reads)
    batch = _Batch()
    for read in reads:
        key = read.session.key
        pk = own[key]
        rows_known = known.get(pk, ())
        sorted_rows = sessions.sort_rows(rows_known, read.rows, **ours.get(key, {}))
        _note_differences(batch, pk, rows_known, read, at)
        _collect(batch, key, pk, sorted_rows)
        _mark(batch, rows_known, sorted_rows, at)
        _withdraw(batch, rows_known, sorted_rows, at)
    _add_runs(watch, batch)
    _add_rows(batch)
    _hide(watch, batch, at)
    _end(watch, batch)
    lines.append(batch.journals)


def _kept(watch: Watch, reads: Sequence[Read]) -> tuple[dict[SessionKey, int], list[int]]:
    """The sessions' own ids, and those of them that were known before."""
    keys = [read.session.key for read in reads]
    with connection.cursor() as cursor:
        cursor.execute(
            """
            insert into approvals_agentsession as known (workspace_id, runtime_id, app, "user", session, updated_at)
            select %s, %s, * from unnest(%s::text[], %s::text[], %s::text[], %s::timestamptz[])
            on conflict (workspace_id, runtime_id, app, "user", session)
              do update set updated_at = excluded.updated_at
            returning id, app, "user", session, xmax = 0
            """,
            [
                current_workspace(),
                watch.runtime_id,
                *columns_of(keys),
                [read.session.updated_at for read in reads],
            ],
        )
        rows = cursor.fetchall()
    return {SessionKey(*row[1:4]): row[0] for row in rows}, [row[0] for row in rows if not row[4]]


def _ours(watch: Watch, old: Collection[int], reads: Sequence[Read]) -> dict[SessionKey, dict[str, Any]]:
    """Of the sessions that replays of ours live in: what sort_rows has to know of these."""
    keys = [read.session.key for read in reads]
    made_for = {key: run_id for key in keys if (run_id := sessions.run_of_session(key.id))}
    own = Run.objects.filter(runtime_id=watch.runtime_id, replay_of__isnull=False, started_at__isnull=False)
    found: dict[SessionKey, dict[str, Any]] = {}
    there = set(own.filter(id__in=made_for.values()).values_list("id", "agent", "subject"))
    for key, run_id in made_for.items():
        if (run_id, key.app, key.user) in there:
            found[key] = {"whole": run_id, "begun": [run_id]}
    asked = {(key.app, key.user, key.id): key for key in keys}
    answered = StoredRow.objects.filter(session_id__in=old, answers=True, run__isnull=False).values("run_id")
    replays = own.filter(session_id__in=[key.id for key in keys]).exclude(id__in=answered)
    for run in replays.order_by("created_at", "id"):
        place = asked.get((run.agent, run.subject, run.session_id))
        if place is None or sessions.run_of_session(place.id) == run.id:
            continue
        rules = found.setdefault(place, {"begun": []})
        rules.setdefault("in_place", []).append(run.id)
        rules["begun"] += [run.id] if run.max_seq else []
    return found


def _note_differences(batch: _Batch, pk: int, known: Sequence[Known], read: Read, at: datetime) -> None:
    """Rows that were changed or deleted since they were read, and those that the store shows at last."""
    if read.present is None or not known:
        return
    edited, gone, _ = sessions.differences(known, read.present)
    digests = {head.event_id: head.digest for head in read.present}
    for row in edited:
        if row.run_id is not None:
            batch.journals[row.run_id].append(sessions.finding("edited", sessions.EDITED, at=at))
    for run_id in {row.run_id for row in gone if row.run_id is not None}:
        batch.journals[run_id].append(sessions.finding("deleted", sessions.DELETED, at=at))
    stored = StoredRow.objects.filter(session_id=pk)
    stored.filter(event_id__in=[row.event_id for row in gone]).update(deleted_at=Now())
    first_seen = [row for row in known if row.digest is None and row.event_id in digests]
    for row in (*edited, *first_seen):
        stored.filter(event_id=row.event_id).update(digest=digests[row.event_id])


def _collect(batch: _Batch, key: SessionKey, pk: int, found: Sorted) -> None:
    batch.seeds += [(key, seed) for seed in found.seeds]
    batch.rows += [(pk, row, run_id) for row, run_id in found.rows]
    for run_id, journal in found.journals.items():
        batch.journals[run_id].extend(journal)
    for run_id in found.touched:
        batch.touched[run_id] = (key, pk)


def _mark(batch: _Batch, known: Sequence[Known], found: Sorted, at: datetime) -> None:
    """A session with an event that was put there ready-made: none of its runs is known, whenever it began."""
    earlier = {row.run_id for row in known if row.run_id is not None}
    born = {seed.run_id for seed in found.seeds}
    restored = set()
    if earlier and (found.marked or born):
        tainted = Event.objects.filter(run_id__in=earlier, origin="restored")
        restored = set(tainted.values_list("run_id", flat=True))
    if found.marked or restored:
        for run_id in (earlier | born | found.touched) - restored:
            batch.journals[run_id].append(sessions.finding("restored", sessions.RESTORED, at=at))


def _withdraw(batch: _Batch, known: Sequence[Known], found: Sorted, at: datetime) -> None:
    """Where a session has moved on, nobody waits any more for what an earlier run asked to be confirmed."""
    if not found.seeds:
        return
    last = max(found.seeds, key=lambda seed: seed.at)
    earlier = {row.run_id for row in known if row.run_id is not None and row.at < last.at}
    waiting = ToolCall.objects.filter(run_id__in=earlier, state="awaiting") if earlier else ()
    for call in waiting:
        batch.journals[call.run_id].append(sessions.withdrawn(call.call_id, call.name, at=at))
    for seed in found.seeds:
        if seed is last:
            continue
        for call_id, name in sessions.awaiting_in(found.journals.get(seed.run_id, ())).items():
            batch.journals[seed.run_id].append(sessions.withdrawn(call_id, name, at=at))


def _add_runs(watch: Watch, batch: _Batch) -> None:
    """The runs that were not known, as if their runtime had reported them, oldest first."""
    if not batch.seeds:
        return
    rows, inputs = [], []
    for key, seed in sorted(batch.seeds, key=lambda one: one[1].at):
        # An invocation without a message has nothing that it could be started with again: its input is missing.
        payload_id, digest = uuid4(), b"\0" * 32
        if seed.input is not None:
            payload, stored = payloads.prepare({"input": {"message": seed.input}})
            inputs.append(payload)
            payload_id, digest = stored.id, stored.hash
        rows.append(
            (
                *(seed.run_id, external_id_of(key, seed.invocation_id), key.app, key.id, key.user),
                *(payload_id, digest, input_digest(seed.input)),
            )
        )
    payloads.store_all(inputs, using="default")
    columns = [list(column) for column in zip(*rows, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(
            "insert into approvals_run (workspace_id, runtime_id, trigger, id, external_id, agent, session_id, subject,"
            " input_payload_id, input_hash, body_digest, lineage_id)"
            " select %s, %s, 'message', *, n.id from (select * from unnest(%s::uuid[], %s::text[], %s::text[],"
            " %s::text[], %s::text[], %s::uuid[], %s::bytea[], %s::text[])"
            " as n (id, external_id, agent, session_id, subject, payload_id, hash, digest)) n",
            [current_workspace(), watch.runtime_id, *columns],
        )


def external_id_of(key: SessionKey, invocation_id: str) -> str:
    """How an observed run is called: app/user/session/invocation, each so that it can hold no slash of its own.

    One that no index could hold (ids in Chinese are three times as long as they look, and quoted nine times) ends in
    its own digest instead.
    """
    name = "/".join(quote(part, safe="@:+,; ") for part in (key.app, key.user, key.id, invocation_id))
    return name if len(name) <= LONGEST_NAME else f"{name[:900]}~{sha256_hex(name)}"


def input_digest(message: Mapping[str, object] | None) -> str:
    """What the same message has again, and nobody can guess a message from; empty without one."""
    return "" if message is None else keyed_digest(canonical(["message", message]))


def _add_rows(batch: _Batch) -> None:
    rows = [
        (
            *(pk, row.event_id, row.invocation_id, row.at, row.digest, run_id),
            *(ends_of(row), bool(row.answers)),
        )
        for pk, row, run_id in batch.rows
    ]
    if not rows:
        return
    columns = [list(column) for column in zip(*rows, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(
            "insert into approvals_storedrow (workspace_id, session_id, event_id, invocation_id, at, digest, run_id,"
            " ends, answers)"
            " select %s, * from unnest(%s::bigint[], %s::text[], %s::text[], %s::timestamptz[], %s::bytea[],"
            " %s::uuid[], %s::text[], %s::boolean[]) on conflict do nothing",
            [current_workspace(), *columns],
        )


def _hide(watch: Watch, batch: _Batch, at: datetime) -> None:
    """A new run of an application that may hide calls says so; it is never known to have called none."""
    for key, seed in batch.seeds:
        if why := sessions.hidden_by(watch.facts, key.app, declared=watch.hides_calls):
            batch.journals[seed.run_id].append(sessions.finding("hidden", why, at=at))


def _end(watch: Watch, batch: _Batch) -> None:
    """The end of each run whose rows make one; what a worker of ours is listening to, it ends itself."""
    histories = _histories(batch)
    for run_id, rows in histories.items():
        simple = watch.has_simple_end(batch.touched[run_id][0].app)
        if ended := end_of(sorted(rows, key=lambda row: (row.at, row.event_id)), root_is_llm=simple):
            batch.journals[run_id].append(ended)


def _histories(batch: _Batch) -> dict[UUID, list[Row]]:
    """All rows of each run that something was added to and that may still end."""
    born = {seed.run_id for _, seed in batch.seeds}
    old = set(batch.touched) - born
    if old:
        alive = Run.objects.filter(id__in=old, status__in=("running", "interrupted"))
        listened = Job.objects.filter(run_id__in=old, status="running", lease_until__isnull=False)
        old = set(alive.exclude(id__in=listened.values("run_id")).values_list("id", flat=True))
    histories: dict[UUID, list[Row]] = {run_id: [] for run_id in (*born, *old)}
    for _, row, run_id in batch.rows:
        if run_id in born:
            histories[run_id].append(row)
    for run_id, rows in _histories_of(old).items():
        # The journal's lines stand with the first row: which row a line came from makes no difference to the end.
        histories[run_id] = [replace(rows[0], lines=(*rows[0].lines, *batch.journals[run_id])), *rows[1:]]
    return histories


def _histories_of(run_ids: Collection[UUID]) -> dict[UUID, list[Row]]:
    """The rows of runs that were known before, with what matters for their end: the calls, and how each row ends."""
    if not run_ids:
        return {}
    told: dict[UUID, list[Line]] = defaultdict(list)
    events = Event.objects.filter(run_id__in=run_ids, type__in=("tool_call", "tool_result")).order_by("seq")
    for event in events:
        told[event.run_id].append(
            Line(type=event.type, at=event.at, call_id=event.call_id, name=event.name, outcome=event.outcome)
        )
    found: dict[UUID, list[Row]] = defaultdict(list)
    for stored in StoredRow.objects.filter(run_id__in=run_ids).exclude(ends=QUIET).order_by("at", "event_id"):
        row = Row(
            event_id=stored.event_id,
            invocation_id=stored.invocation_id,
            at=stored.at,
            lines=(Line(type="message", at=stored.at),),
            ends=ENDS[stored.ends][0],
            proven=ENDS[stored.ends][1],
        )
        found[stored.run_id].append(row)  # type: ignore[index]
    for run_id, rows in found.items():
        rows[0] = replace(rows[0], lines=(*rows[0].lines, *told[run_id]))
    return found
