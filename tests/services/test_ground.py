"""Every single thing of `sql/ground.txt`, taken away or weakened: the comparison names it.

All of it happens in transactions of the superuser that are rolled back, so it is quick enough to leave nothing out.
"""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connections

from approvals.db.base import DatabaseWrapper
from approvals.selectors.ground import ground_of
from approvals.services import guards
from tests import cluster
from tests.cluster import TestServers

pytestmark = pytest.mark.django_db(transaction=True)

EXPECTED = guards.expected_ground()
ROLE = {name: f"secondlook_{name}" for name in ("owner", "app", "ingest", "sweep", "search")} | {
    "public": "public"
}


@pytest.fixture
def superuser(servers: TestServers) -> Iterator[DatabaseWrapper]:
    """A connection of the superuser in an open transaction."""
    url = urlsplit(servers.postgres.dsn(database=cluster.database_in_use()))
    connection = DatabaseWrapper(
        connections.settings["default"] | {"USER": url.username, "PASSWORD": url.password}, "superuser"
    )
    connection.guarded = False
    connection.set_autocommit(False)
    yield connection
    connection.close()


def noticed(superuser: DatabaseWrapper, section: str, statement: str) -> str:
    """What is said about a section after the statement, which is then undone."""
    with superuser.cursor() as cursor:
        cursor.execute(statement)
    found = {guard.guard: guard for guard in guards.compare(ground_of(superuser, settings.ROLE_PREFIX))}
    superuser.rollback()
    return "" if found[section].holds else found[section].detail


def unnoticed(superuser: DatabaseWrapper, section: str, changes: dict[str, str]) -> list[str]:
    """The statements after which the name they are listed under is not in what is said."""
    return [
        statement for statement, name in changes.items() if name not in noticed(superuser, section, statement)
    ]


def test_the_ground_is_the_one_that_is_written_down(superuser: DatabaseWrapper) -> None:
    assert [
        guard for guard in guards.compare(ground_of(superuser, settings.ROLE_PREFIX)) if not guard.holds
    ] == []


def test_every_table_has_forced_row_security_or_no_workspace(superuser: DatabaseWrapper) -> None:
    with superuser.cursor() as cursor:
        cursor.execute(
            "select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid"
            " where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attname = 'workspace_id'"
        )
        tenants = {row[0] for row in cursor.fetchall()} | {"approvals_workspace"}
    assert {f"{table} owner=owner rls=forced" for table in tenants} == {
        line for line in EXPECTED["tables"] if "rls" in line
    }


def test_every_table(superuser: DatabaseWrapper) -> None:
    tables = [line.split()[0] for line in EXPECTED["tables"] if line.endswith("rls=forced")]
    assert tables
    changes = {f"alter table {table} no force row level security": table for table in tables}
    changes |= {f"alter table {table} disable row level security": table for table in tables}
    changes |= {f"alter table {table} owner to postgres": table for table in tables}
    changes |= {"create table public.one_more (id int)": "one_more"}
    assert unnoticed(superuser, "tables", changes) == []


def test_every_policy(superuser: DatabaseWrapper) -> None:
    policies = [line.split()[:4] for line in EXPECTED["policies"]]
    assert policies
    changes = {}
    for table, name, _, command in policies:
        changes[f"drop policy {name} on {table}"] = f"{table} {name}"
        changes[f"alter policy {name} on {table} to public"] = f"{table} {name}"
        weaken = "with check" if command == "insert" else "using"
        if name != "sweep":
            changes[f"alter policy {name} on {table} {weaken} (true)"] = f"{table} {name}"
    changes["create policy open on approvals_run using (true)"] = "approvals_run open"
    assert unnoticed(superuser, "policies", changes) == []


def test_every_trigger(superuser: DatabaseWrapper) -> None:
    triggers = [line.split()[:2] for line in EXPECTED["triggers"]]
    assert len(triggers) >= 40
    changes = {}
    for table, name in triggers:
        changes[f"drop trigger {name} on {table}"] = f"{table} {name}"
        changes[f"alter table {table} disable trigger {name}"] = f"{table} {name}"
        changes[f"alter table {table} enable replica trigger {name}"] = f"{table} {name}"
    assert unnoticed(superuser, "triggers", changes) == []


def test_a_trigger_that_always_fires_is_as_good(superuser: DatabaseWrapper) -> None:
    always = "alter table approvals_event enable always trigger event_append_only"
    assert noticed(superuser, "triggers", always) == ""


def test_every_constraint_and_unique_index(superuser: DatabaseWrapper) -> None:
    changes = {}
    for line in EXPECTED["constraints"]:
        table, name, kind = line.split()[:3]
        if kind == "CREATE":
            changes[f"drop index {name}"] = name
        else:
            changes[f'alter table {table} drop constraint "{name}" cascade'] = name
    assert len(changes) > 80
    assert unnoticed(superuser, "constraints", changes) == []


def test_every_function(superuser: DatabaseWrapper) -> None:
    functions = [(line.split(" owner=")[0], " definer " in line) for line in EXPECTED["functions"]]
    assert len(functions) > 30
    changes = {}
    for signature, definer in functions:
        inputs = re.sub(r",? ?OUT [a-z ]+", "", signature)
        changes[f"alter function {inputs} security {'invoker' if definer else 'definer'}"] = signature
        changes[f"alter function {inputs} reset search_path"] = signature
        changes[f"alter function {inputs} set search_path = public"] = signature
        changes[f"alter function {inputs} owner to postgres"] = signature
    changes["create function public.one_more() returns int language sql as 'select 1'"] = "one_more"
    assert unnoticed(superuser, "functions", changes) == []


def test_every_body(superuser: DatabaseWrapper) -> None:
    with superuser.cursor() as cursor:
        cursor.execute(
            "select p.proname, pg_get_functiondef(p.oid) from pg_proc p where pronamespace = 'public'::regnamespace"
        )
        definitions = dict(cursor.fetchall())
    assert definitions.keys() == {line.split()[0] for line in EXPECTED["bodies"]}
    changes = {}
    for name, definition in definitions.items():
        head, quote, body = definition.partition("AS $function$")
        changes[f"{head}{quote} /* changed */ {body}"] = name
    assert unnoticed(superuser, "bodies", changes) == []


def test_every_grant(superuser: DatabaseWrapper) -> None:
    changes = {}
    for line in EXPECTED["grants"]:
        thing, _, rest = line.rpartition(" to ")
        grantee, _, _ = rest.partition(":")
        changes[f"revoke all on {_named(thing)} from {ROLE[grantee]}"] = line
    assert len(changes) > 60
    assert unnoticed(superuser, "grants", changes) == []


@pytest.mark.parametrize("role", ["app", "ingest", "public"])
def test_every_table_that_is_opened_a_little(superuser: DatabaseWrapper, role: str) -> None:
    held = {line.rpartition(":")[0]: line for line in EXPECTED["grants"]}
    changes = {}
    for line in EXPECTED["tables"]:
        table = line.removeprefix("sequence ").split()[0]
        for privilege in (
            ("select",) if line.startswith("sequence") else ("truncate", "trigger", "references", "delete")
        ):
            has = re.search(rf"\b{privilege}\b(?! \()", held.get(f"{table} to {role}", ""))
            if not has:
                what = "sequence" if line.startswith("sequence") else "table"
                changes[f"grant {privilege} on {what} {table} to {ROLE[role]}"] = f"{table} to {role}"
    assert unnoticed(superuser, "grants", changes) == []


def test_a_column_that_is_opened(superuser: DatabaseWrapper) -> None:
    changes = {
        "grant update (tools_executed) on approvals_run to secondlook_app": "tools_executed",
        "grant insert (tools_executed) on approvals_run to secondlook_ingest": "tools_executed",
        "grant insert (late) on approvals_event to secondlook_ingest": "late",
        "grant select (body) on approvals_payload to secondlook_sweep": "approvals_payload to sweep",
        "grant select (signing_secret) on approvals_runtime to secondlook_ingest": "signing_secret",
        "grant select on approvals_run to secondlook_app with grant option": "with grant option",
        "grant execute on function token_of(bytea) to public": "token_of(of_digest bytea) to public",
        "grant execute on function settle_run(uuid, uuid) to secondlook_ingest": "to ingest: execute",
    }
    assert unnoticed(superuser, "grants", changes) == []


def test_what_belongs_to_somebody_else_is_none_of_our_business(superuser: DatabaseWrapper) -> None:
    """A backup role may read; an extension may bring functions."""
    assert noticed(superuser, "grants", "create role backup; grant select on approvals_run to backup") == ""


def _named(thing: str) -> str:
    """A thing of the ground as GRANT names it."""
    if thing == "database":
        return f'database "{cluster.database_in_use()}"'
    if thing.startswith("schema "):
        return thing
    if "(" in thing:
        return "function " + re.sub(r",? ?OUT [a-z ]+", "", thing)
    return ("sequence " if thing.endswith("_id_seq") else "table ") + thing
