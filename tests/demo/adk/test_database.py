"""The reference service's database: one role owns it, one reads, nobody else comes in."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from dashboard.demo.adk import database
from dashboard.demo.adk.database import Access
from dashboard.embedded import envfile, told
from dashboard.embedded.trouble import Trouble
from tests.cluster import ROLLBACK, TestServers

NAME = "adk_of_a_test"


@pytest.fixture
def access(servers: TestServers) -> Iterator[Access]:
    yield database.make(servers.postgres.dsn(), ("of-owner", "of-reader"), name=NAME)
    servers.cluster.drop_database(NAME)


def test_the_reader_reads_what_the_owner_makes_later_and_changes_nothing(access: Access) -> None:
    with psycopg.connect(access.service_url, autocommit=True) as owner:
        owner.execute("create table sessions (id int)")
        owner.execute("insert into sessions values (1)")

    with psycopg.connect(access.reader_url, autocommit=True) as reader:
        assert reader.execute("select id from sessions").fetchall() == [(1,)]
        reader.execute("set default_transaction_read_only = off")
        for attempt in ("delete from sessions", "create table mine (id int)", "create schema mine"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute(attempt)


def test_to_make_it_again_keeps_the_rows_and_takes_new_passwords(
    access: Access, servers: TestServers
) -> None:
    with psycopg.connect(access.service_url, autocommit=True) as owner:
        owner.execute("create table sessions as select 1 as id")

    again = database.make(servers.postgres.dsn(), ("new", "newer"), name=NAME)

    with psycopg.connect(again.reader_url) as reader:
        assert reader.execute("select id from sessions").fetchall() == [(1,)]
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(access.reader_url)


def test_its_roles_and_ours_stay_out_of_each_others_databases(access: Access, servers: TestServers) -> None:
    ours = servers.cluster.url("app", NAME)
    theirs = access.service_url.removesuffix(NAME) + ROLLBACK

    for url in (ours, theirs):
        with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
            psycopg.connect(url)


def test_without_up_the_sentence_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Trouble, match="start that first, or name one with --database-url"):
        database.in_embedded(tmp_path)


def test_an_up_that_does_not_run_any_more_is_said_so(tmp_path: Path) -> None:
    nobody = "postgres://secondlook_app:x@127.0.0.1:1/secondlook"
    envfile.write(tmp_path / "env", {"DATABASE_URL": nobody, told.CHOSEN: "DATABASE_URL"})
    envfile.write(tmp_path / "secrets", {"SUPERUSER_PASSWORD": "x"})

    with pytest.raises(Trouble, match="does not answer; start `up`"):
        database.in_embedded(tmp_path)
