"""Two houses on a database of their own, and plain connections to it: nothing of ours stands in an attacker's way."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests import cluster, house
from tests.attacks.trying import tried
from tests.cluster import TestServers
from tests.house import House

Try = Callable[..., str]


@pytest.fixture(scope="session")
def attacked(
    servers: TestServers, django_db_setup: None, django_db_blocker: Any
) -> Iterator[tuple[str, House, House]]:
    """The name of the database and what is in it. No attack leaves anything behind."""
    database = servers.new_database()
    cluster.point_at(servers, database)
    with django_db_blocker.unblock():
        houses = house.build("alpha"), house.build("beta")
    cluster.point_at(servers, cluster.ROLLBACK)
    yield database, *houses
    servers.cluster.drop_database(database)


@pytest.fixture(scope="session")
def attempt(servers: TestServers, attacked: tuple[str, House, House]) -> Iterator[Try]:
    """`attempt("app", statement, ...)`: what Postgres says, in a transaction that is bound to alpha and undone.

    `%(run)s` is a row of alpha, `%(b_run)s` one of beta.
    """
    database, alpha, beta = attacked
    values = alpha.named() | beta.named("b_")
    connections: dict[str, psycopg.Connection] = {}

    def attempt(
        role: str, *statements: str, workspace: UUID | None = alpha.workspace, subject: str = ""
    ) -> str:
        if role not in connections or connections[role].closed:
            connections[role] = psycopg.connect(servers.cluster.url(role, database), autocommit=True)
        try:
            return tried(connections[role], statements, values, workspace=workspace, subject=subject)
        finally:
            connections[role].execute("discard all")

    yield attempt
    for connection in connections.values():
        connection.close()
