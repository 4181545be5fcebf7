"""The embedded Postgres."""

import os
import signal
import socket

import psycopg
import pytest

from dashboard.embedded.home import Home
from dashboard.embedded.postgres import Postgres
from dashboard.embedded.processes import Processes
from dashboard.embedded.trouble import Trouble


@pytest.fixture
def postgres(home: Home, processes: Processes) -> Postgres:
    server = Postgres(home, processes, "a-password", fast=True)
    assert server.create()
    return server


def test_it_keeps_what_was_committed_through_kill_9(postgres: Postgres) -> None:
    child = postgres.start()
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        connection.execute("create table kept as select 7 as seven")
    child.process.send_signal(signal.SIGKILL)
    postgres.processes.forget(child)

    postgres.start()  # at once, while the old server's children still hold its memory
    with psycopg.connect(postgres.dsn()) as connection:
        assert connection.execute("select seven from kept").fetchone() == (7,)


def test_it_comes_back_at_the_port_that_others_were_told(postgres: Postgres) -> None:
    postgres.start()
    before = postgres.port
    postgres.stop()
    postgres.start()
    assert postgres.port == before


@pytest.mark.parametrize("told", ["taken", "", "not a port"])
def test_it_takes_another_port_where_it_cannot(postgres: Postgres, told: str) -> None:
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        port = str(stranger.getsockname()[1])
        (postgres.folder / "port").write_text(port if told == "taken" else told)
        postgres.start()
    assert str(postgres.port) != port


def test_nobody_gets_in_without_the_password(postgres: Postgres) -> None:
    postgres.start()
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(postgres.dsn(password="another"))


def test_a_pid_file_that_names_a_stranger_is_no_obstacle(postgres: Postgres) -> None:
    """After a reboot its number may belong to anybody, here to us."""
    (postgres.cluster / "postmaster.pid").write_text(f"{os.getpid()}\n{postgres.cluster}\n")
    postgres.start()


def test_files_of_another_version_are_a_sentence(postgres: Postgres) -> None:
    (postgres.cluster / "PG_VERSION").write_text("9.6\n")
    with pytest.raises(Trouble, match=r"was made by Postgres 9\.6 and this is Postgres 18"):
        postgres.create()


def test_files_made_half_way_are_made_anew(home: Home, processes: Processes) -> None:
    half = home.folder("postgres") / "half"
    half.mkdir()
    (half / "PG_VERSION").write_text("18\n")
    server = Postgres(home, processes, "a-password", fast=True)
    assert server.create()
    server.start()
    assert not server.create()


def test_a_password_that_does_not_fit_the_files_is_a_sentence(
    postgres: Postgres, home: Home, processes: Processes
) -> None:
    with pytest.raises(Trouble, match="put the old secrets file back"):
        Postgres(home, processes, "another").start()


def test_one_that_cannot_start_says_why(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.embedded.postgres.START_S", 0)
    (postgres.cluster / "postgresql.conf").write_text("nonsense = on\n")
    with pytest.raises(Trouble, match=r"Postgres does not start: .*configuration file"):
        postgres.start()
