"""Databases and callers for tests of the machine API."""

from collections.abc import Iterator

import pytest

from tests import cluster
from tests.api.world import Caller, a_caller, a_runtime
from tests.cluster import TestServers


@pytest.fixture(scope="module")
def database(django_db_setup: None, servers: TestServers, django_db_blocker: object) -> Iterator[None]:
    """One database for all tests of a module: they really commit, and each keeps to a workspace of its own."""
    del django_db_setup
    name = servers.new_database()
    with django_db_blocker.unblock():  # type: ignore[attr-defined]
        cluster.point_at(servers, name)
        yield
        cluster.point_at(servers, cluster.ROLLBACK)
    servers.cluster.drop_database(name)


@pytest.fixture
def caller(database: None) -> Caller:
    """A token of a runtime that writes ahead, not bound to a subject, in a workspace of its own."""
    del database
    return a_caller(a_runtime(writes_ahead=True))
