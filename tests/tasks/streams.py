"""Replays of runs on an ADK service, as tests of the worker's side start them and look at them."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connections, transaction

from approvals.models import AgentSession, Event, Job, Run, Runtime, StoredRow, ToolCall
from approvals.selectors.payloads import contents_of
from approvals.services import lineages, replays, secrets
from approvals.tasks import replay
from tests import factories as f
from tests.servers.adk import AdkServer

MESSAGE = {"role": "user", "parts": [{"text": "Please refund customer C-17."}]}


def adk(server: AdkServer, **more: Any) -> Runtime:
    """The server, as a runtime of the bound workspace."""
    sealed = secrets.seal("postgresql://reader@db.example.com/agents")
    return f.runtime(name="adk", kind="adk", base_url=server.url, database_url=sealed, **more)


def run_on(runtime: Runtime, made: Callable[..., Run] = f.clean_run, **more: Any) -> Run:
    """A run there; one that may start again unless `made` says otherwise."""
    given = {"agent": "support", "subject": "u1", "session_id": "s-1", "input": {"message": MESSAGE}}
    return made(runtime_id=runtime.id, **(given | more))


def started(by: Any, run: Run) -> replays.Started:
    """Its replay in a fresh session."""
    return replays.replay(by=by, run_id=run.id, shown=f.shown_run(run))


@transaction.atomic
def in_place(by: Any, run: Run, kind: str, given: dict[str, Any]) -> replays.Started:
    """Its replay in its own session, by a decision of this kind."""
    shown = f.shown_run(run)
    case = lineages.judge(lineages.lock(run))
    evidence = lineages.evidence_of(case, given)
    return replays.start(by=by, run=case.run, kind=kind, evidence=evidence, digest=case.digest, shown=shown)


def work(job: Job) -> None:
    """A worker does the job."""
    replay.execute.apply(args=[str(job.id)], kwargs={"workspace": str(job.workspace_id)}, throw=True)


@contextmanager
def working(job: Job) -> Iterator[None]:
    """A worker does the job meanwhile; at the end it has come back."""
    trouble: list[BaseException] = []

    def go() -> None:
        try:
            work(job)
        except BaseException as error:
            trouble.append(error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=go)
    thread.start()
    try:
        yield
    finally:
        thread.join(10)
    assert not thread.is_alive(), "the worker never came back"
    assert not trouble, trouble


def soon(holds: Callable[[], object], seconds: float = 10) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never held"
        time.sleep(0.02)


@transaction.atomic
def journal(run: Run) -> list[tuple[str, ...]]:
    """The lines of a run: type, then the tool's name, the outcome, or what was said."""
    events = list(Event.objects.filter(run=run).order_by("seq"))
    contents = contents_of(event.payload_id for event in events)
    told = []
    for event in events:
        words = [event.name, event.outcome]
        if event.type == "message":
            content = contents[event.payload_id]
            words = [(content.get("error") or {}).get("code") or content["text"]]
        told.append((event.type, *(word for word in words if word)))
    return told


@transaction.atomic
def calls(run: Run) -> dict[str, str]:
    """The state of each call of a run, by the name of its tool."""
    return dict(ToolCall.objects.filter(run=run).values_list("name", "state"))


@transaction.atomic
def error_of(run: Run) -> dict[str, Any]:
    """Why a run failed."""
    end = Event.objects.get(run=run, type="ended")
    error: dict[str, Any] = contents_of([end.payload_id])[end.payload_id]["error"]
    return error


@transaction.atomic
def stored(run: Run) -> list[tuple[str, str]]:
    """The rows that are known of a run: (session, event id)."""
    rows = StoredRow.objects.filter(run=run).order_by("id").select_related("session")
    return [(row.session.session, row.event_id) for row in rows]


@transaction.atomic
def seen_in_the_store(runtime: Runtime, session: str, event_id: str, run: Run) -> None:
    """The observer was first with this event."""
    given = {"workspace_id": run.workspace_id, "at": f.NOON}
    of, _ = AgentSession.objects.get_or_create(
        runtime=runtime,
        app="support",
        user="u1",
        session=session,
        defaults={"workspace_id": run.workspace_id, "updated_at": f.NOON},
    )
    StoredRow.objects.create(
        session=of, event_id=event_id, invocation_id="e-1", run=run, digest=b"d" * 32, **given
    )
