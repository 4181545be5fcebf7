"""What no transaction can try: to sign in, and to make a database."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import pytest

from approvals.selectors.ground import ROLES
from approvals.selectors.roles import READERS
from tests.attacks.matrix.arena import Arena
from tests.attacks.matrix.guards import named

READS = {"sweep": "select id from approvals_run", "search": "select word from approvals_itemword"}
PASSWORD = "known-to-eve"


@contextmanager
def changed(arena: Arena, change: str, back: str) -> Iterator[psycopg.Connection]:
    """The server with a role changed, which is put back."""
    with psycopg.connect(arena.servers.postgres.dsn(database=arena.database), autocommit=True) as superuser:
        superuser.execute(change)
        try:
            yield superuser
        finally:
            superuser.execute(back)


def refusal(attack: Callable[[], object]) -> str:
    with pytest.raises(psycopg.Error) as error:
        attack()
    return str(error.value)


@pytest.mark.parametrize("reader", READERS)
def test_nobody_signs_in_as_a_reader(reader: str, arena: Arena) -> None:
    def enter() -> int:
        role = f"secondlook_{reader}"
        url = arena.servers.postgres.dsn(role, PASSWORD, arena.database)
        with psycopg.connect(url) as connection:
            connection.execute(
                "select set_config('app.workspace_id', %s, true), set_config('app.subject', '', true)",
                [str(arena.values["workspace"])],
            )
            return connection.execute(READS[reader]).rowcount

    role = f"secondlook_{reader}"
    with changed(arena, f"alter role {role} password '{PASSWORD}'", f"alter role {role} password null"):
        assert "is not permitted to log in" in refusal(enter)
        with changed(arena, f"alter role {role} login", f"alter role {role} nologin"):
            # The database lets in whom it names, which the readers are not among.
            assert "permission denied for database" in refusal(enter)
            let_in = f"connect on database {arena.database}"
            with changed(arena, f"grant {let_in} to {role}", f"revoke {let_in} from {role}"):
                assert enter() > 2
                assert named(f"{reader} does not log in") in arena.doctor()
                arena.superuser.rollback()
    assert arena.doctor() == ""
    arena.superuser.rollback()


@pytest.mark.parametrize("role", ROLES)
def test_nobody_makes_a_database(role: str, arena: Arena) -> None:
    """As one of them who signs in, or as a reader, whom owner may become."""

    def make() -> None:
        connection = arena.login("owner" if role in READERS else role)
        connection.execute(f"set role secondlook_{role}")
        try:
            connection.execute("create database eve template template0")
        finally:
            connection.execute("reset role")

    assert "permission denied to create database" in refusal(make)
    change = f"alter role secondlook_{role} createdb", f"alter role secondlook_{role} nocreatedb"
    with changed(arena, *change) as superuser:
        make()
        superuser.execute("drop database eve")
        assert named(f"{role} is not createdb") in arena.doctor()
        arena.superuser.rollback()
