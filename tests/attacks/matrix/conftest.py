"""The arena, once for all cases."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests import cluster
from tests.attacks.matrix import arena as arenas
from tests.attacks.matrix.arena import Arena
from tests.cluster import TestServers


@pytest.fixture(scope="session")
def arena(servers: TestServers, django_db_setup: None, django_db_blocker: Any) -> Iterator[Arena]:
    """A database of its own, in which no attack leaves anything behind."""
    database = servers.new_database()
    cluster.point_at(servers, database)
    with django_db_blocker.unblock():
        alpha, beta = arenas.build()
    cluster.point_at(servers, cluster.ROLLBACK)
    with psycopg.connect(servers.postgres.dsn(database=database), autocommit=True) as connection:
        values = arenas.furnish(connection.execute, alpha, beta)
    with django_db_blocker.unblock():
        arena = Arena(servers, database, values)
        yield arena
        arena.close()
    servers.cluster.drop_database(database)
