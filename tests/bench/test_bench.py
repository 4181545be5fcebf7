"""`manage.py bench`: each measures, says so in one object, and leaves nothing behind. No figure is judged here."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings

from dashboard.bench import send
from dashboard.bench.telling import Teller
from tests.up import OURS, reachable_folder

KEYS = {
    "adk": {"first_read_events_per_s", "poll_s", "stream_overhead"},
    "queue": {"p95_ms", "ratio", "worst", "queries"},
    "ingest": {"single_per_s", "batch_per_s", "of_copy"},
    "decide": {"p95_ms"},
    "send": {
        *("of_limit_1", "of_limit_4", "vs_post_office", "ours_per_s", "limit_per_s"),
        *("peak_mb", "peak_mb_million"),
    },
    "import": {"rows_per_s", "of_copy", "peak_mb"},
    "log": {
        *("of_unchained_one", "of_unchained_eight", "verify_per_s"),
        *("rls_ratio_queue", "rls_ratio_search"),
    },
}


@contextmanager
def bench(*words: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A `manage.py bench`, with its temporary folders in `folder`; told to end where the test has."""
    plain = {name: value for name, value in os.environ.items() if name not in OURS}
    command = [sys.executable, settings.BASE_DIR / "manage.py", "bench", *words]
    env = {**plain, "TMPDIR": str(folder)}
    with subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        try:
            yield running
        finally:
            running.terminate()


def wait_for(what: str, process: subprocess.Popen[str]) -> None:
    """Read what it says until it says this."""
    assert process.stderr is not None
    assert any(what in line for line in process.stderr), "it never said so"


def working_in(folder: Path) -> list[str]:
    """The command lines that name the folder."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(file.read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return [words for words in found if str(folder) in words]


@pytest.mark.real
@pytest.mark.parametrize("name", KEYS)
def test_prints_one_object_with_its_keys_and_leaves_nothing_behind(name):
    with reachable_folder() as folder, bench(name, "--json", "--scale", "0.001", folder=folder) as running:
        said, progress = running.communicate(timeout=600)
        assert running.returncode == 0, progress
        found = json.loads(said)
        assert KEYS[name] <= found.keys()
        assert (found["bench"], found["scale"]) == (name, 0.001)
        assert all(goal["met"] is None for goal in found["goals"].values())
        assert "Starting" in progress
        assert list(folder.iterdir()) == []


@pytest.mark.real
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_half_way_it_leaves_nothing_behind(number):
    with reachable_folder() as folder, bench("decide", folder=folder) as running:
        wait_for("Making", running)
        assert working_in(folder)
        running.send_signal(number)
        assert running.wait(60) == 130
        assert list(folder.iterdir()) == []
        end = time.monotonic() + 10
        while working_in(folder):
            assert time.monotonic() < end, working_in(folder)
            time.sleep(0.1)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["queue", "--scale", "0"], "--scale is a number from 0.001 to 1, not '0'."),
        (["queue", "--scale", "fast"], "--scale is a number from 0.001 to 1, not 'fast'."),
        (["nothing"], "argument name: invalid choice: 'nothing'"),
    ],
)
def test_what_it_cannot_do_it_says_in_one_sentence(words, sentence, tmp_path):
    with bench(*words, folder=tmp_path) as running:
        said, refused = running.communicate(timeout=60)
    assert (running.returncode, said) == (1, "")
    assert refused.startswith(sentence), refused
    assert refused.count("\n") == 1


def test_without_a_server_that_throws_mail_away_sending_is_skipped_and_says_what_to_install(
    monkeypatch, capsys
):
    monkeypatch.setattr(send.shutil, "which", lambda *_, **__: None)
    found = send.run(Teller(), 0.01)
    assert set(found) >= KEYS["send"]
    assert {found[key] for key in KEYS["send"]} == {None}
    assert "apt-get install postfix" in found["skipped"]
