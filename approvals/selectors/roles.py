"""Who we are in Postgres, and what our roles could do beyond what was granted to them."""

from dataclasses import dataclass

from django.db.backends.base.base import BaseDatabaseWrapper

from approvals.selectors.ground import ROLES

ATTRIBUTES = ("superuser", "bypassrls", "createrole", "createdb", "replication")
READERS = ("sweep", "search")

_ROLES = """
    select r.rolname, r.rolcanlogin, r.rolinherit,
      array_remove(array[case when r.rolsuper then 'superuser' end, case when r.rolbypassrls then 'bypassrls' end,
        case when r.rolcreaterole then 'createrole' end, case when r.rolcreatedb then 'createdb' end,
        case when r.rolreplication then 'replication' end], null),
      array(select pg_get_userbyid(m.roleid) from pg_auth_members m where m.member = r.oid order by 1),
      array(select other.rolname from pg_roles other
            where other.rolname = any(%(names)s) and other.oid <> r.oid and pg_has_role(r.oid, other.oid, 'usage')),
      has_database_privilege(r.oid, current_database(), 'temp'),
      array(select n.nspname::text from pg_namespace n where n.nspname !~ '^pg_(toast|temp)'
            and has_schema_privilege(r.oid, n.oid, 'create') order by 1)
        || case when has_database_privilege(r.oid, current_database(), 'create')
           then array['the database'] else '{}' end,
      has_parameter_privilege(r.oid, 'session_replication_role', 'set')
    from pg_roles r where r.rolname = any(%(names)s)
"""
_SESSION = """
    select current_user, session_user, current_schemas(false), current_setting('session_replication_role'),
      current_setting('transaction_isolation'), current_setting('synchronous_commit'),
      coalesce(current_setting('app.workspace_id', true), '') || coalesce(current_setting('app.subject', true), ''),
      current_database()::text || ' ' || pg_postmaster_start_time()
"""


@dataclass(frozen=True, slots=True)
class Role:
    """One role. `inherits` are those of our own roles whose rights it has without asking."""

    name: str
    login: bool
    inherit: bool
    attributes: list[str]
    member_of: list[str]
    inherits: list[str]
    temp: bool
    creates_in: list[str]
    replication_role: bool


@dataclass(frozen=True, slots=True)
class Session:
    """How one connection is. `server` tells two databases apart."""

    user: str
    login: str
    schemas: list[str]
    replication_role: str
    isolation: str
    synchronous_commit: str
    bound_to: str
    server: str


def roles_of(connection: BaseDatabaseWrapper, prefix: str) -> dict[str, Role]:
    """Those of our five roles that exist, by their name without the prefix."""
    names = [f"{prefix}_{role}" for role in ROLES]
    with connection.cursor() as cursor:
        cursor.execute(_ROLES, {"names": names})
        return {row[0].removeprefix(f"{prefix}_"): Role(*row) for row in cursor.fetchall()}


def session_of(connection: BaseDatabaseWrapper) -> Session:
    """This connection as Postgres sees it."""
    with connection.cursor() as cursor:
        cursor.execute(_SESSION)
        return Session(*cursor.fetchone())
