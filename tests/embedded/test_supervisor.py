"""`manage.py up` as a person meets it: real processes, real signals."""

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dashboard.embedded.home import Home
from dashboard.embedded.valkey import Valkey
from tests.cluster import TestServers
from tests.up import Up

pytestmark = pytest.mark.real
Start = Callable[..., Up]


@pytest.fixture
def data(folder: Path) -> Path:
    return folder / "data"


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts `up` as often as a test likes; none of them outlives the test."""
    started: list[Up] = []

    def start(data: Path, *words: str, **more: str) -> Up:
        started.append(Up(data, *words, output=f"up-{len(started)}.output", **more))
        return started[-1]

    yield start
    for up in started:
        up.stop()


def the_only_sentence(up: Up) -> str:
    """What a failed `up` said: no traceback, and one line that is no progress."""
    assert up.wait() == 1, up.said
    assert "Traceback" not in up.said, up.said
    assert up.left_running() == []
    (line,) = [line for line in up.said.splitlines() if not line.startswith("[")]
    return line


def test_it_prints_one_address_keeps_its_secrets_and_ctrl_c_stops_everything(
    data: Path, start: Start
) -> None:
    up = start(data)
    address = up.wait_for_pages()
    assert up.said.count("http://") == 1
    assert "Ctrl-C stops everything" in up.said
    assert up.env()["BASE_URL"] == address
    for name in ("env", "secrets"):
        assert (data / name).stat().st_mode & 0o077 == 0

    owner = up.env()["OWNER_DATABASE_URL"]
    for pid in up.left_running():
        told = up.environment_of(pid)
        assert not told.get("OWNER_DATABASE_URL"), "only migrate ever holds the owner's credentials"
        assert owner not in told.values()

    second = start(data)
    assert second.wait() == 1
    assert second.said == (
        f"Another `up` ({address}) uses {data}; stop it first, or choose another folder with --data.\n"
    )
    taken = start(data.with_name("other"), "--empty", "--port", address.rpartition(":")[2])
    assert "is in use; choose another with --port." in the_only_sentence(taken)

    assert up.process.poll() is None
    assert up.stop() == 0
    assert up.left_running() == []
    assert "Traceback" not in up.said


def test_killed_it_leaves_no_orphans_and_the_next_start_finds_everything(data: Path, start: Start) -> None:
    up = start(data)
    up.wait_for_pages()
    before = up.env()
    with up.connect() as connection:
        connection.execute("insert into django_session values ('kept', 'here', now())")
    assert len(up.left_running()) > 6
    up.kill()

    again = start(data)  # at once, while the old processes still end
    again.wait_for_pages()
    with again.connect() as connection:
        kept = connection.execute("select session_data from django_session where session_key = 'kept'")
        assert kept.fetchone() == ("here",)
    for name in ("SECRET_KEY", "FIELD_KEY"):
        assert again.env()[name] == before[name]

    again.kill()
    again.wait_until_nothing_runs()


def test_a_data_folder_that_was_put_back_starts_with_what_was_due_held_back(data: Path, start: Start) -> None:
    up = start(data, "--port", "0")
    up.wait_for_pages()
    assert up.stop() == 0
    restored = start(data, "--port", "0", "--restored")
    restored.wait_for_pages()
    assert "What was due when the copy was made is paused" in restored.said
    with restored.connect("DATABASE_URL") as app, app.transaction():
        [(workspace,)] = app.execute("select workspace_id from all_workspaces()").fetchall()
        app.execute("select set_config('app.workspace_id', %s, true), set_config('app.subject', '', true)",
                    [str(workspace)])  # fmt: skip
        told = app.execute("select count(*) from approvals_decision where kind = 'restored'")
        assert told.fetchone() == (1,)


def test_killed_in_the_middle_of_the_first_start_it_starts_the_next_time(data: Path, start: Start) -> None:
    up = start(data)
    while not (data / "postgres" / "half").exists():
        assert up.process.poll() is None, up.said
    up.kill()
    assert not (data / "postgres" / "cluster").exists()
    start(data).wait_for_pages()


@pytest.mark.parametrize(
    ("name", "words"), [("worker-send", ("celery", "--queues send")), ("postgres", ("bin/postgres",))]
)
def test_a_process_that_dies_is_named_with_its_log(
    data: Path, start: Start, name: str, words: tuple[str, ...]
) -> None:
    up = start(data)
    up.wait_for_pages()
    os.kill(up.pid_of(*words), 9)
    assert up.wait() == 1
    assert "Traceback" not in up.said
    sentence = up.said.splitlines()[-1]
    assert sentence.startswith(f"The {name} process ended by itself (killed by SIGKILL)")
    assert str(data / "log" / f"{name}.log") in sentence
    up.wait_until_nothing_runs()


def test_a_port_that_is_none_is_one_sentence(data: Path, start: Start) -> None:
    up = start(data, "--empty", "--port=seventy")
    assert the_only_sentence(up) == "--port needs a number up to 65535, not 'seventy'."


def test_a_port_that_somebody_else_has_is_one_sentence(data: Path, start: Start) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        sentence = the_only_sentence(start(data, "--empty", "--port", str(port)))
    assert sentence == f"Port {port} is in use; choose another with --port."


def test_the_files_of_another_postgres_are_one_sentence(data: Path, start: Start) -> None:
    cluster = Home.open(data).folder("postgres") / "cluster"
    cluster.mkdir()
    (cluster / "PG_VERSION").write_text("14\n")
    sentence = the_only_sentence(start(data))
    assert sentence.startswith(f"{data} was made by Postgres 14 and this is Postgres ")


def test_a_database_of_ones_own_needs_all_three_urls(data: Path, start: Start) -> None:
    up = start(data, env={"DATABASE_URL": "postgres://app@127.0.0.1:1/x"})
    sentence = the_only_sentence(up)
    assert sentence.startswith("The environment lacks INGEST_DATABASE_URL and OWNER_DATABASE_URL;")


def test_a_database_of_ones_own_that_does_not_answer_is_one_sentence(data: Path, start: Start) -> None:
    names = ("DATABASE_URL", "INGEST_DATABASE_URL", "OWNER_DATABASE_URL")
    up = start(data, env=dict.fromkeys(names, "postgres://app@127.0.0.1:1/x"))
    assert the_only_sentence(up).startswith("The tables could not be brought up to date")


def test_servers_of_ones_own_are_used_and_stay_so_after_a_restart(
    data: Path, start: Start, servers: TestServers, broker: Valkey
) -> None:
    """The env file that `up` writes must not make the next one believe that they are its own."""
    urls = servers.cluster.urls(servers.new_database())
    named = {**urls, "REDIS_URL": broker.url, "EMAIL_URL": "smtp://127.0.0.1:1"}
    for _ in range(2):
        up = start(data, env=named)
        up.wait_for_pages()
        assert not (data / "postgres").exists()
        assert named.items() <= up.env().items()
        assert "MAIL_CATCHER_DIR" not in up.env()
        assert up.stop() == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_a_full_disk_is_one_sentence(folder: Path, start: Start) -> None:
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "none", folder], check=False)
    if mounted.returncode:
        pytest.skip("this root may not mount either")
    try:
        sentence = the_only_sentence(start(folder / "data"))
        assert "has only" in sentence
        assert "free some and start again" in sentence
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_folder_that_is_none_is_one_sentence(folder: Path, start: Start) -> None:
    (folder / "file").write_text("")
    sentence = the_only_sentence(start(folder / "file"))
    assert sentence.startswith(f"{folder / 'file'} cannot be used")


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's servers run as that user")
def test_roots_servers_that_cannot_enter_the_folder_keep_their_files_elsewhere(
    folder: Path, start: Start
) -> None:
    folder.chmod(0o700)
    up = start(folder / "data")
    up.wait_for_pages()
    elsewhere = Home.open(folder / "data").servers
    try:
        assert elsewhere.parent == Path("/var/tmp")
        assert str(elsewhere) in up.said
        assert Path(f"/proc/{up.pid_of('bin/postgres')}").stat().st_uid != 0
        assert up.stop() == 0
    finally:
        up.stop()
        shutil.rmtree(elsewhere)
