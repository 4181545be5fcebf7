"""Every guard that the doctor knows, how each is taken away alone, and by which words the doctor names it.

A guard is a text: its kind, then what it stands on. The list is derived from `sql/ground.txt` and from what must not
be granted, so a guard that is added tomorrow is in it. What a function asks inside (`body ... asks`, which has to be
true, and `body ... heeds`, which has to be false) can be attacked like the others, but no list knows all of it.
"""

import re
from collections.abc import Iterator
from functools import cache

from django.apps import apps

from approvals.selectors.ground import ROLES
from approvals.selectors.roles import ATTRIBUTES, READERS
from approvals.services.guards import expected_ground

ATTACKERS = ("app", "ingest")
SESSION = (
    "session_replication_role",
    "search_path",
    "transaction_isolation",
    "app.workspace_id",
    "synchronous_commit",
)
BY_COLUMN = ("select", "insert", "update")
EVERY_RIGHT = (*BY_COLUMN, "delete", "truncate", "trigger")  # references and maintain reach no row
CHECKED = ("CHECK", "FOREIGN", "UNIQUE")  # a primary key is no rule of ours

# guard: (how a superuser takes it away, what the doctor then says). The first that fits counts.
_KINDS = {
    r"(?P<role>\w+) is not (?P<attribute>superuser|bypassrls|createrole|createdb|replication)": (
        "alter role secondlook_{role} {attribute}",
        "{role} is {attribute}",
    ),
    r"(?P<role>\w+) is not a member of (?P<other>\w+)": (
        "grant secondlook_{other} to secondlook_{role}",
        "{role} is a member of secondlook_{other}",
    ),
    r"(?P<role>\w+) does not inherit": ("alter role secondlook_{role} inherit", "{role} is INHERIT"),
    r"owner does not inherit from (?P<other>\w+)": (
        "grant secondlook_{other} to secondlook_owner with inherit true",
        "owner inherits from secondlook_{other}",
    ),
    r"(?P<role>\w+) does not log in": ("alter role secondlook_{role} login", "{role} can log in"),
    r"rls (?P<table>\w+)": (
        "alter table {table} disable row level security",
        "missing: {table} owner=owner rls=forced",
    ),
    r"forced (?P<table>\w+)": (
        "alter table {table} no force row level security",
        "missing: {table} owner=owner rls=forced",
    ),
    r"option (?P<view>\w+) (?P<option>\w+)": ("alter view {view} reset ({option})", "missing: {view} owner=owner"),
    r"policy (?P<table>\w+) (?P<name>\w+)": ("{opened}", "missing: {table} {name} "),
    r"trigger (?P<table>\w+) (?P<name>\w+)": ("drop trigger if exists {name} on {table}", "missing: {table} {name} "),
    r"constraint (?P<table>\w+) (?P<name>\w+)": (
        "alter table {table} drop constraint if exists {name} cascade",
        "missing: {table} {name} ",
    ),
    r"index (?P<table>\w+) (?P<name>\w+)": ("drop index if exists {name}", "missing: {table} {name} "),
    r"pinned (?P<function>.+)": ("alter function {inputs} reset search_path", "missing: {function} owner="),
    r"owner (?P<function>.+\))": ("alter function {inputs} owner to secondlook_app", "missing: {function} owner="),
    r"owner (?P<thing>.+)": ("alter {kind} owner to secondlook_app", "missing: {thing} owner=owner"),
    r"no (?P<right>\w+) \((?P<column>\w+)\) on (?P<thing>\w+) for (?P<role>\w+)": (
        'grant {right} ("{column}") on {thing} to secondlook_{role}',
        "not expected: {thing} to {role}: ",
    ),
    r"no (?P<right>\w+) on (?P<function>.+\)) for (?P<role>\w+)": (
        "grant {right} on function {inputs} to secondlook_{role}",
        "not expected: {function} to {role}: {right}",
    ),
    r"no (?P<right>\w+) on (?P<thing>database|schema public) for (?P<role>\w+)": (
        "grant {right} on {place} to secondlook_{role}",
        "not expected: {thing} to {role}: ",
    ),
    r"no set on session_replication_role for (?P<role>\w+)": (
        "grant set on parameter session_replication_role to secondlook_{role}",
        "{role} can set session_replication_role",
    ),
    r"no (?P<right>\w+) on (?P<thing>.+) for (?P<role>\w+)": (
        "grant {right} on {thing} to secondlook_{role}",
        "not expected: {named} to {role}: ",
    ),
    r"body (?P<name>\w+) (?P<how>asks|heeds) (?P<condition>.+)": (
        "do $do$ declare was text := pg_get_functiondef('public.{name}'::regproc);"
        " is_now text := replace(was, $was${condition}$was$, '{passes}');"
        " begin if was = is_now then raise '{name} does not ask that'; end if; execute is_now; end $do$",
        "missing: {name} ",
    ),
    r"session (?P<setting>[\w.]+)": ("", "has {setting}"),  # each with its own way of being broken
}  # fmt: skip


def every_guard() -> list[str]:
    """Everything that has to have an attack, or a reason why it has none."""
    return list(dict.fromkeys([*_of_the_ground(), *_of_rights(), *_of_roles()]))


def without(guard: str) -> str:
    """The statement that takes it away."""
    pattern, values = _parsed(guard)
    return _KINDS[pattern][0].format(**values)


def named(guard: str) -> str:
    """What the doctor says when it is away."""
    pattern, values = _parsed(guard)
    return _KINDS[pattern][1].format(**values)


def lines(section: str, table: str = "") -> list[tuple[str, str, str]]:
    """(table, name, the rest) of each line of a section of the ground, of one table where one is named."""
    split = [(*line.split(" ", 2), "")[:3] for line in sorted(expected_ground()[section])]
    return [(row[0], row[1], row[2]) for row in split if not table or row[0] == table]


def constraint(table: str, name: str, definition: str) -> str:
    """The guard of a line of the section constraints."""
    return f"{'index' if definition.startswith('CREATE') else 'constraint'} {table} {name}"


def triggers(table: str, event: str) -> tuple[str, ...]:
    """The guards of a table that act before this event."""
    found = [(name, what.split(" ON ")[0]) for _, name, what in lines("triggers", table)]
    return tuple(
        f"trigger {table} {name}"
        for name, what in found
        if what.startswith("BEFORE") and re.search(rf"\b{event}\b", what.split(" FOR ")[0])
    )


def keys_to(table: str) -> tuple[str, ...]:
    """The foreign keys that cite a table."""
    cited = re.compile(rf"REFERENCES {table}\(")
    return tuple(f"constraint {of} {name}" for of, name, what in lines("constraints") if cited.search(what))


def keys_of(table: str) -> tuple[str, ...]:
    """The foreign keys of a table."""
    return tuple(
        f"constraint {table} {name}"
        for _, name, what in lines("constraints", table)
        if what.startswith("FOREIGN")
    )


def reads(role: str, table: str) -> bool:
    """Whether a role may read all of a table."""
    return held().get((table, role), {}).get("select") == frozenset()


def closed_by_rls(table: str) -> tuple[str, ...]:
    """What else keeps app and ingest out of a table whose policies let in others only."""
    policies = [what for _, _, what in lines("policies", table)]
    return (f"rls {table}",) if policies and not any(" to app" in what for what in policies) else ()


def columns(table: str) -> dict[str, str]:
    """The columns of a table with their types, as its model says."""
    from django.db import connection

    model = next((m for m in apps.get_models() if m._meta.db_table == table), None)
    fields = model._meta.concrete_fields if model else []
    return {field.column: field.db_type(connection) or "" for field in fields if field.column}


def relations(kind: str = "table") -> list[str]:
    """Our tables, views or sequences."""
    names = []
    for line in sorted(expected_ground()["tables"]):
        is_now = "sequence" if line.startswith("sequence ") else "view" if " security_" in line else "table"
        name = line.removeprefix("sequence ").split()[0]
        if is_now == kind and name.startswith("approvals_"):
            names.append(name)
    return names


def functions() -> dict[str, str]:
    """Signature: the rest of its line."""
    return {
        signature: rest
        for signature, _, rest in (
            line.partition(" owner=") for line in sorted(expected_ground()["functions"])
        )
    }


def of_triggers() -> set[str]:
    """The signatures of functions that only a trigger can call."""
    return {
        f"{name}()"
        for _, _, what in lines("triggers")
        for name in re.findall(r"EXECUTE FUNCTION (\w+)\(", what)
    }


@cache
def held() -> dict[tuple[str, str], dict[str, frozenset[str]]]:
    """(thing, role): what it may, with the columns where it is not all of them."""
    rights: dict[tuple[str, str], dict[str, frozenset[str]]] = {}
    for line in expected_ground()["grants"]:
        thing_to_role, _, what = line.rpartition(": ")
        thing, _, role = thing_to_role.rpartition(" to ")
        rights[thing, role] = {
            right: frozenset(cols.split(", ")) if cols else frozenset()
            for right, cols in re.findall(r"(\w+)(?: \(([^)]*)\))?", what)
        }
    return rights


def _of_the_ground() -> Iterator[str]:
    for line in sorted(expected_ground()["tables"]):
        name = line.split()[0]
        if line.endswith("rls=forced"):
            yield from (f"rls {name}", f"forced {name}")
        yield from (f"option {name} {option}" for option in re.findall(r" (security_\w+)=true", line))
    yield from (f"policy {table} {name}" for table, name, _ in lines("policies"))
    yield from (f"trigger {table} {name}" for table, name, _ in lines("triggers"))
    for table, name, definition in lines("constraints"):
        if definition.startswith((*CHECKED, "CREATE")):
            yield constraint(table, name, definition)
    for signature in functions():
        yield from (f"pinned {signature}", f"owner {signature}")
    yield from (f"owner {name}" for kind in ("table", "view") for name in relations(kind))


def _of_rights() -> Iterator[str]:
    for role in ATTACKERS:
        for table in relations():
            yield from (f"no {right} on {table} for {role}" for right in _not_held(table, role))
        yield from (
            f"no select on {view} for {role}" for view in relations("view") if (view, role) not in held()
        )
        for sequence in relations("sequence"):
            rights = held().get((sequence, role), {})
            yield from (
                f"no {right} on sequence {sequence} for {role}"
                for right in ("usage", "update")
                if right not in rights
            )
        yield from (
            f"no execute on {signature} for {role}"
            for signature in functions()
            if signature not in of_triggers() and (signature, role) not in held()
        )
        yield f"no temporary on database for {role}"
        yield from (f"no create on {place} for {role}" for place in ("database", "schema public"))
        yield f"no set on session_replication_role for {role}"


def _not_held(table: str, role: str) -> Iterator[str]:
    rights = held().get((table, role), {})
    yield from (right for right in EVERY_RIGHT if right not in rights)
    for right in BY_COLUMN:
        if rights.get(right):
            yield from (f"{right} ({column})" for column in columns(table) if column not in rights[right])


def _of_roles() -> Iterator[str]:
    for role in ROLES:
        yield from (f"{role} is not {attribute}" for attribute in ATTRIBUTES)
    for role in ATTACKERS:
        yield from (f"{role} is not a member of {other}" for other in ROLES if other != role)
    yield from (f"{role} does not inherit" for role in ("owner", *ATTACKERS))
    for reader in READERS:
        yield from (f"owner does not inherit from {reader}", f"{reader} does not log in")
    yield from (f"session {setting}" for setting in SESSION)


def _parsed(guard: str) -> tuple[str, dict[str, str]]:
    for pattern in _KINDS:
        if found := re.fullmatch(pattern, guard):
            values = found.groupdict()
            function, thing = values.get("function", ""), values.get("thing", "")
            values["inputs"] = re.sub(r",? ?OUT \w+ \w+", "", function)
            values["named"] = thing.removeprefix("sequence ")
            values["place"] = "database {database}" if thing == "database" else thing
            values["passes"] = "true" if values.get("how") == "asks" else "false"
            if "policy" in guard.split(" ")[:1]:
                values["opened"] = _opened(values["table"], values["name"])
            values["kind"] = f"{_kind_of(thing)} {thing}"
            return pattern, values
    raise ValueError(f"no such kind of guard: {guard}")


def _opened(table: str, name: str) -> str:
    """A policy that lets in has to let everybody in; without it nobody would be. One that keeps out is dropped."""
    [what] = [what for _, other, what in lines("policies", table) if other == name]
    if what.startswith("restrictive"):
        return f"drop policy {name} on {table}"
    if what.startswith("permissive select"):
        return f"alter policy {name} on {table} to public using (true)"
    return f"alter policy {name} on {table} using (true) with check (true)"


def _kind_of(thing: str) -> str:
    return "view" if thing in relations("view") else "table"
