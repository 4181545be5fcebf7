"""The servers of one benchmark: made by the code behind `up`, in a temporary folder, and thrown away afterwards."""

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

import psycopg
from django.conf import settings
from django.db import connections

from dashboard.embedded import ports, programs
from dashboard.embedded.cluster import DATABASE, Cluster
from dashboard.embedded.home import Home
from dashboard.embedded.postgres import Postgres
from dashboard.embedded.processes import Child, Processes
from dashboard.embedded.told import Secrets
from dashboard.embedded.trouble import MB, Trouble, need_space
from dashboard.embedded.valkey import Valkey

START_S = 60
MIGRATE_S = 120
BASE_URL = "https://secondlook.bench"  # nobody follows a link; sending asks for one that could be followed
# What an administrator would set for a machine of this size. Durability stays as it is shipped.
TUNED = {"shared_buffers": "1GB", "effective_cache_size": "4GB", "max_wal_size": "8GB"}
# For loading millions of rows that are only read afterwards.
LOADING = TUNED | {
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "maintenance_work_mem": "512MB",
    "checkpoint_timeout": "1h",
}


class Servers:
    """A migrated database in a folder of its own; the broker, the pages and the workers once they are asked for.

    `fast` gives up safety against power loss, for a benchmark that only reads.
    """

    def __init__(self, folder: Path, *, fast: bool) -> None:
        self.home = Home.open(folder)
        logs = folder / "log"
        logs.mkdir()
        self.processes = Processes(logs, check=self._check)
        self.secrets = Secrets.of(folder)
        self.postgres = Postgres(
            self.home, self.processes, self.secrets.superuser, fast=fast, settings=LOADING if fast else TUNED
        )
        self.cluster = Cluster(self.postgres, self.secrets.roles, settings.ROLE_PREFIX)
        self.broker_url = ""

    def start(self) -> None:
        """Start Postgres, make roles and tables, and let this process's Django work on them as app and ingest."""
        self.postgres.create()
        self.postgres.start().watched = True
        self.cluster.create_roles()
        self.cluster.create_database()
        code = self.processes.finish(self._ours("migrate", programs.MIGRATE, owner=True), MIGRATE_S)
        if code:
            raise Trouble(f"The tables could not be made; the log is in {self.processes.logs}.")
        self.cluster.point_django_at(DATABASE)
        settings.BASE_URL = BASE_URL
        settings.SECRET_KEY, settings.FIELD_KEY = (self.secrets.keys[k] for k in ("SECRET_KEY", "FIELD_KEY"))

    def superuser(self, database: str = DATABASE) -> psycopg.Connection:
        """A connection that no policy binds; autocommit."""
        return psycopg.connect(self.postgres.dsn(database=database), autocommit=True)

    def app(self) -> psycopg.Connection:
        """A plain connection as app; autocommit."""
        return psycopg.connect(self.cluster.url("app"), autocommit=True)

    def start_web(self) -> int:
        """Serve the pages and the machine API as `up` does; the port."""
        listening = ports.listen(0)
        port: int = listening.getsockname()[1]
        with listening:
            self._ours("web", programs.web(listening.fileno()), listening.fileno()).watched = True
        self.processes.wait_until(lambda: ports.answers(port), "the pages to answer", START_S)
        return port

    def start_beside(self, name: str, module: str) -> int:
        """Run a module of ours that serves on the socket it is handed; the port."""
        listening = ports.listen(0)
        port: int = listening.getsockname()[1]
        with listening:
            self._ours(name, ["-m", module, str(listening.fileno())], listening.fileno()).watched = True
        self.processes.wait_until(lambda: ports.answers(port), "it to answer", START_S)
        return port

    def start_workers(self) -> None:
        """Start broker, dispatcher and the worker of replays."""
        valkey = Valkey(self.home, self.processes, self.secrets.broker)
        valkey.wait(valkey.start()).watched = True
        self.broker_url = valkey.url
        self._ours("dispatch", programs.DISPATCH).watched = True
        self._ours("worker-replay", programs.worker("replay")).watched = True

    def stop(self) -> None:
        """Stop everything; our own connections first, for which Postgres would wait."""
        self.disconnect()
        self.processes.stop_all()

    def disconnect(self) -> None:
        """Close what this process's Django has open, for somebody who needs the database for himself."""
        connections.close_all()

    def environ(self, *, owner: bool = False) -> dict[str, str]:
        """What one of our processes finds in its environment."""
        urls = self.cluster.urls()
        if not owner:
            urls["OWNER_DATABASE_URL"] = ""
        return {
            **os.environ,
            **urls,
            **self.secrets.keys,
            "REDIS_URL": self.broker_url or "redis://127.0.0.1:1/0",
            "EMAIL_URL": "smtp://127.0.0.1:1",
            "MAIL_CATCHER_DIR": "",
            "BASE_URL": BASE_URL,
            "SECONDLOOK_DATA": str(self.home.data),
            "DJANGO_SETTINGS_MODULE": "dashboard.settings",
        }

    def _ours(self, name: str, command: Sequence[str], *fds: int, owner: bool = False) -> Child:
        words = [sys.executable, *command]
        return self.processes.start(
            name, words, env=self.environ(owner=owner), cwd=settings.BASE_DIR, fds=fds
        )

    def _check(self) -> None:
        if dead := self.processes.first_dead():
            raise Trouble(f"The {dead.name} process ended by itself ({dead.ending()}): {dead.last_words()}")


@contextmanager
def running(*, fast: bool = False, need_mb: int = 1_000) -> Iterator[Servers]:
    """Servers for one benchmark, gone afterwards, also on Ctrl-C or when told to end."""
    folder = Path(tempfile.mkdtemp(prefix="secondlook-bench-"))
    folder.chmod(0o711)  # root's Postgres runs as somebody else
    # Asked for by name: where a shell starts something in the background, Ctrl-C is ignored otherwise.
    ends = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, _interrupt) for number in ends}
    servers = None
    try:
        need_space(folder, need_mb * MB)
        servers = Servers(folder, fast=fast)
        servers.start()
        yield servers
    finally:
        # A second one must not leave half of it behind.
        for number in ends:
            signal.signal(number, signal.SIG_IGN)
        if servers is not None:
            servers.stop()
            shutil.rmtree(servers.home.servers, ignore_errors=True)  # elsewhere, if they could not enter ours
        shutil.rmtree(folder, ignore_errors=True)
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    del number, frame
    raise KeyboardInterrupt
