"""Ways around rather than through: what outlives a transaction, what an error tells, what a condition leaks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import connection, transaction

from approvals.db.binding import bind
from approvals.models import Run
from approvals.services import guards
from tests import house
from tests.attacks.conftest import Try
from tests.attacks.matrix.isolation import READ_BY_APP, TENANTS, theirs
from tests.attacks.matrix.rows import insert
from tests.cluster import TestServers
from tests.house import House

UNBOUND = ("42704 unrecognized configuration parameter", "22P02 invalid input syntax for type uuid")
DENIED = "42501 permission denied"


@contextmanager
def bound(connection: psycopg.Connection[Any], workspace: UUID) -> Iterator[psycopg.Connection[Any]]:
    """A transaction as the backend begins one."""
    with connection.transaction():
        connection.execute(
            "select set_config('app.workspace_id', %s, true), set_config('app.subject', '', true)",
            [str(workspace)],
        )
        yield connection


@pytest.fixture
def signed_in(
    servers: TestServers, attacked: tuple[str, House, House]
) -> Iterator[Callable[[str], psycopg.Connection[Any]]]:
    """A persistent connection, as a pool would hand it from one workspace's request to another's."""
    opened: list[psycopg.Connection[Any]] = []

    def sign_in(role: str) -> psycopg.Connection[Any]:
        url = (
            servers.postgres.dsn(database=attacked[0])
            if role == "superuser"
            else servers.cluster.url(role, attacked[0])
        )
        opened.append(psycopg.connect(url, autocommit=True))
        return opened[-1]

    yield sign_in
    for one in opened:
        one.close()


SignIn = Callable[[str], psycopg.Connection[Any]]


class TestTheBinding:
    @pytest.mark.parametrize("value", ["", "x", "*", "00000000", "' or true --"])
    def test_to_nonsense_is_an_error_in_the_middle_of_a_transaction_too(
        self, value: str, attempt: Try
    ) -> None:
        name = value.replace("'", "''")
        said = attempt(
            "app", "select 1 from approvals_run", f"select set_config('app.workspace_id', '{name}', true)",
            "select 1 from approvals_run",
        )  # fmt: skip
        assert said.startswith(UNBOUND)

    def test_that_is_reset_is_gone(self, attempt: Try) -> None:
        assert attempt("app", "reset app.workspace_id", "select 1 from approvals_run").startswith(UNBOUND)
        assert attempt("app", "reset all", "select 1 from approvals_run").startswith(UNBOUND)

    def test_that_moves_on_leaves_nothing_of_the_first_workspace_to_write_to(self, attempt: Try) -> None:
        move = "select set_config('app.workspace_id', %(b_workspace)s::text, true)"
        assert (
            attempt("app", move, "update approvals_run set status = 'interrupted' where id = %(open_run)s")
            == "0 rows"
        )
        assert "P0002" in attempt("ingest", move, insert("event"))


class TestWhatOutlivesATransaction:
    def test_a_prepared_statement_looks_with_the_eyes_of_each_workspace(
        self, signed_in: SignIn, attacked: tuple[str, House, House]
    ) -> None:
        _, alpha, beta = attacked
        app = signed_in("app")
        app.execute("prepare mine as select distinct workspace_id from approvals_run")
        for turn in range(14):  # from the sixth on Postgres may use one plan for all
            home = (alpha, beta)[turn % 2]
            with bound(app, home.workspace):
                assert app.execute("execute mine").fetchall() == [(home.workspace,)]
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            app.execute("execute mine")

    def test_a_cursor_is_gone(self, signed_in: SignIn, attacked: tuple[str, House, House]) -> None:
        _, alpha, beta = attacked
        app = signed_in("app")
        with bound(app, alpha.workspace):
            app.execute("declare mine cursor for select * from approvals_run")
        with bound(app, beta.workspace), pytest.raises(psycopg.errors.InvalidCursorName):
            app.execute("fetch all from mine")

    @pytest.mark.django_db(transaction=True)
    def test_the_application_opens_none_that_is_held(self) -> None:
        """`with hold` would keep what it read for whoever gets the connection next."""
        home = house.build("alpha")
        with bind(home.workspace), transaction.atomic():
            next(iter(Run.objects.iterator(chunk_size=1)))
        with connection.cursor() as cursor:
            cursor.execute("select name from pg_cursors where is_holdable")
            assert cursor.fetchall() == []


class TestWhatIsTold:
    # what is found out: (the statement, what it is bound to, what Postgres says)
    ERRORS = {
        "a run's id": (
            insert("run", id="%(b_run)s", lineage_id="%(b_run)s", external_id="'other'"),
            "workspace",
            "approvals_run_pkey",
        ),
        "a payload's id": (insert("payload", id="%(b_payload)s"), "workspace", "approvals_payload_pkey"),
        "a workspace's name in the address": (
            insert("workspace", slug="'beta'"),
            "ghost",
            "approvals_workspace_slug_key",
        ),
        "a token": (
            insert("token", digest="sha256(convert_to(%(b_token_text)s, 'UTF8'))"),
            "workspace",
            "approvals_token_digest_key",
        ),
        "a runtime": (
            insert("token", runtime_id="%(b_runtime)s"),
            "workspace",
            "token_runtime_same_workspace",
        ),
        "a row that a check refuses": (insert("event", seq="-1"), "workspace", "event_seq_positive"),
        "a row that a policy refuses": (
            insert("payload", workspace_id="%(b_workspace)s"),
            "workspace",
            "row-level security",
        ),
    }

    @pytest.mark.parametrize("what", ERRORS)
    def test_by_an_error_is_that_there_is_one_and_nothing_in_it(
        self, what: str, signed_in: SignIn, attacked: tuple[str, House, House]
    ) -> None:
        _, alpha, beta = attacked
        values = alpha.named() | beta.named("b_") | {"ghost": uuid4()}
        statement, workspace, words = self.ERRORS[what]
        app = signed_in("app")
        with pytest.raises(psycopg.Error) as error, bound(app, values[workspace]):
            psycopg.ClientCursor(app).execute(statement, values)
        told = f"{error.value.diag.message_primary} {error.value.diag.message_detail or ''}"
        assert words in told
        assert "=(" not in told and "contains" not in told

    def test_by_statistics_is_nothing(self, signed_in: SignIn, attempt: Try) -> None:
        signed_in("superuser").execute("analyze")
        assert attempt("app", "select 1 from pg_stats where tablename = 'approvals_user'") != "0 rows"
        for role in ("app", "ingest"):
            for noun in TENANTS:
                query = f"select 1 from pg_stats where tablename = 'approvals_{noun}'"
                assert attempt(role, query) == "0 rows"
            assert DENIED in attempt(role, "select * from pg_statistic")

    def test_by_a_plan_is_how_many_rows_there_are_and_none_of_them(
        self, signed_in: SignIn, attacked: tuple[str, House, House]
    ) -> None:
        _, alpha, beta = attacked
        app = signed_in("app")
        with bound(app, alpha.workspace):
            plan = app.execute("explain (analyze, verbose, costs, buffers) select * from approvals_run")
            lines = "\n".join(row[0] for row in plan.fetchall())
        assert "Filter" in lines
        assert str(beta.workspace) not in lines and str(beta.run) not in lines

    def test_to_ingest_is_nothing_of_what_app_asks(self, attempt: Try) -> None:
        attempt("app", "select 'a secret of the application'")
        seen = (
            "select 1 from pg_stat_activity where usename <> current_user"
            " and query not in ('', '<insufficient privilege>')"
        )
        assert attempt("ingest", seen) == "0 rows"


class TestAConditionOfAQuery:
    LEAKS = {
        "by dividing": "select 1 from approvals_{0} where 1 / (case when {1} = %(workspace)s then 1 else 0 end) = 1",
        "by casting": "select 1 from approvals_{0} where {1} <> %(workspace)s and {1}::text::integer > 0",
    }

    @pytest.mark.parametrize("noun", READ_BY_APP)
    @pytest.mark.parametrize("how", LEAKS)
    def test_is_never_asked_of_a_foreign_row(self, how: str, noun: str, attempt: Try) -> None:
        """Whatever raises tells what it raised about; the policy is asked before it."""
        key = "id" if noun == "workspace" else "workspace_id"
        assert attempt("app", self.LEAKS[how].format(noun, key)).endswith(" rows")

    def test_in_a_block_tells_of_the_bound_workspace_alone(
        self, signed_in: SignIn, attacked: tuple[str, House, House]
    ) -> None:
        _, alpha, _ = attacked
        app = signed_in("app")
        heard: list[str] = []
        app.add_notice_handler(lambda notice: heard.append(notice.message_primary or ""))
        with bound(app, alpha.workspace):
            app.execute(
                "do $$ declare r record; begin for r in select workspace_id from approvals_run loop"
                " raise notice '%', r.workspace_id; end loop; end $$"
            )
        assert set(heard) == {str(alpha.workspace)}


class TestCopy:
    @pytest.mark.parametrize("noun", READ_BY_APP)
    def test_out_of_a_table_is_of_the_bound_workspace(
        self, noun: str, signed_in: SignIn, attacked: tuple[str, House, House]
    ) -> None:
        _, alpha, beta = attacked
        app = signed_in("app")
        with bound(app, alpha.workspace), app.cursor() as cursor:
            for query in (f"copy approvals_{noun} to stdout", f"copy ({theirs(noun)}) to stdout"):
                statement = psycopg.ClientCursor(app).mogrify(query, alpha.named() if "%(" in query else None)
                with cursor.copy(statement) as out:
                    text = b"".join(out).decode()
                assert str(beta.workspace) not in text
                assert (str(alpha.workspace) in text) == ("(" not in query)

    @pytest.mark.parametrize("role", ["app", "ingest"])
    @pytest.mark.parametrize("noun", TENANTS)
    def test_into_a_table_is_refused(self, noun: str, role: str, attempt: Try) -> None:
        said = attempt(role, f"copy approvals_{noun} from stdin")
        assert said.startswith(("0A000 COPY FROM not supported with row-level security", DENIED))


# role, what is tried: (the statements, what Postgres has to say)
TRICKS = {
    ("app", "overwrite a decision by adding it again"): (
        insert("decision", id="%(dismissal)s") + " on conflict (id) do update set actor_name = 'Eve'",
        f"{DENIED} for table approvals_decision",
    ),
    ("app", "overwrite a payload by adding it again"): (
        insert("payload", id="%(payload)s") + " on conflict (id) do update set body = excluded.body",
        f"{DENIED} for table approvals_payload",
    ),
    ("app", "overwrite a run by adding it again"): (
        insert("run", id="%(run)s") + " on conflict (id) do update set tools_executed = '[]'",
        f"{DENIED} for table approvals_run",
    ),
    ("ingest", "overwrite a run by adding it again"): (
        insert("run", id="%(run)s") + " on conflict (id) do update set agent = 'eve'",
        f"{DENIED} for table approvals_run",
    ),
    ("ingest", "overwrite an event by adding it again"): (
        insert("event", seq="1") + " on conflict (workspace_id, run_id, seq) do update set type = 'heartbeat'",
        f"{DENIED} for table approvals_event",
    ),
    ("ingest", "overwrite a payload by adding it again"): (
        insert("payload", id="%(payload)s") + " on conflict (id) do update set body = '{}'",
        f"{DENIED} for table approvals_payload",
    ),
    ("app", "merge over a decision"): (
        "merge into approvals_decision d using (select 1) one on true when matched then update set actor_name = 'Eve'",
        f"{DENIED} for table approvals_decision",
    ),
    ("ingest", "lock what it reads"): (
        "select id from approvals_run for update",
        f"{DENIED} for table approvals_run",
    ),
    ("app", "lock a foreign run"): ("select id from approvals_run where id = %(b_run)s for update", "0 rows"),
    ("app", "derive the record of a foreign run"): (
        "select 1 from run_record(%(b_workspace)s, %(b_run)s) where kind is not null",
        "0 rows",
    ),
    ("ingest", "guess a foreign payload"): (
        "select 1 from payload_matches(%(b_workspace)s, %(b_run)s, 1, 'x') m where m is not null",
        "0 rows",
    ),
    ("app", "write through the view of calls"): (
        "insert into approvals_callevent (workspace_id) values (%(workspace)s)",
        "55000 cannot insert into view",
    ),
    ("app", "index what it cannot read"): (
        "create index on approvals_run (subject)",
        "42501 must be owner of table approvals_run",
    ),
    ("app", "collect statistics of its own"): (
        "create statistics s on subject, agent from approvals_run",
        "42501 must be owner of table approvals_run",
    ),
    ("app", "inherit from a table"): ("create table mine () inherits (approvals_run)", "42501"),
    ("app", "keep a picture of a table"): ("create materialized view mine as select * from approvals_run", "42501"),
    ("app", "select into a table"): ("select * into mine from approvals_run", "42501"),
    ("app", "take over what owner has"): ("reassign owned by secondlook_owner to current_user", DENIED),
    ("app", "do away with what owner has"): ("drop owned by secondlook_owner", DENIED),
    ("app", "change owner's password"): ("alter role secondlook_owner password 'x'", DENIED),
    ("app", "switch triggers off from the next sign-in on"): (
        "alter role current_user set session_replication_role = replica",
        DENIED,
    ),
    ("app", "bind its sessions from the next sign-in on"): (
        "alter role current_user set app.workspace_id = '00000000-0000-0000-0000-000000000001'",
        f'{DENIED} to set parameter "app.workspace_id"',
    ),
    ("ingest", "bind its sessions from the next sign-in on"): (
        "alter role current_user set app.subject = ''",
        f'{DENIED} to set parameter "app.subject"',
    ),
    ("app", "have the server read its settings again"): ("select pg_reload_conf()", f"{DENIED} for function"),
    ("app", "change the database"): (
        "do $$ begin execute format('alter database %I set row_security = off', current_database()); end $$",
        "42501 must be owner of database",
    ),
    ("app", "bring a file in as a large object"): ("select lo_import('/etc/passwd')", f"{DENIED} for function"),
    ("app", "take a large object out"): ("select lo_export(1, '/tmp/x')", f"{DENIED} for function"),
    ("app", "keep what is written, for a reader elsewhere"): (
        "select pg_create_logical_replication_slot('eve', 'pgoutput')",
        f"{DENIED} to use replication slots|55000",
    ),
    ("app", "read the files of the database"): (
        "select pg_read_binary_file(pg_relation_filepath('approvals_run'))",
        f"{DENIED} for function",
    ),
    ("app", "bring a language"): ("create language plperl", "42501|58P01|0A000"),
    ("app", "reach another database"): ("create server s foreign data wrapper postgres_fdw", "42704|42501"),
}  # fmt: skip


@pytest.mark.parametrize("trick", TRICKS, ids=" would ".join)
def test_a_trick_of(trick: tuple[str, str], attempt: Try) -> None:
    *statements, refusal = TRICKS[trick]
    said = attempt(trick[0], *statements)
    assert any(words in said for words in refusal.split("|")), said


@pytest.mark.parametrize("role", ["app", "ingest"])
def test_giving_up_every_right_opens_nothing(role: str, attempt: Try) -> None:
    """DROP OWNED takes grants away without being the owner; policies stay, and so does what was never granted."""
    for query in ("select 1 from approvals_run", theirs("run"), insert("event")):
        assert DENIED in attempt(role, "drop owned by current_user", query)


def test_ingest_ends_nobody_else_s_connection(attempt: Try) -> None:
    attempt("app", "select 1")
    end = "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'secondlook_app'"
    assert f"{DENIED} to terminate process" in attempt("ingest", end)


DEFAULTS = {
    "search_path": "pg_catalog",
    "synchronous_commit": "off",
    "default_transaction_isolation": "serializable",
}


@pytest.mark.django_db(transaction=True, databases=["default", "ingest"])
@pytest.mark.parametrize("role", ["app", "ingest"])
@pytest.mark.parametrize("setting", DEFAULTS)
def test_a_default_that_a_role_gives_itself_is_told_by_the_doctor(
    role: str, setting: str, connect_as: Callable[[str], psycopg.Connection[Any]]
) -> None:
    """Postgres lets every role choose its own defaults, so nothing helps but to look."""
    connect_as(role).execute(
        f"do $$ begin execute format('alter role current_user in database %I set {setting} = ''{DEFAULTS[setting]}''',"
        " current_database()); end $$"
    )
    found = {guard.guard: guard for guard in guards.examine(probe=False)}
    assert not found["connections"].holds
    assert found["connections"].detail.startswith(f"{role} has ")
