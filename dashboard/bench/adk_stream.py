"""The streaming part of `bench adk`: a whole replay by the worker beside a client that only reads the same stream.

Ours is everything that the task does, from the claim to the end in the log: the intent, a session, the stream, each
line of the journal, the lease. The bare client reads the stream and its JSON and keeps nothing. In turn; `overhead` is
by what share ours takes longer, as the median of the rounds.
"""

import http.client
import json
import statistics
import time
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from approvals.db.binding import bind
from approvals.models import Event, Job, Run
from approvals.rules import decisions as kinds
from approvals.rules.shown import Shown
from approvals.selectors.lineages import judged
from approvals.services import replays, runs
from approvals.tasks import replay
from dashboard.bench import adk_source, house
from dashboard.bench.house import House
from dashboard.bench.telling import Teller

ROUNDS = 5
REASON = "measured by the benchmark"


def measure(tell: Teller, made: House, port: int, rounds: int = ROUNDS) -> dict[str, Any]:
    """Read and replay in turn; the seconds of each."""
    bare, ours = [], []
    with bind(made.workspace_id):
        with transaction.atomic():
            ids = list(
                Run.objects.filter(replay_of=None)
                .order_by("-created_at")
                .values_list("id", flat=True)[:rounds]
            )
        _read(port)
        for run_id in tell.through(ids, "Streaming a turn, bare and as a replay, in turn"):
            bare.append(_read(port))
            ours.append(_replay(run_id, made))
    shares = [mine / alone - 1 for mine, alone in zip(ours, bare, strict=True)]
    return {
        "overhead": statistics.median(shares),
        "events": adk_source.EVENTS,
        "paced_per_s": adk_source.PACE,
        "bare_s": [round(value, 3) for value in bare],
        "ours_s": [round(value, 3) for value in ours],
    }


def _read(port: int) -> float:
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/run_sse", body=b"{}", headers={"content-type": "application/json"})
    heard = sum(1 for line in connection.getresponse() if line.startswith(b"data: ") and json.loads(line[6:]))
    connection.close()
    if heard != adk_source.EVENTS:
        raise RuntimeError(f"the bare client heard {heard} events")
    return time.perf_counter() - began


def _replay(run_id: UUID, made: House) -> float:
    """A person says that a run broke off and starts it again; the worker's task is what is timed."""
    if _of(run_id).status == "running":
        runs.declare_interrupted(by=house.PERSON, run_id=run_id, shown=_shown(run_id), reason=REASON)
    with transaction.atomic():
        _, verdict, _ = judged(Run.objects.get(id=run_id))
    keys = [kinds.call_key(call.run_id, call.call_id) for call in verdict.calls]
    started = replays.force(
        by=house.PERSON, run_id=run_id, shown=_shown(run_id), reason=REASON, ticked=keys, unknown_ticked=True
    )
    began = time.perf_counter()
    replay.execute(str(started.job.id), workspace=str(made.workspace_id))
    took = time.perf_counter() - began
    with transaction.atomic():
        job, calls = (
            Job.objects.get(id=started.job.id),
            Event.objects.filter(run=started.run, type="tool_call").count(),
        )
    if job.status != "done" or calls != adk_source.EVENTS // adk_source.CALL_EVERY:
        raise RuntimeError(f"the replay is {job.status} after {calls} calls: {job.outcome}")
    return took


@transaction.atomic
def _of(run_id: UUID) -> Run:
    return Run.objects.get(id=run_id)


@transaction.atomic
def _shown(run_id: UUID) -> Shown:
    facts, _, digest = judged(Run.objects.get(id=run_id))
    return Shown(digest=digest, opened_at=datetime.now(UTC), told=kinds.told(facts))
