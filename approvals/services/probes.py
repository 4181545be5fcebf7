"""Trying the guards on rows that are never committed: a workspace of its own, rolled back whatever happens.

A catalog says what is there, not what it does: a function whose owner no policy names would see no rows, and settle
a false "none" without an error.
"""

from collections.abc import Callable, Mapping
from uuid import UUID, uuid4

from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now

from approvals.access.actors import operator
from approvals.db.binding import bind, current_workspace
from approvals.models import Event, Run, Runtime, Workspace
from approvals.services import decisions


class _Undo(Exception):
    """Ends every trial."""


def _trial(ask: Callable[[], list[str]]) -> Callable[[], list[str]]:
    def undone() -> list[str]:
        complaints: list[str] = []
        workspace_id = uuid4()
        try:
            with bind(workspace_id), transaction.atomic():
                Workspace.objects.create(id=workspace_id, slug=f"probe-{workspace_id.hex}", name="A probe")
                complaints = ask()
                raise _Undo
        except _Undo:
            return complaints

    return undone


def _record_is_derived() -> list[str]:
    runtime = Runtime.objects.create(
        workspace_id=current_workspace(), name="probe", kind="http", writes_ahead=True
    )
    silent = _run(runtime, Event(type="ended", outcome="completed"))
    busy = _run(
        runtime,
        Event(type="tool_call", call_id="c", name="probe"),
        Event(type="tool_result", call_id="c"),
        Event(type="ended", outcome="completed"),
    )
    unfinished = _run(runtime, Event(type="message"))
    expected = {
        silent: ("none", True, []),
        busy: ("called", True, [{"call_id": "c", "name": "probe"}]),
        unfinished: ("unknown", False, None),
    }
    with connection.cursor() as cursor:
        cursor.execute(
            "select r.id, rec.kind, rec.complete from approvals_run r, run_record(r.workspace_id, r.id) rec"
        )
        records = {row[0]: row[1:] for row in cursor.fetchall()}
    columns = dict(Run.objects.values_list("id", "tools_executed"))
    found = {run: (*records.get(run, ("not seen", None)), columns.get(run)) for run in expected}
    return [
        f"a run that should be settled as {wanted} is {found[run]}"
        for run, wanted in expected.items()
        if found[run] != wanted
    ]


def _run(runtime: Runtime, *events: Event) -> UUID:
    id = uuid4()
    Run.objects.create(
        id=id,
        lineage_id=id,
        workspace_id=runtime.workspace_id,
        runtime=runtime,
        external_id=str(id),
        agent="probe",
        subject="probe",
        input_payload_id=uuid4(),
        input_hash=bytes(32),
        body_digest="",
    )
    for seq, event in enumerate(events, 1):
        event.workspace_id, event.run_id, event.seq, event.at = runtime.workspace_id, id, seq, Now()
    Event.objects.bulk_create(events)
    return id


def _log_is_chained() -> list[str]:
    for _ in range(2):
        _decide("dismiss")
    with connection.cursor() as cursor:
        cursor.execute(
            """
            select array_agg(d.seq order by d.seq), bool_and(d.hash = decision_hash(d)),
              bool_and(d.prev_hash = coalesce((select b.hash from approvals_decision b where b.seq = d.seq - 1), ''))
            from approvals_decision d
            """
        )
        row = cursor.fetchone()
    return [] if row == ([1, 2], True, True) else ["two entries of the log do not make a chain"]


def _release_needs_its_job() -> list[str]:
    try:
        with transaction.atomic():
            _decide("approve")
            with connection.cursor() as cursor:
                cursor.execute("set constraints all immediate")
    except IntegrityError:
        return []
    return ["a decision that releases something was taken without a job"]


def _decide(kind: str) -> None:
    decisions.record(
        by=operator("a probe"), kind=kind, target_kind="workspace", target_id=current_workspace(), evidence={}
    )


# name of the guard: what tries it, and answers with what is wrong
TRIALS: Mapping[str, Callable[[], list[str]]] = {
    "record (tried)": _trial(_record_is_derived),
    "log (tried)": _trial(_log_is_chained),
    "release (tried)": _trial(_release_needs_its_job),
}
