"""The roles and the database inside an embedded Postgres, by the same SQL that an administrator gets."""

from dataclasses import dataclass
from typing import Any

import psycopg
from django.db import connections
from psycopg import sql

from approvals import sql as approvals_sql
from dashboard.embedded.postgres import Postgres

DATABASE = "secondlook"
LOGIN_ROLES = ("owner", "app", "ingest")
ROLE_OF_ALIAS = {"default": "app", "ingest": "ingest"}


@dataclass(frozen=True)
class Passwords:
    """The passwords of the three roles that log in."""

    owner: str
    app: str
    ingest: str

    def of(self, role: str) -> str:
        """The password of `owner`, `app` or `ingest`."""
        return {"owner": self.owner, "app": self.app, "ingest": self.ingest}[role]


@dataclass(frozen=True)
class Cluster:
    """Our roles in one running Postgres."""

    server: Postgres
    passwords: Passwords
    prefix: str = "secondlook"

    def url(self, role: str, database: str = DATABASE) -> str:
        """Where `owner`, `app` or `ingest` reaches a database, password included."""
        return self.server.dsn(f"{self.prefix}_{role}", self.passwords.of(role), database)

    def urls(self, database: str = DATABASE) -> dict[str, str]:
        """The three URLs of a database under the names that the settings read."""
        return {
            "DATABASE_URL": self.url("app", database),
            "INGEST_DATABASE_URL": self.url("ingest", database),
            "OWNER_DATABASE_URL": self.url("owner", database),
        }

    def point_django_at(self, database: str) -> None:
        """Make Django in this process, in every thread that connects from now on, enter a database as our roles."""
        for alias, role in ROLE_OF_ALIAS.items():
            connections[alias].close()
            wanted: dict[str, Any] = {
                "HOST": "127.0.0.1",
                "PORT": str(self.server.port),
                "USER": f"{self.prefix}_{role}",
                "PASSWORD": self.passwords.of(role),
                "NAME": database,
            }
            # The dictionary is the one that connections of other threads are made from.
            connections.settings[alias].update(wanted)
            connections[alias].settings_dict.update(wanted)

    def create_roles(self) -> None:
        """Make the roles and set their passwords. Idempotent."""
        with psycopg.connect(self.server.dsn(), autocommit=True) as connection:
            connection.execute(approvals_sql.read("roles.sql", prefix=self.prefix).encode())
            for role in LOGIN_ROLES:
                name, password = f"{self.prefix}_{role}", self.passwords.of(role)
                # The server is told the SCRAM verifier, never the password: statements may be logged.
                verifier = connection.pgconn.encrypt_password(
                    password.encode(), name.encode(), b"scram-sha-256"
                ).decode()
                connection.execute(
                    sql.SQL("alter role {} password {}").format(sql.Identifier(name), sql.Literal(verifier))
                )

    def create_database(self, name: str = DATABASE, *, template: str | None = None) -> None:
        """Make a database that owner owns and nobody else enters, where it is missing.

        With `template` it becomes a copy of that one (about 0.1 s); grants on a database are not copied,
        so they are made again.
        """
        with psycopg.connect(self.server.dsn(), autocommit=True) as connection:
            if connection.execute("select from pg_database where datname = %s", [name]).rowcount:
                return
            copy = (
                sql.SQL(" template {} strategy file_copy").format(sql.Identifier(template))
                if template
                else sql.SQL("")
            )
            connection.execute(
                sql.SQL("create database {} owner {}").format(
                    sql.Identifier(name), sql.Identifier(f"{self.prefix}_owner")
                )
                + copy
            )
        self.close_database(name)
        if template:
            self._adopt_place(name)

    def _adopt_place(self, name: str) -> None:
        """A copy that we make ourselves is a database of its own, not a restored one."""
        with psycopg.connect(self.server.dsn(database=name), autocommit=True) as connection:
            migrated = connection.execute(
                "select to_regprocedure('public.adopt_place()') is not null"
            ).fetchone()
            if migrated and migrated[0]:
                connection.execute("select public.adopt_place()")

    def close_database(self, name: str = DATABASE) -> None:
        """Let only our roles into a database. Idempotent."""
        with psycopg.connect(self.server.dsn(database=name), autocommit=True) as connection:
            connection.execute(approvals_sql.read("database.sql", prefix=self.prefix).encode())

    def drop_database(self, name: str) -> None:
        """Drop a database, whoever is still connected to it."""
        with psycopg.connect(self.server.dsn(), autocommit=True) as connection:
            connection.execute(
                sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name))
            )
