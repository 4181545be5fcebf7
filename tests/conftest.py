"""Fixtures for every test. How a test meets the database:

- `django_db`: one database for all, everything rolled back at the end. Fast; `default` (app) only. What Postgres
  checks at a commit it checks at the end of each block that binds a workspace.
- `django_db(transaction=True)`, or with more than one alias: a database of its own, dropped afterwards. The
  journal and the decision log refuse to be emptied, so nothing is ever flushed.
"""

import re
from collections.abc import Callable, Iterator

import psycopg
import pytest
from django.conf import settings as django_settings
from django.test import TransactionTestCase

from approvals.db.base import DatabaseWrapper
from dashboard.embedded.valkey import Valkey
from tests import cluster
from tests.cluster import TestServers

_DRAWN = re.compile(r"[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}", re.IGNORECASE)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """A test has the same name in every run: without ids that were drawn for it."""
    return argname if _DRAWN.search(str(val)) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test with two aliases gets its own database: their transactions never see each other's open work."""
    for item in items:
        mark = item.get_closest_marker("django_db")
        if (
            mark
            and mark.kwargs.get("databases") not in (None, ["default"])
            and not mark.kwargs.get("transaction")
        ):
            item.add_marker(pytest.mark.django_db(**{**mark.kwargs, "transaction": True}), append=False)


@pytest.fixture(scope="session")
def servers() -> Iterator[TestServers]:
    """Postgres with the migrated template, for the session."""
    with cluster.running() as servers:
        yield servers


@pytest.fixture(scope="session")
def django_db_setup(
    servers: TestServers, django_test_environment: None, django_db_blocker: object
) -> Iterator[None]:
    """Stands in for pytest-django's own: app may neither create databases nor empty tables."""
    del django_test_environment, django_db_blocker

    def enter(cls: type[TransactionTestCase]) -> None:
        del cls
        cluster.point_at(servers, servers.new_database())

    def leave(self: TransactionTestCase) -> None:
        del self
        used = cluster.database_in_use()
        assert used != cluster.ROLLBACK, "this test left its own database, and would drop that of all others"
        cluster.point_at(servers, cluster.ROLLBACK)
        servers.cluster.drop_database(used)

    def savepoint_commit(self: DatabaseWrapper, sid: str) -> None:
        # Otherwise the checks would run when the test ends, bound to no workspace.
        if self._bound_at == sid:
            with self.wrap_database_errors:  # straight to psycopg: no query of the application
                self.connection.execute("set constraints all immediate")
                self.connection.execute("set constraints all deferred")
        leave_savepoint(self, sid)

    leave_savepoint = DatabaseWrapper._savepoint_commit
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseWrapper, "_savepoint_commit", savepoint_commit)
        patch.setattr(TransactionTestCase, "_fixture_setup", classmethod(enter))
        patch.setattr(TransactionTestCase, "_fixture_teardown", leave)
        cluster.point_at(servers, cluster.ROLLBACK)
        yield


@pytest.fixture(scope="session")
def broker(servers: TestServers) -> Iterator[Valkey]:
    """A Valkey for the session; `broker.url` says where. What this process publishes goes there too."""
    from dashboard.celery import app

    with cluster.running_broker(servers) as valkey, pytest.MonkeyPatch.context() as patch:
        patch.setattr(django_settings, "REDIS_URL", valkey.url)
        patch.setattr(django_settings, "CELERY_BROKER_URL", valkey.url)
        patch.setattr(app.conf, "broker_url", valkey.url)
        yield valkey


@pytest.fixture
def process_env(servers: TestServers, transactional_db: None) -> dict[str, str]:
    """The environment of a real process of ours on this test's own database. Add REDIS_URL from `broker`."""
    del transactional_db
    return servers.environment(cluster.database_in_use())


@pytest.fixture
def connect_as(servers: TestServers, transactional_db: None) -> Iterator[Callable[[str], psycopg.Connection]]:
    """Plain SQL on this test's own database: `connect_as("app")`, or "ingest", "owner", "superuser"; autocommit."""
    del transactional_db
    opened: list[psycopg.Connection] = []

    def connect(role: str) -> psycopg.Connection:
        database = cluster.database_in_use()
        url = (
            servers.postgres.dsn(database=database)
            if role == "superuser"
            else servers.cluster.url(role, database)
        )
        opened.append(psycopg.connect(url, autocommit=True))
        return opened[-1]

    yield connect
    for connection in opened:
        connection.close()
