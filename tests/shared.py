"""One database for all the tests of a module, each in a workspace of its own: commits are real, and copying is rare."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import count

import psycopg
import pytest
from django.db import connections
from pytest_django import DjangoDbBlocker, Settings

from approvals.management import operator
from tests import cluster
from tests.cluster import TestServers

_numbers = count(1)


@pytest.fixture(scope="module")
def database(
    servers: TestServers, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[str]:
    """The name of the module's database, which everything uses while its tests run."""
    del django_db_setup
    name = servers.new_database()
    cluster.point_at(servers, name)
    with django_db_blocker.unblock():
        yield name
    connections.close_all()
    cluster.point_at(servers, cluster.ROLLBACK)
    servers.cluster.drop_database(name)


@pytest.fixture
def as_superuser(servers: TestServers, database: str) -> Callable[..., None]:
    """Run one statement behind the product's back: no trigger sees it."""

    def run(statement: str, *values: object) -> None:
        with psycopg.connect(servers.postgres.dsn(database=database), autocommit=True) as connection:
            connection.execute("set session_replication_role = replica")
            connection.execute(statement, values)

    return run


def slug() -> str:
    """A slug that no other test has."""
    return f"desk-{next(_numbers)}"


@pytest.fixture
def as_owner(
    servers: TestServers, database: str, settings: Settings
) -> Callable[[], AbstractContextManager[None]]:
    """Within it the default alias is the owner of the module's database."""
    settings.OWNER_DATABASE_URL = servers.cluster.url("owner", database)
    return operator.as_owner
