"""Postgres is killed under load. What was answered is there, and everybody goes on without being started again.

Postgres is the test's own and writes to the disk as in production.
"""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import httpx
import pytest
from django.conf import settings
from django.db import connections
from pytest_django.plugin import DjangoDbBlocker

from approvals.models import Decision, Delivery, Job, Run
from dashboard.embedded import postgres as embedded
from dashboard.embedded.cluster import ROLE_OF_ALIAS
from dashboard.embedded.valkey import Valkey
from tests import cluster
from tests.cluster import TestServers
from tests.faults.crew import Crew, Person, asked
from tests.faults.lab import Lab, eventually
from tests.servers.http import HttpServer
from tests.servers.smtp import SmtpSink

pytestmark = pytest.mark.faults

DECIDERS = 3
RUNS_EACH = 40
ENOUGH = 12  # decisions answered before the kill, and again after it
RECIPIENTS = 100


@pytest.fixture
def servers_of_its_own(
    servers: TestServers, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[TestServers]:
    """A Postgres that can be killed; this process uses a database of it meanwhile."""
    del servers, django_db_setup
    before = {alias: dict(connections.settings[alias]) for alias in ROLE_OF_ALIAS}
    with django_db_blocker.unblock(), cluster.running(fast=False) as mine:
        cluster.point_at(mine, mine.new_database())
        try:
            yield mine
        finally:
            for alias, wanted in before.items():
                connections[alias].close()
                connections.settings[alias].update(wanted)
                connections[alias].settings_dict.update(wanted)


@pytest.fixture
def runtime() -> Iterator[HttpServer]:
    with HttpServer() as server:
        yield server


@pytest.fixture
def sink() -> Iterator[SmtpSink]:
    with SmtpSink() as server:
        yield server


@pytest.fixture
def lab(servers_of_its_own: TestServers, runtime: HttpServer, sink: SmtpSink, broker: Valkey) -> Lab:
    lab = Lab(
        servers_of_its_own.environment(cluster.database_in_use())
        | {"EMAIL_URL": f"smtp://127.0.0.1:{sink.port}", "REDIS_URL": broker.url}
        | {"SECRET_KEY": settings.SECRET_KEY, "SEND_BATCH": "5"},
        base_url=runtime.url,
    )
    lab.env["LEASE_S"] = "10"
    return lab


@pytest.fixture
def crew(lab: Lab, tmp_path: Path) -> Iterator[Crew]:
    crew = Crew(lab, tmp_path)
    yield crew
    crew.stop()


@dataclass
class Decider:
    """Decides one run after the other, and keeps those of which the answer was yes."""

    person: Person
    runs: list[Run]
    answered: list[Run] = field(default_factory=list)
    failed: int = 0

    def go_on(self, enough: threading.Event) -> None:
        """Until told that it is enough, or no run is left."""
        while self.runs and not enough.is_set():
            run = self.runs.pop()
            try:
                self.person.forces(run)()
            except (httpx.HTTPError, AssertionError):
                self.failed += 1
                self.runs.insert(0, run)  # perhaps later
                time.sleep(0.2)
            else:
                self.answered.append(run)


def test_killed_under_load_every_answered_decision_is_there_and_nobody_has_to_be_started_again(
    servers_of_its_own: TestServers, lab: Lab, crew: Crew, runtime: HttpServer, sink: SmtpSink
) -> None:
    processes = crew.everything()
    deciders = [
        Decider(
            Person(lab, crew.url, f"decider-{n}"), [lab.dead_run(f"run-{n}-{m}") for m in range(RUNS_EACH)]
        )
        for n in range(DECIDERS)
    ]
    lab.approved_campaign(RECIPIENTS)
    answered = lambda: [run for decider in deciders for run in decider.answered]  # noqa: E731
    enough = threading.Event()
    threads = [threading.Thread(target=decider.go_on, args=[enough]) for decider in deciders]
    for thread in threads:
        thread.start()
    try:
        eventually(lambda: len(answered()) >= ENOUGH, "there is some load")
        kill(servers_of_its_own)
        connections["default"].close()
        before = len(answered())
        time.sleep(1)
        come_back(servers_of_its_own)
        eventually(lambda: len(answered()) >= before + ENOUGH, "decisions are answered again")
    finally:
        enough.set()
        for thread in threads:
            thread.join()
    print(f"{before} answered before, {len(answered()) - before} after,", end=" ")
    print(f"{sum(decider.failed for decider in deciders)} not")

    decided = lab.read(lambda: Counter(Decision.objects.values_list("target_id", "kind")))
    assert [decided[run.id, "force_replay"] for run in answered()] == [1] * len(answered())
    eventually(lambda: at_rest(lab), "everything that was decided was done, or is in doubt", 90)
    jobs = lab.read(lambda: list(Job.objects.all()))
    assert lab.releases() == len(jobs)
    assert max(asked(runtime).values()) == 1
    lost = {job.id for job in jobs if job.status in ("in_doubt", "failed")}
    assert asked(runtime).keys() | lost == {job.id for job in jobs if job.kind == "replay"}
    states = lab.read(lambda: dict(Delivery.objects.values_list("message_id", "state")))
    assert set(states.values()) <= {"sent", "in_doubt"}
    accepted = Counter(one.message_id for one in sink.accepted)
    assert max(accepted.values()) == 1
    assert accepted.keys() >= {id for id, state in states.items() if state == "sent"}
    print(f"in doubt: {len(lost)} replays, {Counter(states.values())['in_doubt']} messages")
    assert lab.read(whole_chain)
    assert [process.poll() for process in processes] == [None] * len(processes)
    eventually(lambda: crew.get("/readyz") == 200, "everything says that it is well")


def kill(servers: TestServers) -> None:
    """kill -9 of the postmaster and every process of its own, at once."""
    child = next(child for child in servers.processes.children if child.name == "postgres")
    server = child.process.pid
    sessions = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    for pid in [server, *map(int, sessions)]:
        os.kill(pid, signal.SIGKILL)
    servers.processes.forget(child)


def come_back(servers: TestServers) -> None:
    """Start it again, where everybody looks for it."""
    with patch.object(embedded, "free_port", lambda port=servers.postgres.port: port):
        servers.postgres.start()


def at_rest(lab: Lab) -> bool:
    """Whether no job waits for a worker or for the end of a lease."""
    return lab.read(
        lambda: (
            not Job.objects.exclude(status__in=["done", "failed", "in_doubt"])
            .exclude(status="running", accepted_at__isnull=False)
            .exists()
        )
    )


def whole_chain() -> bool:
    """Whether the log of the bound workspace has no gap and every entry carries the hash of the one before."""
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "select bool_and(whole), count(*) from (select d.hash = decision_hash(d)"
            " and d.prev_hash = lag(d.hash, 1, ''::bytea) over (order by d.seq)"
            " and d.seq = row_number() over (order by d.seq) as whole from approvals_decision d) entries"
        )
        whole, entries = cursor.fetchone()
    assert entries >= 2 * ENOUGH
    return bool(whole)
