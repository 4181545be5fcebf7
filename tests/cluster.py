"""The servers of a test run: one Postgres and one Valkey a session, and a database for each test that asks.

The same code as behind `up` makes them. Owner migrates a template database once; what a test meets is a copy of
it, entered as app and as ingest, so grants, policies and triggers hold in tests as they do in production.
"""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db import connections

from dashboard.embedded.cluster import Cluster, Passwords
from dashboard.embedded.home import Home
from dashboard.embedded.postgres import Postgres
from dashboard.embedded.processes import Processes
from dashboard.embedded.valkey import Valkey

ROOM = 2 * 1024**3  # bytes
TEMPLATE, ROLLBACK = "template", "rollback"


class TestServers:
    """Postgres (and Valkey once somebody asks) in a temporary folder, with the migrated template."""

    __test__ = False

    def __init__(self, folder: Path, *, fast: bool = True) -> None:
        self.home = Home.open(folder)
        logs = folder / "log"
        logs.mkdir()
        self.processes = Processes(logs)
        self.postgres = Postgres(self.home, self.processes, "superuser-of-tests", fast=fast)
        self.cluster = Cluster(self.postgres, Passwords("owner-of-tests", "app-of-tests", "ingest-of-tests"))
        self._numbers = itertools.count(1)

    def start(self) -> None:
        """Start Postgres, make the roles and the migrated template."""
        self.postgres.create()
        self.postgres.start()
        self.cluster.create_roles()
        self.cluster.create_database(TEMPLATE)
        self.migrate(TEMPLATE)
        self.cluster.create_database(ROLLBACK, template=TEMPLATE)

    def migrate(self, database: str) -> None:
        """Run `manage.py migrate` on a database, as `up` does: in a process of its own, as owner."""
        done = subprocess.run(
            [sys.executable, settings.BASE_DIR / "manage.py", "migrate", "--verbosity=0"],
            env=self.environment(database, owner=True),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"migrating the template failed:\n{done.stdout}{done.stderr}")

    def environment(self, database: str, *, owner: bool = False) -> dict[str, str]:
        """The environment of a process of ours on one database; with `owner`, of the one that migrates."""
        urls = self.cluster.urls(database)
        if not owner:
            urls["OWNER_DATABASE_URL"] = ""
        return {**os.environ, "DJANGO_SETTINGS_MODULE": "dashboard.settings", **urls}

    def new_database(self) -> str:
        """Copy the template; the name of the copy."""
        name = f"test_{next(self._numbers)}"
        self.cluster.create_database(name, template=TEMPLATE)
        return name

    def stop(self) -> None:
        """Stop everything."""
        self.processes.stop_all()


@contextmanager
def running(*, fast: bool = True) -> Iterator[TestServers]:
    """Servers for a session, gone afterwards; without `fast` they write to the disk as in production."""
    folder = Path(tempfile.mkdtemp(prefix="secondlook-tests-", dir=_memory() if fast else None))
    folder.chmod(0o711)  # root's Postgres runs as somebody else
    servers = TestServers(folder, fast=fast)
    try:
        servers.start()
        yield servers
    finally:
        servers.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _memory() -> str | None:
    """A folder in memory where there is one with room: most of a test run is copying databases."""
    shared = Path("/dev/shm")
    roomy = shared.is_dir() and shutil.disk_usage(shared).free > ROOM and os.access(shared, os.W_OK | os.X_OK)
    return str(shared) if roomy else None


@contextmanager
def running_broker(servers: TestServers) -> Iterator[Valkey]:
    """A Valkey beside the session's Postgres."""
    valkey = Valkey(servers.home, servers.processes, "broker-of-tests")
    child = valkey.wait(valkey.start())
    try:
        yield valkey
    finally:
        servers.processes.stop(child)


def point_at(servers: TestServers, database: str) -> None:
    """Make every alias, in every thread that connects from now on, use one database."""
    servers.cluster.point_django_at(database)


def database_in_use() -> str:
    """The database that the aliases use now."""
    return str(connections["default"].settings_dict["NAME"])
