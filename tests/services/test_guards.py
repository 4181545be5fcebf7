"""Each guard, broken the way an owner or an administrator could break it, is named by the doctor."""

import time
from collections.abc import Callable

import psycopg
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connections
from pytest_django import Settings

from approvals.services import guards
from approvals.services.guards import BrokenGuard
from tests import cluster

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "ingest"])

Superuser = Callable[..., None]


@pytest.fixture
def superuser(connect_as: Callable[[str], psycopg.Connection]) -> Superuser:
    """Runs statements as the administrator of the server, in this test's own database."""
    connection = connect_as("superuser")

    def run(*statements: str) -> None:
        for statement in statements:
            connection.execute(statement.replace("THIS", cluster.database_in_use()))

    return run


def broken() -> dict[str, str]:
    """The guards that do not hold, with what is wrong."""
    for alias in guards.ALIASES:
        connections[alias].close()
    return {guard.guard: guard.detail for guard in guards.examine() if not guard.holds}


def test_everything_holds_in_a_fresh_database() -> None:
    found = guards.examine()
    assert [guard for guard in found if not guard.holds] == []
    assert all(guard.detail == "" for guard in found)
    assert len({guard.guard for guard in found}) == len(found) > 0


def test_trying_leaves_nothing_behind(connect_as: Callable[[str], psycopg.Connection]) -> None:
    guards.examine()
    owner = connect_as("superuser")
    for table in ("workspace", "run", "event", "decision", "payload", "queueitem"):
        assert owner.execute(f"select count(*) from approvals_{table}").fetchone() == (0,)


def test_the_doctor_is_quick() -> None:
    took = []
    for _ in range(5):
        began = time.monotonic()
        guards.examine()
        took.append(time.monotonic() - began)
    assert min(took) < 0.3  # the others waited for whatever else this machine does


# guard: (what breaks it, words of the detail). The first of several statements may be undone by the last.
MUTANTS = {
    "the database was restored somewhere else": (
        "place",
        "update approvals_place set database = database + 1",
        "This database was restored from a backup, copied, or failed over: run `python3 manage.py restored`",
    ),
    "nobody knows where the database lives": (
        "place",
        "delete from approvals_place",
        "run `python3 manage.py migrate`",
    ),
    "triggers are switched off for app": (
        "connections",
        "alter role secondlook_app in database THIS set session_replication_role = replica",
        "session_replication_role 'replica'",
    ),
    "app looks for its tables elsewhere first": (
        "connections",
        "create schema other; grant usage on schema other to secondlook_app;"
        " alter role secondlook_app in database THIS set search_path = other, public",
        "search_path ['other', 'public']",
    ),
    "app has a workspace that nobody bound": (
        "connections",
        "alter role secondlook_app in database THIS set app.workspace_id = '00000000-0000-0000-0000-000000000001'",
        "app.workspace_id or app.subject '00000000",
    ),
    "ingest loses what was committed": (
        "connections",
        "alter role secondlook_ingest in database THIS set synchronous_commit = off",
        "ingest has synchronous_commit off",
    ),
    "app reads old snapshots": (
        "connections",
        "alter role secondlook_app in database THIS set default_transaction_isolation = 'repeatable read'",
        "transaction_isolation 'repeatable read'",
    ),
    "app may make temporary tables": (
        "privileges",
        "grant temporary on database THIS to secondlook_app",
        "app can make temporary tables",
    ),
    "everybody may make temporary tables": (
        "grants",
        "grant temporary on database THIS to public",
        "not expected: database to public: temporary",
    ),
    "ingest may make tables": (
        "privileges",
        "grant create on schema public to secondlook_ingest",
        "ingest can create things in public",
    ),
    "app may make schemas": (
        "privileges",
        "grant create on database THIS to secondlook_app",
        "app can create things in the database",
    ),
    "a migration is missing": (
        "migrations",
        "delete from django_migrations where app = 'approvals' and name = '0007_isolation'",
        "approvals.0007_isolation is not applied",
    ),
    "owner is named by no policy any more": (
        "record (tried)",
        "alter policy workspace on approvals_run to secondlook_app, secondlook_ingest",
        "settle_run does not see run|query returned no rows",
    ),
    "nothing settles": (
        "record (tried)",
        "create or replace function settle_run(of_workspace uuid, of_run uuid) returns void language sql"
        " security definer set search_path = pg_catalog, pg_temp as ''",
        "a run that should be settled as",
    ),
    "every run is taken for an empty one": (
        "record (tried)",
        "create or replace function run_record(of_workspace uuid, of_run uuid, out kind text, out complete boolean,"
        " out why text) language sql stable set search_path = pg_catalog, pg_temp as $$ select 'none', true, 'none' $$",
        "a run that should be settled as",
    ),
    "the log is not chained": (
        "log (tried)",
        "alter table approvals_decision disable trigger decision_chained",
        "It could not be tried|do not make a chain",
    ),
    "a release needs no job": (
        "release (tried)",
        "alter table approvals_decision disable trigger decision_has_its_job",
        "without a job",
    ),
    "a trigger does something else": (
        "bodies",
        "create or replace function refuse_change() returns trigger language plpgsql"
        " set search_path = pg_catalog, pg_temp as $$ begin return new; end $$",
        "refuse_change",
    ),
    "foreign keys are not asked": (
        "triggers",
        "alter table approvals_job disable trigger all",
        "RI_ConstraintTrigger",
    ),
    "what is added goes nowhere": (
        "triggers",
        "create rule swallow as on insert to approvals_event do instead nothing",
        "not expected: approvals_event swallow a rewrite rule",
    ),
    "a table belongs to somebody else": (
        "tables",
        "alter table approvals_event owner to postgres",
        "missing: approvals_event owner=owner rls=forced",
    ),
    "the view looks with its owner's eyes": (
        "tables",
        "alter view approvals_toolcall reset (security_invoker)",
        "approvals_toolcall",
    ),
    "whatever comes is granted": (
        "grants",
        "alter default privileges for role secondlook_owner in schema public grant update on tables to secondlook_app",
        "default privileges to app: update",
    ),
    "a constraint is not enforced for old rows": (
        "constraints",
        "alter table approvals_job drop constraint job_asks_once;"
        " alter table approvals_job add constraint job_asks_once check"
        " (kind <> 'replay' or intent_at is null or status not in ('held','queued')) not valid",
        "NOT VALID",
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_doctor_notices_that(mutant: str, superuser: Superuser) -> None:
    guard, statements, words = MUTANTS[mutant]
    superuser(statements)
    found = broken()
    assert guard in found
    assert any(word in found[guard] for word in words.split("|")), found[guard]


# Roles belong to the whole server, so each is put back.
ROLE_MUTANTS = {
    "app is superuser": ("alter role secondlook_app superuser", "alter role secondlook_app nosuperuser"),
    "app is bypassrls": ("alter role secondlook_app bypassrls", "alter role secondlook_app nobypassrls"),
    "ingest is createrole": (
        "alter role secondlook_ingest createrole",
        "alter role secondlook_ingest nocreaterole",
    ),
    "owner is superuser": (
        "alter role secondlook_owner superuser",
        "alter role secondlook_owner nosuperuser",
    ),
    "sweep is bypassrls": (
        "alter role secondlook_sweep bypassrls",
        "alter role secondlook_sweep nobypassrls",
    ),
    "app is a member of secondlook_owner": (
        "grant secondlook_owner to secondlook_app",
        "revoke secondlook_owner from secondlook_app",
    ),
    "ingest is a member of secondlook_app": (
        "grant secondlook_app to secondlook_ingest",
        "revoke secondlook_app from secondlook_ingest",
    ),
    "app is a member of pg_read_all_data": (
        "grant pg_read_all_data to secondlook_app",
        "revoke pg_read_all_data from secondlook_app",
    ),
    "owner inherits from secondlook_sweep": (
        "grant secondlook_sweep to secondlook_owner with inherit true",
        "grant secondlook_sweep to secondlook_owner with inherit false",
    ),
    "search can log in": ("alter role secondlook_search login", "alter role secondlook_search nologin"),
    "app is INHERIT": ("alter role secondlook_app inherit", "alter role secondlook_app noinherit"),
}


@pytest.mark.parametrize("mutant", ROLE_MUTANTS)
def test_the_doctor_notices_that_a_role(mutant: str, superuser: Superuser) -> None:
    change, back = ROLE_MUTANTS[mutant]
    superuser(change)
    try:
        assert mutant in broken()["roles"]
    finally:
        superuser(back)
    assert broken() == {}


def test_the_doctor_notices_that_app_may_switch_triggers_off(superuser: Superuser) -> None:
    superuser("grant set on parameter session_replication_role to secondlook_app")
    try:
        assert "app can set session_replication_role" in broken()["privileges"]
    finally:
        superuser("revoke set on parameter session_replication_role from secondlook_app")


class TestConnections:
    def test_that_are_those_of_other_roles(self, settings: Settings) -> None:
        settings.ROLE_PREFIX = "other"
        assert "app is connected as secondlook_app" in broken()["connections"]

    def test_that_go_to_two_databases(self, servers: cluster.TestServers) -> None:
        connections["ingest"].settings_dict["NAME"] = cluster.ROLLBACK
        del servers
        assert broken()["connections"] == "app and ingest are connected to different databases"

    @pytest.mark.parametrize("alias", ["default", "ingest"])
    def test_that_lead_nowhere(self, alias: str) -> None:
        connections[alias].settings_dict["PORT"] = "1"
        role = guards.ALIASES[alias]
        assert broken().keys() == {f"database ({role})"}


class TestKeys:
    @pytest.mark.parametrize("key", ["", "short", "x" * 44])
    def test_a_field_key_has_to_be_one(self, key: str, settings: Settings) -> None:
        settings.FIELD_KEY = key
        assert "FIELD_KEY is not set" in broken()["keys"]

    def test_the_secret_key_has_to_be_set(self, settings: Settings) -> None:
        settings.SECRET_KEY = "unset-" + "0" * 44
        assert "SECRET_KEY is not set" in broken()["keys"]


class TestRequire:
    def test_says_nothing_and_keeps_no_connection_where_all_is_well(self) -> None:
        guards.require()
        assert all(connections[alias].connection is None for alias in guards.ALIASES)

    def test_says_in_one_sentence_what_is_wrong(self, superuser: Superuser) -> None:
        superuser("alter table approvals_event disable trigger event_append_only")
        with pytest.raises(BrokenGuard) as error:
            guards.require()
        assert isinstance(error.value, ImproperlyConfigured)
        assert str(error.value).startswith(
            'Secondlook does not start, because the guard "triggers" does not hold: '
        )
        assert "event_append_only" in str(error.value)
        assert "\n" not in str(error.value)
        assert all(connections[alias].connection is None for alias in guards.ALIASES)

    def test_stays_short_where_everything_is_wrong(self, settings: Settings) -> None:
        settings.ROLE_PREFIX = "other"
        with pytest.raises(BrokenGuard) as error:
            guards.require()
        assert len(str(error.value)) < 600


def test_a_guard_that_cannot_be_tried_does_not_hold(superuser: Superuser) -> None:
    superuser("drop function is_releasing(text) cascade")
    assert "It could not be tried" in broken()["release (tried)"]
