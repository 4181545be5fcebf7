"""What a lineage did: the facts that the verdict is made from, each run with its record and its calls."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from approvals.models import Run, ToolCall
from approvals.rules.digests import canonical, lineage_digest
from approvals.rules.verdict import CallFacts, RecordFacts, RunFacts, Verdict, verdict_of
from approvals.selectors.payloads import contents_of

SUMMARY_LENGTH = 300  # characters of a call's arguments in lists and refusals


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call with its arguments (a JSON value; None where they were erased)."""

    facts: CallFacts
    args: Any


@dataclass(frozen=True, slots=True)
class Lineage:
    """The attempts of one lineage, oldest first, with what each is known to have done."""

    attempts: tuple[Run, ...]
    facts: tuple[RunFacts, ...]
    calls: Mapping[UUID, Sequence[Call]]


def facts_of(lineage_id: UUID, *, without: UUID | None = None) -> tuple[RunFacts, ...]:
    """The facts of every attempt, oldest first; `without` leaves out the replay that a decision made itself."""
    return lineages_of([lineage_id], without=without)[lineage_id].facts


def judged(run: Run, *, without: UUID | None = None) -> tuple[tuple[RunFacts, ...], Verdict, str]:
    """(facts of the lineage, verdict on this run, digest of what a decider is shown)."""
    facts = facts_of(run.lineage_id, without=without)
    return facts, verdict_of(facts, str(run.id)), lineage_digest(facts)


def summary(value: Any) -> str:
    """A JSON value in one short line."""
    text = "" if value is None else canonical(value)
    return text if len(text) <= SUMMARY_LENGTH else text[: SUMMARY_LENGTH - 1] + "…"


def lineages_of(ids: Iterable[UUID], *, without: UUID | None = None) -> dict[UUID, Lineage]:
    """Many lineages at once, in as many queries as one; `without` leaves out one attempt."""
    ids = list(ids)
    attempts: dict[UUID, list[Run]] = defaultdict(list)
    found = Run.objects.filter(lineage_id__in=ids).order_by("created_at", "id")
    runs = list(found.exclude(id=without) if without else found)
    for run in runs:
        attempts[run.lineage_id].append(run)
    records = _records(ids, without)
    calls = _calls([run.id for run in runs])
    kept = _kept_inputs(ids)
    return {
        lineage_id: Lineage(tuple(members), _facts(members, records, calls, kept), calls)
        for lineage_id, members in attempts.items()
    }


def _facts(
    attempts: Sequence[Run],
    records: Mapping[UUID, "_Record"],
    calls: Mapping[UUID, Sequence[Call]],
    kept: Collection[UUID],
) -> tuple[RunFacts, ...]:
    head = next((run.id for run in reversed(attempts) if run.started_at), None)
    return tuple(
        RunFacts(
            id=str(run.id),
            external_id=run.external_id,
            status=run.status,
            started=run.started_at is not None,
            record=records[run.id].facts,
            settled=run.settled_at is not None,
            late_events=records[run.id].late_events,
            has_input=run.id in kept,
            is_head=run.id == head,
            calls=tuple(call.facts for call in calls.get(run.id, ())),
            events=records[run.id].events,
            restored=records[run.id].restored,
        )
        for run in attempts
    )


@dataclass(frozen=True, slots=True)
class _Record:
    facts: RecordFacts
    late_events: int
    events: int
    restored: bool


_RECORDS = """
    select r.id, rec.kind, rec.complete, rec.why,
      (select count(*) from approvals_event e where e.workspace_id = r.workspace_id and e.run_id = r.id and e.late),
      (select count(*) from approvals_event e where e.workspace_id = r.workspace_id and e.run_id = r.id
         and e.type <> 'heartbeat'),
      exists (select from approvals_place p where r.created_at < p.restored_at
        and not exists (select from approvals_run later where later.workspace_id = r.workspace_id
          and later.lineage_id = r.lineage_id and later.created_at > p.restored_at and later.id is distinct from %s)
        and not exists (select from approvals_decision d where d.workspace_id = r.workspace_id
          and d.item_id = r.lineage_id and d.kind = 'resume_replay' and d.at > p.restored_at))
    from approvals_run r, lateral run_record(r.workspace_id, r.id) rec
    where r.lineage_id = any(%s)
"""


def _records(lineage_ids: list[UUID], without: UUID | None) -> dict[UUID, _Record]:
    with connection.cursor() as cursor:
        cursor.execute(_RECORDS, [without, lineage_ids])
        return {row[0]: _Record(RecordFacts(*row[1:4]), *row[4:]) for row in cursor.fetchall()}


# There, and what it was when the run was made: nothing else may be started again in its name.
_KEPT_INPUTS = """
    select r.id from approvals_run r
    join approvals_payload p on p.workspace_id = r.workspace_id and p.id = r.input_payload_id
    where r.lineage_id = any(%s) and sha256(p.salt || convert_to(p.body, 'UTF8')) = r.input_hash
"""


def _kept_inputs(lineage_ids: list[UUID]) -> set[UUID]:
    """The runs that still have their input."""
    with connection.cursor() as cursor:
        cursor.execute(_KEPT_INPUTS, [lineage_ids])
        return {row[0] for row in cursor.fetchall()}


def _calls(run_ids: Sequence[UUID]) -> dict[UUID, list[Call]]:
    rows = list(ToolCall.objects.filter(run_id__in=run_ids).order_by("run_id", "seq"))
    contents = contents_of(row.args_payload_id for row in rows)
    calls: dict[UUID, list[Call]] = defaultdict(list)
    for row in rows:
        args = (contents.get(row.args_payload_id) or {}).get("args") if row.args_payload_id else None
        facts = CallFacts(
            call_id=row.call_id,
            name=row.name,
            state=row.state,
            args_summary=summary(args),
            provenance=row.provenance,
            run_id=str(row.run_id),
        )
        calls[row.run_id].append(Call(facts, args))
    return dict(calls)
