"""Everything belongs to owner, or to a reader: who owns a thing can do away with it, without any other right.

A sequence belongs to whom its table belongs to.
"""

from collections.abc import Iterator

from tests.attacks.matrix.case import Case
from tests.attacks.matrix.guards import functions, relations, without


def cases() -> Iterator[Case]:
    """App as the owner of each thing, one after the other."""
    for table in relations():
        yield Case(
            guard=f"owner {table}",
            attack=(
                f"alter table {table} disable trigger user, no force row level security",
                f"select 1 from pg_class where oid = '{table}'::regclass and not relforcerowsecurity",
            ),
        )
    for view in relations("view"):
        yield Case(
            guard=f"owner {view}",
            attack=(
                f"alter view {view} reset (security_invoker)",
                f"select 1 from pg_class where oid = '{view}'::regclass and reloptions = '{{security_barrier=true}}'",
            ),
        )
    for signature in functions():
        # To drop a function takes the triggers that call it away, whoever owns their tables.
        inputs = without(f"owner {signature}").removeprefix("alter function ").partition(" owner to ")[0]
        name = signature.partition("(")[0]
        yield Case(
            guard=f"owner {signature}",
            attack=(
                f"drop function {inputs} cascade",
                f"select 1 where not exists (select from pg_proc where proname = '{name}')",
            ),
        )


CASES = tuple(cases())
