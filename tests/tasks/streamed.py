"""What the tests of streamed replays start from: a server that plays, a runtime there, and a replay to be worked on."""

import threading
from contextlib import contextmanager

import pytest
from django.db import connections

from approvals.db.binding import bind
from approvals.services import handover
from approvals.tasks import streaming
from tests import factories as f
from tests.servers.adk import AdkServer, sample
from tests.services.conftest import ada, as_superuser, database, desk, lease_over
from tests.tasks.streams import (
    adk,
    run_on,
    started,
)

__all__ = ["ada", "as_superuser", "database", "desk", "lease_over"]

NORMAL = [
    ("tool_call", "lookup_customer"),
    ("tool_result", "lookup_customer"),
    ("tool_call", "send_email"),
    ("tool_result", "send_email"),
    ("message", "Done: the mail to ada@example.test is out."),
]
HIDDEN = ("finding",)
SENT = sample("normal")
RATE_LIMITED = [line.replace(b"'7s'", b"'0.1s'") for line in sample("rate_before")]
UNKNOWN_ENDING = "so how the run ended is not known from it"


@pytest.fixture
def server(desk):
    with AdkServer() as server:
        yield server


@pytest.fixture
def runtime(server):
    return adk(server)


@pytest.fixture
def replay(ada, runtime):
    """A replay in a fresh session, decided and not begun."""
    return started(ada, run_on(runtime))


@pytest.fixture
def in_a_hurry(monkeypatch):
    """The lease is extended all the time."""
    monkeypatch.setattr(streaming, "BEAT_S", 0.05)


class Preparing(threading.Thread):
    """A second worker at the check before its intent; `prepared` is what came of it."""

    def __init__(self, desk, held):
        super().__init__()
        self.desk, self.held, self.prepared = desk, held, []

    def run(self):
        with bind(self.desk.id):
            self.prepared.append(handover.prepare(held=self.held))
        connections.close_all()


@contextmanager
def preparing(desk, held):
    """One that has come back at the end."""
    thread = Preparing(desk, held)
    yield thread
    thread.join(10)


def ended(replay):
    """(status of the job, status of the new run, what came of the job)."""
    job, run = f.fresh(replay.job), f.fresh(replay.run)
    return job.status, run.status, job.outcome
