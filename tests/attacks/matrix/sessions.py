"""Who one is: no other role, no object of one's own, no setting that switches a guard off."""

from collections.abc import Iterator

from approvals.selectors.roles import READERS
from tests.attacks.matrix.case import Case
from tests.attacks.matrix.guards import ATTACKERS
from tests.attacks.matrix.isolation import theirs
from tests.attacks.matrix.rows import insert

SET_ROLE = "42501 permission denied to set role"
THEIR_RUNS = theirs("run")
# What each role cannot do unless triggers are off.
UNTRIGGERED = {
    "app": insert("job", status="'done'"),
    "ingest": insert("event", run_id="%(b_open_run)s"),
}
REFUSED = {"app": "(job_born)", "ingest": "P0002 query returned no rows"}
AS_OTHER = {
    "owner": "delete from approvals_payload where id = %(payload)s",
    "sweep": "select workspace_id from approvals_token where workspace_id <> %(workspace)s",
    "search": "select word from approvals_itemword",
    "app": "select * from approvals_decision",
}


def of_each() -> Iterator[Case]:
    """The same for app and for ingest."""
    for role in ATTACKERS:
        yield Case(
            guard=f"{role} is not superuser",
            what="write a record by hand",
            by=role,
            attack="update approvals_run set tools_executed = '[]' where id = %(open_run)s",
            refusal="42501 permission denied for table approvals_run",
        )
        for other, attack in AS_OTHER.items():
            if other != role:
                yield Case(
                    guard=f"{role} is not a member of {other}",
                    by=role,
                    attack=(f"set local role secondlook_{other}", attack),
                    refusal=SET_ROLE,
                )
        yield Case(
            guard=f"no temporary on database for {role}",
            what="stand in for a table",
            by=role,
            attack=(
                "create temp table approvals_run as select 'innocent'::text as subject",
                "select 1 from approvals_run where subject = 'innocent'",
            ),
            refusal="42501 permission denied to create temporary tables",
        )
        yield Case(
            guard=f"no create on database for {role}",
            by=role,
            attack=("create schema eve", "select 1 where to_regnamespace('eve') is not null"),
            refusal="42501 permission denied for database",
        )
        yield Case(
            guard=f"no create on schema public for {role}",
            what="stand in for an operator",
            by=role,
            attack=(
                "create operator public.= (function = uuid_eq, leftarg = uuid, rightarg = uuid)",
                "select 1 where to_regoperator('public.=(uuid, uuid)') is not null",
            ),
            refusal="42501 permission denied for schema public",
        )
        yield Case(
            guard=f"no set on session_replication_role for {role}",
            by=role,
            attack=("set local session_replication_role = replica", UNTRIGGERED[role]),
            refusal='42501 permission denied to set parameter "session_replication_role"',
        )
        yield Case(
            guard="session session_replication_role",
            what="with triggers off from the beginning",
            by=role,
            attack=UNTRIGGERED[role],
            refusal=REFUSED[role],
            without="set local session_replication_role = replica",
            named=f"{role} has session_replication_role 'replica'",
        )
        yield Case(
            guard=f"{role} does not inherit",
            what="read as the reader of all workspaces, without a word",
            by=role,
            attack=THEIR_RUNS,
            refusal="0 rows",
            behind=(f"{role} is not a member of sweep",),
        )
    for role in ("owner", *ATTACKERS):
        yield Case(
            guard=f"{role} is not bypassrls",
            by=role,
            attack=THEIR_RUNS,
            refusal="0 rows",
        )
        yield Case(
            guard=f"{role} is not createrole",
            by=role,
            attack=("create role eve", "select 1 from pg_roles where rolname = 'eve'"),
            refusal="42501 permission denied to create role",
        )
        yield Case(
            guard=f"{role} is not replication",
            what="keep everything that is written, to read it elsewhere",
            by=role,
            attack=f"select pg_create_physical_replication_slot('eve_{role}', false, true)",
            refusal="42501 permission denied to use replication slots",
        )


def of_readers() -> Iterator[Case]:
    """Nobody signs in as a reader; owner, whose functions they own, may become one."""
    for reader in READERS:
        become = f"set local role secondlook_{reader}"
        yield Case(
            guard=f"{reader} is not superuser",
            by="owner",
            attack=(become, theirs("payload")),
            refusal="42501 permission denied for table approvals_payload",
        )
        yield Case(
            guard=f"{reader} is not createrole",
            by="owner",
            attack=(become, "create role eve", "select 1 from pg_roles where rolname = 'eve'"),
            refusal="42501 permission denied to create role",
        )
        yield Case(
            guard=f"{reader} is not replication",
            by="owner",
            attack=(become, f"select pg_create_physical_replication_slot('eve_{reader}', false, true)"),
            refusal="42501 permission denied to use replication slots",
        )


OWNER = (
    Case(guard="owner is not superuser", by="owner", attack=THEIR_RUNS, refusal="0 rows"),
    Case(
        guard="owner does not inherit",
        what="read as a reader, once the membership follows the role",
        by="owner",
        attack=THEIR_RUNS,
        refusal="0 rows",
        without="alter role secondlook_owner inherit; revoke secondlook_sweep from secondlook_owner;"
        " grant secondlook_sweep to secondlook_owner",
    ),
    Case(guard="owner does not inherit from sweep", by="owner", attack=THEIR_RUNS, refusal="0 rows"),
    Case(
        guard="search is not bypassrls",
        what="look into another workspace as the searches do",
        by="owner",
        attack=("set local role secondlook_search", theirs("itemword")),
        refusal="0 rows",
    ),
)
SETTINGS = (
    Case(
        guard="session search_path",
        what="read from a table that stands in for the real one",
        attack="select 1 from approvals_run where subject = 'innocent'",
        refusal="0 rows",
        without="create schema eve; create table eve.approvals_run as select 'innocent'::text as subject;"
        " grant usage on schema eve to public; grant select on eve.approvals_run to public;"
        " set local search_path = eve, public",
    ),
    Case(
        guard="session app.workspace_id",
        what="read without having been bound",
        attack=THEIR_RUNS,
        workspace="",
        refusal="42704 unrecognized configuration parameter|22P02 invalid input syntax for type uuid",
        without="select set_config('app.workspace_id', %(b_workspace)s::text, true),"
        " set_config('app.subject', '', true)",
    ),
)

CASES = (*of_each(), *of_readers(), *OWNER, *SETTINGS)
