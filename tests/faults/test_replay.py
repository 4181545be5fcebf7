"""A worker that is killed while it hands a replay over."""

from collections.abc import Iterator

import pytest

from approvals.db.binding import bind
from approvals.models import Decision, Job, Run
from approvals.services import runs
from tests.faults.lab import ADA, Lab
from tests.servers.http import Answer, HttpServer

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def runtime() -> Iterator[HttpServer]:
    with HttpServer([Answer(202)] * 9) as server:
        yield server


@pytest.fixture
def lab(process_env: dict[str, str], runtime: HttpServer) -> Lab:
    return Lab(process_env, base_url=runtime.url)


def status(lab: Lab, job: Job) -> str:
    return lab.read(lambda: Job.objects.get(id=job.id).status)


def test_killed_before_the_intent_it_starts_once_after_all(lab: Lab, runtime: HttpServer) -> None:
    started = lab.forced(lab.dead_run())
    assert lab.work(started.job, fault="replay.claimed") == -9
    lab.pass_lease()
    assert status(lab, started.job) == "queued"
    lab.work_until_quiet()
    assert len(runtime.requests) == 1
    assert status(lab, started.job) == "running"


def test_killed_after_the_intent_it_is_in_doubt_and_nothing_asks_the_runtime_again(
    lab: Lab, runtime: HttpServer
) -> None:
    started = lab.forced(lab.dead_run())
    assert lab.work(started.job, fault="replay.intent") == -9
    lab.pass_lease()
    lab.work_until_quiet()
    assert status(lab, started.job) == "in_doubt"
    assert runtime.requests == []


def test_killed_after_the_call_it_is_in_doubt_and_the_first_event_settles_it(
    lab: Lab, runtime: HttpServer
) -> None:
    started = lab.forced(lab.dead_run())
    assert lab.work(started.job, fault="replay.called") == -9
    lab.pass_lease()
    lab.work_until_quiet()
    assert status(lab, started.job) == "in_doubt"
    lab.event(started.run, 1, "heartbeat")
    lab.sweep()
    assert status(lab, started.job) == "running"
    lab.event(started.run, 2, "ended", outcome="completed")
    lab.sweep()
    assert status(lab, started.job) == "done"
    assert len(runtime.requests) == 1


def test_killed_after_settling_it_has_started_once(lab: Lab, runtime: HttpServer) -> None:
    started = lab.forced(lab.dead_run())
    assert lab.work(started.job, fault="replay.settled") == -9
    lab.pass_lease()
    lab.work_until_quiet()
    assert status(lab, started.job) == "running"
    assert len(runtime.requests) == 1


def test_what_is_in_doubt_is_done_again_only_when_a_person_says_so(lab: Lab, runtime: HttpServer) -> None:
    started = lab.forced(lab.dead_run())
    lab.work(started.job, fault="replay.intent")
    lab.pass_lease()
    lab.work_until_quiet()
    shown = lab.shown(started.run)
    with bind(lab.workspace_id):
        again, _ = runs.resolve_job(
            by=ADA,
            shown=shown,
            job_id=started.job.id,
            resolution="do_again",
            reason="the runtime's log shows nothing",
        )
    lab.work_until_quiet()
    assert again.kind == "replay_again"
    assert len(runtime.requests) == 1
    assert status(lab, started.job) == "failed"
    assert lab.read(lambda: Run.objects.get(id=started.run.id).status) == "cancelled"


def test_a_second_worker_finds_nothing_while_the_first_has_the_job(lab: Lab, runtime: HttpServer) -> None:
    started = lab.forced(lab.dead_run())
    lab.work(started.job)
    lab.work(started.job)
    assert len(runtime.requests) == 1


def test_killed_while_deciding_nothing_is_decided(lab: Lab) -> None:
    run = lab.dead_run()
    before = lab.read(Decision.objects.count)
    assert lab.decide_in_a_process(run, fault="decide.before_commit") == -9
    assert lab.read(Decision.objects.count) == before
    assert lab.read(Job.objects.count) == 0
    assert lab.read(Run.objects.count) == 1
