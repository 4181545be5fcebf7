"""Two workspaces on the same connections: 10,000 interleaved requests show nothing of one to the other."""

import copy
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connections

from approvals.db import base
from approvals.db.base import DatabaseWrapper
from tests.isolation.traffic import Side, Traffic, quietly

pytestmark = [
    pytest.mark.faults,
    pytest.mark.django_db(transaction=True, databases=["default", "ingest"]),
]

ALIASES = ("default", "ingest")
PERSISTENT, POOLED, SHARED = 4000, 3000, 3000
FEW = 160  # with a leak that has to be found


@pytest.fixture
def traffic(transactional_db: None) -> Iterator[Traffic]:
    del transactional_db
    seed = random.randrange(1_000_000)
    print(f"seed {seed}")
    with quietly():
        yield Traffic([Side.build("quartzalpha"), Side.build("velvetbeta")], seed)


@pytest.fixture
def pooled(traffic: Traffic) -> Iterator[int]:
    """Fewer connections than threads, from a pool."""
    del traffic  # which was built without
    connections.close_all()
    before = {alias: copy.deepcopy(connections.settings[alias]) for alias in ALIASES}
    for alias in ALIASES:
        connections.settings[alias]["CONN_MAX_AGE"] = 0
        connections.settings[alias]["OPTIONS"]["pool"] = {"min_size": 1, "max_size": 2, "timeout": 60}
    yield 2
    for alias in ALIASES:
        connections[alias].close()
        connections[alias].close_pool()
        connections.settings[alias].update(before[alias])
        connections.settings[alias]["OPTIONS"].pop("pool", None)


def test_persistent_connections(traffic: Traffic) -> None:
    assert connections.settings["default"]["CONN_MAX_AGE"]
    finds_nothing(traffic, PERSISTENT)


def test_a_pool_with_fewer_connections_than_threads(traffic: Traffic, pooled: int) -> None:
    finds_nothing(traffic, POOLED, threads=3 * pooled)


def test_one_connection_in_turn(traffic: Traffic) -> None:
    with one_connection() as enter:
        finds_nothing(traffic, SHARED, enter=enter)


def for_longer_than_a_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    """The setting of the workspace stays on the connection."""
    monkeypatch.setattr(base, "BIND", base.BIND.replace("true", "false"))


def once_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Likewise, and whoever uses the connection next believes that it is set already."""
    for_longer_than_a_transaction(monkeypatch)
    tell, told = DatabaseWrapper._execute_binding, set[int]()

    def tell_once(self: DatabaseWrapper, workspace_id: str, subject: str) -> None:
        if id(self.connection) not in told:
            tell(self, workspace_id, subject)
            told.add(id(self.connection))

    monkeypatch.setattr(DatabaseWrapper, "_execute_binding", tell_once)


@pytest.mark.parametrize(
    ("leak", "how"),
    [
        (for_longer_than_a_transaction, "persistent"),
        (once_a_connection, "persistent"),
        (once_a_connection, "pooled"),
        (once_a_connection, "in turn"),
    ],
)
def test_a_leak_is_found(
    leak: Callable[[pytest.MonkeyPatch], None],
    how: str,
    traffic: Traffic,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if how == "pooled":
        request.getfixturevalue("pooled")
    leak(monkeypatch)
    if how == "in turn":
        with one_connection() as enter:
            traffic.run(FEW, enter=enter)
    else:
        traffic.run(FEW)
    print(f"{len(traffic.leaks)} leaks: {traffic.leaks[:3]}")
    assert traffic.leaks


def finds_nothing(traffic: Traffic, requests: int, **how: Any) -> None:
    began = time.monotonic()
    traffic.run(requests, **how)
    print(f"{traffic.requests} requests in {time.monotonic() - began:.0f} s: {dict(traffic.done)}")
    assert (traffic.leaks, traffic.trouble) == ([], [])
    assert traffic.requests >= requests - 10
    assert traffic.done["with the own marker"] > requests * 0.4  # it is not that nothing was shown


@contextmanager
def one_connection() -> Iterator[Callable[[], Any]]:
    """A way for threads to use one connection of each alias, one thread after the other."""
    shared = {alias: connections[alias].copy() for alias in ALIASES}
    turn = threading.Lock()
    for alias in ALIASES:
        shared[alias].inc_thread_sharing()

    @contextmanager
    def enter() -> Iterator[None]:
        with turn:
            for alias in ALIASES:
                connections[alias] = shared[alias]
            yield

    yield enter
    for alias in ALIASES:
        shared[alias].close()
