"""A database as ADK 2.13 lays it out, on the servers of the tests, with rows of real runs."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from approvals.rules.observed import SessionKey
from tests.cluster import TestServers
from tests.connectors.adk.samples import FOLDER

READER, PASSWORD = "adk_reader", "pw-of-the-reader"
SCHEMA = """
create table sessions (
  app_name varchar(128) not null, user_id varchar(128) not null, id varchar(128) not null,
  state jsonb not null, create_time timestamp not null, update_time timestamp not null,
  primary key (app_name, user_id, id));
create table events (
  id varchar(128) not null, app_name varchar(128) not null, user_id varchar(128) not null,
  session_id varchar(128) not null, invocation_id varchar(256) not null, "timestamp" timestamp not null,
  event_data jsonb,
  primary key (id, app_name, user_id, session_id),
  foreign key (app_name, user_id, session_id) references sessions (app_name, user_id, id) on delete cascade);
create index idx_events_app_user_session_ts_id
  on events (app_name, user_id, session_id, "timestamp" desc, id desc);
"""


class AdkDatabase:
    """One database: `run` writes to it as its owner does, `url` is how a reader of it signs in."""

    def __init__(self, servers: TestServers, name: str, owner: psycopg.Connection[Any]) -> None:
        self.url = servers.postgres.dsn(READER, PASSWORD, name)
        self.name, self._owner = name, owner

    def run(self, statement: str, values: list[object] | None = None) -> None:
        """One statement of whoever owns the database."""
        self._owner.execute(statement.encode(), values)

    def lay_out(self) -> None:
        """Make the tables, and let the reader read them."""
        self.run(SCHEMA)
        self.run(f"grant select on sessions, events to {READER}")

    def add(self, name: str) -> SessionKey:
        """Add the session of a sample with its rows, updated when its last row was."""
        rows = [json.loads(line) for line in (FOLDER / f"db_{name}.jsonl").read_text().splitlines()]
        key = SessionKey(rows[0]["app_name"], rows[0]["user_id"], rows[0]["session_id"])
        self.add_session(key, datetime.fromisoformat(rows[-1]["timestamp"]))
        for row in reversed(rows):  # as stored, in no order
            self.add_event(
                key,
                row["id"],
                datetime.fromisoformat(row["timestamp"]),
                row["event_data"],
                row["invocation_id"],
            )
        return key

    def add_session(self, key: SessionKey, updated_at: datetime) -> None:
        """Add a session without rows."""
        self.run(
            "insert into sessions values (%s, %s, %s, '{}', %s, %s)",
            [key.app, key.user, key.id, updated_at - timedelta(minutes=1), updated_at],
        )

    def add_event(
        self, key: SessionKey, event_id: str, at: datetime, data: object, invocation_id: str = "e-1"
    ) -> None:
        """Add one row; `data` is its event_data, None for NULL."""
        self.run(
            "insert into events values (%s, %s, %s, %s, %s, %s, %s)",
            [event_id, key.app, key.user, key.id, invocation_id, at, None if data is None else Jsonb(data)],
        )


@contextmanager
def adk_database(servers: TestServers, name: str) -> Iterator[AdkDatabase]:
    """An empty database of that name, and a role that may sign in to it; gone afterwards."""
    with psycopg.connect(servers.postgres.dsn(), autocommit=True) as superuser:
        superuser.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        superuser.execute(
            sql.SQL("create role {} login password {}").format(sql.Identifier(READER), sql.Literal(PASSWORD))
        )
        try:
            with psycopg.connect(servers.postgres.dsn(database=name), autocommit=True) as owner:
                yield AdkDatabase(servers, name, owner)
        finally:
            superuser.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))
            superuser.execute(sql.SQL("drop role {}").format(sql.Identifier(READER)))
