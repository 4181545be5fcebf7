"""`manage.py up` as a person meets it: real processes, real signals."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dashboard.embedded.home import Home
from tests.up import Up

pytestmark = pytest.mark.real


@pytest.fixture
def data() -> Iterator[Path]:
    """A data folder that everybody could reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="secondlook-up-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder) / "data"


@contextmanager
def running(data: Path, *words: str) -> Iterator[Up]:
    up = Up(data, *words)
    try:
        yield up
    finally:
        up.stop()


def the_only_sentence(up: Up) -> str:
    """What a failed `up` said: no traceback, and one line that is no progress."""
    assert up.wait() == 1, up.said
    assert "Traceback" not in up.said, up.said
    assert up.left_running() == []
    (line,) = [line for line in up.said.splitlines() if not line.startswith("[")]
    return line


def test_it_prints_one_address_and_ctrl_c_stops_everything(data: Path) -> None:
    up = Up(data)
    address = up.wait_for_pages()
    assert up.said.count("http://") == 1
    assert "Ctrl-C stops everything" in up.said
    assert up.env()["BASE_URL"] == address
    assert up.stop() == 0
    assert up.left_running() == []
    assert "Traceback" not in up.said


def test_only_migrate_ever_holds_the_owner(data: Path) -> None:
    with running(data) as up:
        up.wait_for_pages()
        owner = up.env()["OWNER_DATABASE_URL"]
        for pid in up.left_running():
            told = up.environment_of(pid)
            assert not told.get("OWNER_DATABASE_URL"), told
            assert owner not in told.values()


def test_secrets_are_for_their_owner_only_and_survive_a_restart(data: Path) -> None:
    with running(data) as up:
        up.wait_for_pages()
        first = up.env()
    with running(data) as up:
        up.wait_for_pages()
        second = up.env()
    assert first["SECRET_KEY"] == second["SECRET_KEY"]
    assert first["FIELD_KEY"] == second["FIELD_KEY"]
    for name in ("env", "secrets"):
        assert (data / name).stat().st_mode & 0o077 == 0


def test_killed_it_leaves_nothing_and_what_was_committed_is_there_after_the_next_start(data: Path) -> None:
    up = Up(data)
    up.wait_for_pages()
    with up.connect() as connection:
        connection.execute("create table kept (word text)")
        connection.execute("insert into kept values ('here')")
    up.kill()
    with running(data) as again:  # at once, while the old processes still end
        again.wait_for_pages()
        with again.connect() as connection:
            assert connection.execute("select word from kept").fetchone() == ("here",)
    assert up.left_running() == []


def test_killed_it_leaves_no_orphans(data: Path) -> None:
    up = Up(data)
    up.wait_for_pages()
    assert len(up.left_running()) > 6
    up.kill()
    up.wait_until_nothing_runs()


def test_killed_in_the_middle_of_a_first_start_it_starts_the_next_time(data: Path) -> None:
    up = Up(data)
    while not (data / "postgres" / "half").exists():
        assert up.process.poll() is None, up.said
    up.kill()
    assert not (data / "postgres" / "cluster").exists()
    with running(data) as again:
        again.wait_for_pages()


def test_a_second_up_on_the_same_folder_is_told_where_the_first_one_is(data: Path) -> None:
    with running(data) as first:
        address = first.wait_for_pages()
        second = Up(data, output="second.output")
        assert second.wait() == 1
        assert second.said == (
            f"Another `up` ({address}) uses {data}; stop it first, or choose another folder with --data.\n"
        )
        assert first.process.poll() is None


def test_a_port_in_use_is_one_sentence(data: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        up = Up(data, "--empty", "--port", str(port))
        assert the_only_sentence(up) == f"Port {port} is in use; choose another with --port."


@pytest.mark.parametrize("port", ["seventy", "70000", "-1", "8000.5", "\u0668"])
def test_a_port_that_is_none_is_one_sentence(data: Path, port: str) -> None:
    up = Up(data, "--empty", f"--port={port}")
    assert the_only_sentence(up) == f"--port needs a number up to 65535, not {port!r}."


def test_the_files_of_another_postgres_are_one_sentence(data: Path) -> None:
    with running(data) as up:
        up.wait_for_pages()
    (data / "postgres" / "cluster" / "PG_VERSION").write_text("14\n")
    sentence = the_only_sentence(Up(data))
    assert sentence.startswith(f"{data} was made by Postgres 14 and this is Postgres ")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("web", ("gunicorn",)),
        ("worker-send", ("celery", "--queues send")),
        ("dispatch", ("manage.py", "dispatch")),
        ("postgres", ("bin/postgres",)),
        ("valkey", ("valkey-server",)),
        ("catcher", ("catcher",)),
    ],
)
def test_a_process_that_dies_is_named_with_its_log(data: Path, name: str, words: tuple[str, ...]) -> None:
    up = Up(data)
    up.wait_for_pages()
    os.kill(up.pid_of(*words), 9)
    assert up.wait() == 1
    assert "Traceback" not in up.said
    sentence = up.said.splitlines()[-1]
    assert sentence.startswith(f"The {name} process ended by itself (killed by SIGKILL)")
    assert str(data / "log" / f"{name}.log") in sentence
    up.wait_until_nothing_runs()


def test_a_database_of_ones_own_needs_all_three_urls(data: Path) -> None:
    up = Up(data, env={"DATABASE_URL": "postgres://app@127.0.0.1:1/x"})
    assert the_only_sentence(up).startswith(
        "The environment lacks INGEST_DATABASE_URL and OWNER_DATABASE_URL;"
    )


def test_a_database_of_ones_own_that_does_not_answer_is_one_sentence(data: Path) -> None:
    url = "postgres://app@127.0.0.1:1/x"
    names = ("DATABASE_URL", "INGEST_DATABASE_URL", "OWNER_DATABASE_URL")
    up = Up(data, env=dict.fromkeys(names, url))
    assert the_only_sentence(up).startswith("The tables could not be brought up to date")


def test_servers_of_ones_own_are_used_and_stay_so_after_a_restart(data: Path, tmp_path: Path) -> None:
    """The env file that `up` writes must not make the next one believe that its own servers were named."""
    with running(data) as host:
        host.wait_for_pages()
        servers = {
            name: host.env()[name] for name in host.env() if name.endswith("_URL") and name != "BASE_URL"
        }
        for _ in range(2):
            guest = Up(tmp_path / "guest", env=servers)
            guest.wait_for_pages()
            assert not (tmp_path / "guest" / "postgres").exists()
            assert {name: guest.env()[name] for name in servers} == servers
            assert "MAIL_CATCHER_DIR" not in guest.env()
            assert guest.stop() == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "none", disk], check=False)
    if mounted.returncode:
        pytest.skip("this root may not mount either")
    try:
        sentence = the_only_sentence(Up(disk / "data"))
        assert "has only" in sentence
        assert "free some and start again" in sentence
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    sentence = the_only_sentence(Up(tmp_path / "file"))
    assert sentence.startswith(f"{tmp_path / 'file'} cannot be used")


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's servers run as that user")
def test_roots_servers_that_cannot_enter_the_folder_keep_their_files_elsewhere(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    elsewhere = None
    try:
        with running(tmp_path / "data") as up:
            up.wait_for_pages()
            postgres = up.pid_of("bin/postgres")
            assert Path(f"/proc/{postgres}").stat().st_uid != 0
            elsewhere = Home.open(tmp_path / "data").servers
            assert elsewhere.parent == Path("/var/tmp")
            assert str(elsewhere) in up.said
        with running(tmp_path / "data") as again:
            again.wait_for_pages()
            assert "A new database was made" not in again.said
    finally:
        if elsewhere:
            shutil.rmtree(elsewhere)
