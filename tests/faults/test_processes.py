"""The real processes together: dispatchers, Celery workers and a broker, some of them killed."""

import json
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from approvals.models import Campaign, Delivery, Job
from approvals.selectors import log_heads
from dashboard.embedded.valkey import Valkey
from tests.faults.crew import Crew
from tests.faults.lab import LEASE_S, Lab, eventually, is_frozen
from tests.servers.http import Answer, HttpServer
from tests.servers.smtp import SmtpSink

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def runtime() -> Iterator[HttpServer]:
    with HttpServer([Answer(202)] * 9) as server:
        yield server


@pytest.fixture
def sink() -> Iterator[SmtpSink]:
    with SmtpSink() as server:
        yield server


@pytest.fixture
def lab(process_env: dict[str, str], runtime: HttpServer, sink: SmtpSink, broker: Valkey) -> Lab:
    here = {"EMAIL_URL": f"smtp://127.0.0.1:{sink.port}", "REDIS_URL": broker.url, "POLL_S": "0.5"}
    keys = {"SECRET_KEY": "k" * 50, "FIELD_KEY": settings.FIELD_KEY}
    return Lab({**process_env, **here, **keys}, base_url=runtime.url)


@pytest.fixture
def crew(lab: Lab, tmp_path: Path) -> Iterator[Crew]:
    crew = Crew(lab, tmp_path)
    yield crew
    crew.stop()


def status(lab: Lab, job: Job) -> str:
    return lab.read(lambda: Job.objects.get(id=job.id).status)


def test_a_decision_reaches_the_runtime_once_through_dispatcher_and_worker(
    lab: Lab, runtime: HttpServer, crew: Crew
) -> None:
    crew.dispatcher()
    crew.worker("replay")
    started = lab.forced(lab.dead_run())
    eventually(lambda: len(runtime.requests) == 1, "the runtime was asked")
    eventually(lambda: lab.read(lambda: Job.objects.get(id=started.job.id).accepted_at), "it was accepted")
    lab.event(started.run, 1, "ended", outcome="completed")
    eventually(lambda: status(lab, started.job) == "done", "the job followed its run")
    assert lab.read(lambda: Job.objects.get(id=started.job.id).task_id)
    assert len(runtime.requests) == 1


def test_a_dispatcher_tells_the_anchors_of_the_log_however_quiet_it_was_asked_to_be(
    lab: Lab, crew: Crew
) -> None:
    lab.env["LOG_LEVEL"] = "ERROR"
    lab.forced(lab.dead_run())
    head = lab.read(log_heads.head)
    crew.dispatcher()
    eventually(lambda: "log anchor" in crew.said(), "an anchor was told")
    [told] = [json.loads(line) for line in crew.said().splitlines() if "log anchor" in line]
    assert (told["workspace_id"], told["seq"], told["hash"]) == (str(lab.workspace_id), head.seq, head.hash)


def test_A14_a_dispatcher_that_dies_after_publishing_loses_and_repeats_nothing(
    lab: Lab, runtime: HttpServer, crew: Crew
) -> None:
    dying = crew.dispatcher(fault="dispatch.published")
    started = lab.forced(lab.dead_run())
    eventually(lambda: dying.poll() is not None, "the dispatcher died")
    assert dying.returncode == -signal.SIGKILL
    crew.dispatcher()
    crew.worker("replay")
    eventually(lambda: len(runtime.requests) == 1, "the runtime was asked")
    time.sleep(2)
    assert len(runtime.requests) == 1
    assert status(lab, started.job) == "running"


def test_a_dispatcher_that_freezes_after_publishing_leaves_its_work_to_another(
    lab: Lab, runtime: HttpServer, crew: Crew
) -> None:
    frozen = crew.dispatcher(fault="dispatch.published", how="stop")
    first = lab.forced(lab.dead_run())
    eventually(lambda: is_frozen(frozen.pid), "the dispatcher froze")
    crew.worker("replay")
    crew.dispatcher()
    second = lab.forced(lab.dead_run("run-2"))
    accepted = lambda started: lab.read(lambda: Job.objects.get(id=started.job.id).accepted_at)  # noqa: E731
    eventually(lambda: accepted(first) and accepted(second), "both were handed over")
    frozen.send_signal(signal.SIGCONT)
    time.sleep(2)  # what it remembers is said once more
    assert frozen.poll() is None
    assert len(runtime.requests) == lab.releases() == 2


def test_a_worker_that_dies_after_the_intent_leaves_a_doubt_that_the_clock_finds(
    lab: Lab, runtime: HttpServer, crew: Crew
) -> None:
    crew.dispatcher()
    crew.worker("replay", fault="replay.intent")
    started = lab.forced(lab.dead_run())
    eventually(lambda: status(lab, started.job) == "in_doubt", "it is in doubt")
    time.sleep(LEASE_S)
    assert runtime.requests == []


def test_C03_two_dispatchers_and_two_workers_send_each_message_once(
    lab: Lab, sink: SmtpSink, crew: Crew
) -> None:
    lab.env["SEND_BATCH"] = "3"
    for _ in range(2):
        crew.dispatcher()
        crew.worker("send")
    campaign = lab.approved_campaign(25)
    finished = lambda: lab.read(lambda: Campaign.objects.get(id=campaign.id).status) == "finished"  # noqa: E731
    eventually(finished, "the campaign was finished")
    states = Counter(lab.read(lambda: list(Delivery.objects.values_list("state", flat=True))))
    assert states == {"sent": 25}
    assert len(sink.recipients) == len(set(sink.recipients)) == 25
