"""`manage.py demo adk` beside a real `up`: from nothing to a first message, and what becomes of it at the end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings

from dashboard.demo.adk import environment, service
from dashboard.embedded.postgres import free_port
from tests.real.adk.client import Client, called
from tests.real.adk.conftest import VERSIONS, environments
from tests.up import Up, reachable_folder

pytestmark = pytest.mark.real
PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def up() -> Iterator[Up]:
    with reachable_folder() as folder:
        up = Up(folder / "data")
        try:
            up.wait_for_pages()
            yield up
        finally:
            up.stop()


def start(up: Up, port: int) -> subprocess.Popen[str]:
    words = ["demo", "adk", "--version", VERSIONS[0], "--port", str(port), "--data", up.data]
    plain = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.Popen(
        [sys.executable, settings.BASE_DIR / "manage.py", *words],
        env=plain | {environment.VARIABLE: str(environments())},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    )


def wait_until(ready: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not ready():
        assert time.monotonic() < end
        time.sleep(0.05)


def command_lines_below(pid: int) -> list[str]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [Path(f"/proc/{child}/cmdline").read_text() for child in children]


def test_it_answers_really_sends_and_ends_when_told(adk_environments: dict[str, Path], up: Up) -> None:
    port = free_port()
    with start(up, port) as demo:
        wait_until(lambda: service.apps(port) is not None)

        frames = Client(f"http://127.0.0.1:{port}").new_session().send("rate_after")
        shown = command_lines_below(demo.pid)
        demo.send_signal(signal.SIGTERM)
        said = demo.communicate(timeout=PATIENCE_S)[0]

    assert called(frames) == ["lookup_customer", "send_email"]
    assert len(list((up.data / "mail").glob("*.eml"))) == 1
    assert f"--kind adk \\\n    --base-url http://127.0.0.1:{port}" in said
    assert demo.returncode == 0
    assert "reference.inside.serve" in str(shown)
    assert "postgres" not in str(shown)  # no URL with a password where everybody may look
    assert service.apps(port) is None


def test_the_service_ends_with_a_killed_command(adk_environments: dict[str, Path], up: Up) -> None:
    port = free_port()
    with start(up, port) as demo:
        wait_until(lambda: service.apps(port) is not None)

        demo.kill()

        wait_until(lambda: service.apps(port) is None)
