"""What a lineage did: the facts that the verdict is made from, each run with its record and its calls."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from approvals.models import Payload, Run, ToolCall
from approvals.rules.digests import canonical, lineage_digest
from approvals.rules.verdict import CallFacts, RecordFacts, RunFacts, Verdict, verdict_of
from approvals.selectors.payloads import contents_of

SUMMARY_LENGTH = 300  # characters of a call's arguments in lists and refusals

_FACTS = """
    select r.id, rec.kind, rec.complete, rec.why,
      (select count(*) from approvals_event e where e.workspace_id = r.workspace_id and e.run_id = r.id and e.late),
      (select count(*) from approvals_event e where e.workspace_id = r.workspace_id and e.run_id = r.id
         and e.type <> 'heartbeat')
    from approvals_run r, lateral run_record(r.workspace_id, r.id) rec
    where r.lineage_id = %s
"""


def runs_of(lineage_id: UUID, *, without: UUID | None = None) -> Sequence[Run]:
    """The attempts of a lineage, oldest first."""
    runs = Run.objects.filter(lineage_id=lineage_id).order_by("created_at", "id")
    return list(runs.exclude(id=without) if without else runs)


def facts_of(lineage_id: UUID, *, without: UUID | None = None) -> tuple[RunFacts, ...]:
    """The facts of every attempt, oldest first; `without` leaves out the replay that a decision made itself."""
    runs = runs_of(lineage_id, without=without)
    with connection.cursor() as cursor:
        cursor.execute(_FACTS, [lineage_id])
        records = {row[0]: row[1:] for row in cursor.fetchall()}
    calls = _calls_of([run.id for run in runs])
    has_input = set(
        Payload.objects.filter(id__in=[run.input_payload_id for run in runs]).values_list("id", flat=True)
    )
    head = next((run.id for run in reversed(runs) if run.started_at), None)
    return tuple(
        RunFacts(
            id=str(run.id),
            external_id=run.external_id,
            status=run.status,
            started=run.started_at is not None,
            record=RecordFacts(*records[run.id][:3]),
            settled=run.settled_at is not None,
            late_events=records[run.id][3],
            has_input=run.input_payload_id in has_input,
            is_head=run.id == head,
            calls=tuple(calls.get(run.id, ())),
            events=records[run.id][4],
        )
        for run in runs
    )


def judged(run: Run, *, without: UUID | None = None) -> tuple[tuple[RunFacts, ...], Verdict, str]:
    """(facts of the lineage, verdict on this run, digest of what a decider is shown)."""
    facts = facts_of(run.lineage_id, without=without)
    return facts, verdict_of(facts, str(run.id)), lineage_digest(facts)


def _calls_of(run_ids: Sequence[UUID]) -> dict[UUID, list[CallFacts]]:
    rows = list(ToolCall.objects.filter(run_id__in=run_ids).order_by("run_id", "seq"))
    arguments = contents_of(row.args_payload_id for row in rows)
    calls: dict[UUID, list[CallFacts]] = {}
    for row in rows:
        calls.setdefault(row.run_id, []).append(
            CallFacts(
                call_id=row.call_id,
                name=row.name,
                state=row.state,
                args_summary=summary(_arguments(row, arguments)),
                provenance=row.provenance,
                run_id=str(row.run_id),
            )
        )
    return calls


def _arguments(call: ToolCall, contents: dict[UUID, Any]) -> Any:
    return (contents.get(call.args_payload_id) or {}).get("args") if call.args_payload_id else None


def summary(value: Any) -> str:
    """A JSON value in one short line."""
    text = "" if value is None else canonical(value)
    return text if len(text) <= SUMMARY_LENGTH else text[: SUMMARY_LENGTH - 1] + "…"
