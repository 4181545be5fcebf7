"""The reference service's own database: `secondlook_adk`, with a role that owns it and one that may only read it.

Made in the Postgres that `up` runs, as its superuser; the passwords are made once and kept in the data folder.
"""

import secrets
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from dashboard.embedded import envfile, told
from dashboard.embedded.postgres import SUPERUSER
from dashboard.embedded.trouble import Trouble

NAME = "secondlook_adk"


@dataclass(frozen=True)
class Access:
    """How the service reaches its database, and how an observer does, who may only read."""

    service_url: str = field(repr=False)
    reader_url: str = field(repr=False)


def in_embedded(data: Path) -> Access:
    """Make the database where it is missing, in the Postgres of the `up` that runs on `data`. Raises Trouble."""
    env = envfile.read(data / "env")
    superuser = envfile.read(data / "secrets").get("SUPERUSER_PASSWORD")
    if not superuser or "DATABASE_URL" not in env.get(told.CHOSEN, "").split():
        raise Trouble(
            "There is no database of `manage.py up` here; start that first, or name one with --database-url."
        )
    where = urlsplit(env["DATABASE_URL"])
    try:
        return make(
            f"postgres://{SUPERUSER}:{superuser}@{where.hostname}:{where.port}/postgres", _passwords(data)
        )
    except psycopg.OperationalError as error:
        raise Trouble(
            "The database of `manage.py up` does not answer; start `up` in another terminal, "
            "or name a database with --database-url."
        ) from error


def make(superuser_url: str, passwords: tuple[str, str], name: str = NAME) -> Access:
    """Make database and roles as a superuser: `name` owns the database, `<name>_reader` reads. Idempotent."""
    owner, reader = name, f"{name}_reader"
    with psycopg.connect(superuser_url, autocommit=True, connect_timeout=5) as connection:
        for role, password in zip((owner, reader), passwords, strict=True):
            if not connection.execute("select from pg_roles where rolname = %s", [role]).rowcount:
                connection.execute(sql.SQL("create role {} login").format(sql.Identifier(role)))
            # The server is told the SCRAM verifier, never the password: statements may be logged.
            verifier = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
            connection.execute(
                sql.SQL("alter role {} password {}").format(
                    sql.Identifier(role), sql.Literal(verifier.decode())
                )
            )
        if not connection.execute("select from pg_database where datname = %s", [name]).rowcount:
            connection.execute(
                sql.SQL("create database {} owner {}").format(sql.Identifier(name), sql.Identifier(owner))
            )
    access = Access(
        _as(superuser_url, owner, passwords[0], name), _as(superuser_url, reader, passwords[1], name)
    )
    _close(_as(superuser_url, None, "", name), name, owner, reader)
    return access


def _close(superuser_url: str, name: str, owner: str, reader: str) -> None:
    """Let only the two roles in; the reader reads whatever the owner makes, now and later."""
    grants = """
        revoke all on database {name} from public;
        grant connect on database {name} to {owner}, {reader};
        grant usage on schema public to {reader};
        grant select on all tables in schema public to {reader};
        alter default privileges for role {owner} grant select on tables to {reader};
        alter role {reader} in database {name} set default_transaction_read_only = on;
    """
    named = {
        key: sql.Identifier(value) for key, value in (("name", name), ("owner", owner), ("reader", reader))
    }
    with psycopg.connect(superuser_url, autocommit=True, connect_timeout=5) as connection:
        connection.execute(sql.SQL(grants).format(**named))


def _as(url: str, role: str | None, password: str, database: str) -> str:
    """The URL of a database for a role; without one, for whoever the URL names."""
    place = urlsplit(url).netloc
    if role is not None:
        place = f"{role}:{password}@{place.rpartition('@')[2]}"
    return f"postgresql://{place}/{database}"


def _passwords(data: Path) -> tuple[str, str]:
    """The passwords of the two roles, made once."""
    path = data / "adk-secrets"
    values = envfile.read(path)
    if values.keys() < {"OWNER_PASSWORD", "READER_PASSWORD"}:
        values = {name: secrets.token_urlsafe(24) for name in ("OWNER_PASSWORD", "READER_PASSWORD")}
        envfile.write(path, values)
    return values["OWNER_PASSWORD"], values["READER_PASSWORD"]
