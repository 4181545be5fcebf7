"""A worker that is killed or frozen while it streams a replay: nothing is repeated by itself, and a person is asked."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from approvals.models import Event, Job, QueueItem, Run
from approvals.services import replays
from dashboard.embedded.valkey import Valkey
from tests.faults.crew import Crew
from tests.faults.lab import LEASE_S, Lab, eventually
from tests.servers.adk import AdkServer, Gate, Turn, sample

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]

SILENCE_S = 3
# What a worker that died there leaves behind: (the job once its lease is over, lines that are in the journal).
LEAVES = [
    ("stream.opened", "running", {"finding"}),
    ("stream.heard", "running", {"finding", "tool_call"}),
    ("stream.ended", "running", {"finding", "tool_call", "tool_result"}),
    ("stream.settled", "done", {"finding", "tool_call", "tool_result", "message", "ended"}),
]


@pytest.fixture
def server() -> Iterator[AdkServer]:
    first, *others = sample("normal")
    with AdkServer(Turn([first, 0.5, *others, 0.5])) as server:
        yield server


@pytest.fixture
def lab(process_env: dict[str, str], server: AdkServer) -> Lab:
    return Lab(process_env, base_url=server.url, kind="adk", silence_s=SILENCE_S)


def job_of(lab: Lab, started: replays.Started) -> Job:
    return lab.read(lambda: Job.objects.get(id=started.job.id))


def run_of(lab: Lab, started: replays.Started) -> Run:
    return lab.read(lambda: Run.objects.get(id=started.run.id))


def types(lab: Lab, started: replays.Started) -> set[str]:
    return lab.read(lambda: set(Event.objects.filter(run=started.run).values_list("type", flat=True)))


@pytest.mark.parametrize(("point", "status", "lines"), LEAVES)
def test_killed_there_it_is_not_begun_again(
    point: str, status: str, lines: set[str], lab: Lab, server: AdkServer
) -> None:
    started = lab.forced(lab.dead_run())
    assert lab.work(started.job, fault=point) == -9
    lab.pass_lease()
    lab.work_until_quiet()
    assert (job_of(lab, started).status, len(server.asked)) == (status, 1)
    assert lines <= types(lab, started)
    if status == "done":
        assert run_of(lab, started).status == "completed"
        return
    eventually(lambda: lab.sweep() or run_of(lab, started).status != "running", "its silence was noticed")
    lab.work_until_quiet()
    assert (run_of(lab, started).status, run_of(lab, started).interrupted_why) == ("interrupted", "silent")
    assert (job_of(lab, started).status, len(server.asked)) == ("failed", 1)
    item = lab.read(lambda: QueueItem.objects.defer("due").get(id=started.run.lineage_id))
    assert (item.tab, item.run_id) == ("decide", started.run.id)


@pytest.mark.parametrize(("point", "status", "lines"), LEAVES)
def test_woken_after_its_lease_was_over_it_changes_nothing(
    point: str, status: str, lines: set[str], lab: Lab, server: AdkServer
) -> None:
    started = lab.forced(lab.dead_run())
    with lab.frozen_work(started.job, at=point) as worker:
        lab.pass_lease()
        lab.work_until_quiet()
        before, told = lab.rows(), types(lab, started)
        assert lab.wake(worker) == 0, lab.said
        assert (lab.rows(), types(lab, started)) == (before, told)
    assert (job_of(lab, started).status, len(server.asked)) == (status, 1)


@pytest.mark.parametrize(("point", "status", "lines"), LEAVES)
def test_woken_before_anybody_noticed_it_goes_on(
    point: str, status: str, lines: set[str], lab: Lab, server: AdkServer
) -> None:
    started = lab.forced(lab.dead_run())
    with lab.frozen_work(started.job, at=point) as worker:
        time.sleep(LEASE_S + 0.2)
        assert lab.wake(worker) == 0, lab.said
    assert (job_of(lab, started).status, run_of(lab, started).status) == ("done", "completed")
    assert len(server.asked) == 1


def test_killed_after_the_intent_it_is_in_doubt(lab: Lab, server: AdkServer) -> None:
    started = lab.forced(lab.dead_run())
    assert lab.work(started.job, fault="replay.intent") == -9
    lab.pass_lease()
    lab.work_until_quiet()
    assert (job_of(lab, started).status, server.asked) == ("in_doubt", [])


def test_a_worker_that_is_asked_to_end_leaves_its_stream_soon(
    lab: Lab, server: AdkServer, broker: Valkey, tmp_path: Path
) -> None:
    gate = Gate()
    server.turns = [Turn([*sample("normal")[:3], gate])]
    keys = {"SECRET_KEY": "k" * 50, "FIELD_KEY": settings.FIELD_KEY, "LEASE_S": "30"}
    lab.env |= {"REDIS_URL": broker.url, "POLL_S": "0.5", **keys}
    crew = Crew(lab, tmp_path)
    try:
        crew.dispatcher()
        worker = crew.worker("replay")
        started = lab.forced(lab.dead_run())
        eventually(lambda: "tool_call" in types(lab, started), "the stream was heard of")
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(20) == 0, crew.said()
        assert (job_of(lab, started).status, run_of(lab, started).interrupted_why) == ("failed", "broken")
        assert len(server.asked) == 1
    finally:
        gate.open.set()
        crew.stop()
