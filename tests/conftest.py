"""Fixtures for every test. How a test meets the database:

- `django_db`: one database for all, everything rolled back at the end. Fast; `default` (app) only.
- `django_db(transaction=True)`, or with more than one alias: a database of its own, dropped afterwards. The journal
  and the decision log refuse to be emptied, so nothing is ever flushed.
"""

import os
from collections.abc import Iterator

import pytest
from django.conf import settings as django_settings
from django.test import TransactionTestCase

from dashboard.embedded.valkey import Valkey
from tests import cluster
from tests.cluster import TestServers


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Two aliases are two transactions, which never see each other's open work: such a test gets its own database."""
    for item in items:
        mark = item.get_closest_marker("django_db")
        if mark and mark.kwargs.get("databases") not in (None, ["default"]) and not mark.kwargs.get("transaction"):
            item.add_marker(pytest.mark.django_db(**{**mark.kwargs, "transaction": True}), append=False)


@pytest.fixture(scope="session")
def servers() -> Iterator[TestServers]:
    """Postgres with the migrated template, for the session."""
    with cluster.running() as servers:
        yield servers


@pytest.fixture(scope="session")
def django_db_setup(servers: TestServers, django_test_environment: None, django_db_blocker: object) -> Iterator[None]:
    """Stands in for pytest-django's own: app may neither create databases nor empty tables."""
    del django_test_environment, django_db_blocker

    def enter(cls: type[TransactionTestCase]) -> None:
        del cls
        cluster.point_at(servers, servers.new_database())

    def leave(self: TransactionTestCase) -> None:
        del self
        used = cluster.database_in_use()
        cluster.point_at(servers, cluster.ROLLBACK)
        servers.cluster.drop_database(used)

    with pytest.MonkeyPatch.context() as patch:
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


@pytest.fixture(autouse=True, scope="session")
def fast_passwords() -> Iterator[None]:
    """A password is hashed in microseconds: tests make many people."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(django_settings, "PASSWORD_HASHERS", ["django.contrib.auth.hashers.MD5PasswordHasher"])
        yield


assert os.environ["SECONDLOOK_DATA"].startswith("/nonexistent"), "tests.environment was not loaded"
