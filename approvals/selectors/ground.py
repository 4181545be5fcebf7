"""What stands in Postgres to hold the rules: tables, policies, triggers, constraints, functions, grants.

Each thing is one line of text, in words that do not depend on the version of Postgres, with role names without
their prefix. `sql/ground.txt` holds the lines that have to be there, and services.guards compares the two.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

Ground = Mapping[str, frozenset[str]]
ROLES = ("owner", "app", "ingest", "sweep", "search")

# In each: what an extension brought along (deptype e) is the administrator's.
_RELATIONS = """
    select c.relname, c.relkind, pg_get_userbyid(c.relowner), c.relrowsecurity, c.relforcerowsecurity,
      array(select unnest(c.reloptions) order by 1), case when c.relkind = 'v' then pg_get_viewdef(c.oid) end
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
"""
_POLICIES = """
    select c.relname, p.polname, p.polpermissive, p.polcmd,
      array(select pg_get_userbyid(role) from unnest(p.polroles) role),
      pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)
    from pg_policy p join pg_class c on c.oid = p.polrelid where c.relnamespace = 'public'::regnamespace
"""
# The triggers behind foreign keys count only where somebody switched them off, and rules only by being there.
_TRIGGERS = """
    select c.relname, t.tgname, t.tgenabled, pg_get_triggerdef(t.oid) from pg_trigger t
      join pg_class c on c.oid = t.tgrelid
      where c.relnamespace = 'public'::regnamespace and (not t.tgisinternal or t.tgenabled not in ('O', 'A'))
    union all
    select c.relname, r.rulename, r.ev_enabled, 'a rewrite rule' from pg_rewrite r
      join pg_class c on c.oid = r.ev_class
      where c.relnamespace = 'public'::regnamespace and r.rulename <> '_RETURN'
"""
_CONSTRAINTS = """
    select c.relname, k.conname, pg_get_constraintdef(k.oid) from pg_constraint k
      join pg_class c on c.oid = k.conrelid
      where c.relnamespace = 'public'::regnamespace and left(c.relname, 10) = 'approvals_'
        and k.contype in ('c', 'f', 'u', 'p', 'x')
    union all
    select c.relname, i.relname, pg_get_indexdef(x.indexrelid) || case when x.indisvalid then '' else ' INVALID' end
      from pg_index x join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
      where c.relnamespace = 'public'::regnamespace and left(c.relname, 10) = 'approvals_' and x.indisunique
        and not exists (select from pg_constraint k where k.conindid = x.indexrelid and k.contype in ('u', 'p', 'x'))
"""
_FUNCTIONS = """
    select p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', pg_get_userbyid(p.proowner),
      p.prosecdef, p.provolatile, array_to_string(p.proconfig, ' '), l.lanname, p.proname, p.prosrc
    from pg_proc p join pg_language l on l.oid = p.prolang
    where p.pronamespace = 'public'::regnamespace
      and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
"""
_GRANTS = """
    with held as (
      select c.relname::text as object, null::text as col, c.relowner as owner, c.relacl as acl from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
          and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
      union all
      select c.relname, a.attname, c.relowner, a.attacl from pg_attribute a join pg_class c on c.oid = a.attrelid
        where c.relnamespace = 'public'::regnamespace and a.attacl is not null and not a.attisdropped
      union all
      select p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', null, p.proowner,
        coalesce(p.proacl, acldefault('f', p.proowner)) from pg_proc p
        where p.pronamespace = 'public'::regnamespace
          and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
      union all
      select 'schema ' || n.nspname, null, n.nspowner, coalesce(n.nspacl, acldefault('n', n.nspowner))
        from pg_namespace n where n.nspname = 'public' or n.nspname !~ '^(pg_|information_schema)'
      union all
      select 'database', null, d.datdba, coalesce(d.datacl, acldefault('d', d.datdba))
        from pg_database d where d.datname = current_database()
      union all
      select 'default privileges', null, d.defaclrole, d.defaclacl from pg_default_acl d
    )
    select held.object, held.col, case when x.grantee = 0 then 'public' else pg_get_userbyid(x.grantee) end,
      lower(x.privilege_type) || case when x.is_grantable then ' with grant option' else '' end
    from held, aclexplode(held.acl) x where x.grantee <> held.owner
"""
_COMMANDS = {"*": "all", "r": "select", "a": "insert", "w": "update", "d": "delete"}
_ENABLED = {"O": "", "A": "", "D": " DISABLED", "R": " FOR REPLICAS ONLY"}
_VOLATILE = {"i": "immutable", "s": "stable", "v": "volatile"}


def ground_of(connection: BaseDatabaseWrapper, prefix: str) -> Ground:
    """Everything that is in place, by section; any of our roles may read it."""

    def rows(query: str) -> list[Any]:
        with connection.cursor() as cursor:
            cursor.execute(query)
            return list(cursor.fetchall())

    short = _Names(prefix)
    functions = rows(_FUNCTIONS)
    return {
        "tables": frozenset(_relation(short, row) for row in rows(_RELATIONS)),
        "policies": frozenset(_policy(short, row) for row in rows(_POLICIES)),
        "triggers": frozenset(_trigger(*row) for row in rows(_TRIGGERS)),
        "constraints": frozenset(_plain(" ".join(row)) for row in rows(_CONSTRAINTS)),
        "functions": frozenset(_function(short, row) for row in functions),
        "bodies": frozenset(body_line(name, body) for *_, name, body in functions),
        "grants": _grants(short, rows(_GRANTS)),
    }


def body_line(name: str, body: str) -> str:
    """A function and what it does, as short as a line can say that."""
    return f"{name} {hashlib.sha256(body.encode()).hexdigest()[:16]}"


class _Names:
    """Role names without the prefix of this installation; a role of somebody else keeps its own."""

    def __init__(self, prefix: str) -> None:
        self._short = {f"{prefix}_{role}": role for role in ROLES}

    def __call__(self, name: str) -> str:
        return self._short.get(name, name)

    def knows(self, name: str) -> bool:
        return name in self._short or name == "public"


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("public.", "")).strip()


def _relation(short: _Names, row: Any) -> str:
    name, kind, owner, rls, forced, options, view = row
    words = [name, f"owner={short(owner)}"]
    if rls:
        words.append("rls=forced" if forced else "rls=on")
    words += options
    if view:
        # Older versions of Postgres name the table in front of each column even where there is only one.
        words.append(re.sub(r"\be\.", "", view).rstrip(";"))
    return _plain(("sequence " if kind == "S" else "") + " ".join(words))


def _policy(short: _Names, row: Any) -> str:
    table, name, permissive, command, roles, using, check = row
    whom = ", ".join(sorted(short(role) for role in roles)) or "public"
    manner = "permissive" if permissive else "restrictive"
    line = f"{table} {name} {manner} {_COMMANDS[command]} to {whom}"
    if using and using == check:
        return _plain(f"{line} using and check {using}")
    return _plain(line + (f" using {using}" if using else "") + (f" check {check}" if check else ""))


def _trigger(table: str, name: str, enabled: str, definition: str) -> str:
    definition = definition.split(f" TRIGGER {name} ", 1)[-1].replace(f" ON public.{table}", "")
    return _plain(f"{table} {name} {definition}{_ENABLED[enabled]}")


def _function(short: _Names, row: Any) -> str:
    signature, owner, definer, volatile, config, language, *_ = row
    words = [
        signature,
        f"owner={short(owner)}",
        "definer" if definer else "invoker",
        _VOLATILE[volatile],
        language,
    ]
    return _plain(" ".join([*words, config or "search_path NOT PINNED"]))


def _grants(short: _Names, rows: list[Any]) -> frozenset[str]:
    """One line for what one role may do with one object; columns in brackets."""
    held: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for thing, column, grantee, privilege in rows:
        if short.knows(grantee):
            held[thing, short(grantee)][privilege] += [column] if column else []
    return frozenset(
        f"{thing} to {grantee}: "
        + ", ".join(
            privilege + (f" ({', '.join(sorted(columns))})" if columns else "")
            for privilege, columns in sorted(privileges.items())
        )
        for (thing, grantee), privileges in held.items()
    )
