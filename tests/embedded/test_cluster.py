"""The roles, and who gets into a database."""

from collections.abc import Callable

import psycopg
import pytest
from psycopg import errors

from tests.cluster import TestServers

Connect = Callable[[str], psycopg.Connection]


def rows(connection: psycopg.Connection, query: str) -> list[tuple[object, ...]]:
    return connection.execute(query.encode()).fetchall()


def test_the_roles_that_log_in_inherit_nothing_and_the_others_do_not_log_in(connect_as: Connect) -> None:
    found = rows(
        connect_as("superuser"),
        "select rolname, rolcanlogin, rolinherit, rolsuper or rolbypassrls or rolcreatedb or rolcreaterole"
        " or rolreplication from pg_roles where rolname like 'secondlook%' order by 1",
    )
    assert found == [
        ("secondlook_app", True, False, False),
        ("secondlook_ingest", True, False, False),
        ("secondlook_owner", True, False, False),
        ("secondlook_search", False, True, False),
        ("secondlook_sweep", False, True, False),
    ]


def test_owner_is_a_member_of_the_readers_without_inheriting(connect_as: Connect) -> None:
    found = rows(
        connect_as("superuser"),
        "select roleid::regrole::text, member::regrole::text, inherit_option, set_option from pg_auth_members"
        " where member::regrole::text like 'secondlook%' order by 1",
    )
    assert found == [
        ("secondlook_search", "secondlook_owner", False, True),
        ("secondlook_sweep", "secondlook_owner", False, True),
    ]


def test_making_the_roles_again_mends_what_was_changed(servers: TestServers, connect_as: Connect) -> None:
    superuser = connect_as("superuser")
    superuser.execute("alter role secondlook_owner inherit")
    superuser.execute("grant secondlook_sweep to secondlook_owner with inherit true")
    servers.cluster.create_roles()
    (owner,) = rows(superuser, "select rolinherit from pg_roles where rolname = 'secondlook_owner'")
    (member,) = rows(
        superuser,
        "select bool_or(inherit_option) from pg_auth_members where roleid = 'secondlook_sweep'::regrole",
    )
    assert (owner, member) == ((False,), (False,))


@pytest.mark.parametrize("role", ["app", "ingest"])
@pytest.mark.parametrize(
    "statement", ["create temp table t (a int)", "create table public.t (a int)", "create schema s"]
)
def test_app_and_ingest_create_nothing(connect_as: Connect, role: str, statement: str) -> None:
    with pytest.raises(errors.InsufficientPrivilege):
        connect_as(role).execute(statement.encode())


def test_a_stranger_does_not_get_into_the_database(servers: TestServers, connect_as: Connect) -> None:
    superuser = connect_as("superuser")
    superuser.execute("create role stranger login password 'x'")
    try:
        with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
            psycopg.connect(servers.postgres.dsn("stranger", "x", superuser.info.dbname))
    finally:
        superuser.execute("drop role stranger")
