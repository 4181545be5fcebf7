"""Whether everything is in place that holds the rules behind the code's back.

`examine` says so guard by guard (`manage.py doctor`, /readyz); `require` is for web, worker and dispatcher, which
do not start on a broken guard.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from cryptography.fernet import Fernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connections
from django.db.migrations.loader import MigrationLoader

from approvals import sql
from approvals.selectors.ground import Ground, body_line, ground_of
from approvals.selectors.place import stand
from approvals.selectors.roles import READERS, Role, Session, roles_of, session_of
from approvals.services import own_address, probes

ALIASES = {"default": "app", "ingest": "ingest"}
SECTIONS = ("tables", "policies", "triggers", "constraints", "functions", "bodies", "grants")
HEADER = """# What has to be in Postgres, one line a thing; `manage.py doctor` compares. Role names have no prefix here.
# After a change of a migration or of grants.sql: `manage.py doctor --ground` on a fresh database; read the diff."""
MOVED = "This database was restored from a backup, copied, or failed over: run `python3 manage.py restored`"
UNFINISHED = (
    "`manage.py restored` was cut short, and what was due may not be paused everywhere: run it once more"
)
SHOWN = 300  # characters of a detail in the one sentence of a refused start

_FUNCTION = re.compile(
    r"^create (?:or replace )?function (\w+)\(.*?\bas \$\$(.*?)\$\$", re.DOTALL | re.MULTILINE
)


class BrokenGuard(ImproperlyConfigured):
    """Something that has to hold before anybody is served does not; the text is one sentence."""


@dataclass(frozen=True, slots=True)
class Guard:
    """One thing that has to hold, whether it does, and if not what is wrong."""

    guard: str
    holds: bool
    detail: str


def require() -> None:
    """Return if every guard holds; BrokenGuard names the first that does not. Leaves no connection open."""
    try:
        broken = next((guard for guard in _guards(probe=True) if not guard.holds), None)
    finally:
        for alias in ALIASES:
            connections[alias].close()
    if broken:
        detail = broken.detail if len(broken.detail) <= SHOWN else broken.detail[: SHOWN - 1] + "…"
        raise BrokenGuard(
            f'Secondlook does not start, because the guard "{broken.guard}" does not hold: {detail.rstrip(".")}.'
            " `manage.py doctor` lists all of them."
        )


def examine(*, probe: bool = True) -> list[Guard]:
    """Every guard, in order. `probe` also tries them on rows of its own, in a transaction that is rolled back."""
    return list(_guards(probe=probe))


def everything() -> list[Guard]:
    """Every guard, and whether the links in messages lead anywhere: for that the sending waits, and nothing else."""
    why = own_address.why_nothing_is_sent()
    return [*examine(), Guard("links", not why, why)]


def _guards(*, probe: bool) -> Iterator[Guard]:
    yield _guard("keys", _keys)
    sessions = {}
    for alias, role in ALIASES.items():
        try:
            sessions[role] = session_of(connections[alias])
        except DatabaseError as error:
            yield Guard(f"database ({role})", False, f"The database cannot be reached: {_first_line(error)}")
    if len(sessions) < len(ALIASES):
        return
    prefix = settings.ROLE_PREFIX
    roles = roles_of(connections["default"], prefix)
    yield _guard("connections", lambda: _wrong_sessions(sessions, prefix))
    yield _guard("roles", lambda: _wrong_roles(roles))
    yield _guard("privileges", lambda: _wrong_privileges(roles))
    yield _guard("migrations", _not_applied)
    yield _guard("place", _moved)
    yield from compare(ground_of(connections["default"], prefix))
    if probe:
        for name, trial in probes.TRIALS.items():
            yield _guard(name, trial)


def _guard(name: str, complaints: Callable[[], list[str]]) -> Guard:
    """A guard holds if nothing is to be complained about, and does not if that cannot be told."""
    try:
        wrong = complaints()
    except DatabaseError as error:
        wrong = [f"It could not be tried: {_first_line(error)}"]
    return Guard(name, not wrong, "; ".join(wrong))


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _keys() -> list[str]:
    wrong = []
    if settings.SECRET_KEY.startswith("unset-"):
        wrong.append("SECRET_KEY is not set")
    try:
        Fernet(settings.FIELD_KEY)
    except ValueError:
        wrong.append("FIELD_KEY is not set to a Fernet key (32 bytes in URL-safe base64)")
    return wrong


def _wrong_sessions(sessions: dict[str, Session], prefix: str) -> list[str]:
    wrong = []
    for role, session in sessions.items():
        name = f"{prefix}_{role}"
        if (session.user, session.login) != (name, name):
            wrong.append(
                f"{role} is connected as {session.user} (signed in as {session.login}), not as {name}"
            )
        for what, is_now, must_be in (
            ("search_path", session.schemas, ["public"]),
            ("session_replication_role", session.replication_role, "origin"),
            ("transaction_isolation", session.isolation, "read committed"),
            ("app.workspace_id or app.subject", session.bound_to, ""),
        ):
            if is_now != must_be:
                wrong.append(f"{role} has {what} {is_now!r}, which must be {must_be!r}")
        if session.synchronous_commit == "off":
            wrong.append(f"{role} has synchronous_commit off, which can lose what was promised")
    if len({session.server for session in sessions.values()}) > 1:
        wrong.append("app and ingest are connected to different databases")
    return wrong


def _wrong_roles(roles: dict[str, Role]) -> list[str]:
    wrong = [f"{role} does not exist" for role in ("owner", *ALIASES.values(), *READERS) if role not in roles]
    for short, role in roles.items():
        wrong += [f"{short} is {attribute}" for attribute in role.attributes]
        members_of = [other for other in role.member_of if short != "owner" or not _is_reader(other, roles)]
        wrong += [f"{short} is a member of {other}" for other in members_of]
        wrong += [f"{short} inherits from {other}" for other in role.inherits if other not in members_of]
        if role.login == (short in READERS):
            wrong.append(f"{short} can log in" if role.login else f"{short} cannot log in")
        if role.inherit and short not in READERS:
            wrong.append(f"{short} is INHERIT")
    return wrong


def _is_reader(name: str, roles: dict[str, Role]) -> bool:
    return any(reader in roles and roles[reader].name == name for reader in READERS)


def _wrong_privileges(roles: dict[str, Role]) -> list[str]:
    wrong = []
    for short, role in roles.items():
        if short == "owner":
            continue
        wrong += [f"{short} can create things in {place}" for place in role.creates_in]
        if role.temp:
            wrong.append(f"{short} can make temporary tables")
        if role.replication_role:
            wrong.append(f"{short} can set session_replication_role, which switches triggers off")
    return wrong


def _not_applied() -> list[str]:
    loader = MigrationLoader(connections["default"])
    missing = sorted(set(loader.graph.nodes) - set(loader.applied_migrations))
    return [f"{app}.{name} is not applied" for app, name in missing]


def _moved() -> list[str]:
    where = stand()
    if not where.known:
        return ["Nobody wrote down where this database lives: run `python3 manage.py migrate`"]
    if where.moved:
        return [MOVED]
    return [UNFINISHED] if where.unfinished else []


@cache
def expected_ground() -> Ground:
    """What has to be in place: `sql/ground.txt`, and the functions as the SQL files define them."""
    sections: dict[str, set[str]] = {name: set() for name in SECTIONS}
    section = ""
    for line in sql.read("ground.txt", prefix=settings.ROLE_PREFIX).splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            sections[section].add(line)
    bodies: dict[str, str] = {}
    for file in sorted(sql.HERE.glob("*.up.sql")):
        bodies |= dict(_FUNCTION.findall(sql.read(file.name, prefix=settings.ROLE_PREFIX)))
    kept = {line.partition("(")[0] for line in sections["functions"]}  # a later file may have dropped one
    sections["bodies"] = {body_line(name, body) for name, body in bodies.items() if name in kept}
    return {name: frozenset(lines) for name, lines in sections.items()}


def as_text(ground: Ground) -> str:
    """The ground in the form of `sql/ground.txt`. What functions do is not in it: that stands in the SQL files."""
    sections = [f"[{name}]\n" + "\n".join(sorted(ground[name])) for name in SECTIONS if name != "bodies"]
    return "\n\n".join([HEADER, *sections])


def compare(there: Ground) -> list[Guard]:
    """One guard a section: nothing is missing, and nothing is there that nobody expects."""
    expected = expected_ground()
    return [_compared(name, there[name], expected[name]) for name in SECTIONS]


def _compared(name: str, there: frozenset[str], expected: frozenset[str]) -> Guard:
    missing = [f"missing: {line}" for line in sorted(expected - there)]
    added = [f"not expected: {line}" for line in sorted(there - expected)]
    return Guard(name, there == expected, "; ".join(missing + added))
