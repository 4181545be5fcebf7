"""The broker is lost in every way. Decisions are answered all the while, and work goes on once it is back."""

import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from approvals.models import Job
from tests.faults.crew import Broker, Crew, Person, a_broker, asked
from tests.faults.lab import Lab, eventually
from tests.servers.http import HttpServer
from tests.servers.smtp import SmtpSink

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]

ANSWERED_S = 1  # a decision, whatever the broker does
GOES_ON_S = 10  # work, after the broker's return
RECIPIENTS = 5
Lost = Callable[[Crew, Broker], AbstractContextManager[None]]


@pytest.fixture
def runtime() -> Iterator[HttpServer]:
    with HttpServer() as server:
        yield server


@pytest.fixture
def sink() -> Iterator[SmtpSink]:
    with SmtpSink() as server:
        yield server


@pytest.fixture
def broker() -> Iterator[Broker]:
    with a_broker() as broker:
        yield broker


@pytest.fixture
def lab(process_env: dict[str, str], runtime: HttpServer, sink: SmtpSink, broker: Broker) -> Lab:
    here = {"EMAIL_URL": f"smtp://127.0.0.1:{sink.port}", "REDIS_URL": broker.url}
    lab = Lab({**process_env, **here, "SECRET_KEY": settings.SECRET_KEY}, base_url=runtime.url)
    lab.env["LEASE_S"] = "60"  # no worker is lost here
    return lab


@pytest.fixture
def crew(lab: Lab, tmp_path: Path) -> Iterator[Crew]:
    crew = Crew(lab, tmp_path)
    yield crew
    crew.stop()


def answered(decide: Callable[[], object]) -> None:
    """Decide, which has to be answered within the second."""
    began = time.monotonic()
    decide()
    took = time.monotonic() - began
    print(f"answered after {took:.3f} s")
    assert took <= ANSWERED_S


def now() -> datetime:
    """By the clock that the jobs are dated by."""
    with connection.cursor() as cursor:
        cursor.execute("select clock_timestamp()")
        return cursor.fetchone()[0]


@contextmanager
def killed(crew: Crew, broker: Broker) -> Iterator[None]:
    """kill -9, long enough that the workers lose patience."""
    broker.kill()
    yield
    time.sleep(8)
    broker.come_back()
    pauses = [float(s) for s in re.findall(r"Trying again in ([\d.]+) seconds", crew.said())]
    assert pauses
    assert max(pauses) < GOES_ON_S / 2, "a worker would sleep through the broker's return"


@contextmanager
def frozen(crew: Crew, broker: Broker) -> Iterator[None]:
    """It keeps its connections and says nothing."""
    del crew
    broker.freeze()
    yield
    time.sleep(4)
    broker.go_on()


@contextmanager
def flushed(crew: Crew, broker: Broker) -> Iterator[None]:
    """Emptied while wake-ups lie in it that no worker has seen yet."""
    workers = crew.started[1:3]
    crew.signal(signal.SIGSTOP, *workers)
    yield
    with broker.asked() as client:
        eventually(lambda: client.llen("replay") + client.llen("send") >= 3, "wake-ups lie in the broker")
        client.flushall()
    crew.signal(signal.SIGCONT, *workers)


@contextmanager
def full(crew: Crew, broker: Broker) -> Iterator[None]:
    """Out of memory, when everybody has to connect to it anew."""
    with broker.asked() as client:
        client.config_set("maxmemory", 1)
        yield
        client.client_kill_filter(_type="normal")
        time.sleep(3)
    with broker.asked() as client:
        client.config_set("maxmemory", 0)
    del crew


@pytest.mark.parametrize("lost", [killed, frozen, flushed, full], ids=lambda lost: lost.__name__)
def test_decisions_are_answered_while_the_broker_is_lost_and_work_goes_on_when_it_is_back(
    lost: Lost, lab: Lab, crew: Crew, broker: Broker, runtime: HttpServer, sink: SmtpSink
) -> None:
    processes = crew.everything()
    person = Person(lab, crew.url)
    campaign = lab.pending_campaign(RECIPIENTS)
    decisions = [person.forces(lab.dead_run(f"run-{n}")) for n in range(3)] + [person.approves(campaign)]
    run = lab.dead_run("by the service")
    with lost(crew, broker):
        for decide in decisions:
            answered(decide)
        answered(lambda: lab.forced(run))
    back = now()
    jobs = lambda: lab.read(lambda: list(Job.objects.all()))  # noqa: E731
    eventually(lambda: all(taken(job) for job in jobs()), "all of it was done")
    for job in jobs():
        print(f"{job.kind} after {(taken(job) - back).total_seconds():.1f} s")
        assert taken(job) - back <= timedelta(seconds=GOES_ON_S)
    assert asked(runtime) == {job.id: 1 for job in jobs() if job.kind == "replay"}
    assert Counter(sink.recipients) == {f"p{n}@example.com": 1 for n in range(1, RECIPIENTS + 1)}
    assert [process.poll() for process in processes] == [None] * len(processes)
    eventually(lambda: crew.get("/readyz") == 200, "everything says that it is well")


def taken(job: Job) -> datetime | None:
    """When a job's effect was known to have happened."""
    return job.accepted_at if job.kind == "replay" else job.finished_at
