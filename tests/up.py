"""A real `manage.py up` for tests: started, read, stopped, and looked for afterwards."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from django.conf import settings

from dashboard.embedded import envfile, locks

OURS = (
    *(
        "DATABASE_URL",
        "INGEST_DATABASE_URL",
        "OWNER_DATABASE_URL",
        "REDIS_URL",
        "EMAIL_URL",
        "MAIL_CATCHER_DIR",
    ),
    *(
        "SECRET_KEY",
        "FIELD_KEY",
        "BASE_URL",
        "SECONDLOOK_DATA",
        "DJANGO_SETTINGS_MODULE",
        "UP_CHOSE",
        "SECURE",
    ),
)
START_S = 90


@contextmanager
def reachable_folder() -> Iterator[Path]:
    """A temporary folder that everybody can enter, unlike pytest's own: root's servers keep their files in it too."""
    with tempfile.TemporaryDirectory(prefix="secondlook-up-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


class Up:
    """One run of `up` on a data folder, by default on any free port and without the demonstration."""

    def __init__(
        self, data: Path, *words: str, env: dict[str, str] | None = None, output: str = "up.output"
    ) -> None:
        self.data = data
        plain = {name: value for name, value in os.environ.items() if name not in OURS}
        words = words or ("--empty", "--port", "0")
        self.output = data.with_name(output)
        with self.output.open("wb") as printed:
            self.process = subprocess.Popen(
                [sys.executable, settings.BASE_DIR / "manage.py", "up", *words, "--data", data],
                env=plain | (env or {}),
                stdout=printed,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )

    @property
    def said(self) -> str:
        """Everything it printed so far."""
        return self.output.read_text()

    def wait_for_pages(self) -> str:
        """Wait until it prints its address; the address."""
        end = time.monotonic() + START_S
        while time.monotonic() < end:
            found = re.search(r"^Open (http://\S+)/$", self.said, re.MULTILINE)
            if found:
                return found[1]
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(f"`up` did not come up:\n{self.said}{self._logs()}")

    def wait(self, seconds: float = 60) -> int:
        """Wait for its end; its exit code."""
        return self.process.wait(seconds)

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Ask it to end, as Ctrl-C does; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.wait()

    def kill(self) -> None:
        """kill -9 of it alone."""
        self.process.kill()
        self.process.wait()

    def left_running(self) -> list[int]:
        """The processes of this data folder that still live."""
        return [pid for pid in locks.holders(self.data / "children.lock") if pid != self.process.pid]

    def wait_until_nothing_runs(self, seconds: float = 20) -> None:
        """Wait until the last of its processes has ended."""
        end = time.monotonic() + seconds
        while self.left_running():
            assert time.monotonic() < end, f"still running: {self.left_running()}"
            time.sleep(0.05)

    def pid_of(self, *words: str) -> int:
        """The process whose command line holds these words, the oldest if there are several."""
        for pid in sorted(self.left_running()):
            command = Path(f"/proc/{pid}/cmdline").read_bytes().decode().replace("\0", " ")
            if all(word in command for word in words):
                return pid
        raise AssertionError(f"no process runs {words}")

    def environment_of(self, pid: int) -> dict[str, str]:
        """What a process was told."""
        pairs = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
        return dict(pair.split("=", 1) for pair in pairs if "=" in pair)

    def env(self) -> dict[str, str]:
        """What it wrote for other commands."""
        return envfile.read(self.data / "env")

    def connect(self, name: str = "OWNER_DATABASE_URL") -> psycopg.Connection:
        """A connection to its database, by the name of the URL."""
        return psycopg.connect(self.env()[name], autocommit=True)

    def _logs(self) -> str:
        logs = sorted((self.data / "log").glob("*.log")) if (self.data / "log").exists() else []
        return "".join(f"\n--- {log.name}\n{log.read_text(errors='replace')[-1500:]}" for log in logs)
