"""Real `adk api_server` processes for tests: started, killed with -9, started again on the same port and database."""

import itertools
import json
import os
import secrets
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from dashboard.demo.adk import database
from dashboard.demo.adk.served.reference.requests import Book, Request
from dashboard.demo.adk.service import HERE, Service
from dashboard.embedded.postgres import free_port
from dashboard.embedded.processes import Child, Processes
from tests.cluster import TestServers
from tests.real.adk.client import Client, Conversation

_numbers = itertools.count(1)


class Reference:
    """One reference service: `reader_url` is what an observer is given, `book` what the model was asked."""

    def __init__(self, version: str, service: Service, access: database.Access, logs: Path) -> None:
        self.version = version
        self.service = service
        self.reader_url = access.reader_url
        self._owner_url = access.service_url
        self._processes = Processes(logs)
        self._child: Child | None = None
        self.client = Client(self.url)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.service.port}"

    def start(self) -> None:
        """Start it, also again: port, database and files stay the same."""
        self._child = self.service.start(self._processes)

    def make_sure_it_runs(self) -> None:
        """Start it again where an earlier test killed it."""
        if self._child is None or not self._child.alive:
            self._processes.children.clear()
            self.start()

    def kill(self) -> None:
        """kill -9."""
        assert self._child is not None
        os.killpg(self._child.process.pid, signal.SIGKILL)
        self._processes.forget(self._child)

    def stop(self) -> None:
        self._processes.stop_all()

    def new_session(self, *args: Any, **named: Any) -> Conversation:
        return self.client.new_session(*args, **named)

    def asked(self, conversation: Conversation) -> list[Request]:
        """The requests to the model for this conversation's user, in all of their sessions."""
        return [one for one in Book(self.service.book).all() if one.user == conversation.user]

    def rows(self, conversation: Conversation) -> list[dict[str, Any]]:
        """The `event_data` of the session's rows, oldest first."""
        where = (conversation.app, conversation.user, conversation.session)
        found = self.sql(
            "select event_data from events where (app_name, user_id, session_id) = (%s, %s, %s) order by timestamp",
            *where,
        )
        return [row["event_data"] for row in found]

    def edit(self, event_id: str, **changes: Any) -> None:
        """Change fields of one row in place, behind everybody's back."""
        self.sql(
            "update events set event_data = event_data || %s where id = %s", json.dumps(changes), event_id
        )

    def sql(self, statement: str, *values: Any) -> list[dict[str, Any]]:
        """A statement in the service's own database, as its owner."""
        with psycopg.connect(self._owner_url, autocommit=True, row_factory=dict_row) as connection:
            cursor = connection.execute(statement.encode(), values)
            return cursor.fetchall() if cursor.description else []

    def rewind(self, conversation: Conversation, invocation: str) -> None:
        """Rewind a session to before an invocation. ADK offers that to its own Python only."""
        words = [conversation.app, conversation.user, conversation.session, invocation]
        script = Path(__file__).with_name("rewinding.py").read_text()
        done = subprocess.run(
            [self.service.python, "-W", "ignore", "-c", script, *words],
            cwd=HERE,
            env={"PATH": os.environ["PATH"], "URL": self._owner_url, "PYTHONPATH": str(HERE / "apps")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


@contextmanager
def reference(
    version: str, python: Path, servers: TestServers, mail: str, files: Path, *, s3: str = ""
) -> Iterator[Reference]:
    """A running service with a database of its own."""
    passwords = (secrets.token_urlsafe(9), secrets.token_urlsafe(9))
    access = database.make(servers.postgres.dsn(), passwords, name=f"adk_{next(_numbers)}")
    files.mkdir(parents=True, exist_ok=True)
    service = Service(python, free_port(), access.service_url, mail, files, s3)
    running = Reference(version, service, access, files)
    try:
        running.start()
        yield running
    finally:
        running.stop()
