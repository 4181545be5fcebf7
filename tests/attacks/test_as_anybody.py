"""What neither app nor ingest can do to the server, to the tables as such, or by becoming somebody else."""

import pytest

from tests.attacks.conftest import Try

OWNER = "42501 must be owner of"
TEMP = "42501 permission denied to create temporary tables in database"
SCHEMA = "42501 permission denied for schema public"

ATTACKS = {
    "become owner": ("set role secondlook_owner", '42501 permission denied to set role "secondlook_owner"'),
    "become the reader of all workspaces": (
        "set role secondlook_sweep",
        "42501 permission denied to set role",
    ),
    "become the reader of all texts": (
        "set local role secondlook_search",
        "42501 permission denied to set role",
    ),
    "become the superuser": (
        "set session authorization postgres",
        "42501 permission denied to set session author",
    ),
    "be made a superuser": ("alter role current_user superuser", "42501 permission denied to alter role"),
    "be let past row security": (
        "alter role current_user bypassrls",
        "42501 permission denied to alter role",
    ),
    "be let into owner": ("grant secondlook_owner to current_user", "42501 permission denied to grant role"),
    "make a role": ("create role eve", "42501 permission denied to create role"),
    "switch triggers off for the session": (
        "set session_replication_role = replica",
        '42501 permission denied to set parameter "session_replication_role"',
    ),
    "switch triggers off by a function": (
        "select set_config('session_replication_role', 'replica', true)",
        '42501 permission denied to set parameter "session_replication_role"',
    ),
    "switch row security off": (
        "set local row_security = off",
        "select * from approvals_run",
        '42501 query would be affected by row-level security policy for table "approvals_run"',
    ),
    "disable a trigger": (
        "alter table approvals_event disable trigger all",
        f"{OWNER} table approvals_event",
    ),
    "drop a trigger": ("drop trigger run_born on approvals_run", f"{OWNER} relation approvals_run"),
    "disable row security": (
        "alter table approvals_run disable row level security",
        f"{OWNER} table approvals_run",
    ),
    "unforce row security": (
        "alter table approvals_run no force row level security",
        f"{OWNER} table approvals_run",
    ),
    "open a policy": (
        "create policy all_of_it on approvals_run using (true)",
        f"{OWNER} table approvals_run",
    ),
    "drop a policy": ("drop policy workspace on approvals_run", f"{OWNER} relation approvals_run"),
    "drop a constraint": (
        "alter table approvals_job drop constraint job_target",
        f"{OWNER} table approvals_job",
    ),
    "drop an index": ("drop index run_one_active_per_lineage", f"{OWNER} index run_one_active_per_lineage"),
    "drop a table": ("drop table approvals_decision", f"{OWNER} table approvals_decision"),
    "own a table": ("alter table approvals_event owner to current_user", f"{OWNER} table approvals_event"),
    "rewrite what is added": (
        "create rule r as on insert to approvals_event do instead nothing",
        f"{OWNER} table approvals_event",
    ),
    "add a trigger": (
        "create trigger t before insert on approvals_event for each row execute function refuse_change()",
        "42501 permission denied for table approvals_event",
    ),
    "replace the function that settles": (
        "create or replace function settle_run(of_workspace uuid, of_run uuid) returns void language sql as ''",
        SCHEMA,
    ),
    "change how a function runs": (
        "alter function settle_run(uuid, uuid) security invoker",
        f"{OWNER} function settle_run",
    ),
    "call a trigger's function": (
        "select journal_advanced()",
        "42501 permission denied for function journal_advanced",
    ),
    "shadow a table": ("create temp table approvals_run (id int)", TEMP),
    "shadow a function": (
        "create function pg_temp.sha256(bytea) returns bytea language sql as 'select $1'",
        TEMP,
    ),
    "shadow a view": ("create temp view approvals_toolcall as select 1", TEMP),
    "make a table": ("create table mine (id int)", SCHEMA),
    "make a schema": ("create schema mine", "42501 permission denied for database"),
    "bring an extension": ("create extension hstore", "42501 permission denied to create extension"),
    "publish the journal": ("create publication p", "42501 permission denied for database"),
    "lock everybody out of the log": (
        "lock table approvals_decision in access exclusive mode",
        "42501 permission denied for table approvals_decision",
    ),
    "read the server's files": (
        "select pg_read_file('/etc/passwd')",
        "42501 permission denied for function pg_read",
    ),
    "take in a file": (
        "copy approvals_event from '/etc/passwd'",
        "42501 permission denied to COPY from a file",
    ),
    "run a program": (
        "copy (select 1) to program 'id'",
        "42501 permission denied to COPY to or from an external",
    ),
    "load a library": ("load '/tmp/evil.so'", "42501 access to library"),
    "move a sequence": ("select setval('approvals_event_id_seq', 1)", "42501 permission denied for sequence"),
    "hide it in a block": (
        "do $$ begin update approvals_run set tools_executed = '[]'; end $$",
        "42501 permission denied for table approvals_run",
    ),
    "hide it in a statement that reads": (
        "with gone as (delete from approvals_event returning 1) select * from gone",
        "42501 permission denied for table approvals_event",
    ),
}


@pytest.mark.parametrize("role", ["app", "ingest"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_nobody_is_allowed_to(attack: str, role: str, attempt: Try) -> None:
    *statements, refusal = ATTACKS[attack]
    assert refusal in attempt(role, *statements)


@pytest.mark.parametrize("role", ["app", "ingest"])
def test_giving_oneself_rights_gives_none(role: str, attempt: Try) -> None:
    """Postgres only warns where nothing is granted."""
    said = attempt(
        role,
        "grant update on approvals_run to current_user",
        "update approvals_run set tools_executed = '[]'",
    )
    assert "42501 permission denied for table approvals_run" in said


@pytest.mark.parametrize("role", ["app", "ingest"])
def test_resetting_the_role_changes_nothing(role: str, attempt: Try) -> None:
    said = attempt(role, "reset role", "reset session authorization", "delete from approvals_run")
    assert "42501 permission denied for table approvals_run" in said


def test_functions_find_their_tables_wherever_the_search_path_points(attempt: Try) -> None:
    said = attempt(
        "ingest",
        "set local search_path = pg_temp, information_schema",
        "insert into public.approvals_event (workspace_id, run_id, seq, type, at, outcome)"
        " values (%(workspace)s, %(open_run)s, 1, 'ended', now(), 'completed')",
        "select 1 from public.approvals_run where id = %(open_run)s and status = 'completed' and tools_executed = '[]'",
    )
    assert said == "1 rows"
