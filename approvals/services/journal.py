"""What agents report: their runs and the events of each, written through the ingest connection alone.

Both are idempotent: the same report again changes nothing and is a success, another one under the same name or
number is a conflict. What a run becomes while its events come in is decided by triggers (sql/0003_journal).
"""

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID, uuid4

from django.db import IntegrityError, connections, transaction

from approvals.access.actors import TokenBearer
from approvals.access.runs import run_for_bearer, runs_of_bearer
from approvals.db.violations import violated
from approvals.exceptions import Conflict, NotAllowed
from approvals.models import Payload, Runtime
from approvals.rules.digests import canonical
from approvals.services import payloads
from approvals.services.secrets import keyed_digest

INGEST = "ingest"
_ATTEMPTS = 5  # for a write that somebody else's stood in the way of; the next look finds theirs
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """A run as its runtime reports it; `input` is any JSON value."""

    external_id: str
    agent: str
    session_id: str
    subject: str
    trigger: str
    input: Any


@dataclass(frozen=True, slots=True)
class Registered:
    """The run that stands for a report; `created` is false for a repetition."""

    id: UUID
    status: str
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event as its runtime reports it. `content` is what may have to be erased: a JSON object, or None."""

    seq: int
    type: str
    at: datetime
    call_id: str | None = None
    name: str | None = None
    outcome: str | None = None
    is_error: bool = False
    origin: str = "live"
    content: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Appended:
    """How many events were new, how many were there already, and the lowest number that is missing now."""

    accepted: int
    duplicates: int
    next_seq: int


def register_run(*, by: TokenBearer, run: NewRun) -> Registered:
    """Make a run known, once. Conflict for another run under the same external id, NotAllowed for another subject."""
    if by.subject not in (None, run.subject):
        raise NotAllowed(
            "This token speaks for another customer than the subject of this run.", field="subject"
        )
    digest = keyed_digest(canonical(["run", *astuple(run)]))

    def write() -> Registered:
        _refuse_where_read(by)
        known = runs_of_bearer(by, using=INGEST).filter(
            subject=run.subject, external_id=run.external_id, replay_of=None
        )
        if (same := known.first()) is None:
            return Registered(_insert_run(by, run, digest), "running", created=True)
        if same.body_digest != digest:
            raise Conflict(
                "There is another run with this external_id for this subject. Give every run an id of its own.",
                code="external_id_conflict",
                field="external_id",
                extra={"id": str(same.id)},
            )
        return Registered(same.id, same.status, created=False)

    return _written_once("run_external_id_once", write)


def _insert_run(by: TokenBearer, run: NewRun, digest: str) -> UUID:
    # Plain SQL, because ingest may write these columns and no others.
    run_id = uuid4()
    stored = payloads.store({"input": run.input}, using=INGEST)
    with connections[INGEST].cursor() as cursor:
        cursor.execute(
            "insert into approvals_run (id, workspace_id, runtime_id, external_id, agent, session_id, subject,"
            " trigger, input_payload_id, input_hash, body_digest, lineage_id)"
            " values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [
                *(
                    run_id,
                    by.workspace_id,
                    by.runtime_id,
                    run.external_id,
                    run.agent,
                    run.session_id,
                    run.subject,
                ),
                *(run.trigger, stored.id, stored.hash, digest, run_id),
            ],
        )
    return run_id


def _refuse_where_read(by: TokenBearer) -> None:
    """Conflict where the runtime's own store is read: a report could hide what that shows."""
    if Runtime.objects.using(INGEST).filter(id=by.runtime_id, kind="adk").exists():
        raise Conflict(
            "The runs of this runtime are read from its own store, so nothing is reported of them.",
            code="runtime_is_read",
        )


def append(*, by: TokenBearer, run_id: UUID, events: Sequence[NewEvent]) -> Appended:
    """Add events to a run's journal, all or none.

    NotFound, and Conflict for a number that holds something else or a runtime that is read.
    """
    unique = _without_repetitions(events)

    def write() -> Appended:
        run = run_for_bearer(by, run_id, using=INGEST)
        _refuse_where_read(by)
        with connections[INGEST].cursor() as cursor:
            # Reports on one run come one after the other; ingest may not lock the run's row.
            cursor.execute("select pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"journal {run.id}"])
        run.refresh_from_db(using=INGEST, fields=["max_seq"])
        # Most reports go on where the last one ended: then none of these numbers can be taken.
        known = _known(run.id, [event for event in unique if event.seq <= run.max_seq])
        if differing := [event.seq for event in unique if known.get(event.seq) is False]:
            raise _differs(differing, events)
        new = [event for event in unique if event.seq not in known]
        if new:
            _insert_events(by, run.id, new)
        run.refresh_from_db(using=INGEST, fields=["next_seq"])
        return Appended(len(new), len(events) - len(new), run.next_seq)

    return _written_once("event_seq_once", write)


def _without_repetitions(events: Sequence[NewEvent]) -> list[NewEvent]:
    """Each number once, lowest first; Conflict where one batch says two things under one number."""
    first: dict[int, NewEvent] = {}
    for event in events:
        other = first.setdefault(event.seq, event)
        if other is not event and (_shape(other), _body(other)) != (_shape(event), _body(event)):
            raise _differs([event.seq], events)
    return [first[seq] for seq in sorted(first)]


def _differs(seqs: list[int], events: Sequence[NewEvent]) -> Conflict:
    position = max(index for index, event in enumerate(events) if event.seq == seqs[0])
    return Conflict(
        f"Event {seqs[0]} of this run was already reported with other content, so none of these were stored.",
        code="event_conflict",
        field=f"events[{position}].seq",
        extra={"seqs": seqs},
    )


def _shape(event: NewEvent) -> tuple[Any, ...]:
    return (
        event.type, event.at, event.call_id, event.name, event.outcome, event.is_error, event.origin,
    )  # fmt: skip


def _body(event: NewEvent) -> str | None:
    return None if event.content is None else canonical(event.content)


# What is compared is what was sent: ingest may not read a payload, so Postgres says whether it is the same.
_KNOWN = """
    select e.seq, e.type, e.at, e.call_id, e.name, e.outcome, e.is_error, e.origin,
      payload_matches(e.workspace_id, e.run_id, e.seq, sent.body)
    from unnest(%s::integer[], %s::text[]) as sent (seq, body)
    join approvals_event e on e.run_id = %s and e.seq = sent.seq
"""


def _known(run_id: UUID, events: Sequence[NewEvent]) -> dict[int, bool]:
    """For each of these numbers that is taken: whether by just this event."""
    if not events:
        return {}
    sent = {event.seq: event for event in events}
    with connections[INGEST].cursor() as cursor:
        cursor.execute(_KNOWN, [list(sent), [_body(event) for event in sent.values()], run_id])
        return {row[0]: row[1:8] == _shape(sent[row[0]]) and bool(row[8]) for row in cursor.fetchall()}


# One statement, so that the journal's triggers move the run once.
_INSERT = """
    insert into approvals_event (workspace_id, run_id, seq, type, at, call_id, name, outcome, is_error, origin,
      payload_id, payload_hash)
    select %s, %s, * from unnest(%s::integer[], %s::text[], %s::timestamptz[], %s::text[], %s::text[], %s::text[],
      %s::boolean[], %s::text[], %s::uuid[], %s::bytea[])
"""


def _insert_events(by: TokenBearer, run_id: UUID, events: Sequence[NewEvent]) -> None:
    contents: list[Payload] = []
    rows: list[tuple[Any, ...]] = []
    for event in events:
        stored = None
        if event.content is not None:
            payload, stored = payloads.prepare(event.content)
            contents.append(payload)
        rows.append(
            (event.seq, *_shape(event), stored.id if stored else None, stored.hash if stored else None)
        )
    payloads.store_all(contents, using=INGEST)
    columns = [list(column) for column in zip(*rows, strict=True)]
    with connections[INGEST].cursor() as cursor:
        cursor.execute(_INSERT, [by.workspace_id, run_id, *columns])


def _written_once(constraint: str, write: Callable[[], _T]) -> _T:
    """Do a write in a transaction; again, where somebody else stored the same key since it looked."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            with transaction.atomic(using=INGEST):
                return write()
        except IntegrityError as error:
            if violated(error) != constraint or attempt == _ATTEMPTS:
                raise
    raise AssertionError("the last attempt returns or raises")
