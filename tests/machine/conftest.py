"""What a test of the state machine needs: a database of its own, two workers, and an outside world that counts."""

from collections.abc import Callable, Iterator

import psycopg
import pytest
from django.conf import settings

from approvals import faults
from approvals.connectors.adk import About, AppFacts
from approvals.tasks import batch, observe, replay, send, streaming
from tests.cluster import database_in_use
from tests.machine.scene import Lab
from tests.machine.workers import Worker

LOCKS_S = (
    10  # a wait for a lock is a deadlock of the test's own making: here only one process moves at a time
)


@pytest.fixture
def lab(connect_as: Callable[[str], psycopg.Connection], monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """Everything that stands in for something is put in its place here."""
    sql = connect_as("superuser")
    sql.execute(f"alter database \"{database_in_use()}\" set lock_timeout = '{LOCKS_S}s'".encode())
    made = Lab(sql, [Worker("worker 1"), Worker("worker 2")])
    monkeypatch.setattr(settings, "SEND_BATCH", 2)
    monkeypatch.setattr(faults, "point", made.point)
    monkeypatch.setattr(replay, "start_replay", made.start_replay)
    monkeypatch.setattr(send, "Lines", made.lines)
    monkeypatch.setattr(streaming, "stream", made.stream)
    monkeypatch.setattr(streaming, "create_session", made.create_session)
    monkeypatch.setattr(observe, "open_store", made.open_store)
    monkeypatch.setattr(observe.client, "about", lambda _place: About("2.13.0", ("support",)))
    monkeypatch.setattr(observe.client, "app_facts", lambda _place, _app: AppFacts("llm", False, ""))
    for task in (replay, send, batch, streaming, observe):
        monkeypatch.setattr(task, "time", _Clock(made))
    yield made
    for worker in made.workers:
        worker.leave()


class _Clock:
    """The workers' module `time`."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab

    def monotonic(self) -> float:
        return self._lab.outside.now

    def sleep(self, seconds: float) -> None:
        self._lab.outside.now += seconds
