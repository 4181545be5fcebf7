"""What the processes behind `up` are told: the secrets that survive a restart, and the environment.

Servers of one's own are named in the environment; whatever is not named there is embedded. `<data>/env` holds
the outcome for every other command. Settings put its values into the environment of `up` itself too, so it
also records which of them `up` chose: those do not count as named.
"""

import base64
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dashboard.embedded import envfile
from dashboard.embedded.cluster import Passwords
from dashboard.embedded.trouble import Trouble

DATABASE_URLS = ("DATABASE_URL", "INGEST_DATABASE_URL", "OWNER_DATABASE_URL")
CHOSEN = "UP_CHOSE"
PASSWORDS = ("SUPERUSER_PASSWORD", "OWNER_PASSWORD", "APP_PASSWORD", "INGEST_PASSWORD", "BROKER_PASSWORD")


@dataclass(frozen=True)
class Secrets:
    """Everything secret that a data folder needs, made once."""

    values: Mapping[str, str]

    @classmethod
    def of(cls, data: Path) -> "Secrets":
        """Read them, making what is missing."""
        path = data / "secrets"
        values = envfile.read(path)
        made = {name: secrets.token_urlsafe(24) for name in PASSWORDS}
        made["SECRET_KEY"] = secrets.token_urlsafe(48)
        made["FIELD_KEY"] = base64.urlsafe_b64encode(os.urandom(32)).decode()
        if made.keys() - values.keys():
            values = made | values
            envfile.write(path, values)
        return cls(values)

    @property
    def keys(self) -> dict[str, str]:
        """What the settings need."""
        return {name: self.values[name] for name in ("SECRET_KEY", "FIELD_KEY")}

    @property
    def superuser(self) -> str:
        """The database superuser's password."""
        return self.values["SUPERUSER_PASSWORD"]

    @property
    def broker(self) -> str:
        """The broker's password."""
        return self.values["BROKER_PASSWORD"]

    @property
    def roles(self) -> Passwords:
        """The passwords of the three roles."""
        return Passwords(*(self.values[f"{role}_PASSWORD"] for role in ("OWNER", "APP", "INGEST")))


def named(environ: Mapping[str, str], last: Mapping[str, str]) -> dict[str, str]:
    """The environment without what the `up` before us chose (`last` is its env file)."""
    chosen = {name: last.get(name) for name in (*last.get(CHOSEN, "").split(), CHOSEN)}
    return {name: value for name, value in environ.items() if chosen.get(name) != value}


def has_own_database(environ: Mapping[str, str]) -> bool:
    """Whether all three URLs of a database are named. Raises Trouble where only some are."""
    missing = [name for name in DATABASE_URLS if not environ.get(name)]
    if missing and len(missing) < len(DATABASE_URLS):
        raise Trouble(
            f"The environment lacks {' and '.join(missing)}; a database of your own needs all of "
            f"{', '.join(DATABASE_URLS)}."
        )
    return not missing


def write_env(data: Path, chosen: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """Write `<data>/env` and give the whole environment, owner's URL included.

    `chosen` is what `up` decided; of `environ` the servers and keys named in it are written down too.
    """
    ours = {name: value for name, value in chosen.items() if not environ.get(name)}
    kept = (*DATABASE_URLS, "REDIS_URL", "EMAIL_URL", "SECRET_KEY", "FIELD_KEY", "BASE_URL", "ROLE_PREFIX")
    theirs = {name: environ[name] for name in kept if environ.get(name)}
    envfile.write(data / "env", {**ours, **theirs, CHOSEN: " ".join(ours)})
    return {**environ, **ours, "SECONDLOOK_DATA": str(data), "PYTHONUNBUFFERED": "1"}


def without_owner(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of everything that runs on.

    Owner's URL is empty, not absent: settings would read it from `<data>/env`.
    """
    return {**environ, "OWNER_DATABASE_URL": ""}
