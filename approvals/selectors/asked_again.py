"""The same asked again in one session: a run that broke off after it called a tool, and the next one like it.

Somebody who got no answer sends their message once more. Nobody decided that here, so both runs tell of each other.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

AT_MOST = 20  # runs on each side

_LIKE = """
    with told as materialized (
      select a.id as of_run, o.id, o.external_id, o.status, a.status as own_status,
        coalesce(began.at, o.created_at) as began, coalesce(own.at, a.created_at) as own_began, o.created_at,
        a.created_at as own_created
      from approvals_run a
      join approvals_run o on o.workspace_id = a.workspace_id and o.session_id = a.session_id
        and not (o.session_id = '') and o.runtime_id = a.runtime_id and o.agent = a.agent and o.subject = a.subject
        and o.body_digest = a.body_digest and o.id <> a.id
      left join approvals_event began on began.workspace_id = o.workspace_id and began.run_id = o.id and began.seq = 1
      left join approvals_event own on own.workspace_id = a.workspace_id and own.run_id = a.id and own.seq = 1
      where a.id = any(%s) and a.body_digest <> '' and a.replay_of_id is null and o.replay_of_id is null
    )
    select of_run, id, external_id, status, began,
      (began, created_at, id) < (own_began, own_created, of_run) as earlier, own_status
    from told order by of_run, began, created_at, id
"""
# What was only asked for, and not made, is no call of the run.
_CALLED = """
    select c.run_id, c.name from approvals_toolcall c
    where c.run_id = any(%s) and c.state not in ('awaiting', 'rejected', 'withdrawn') order by c.run_id, c.seq
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """Another run with the same input; `called` names the tools that it called, each once."""

    id: UUID
    external_id: str
    status: str
    at: datetime
    called: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Again:
    """Earlier runs that broke off after a call, before this one was asked; and what came after this one did so."""

    earlier: tuple[Asked, ...] = ()
    later: tuple[Asked, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.earlier or self.later)


NOT_AGAIN = Again()


def asked_again(run_ids: Collection[UUID]) -> Mapping[UUID, Again]:
    """For each of these runs of which it can be said, in two queries; oldest first, the newest AT_MOST of each side."""
    with connection.cursor() as cursor:
        cursor.execute(_LIKE, [list(run_ids)])
        rows = cursor.fetchall()
        if not rows:
            return {}
        cursor.execute(_CALLED, [list({id for row in rows for id in row[:2]})])
        calls = cursor.fetchall()
    called: dict[UUID, dict[str, None]] = defaultdict(dict)
    for run_id, name in calls:
        called[run_id][name or "a tool"] = None
    sides: dict[UUID, tuple[list[Asked], list[Asked]]] = defaultdict(lambda: ([], []))
    for row in rows:
        _sort(row, called, sides)
    found = {run: Again(tuple(old[-AT_MOST:]), tuple(new[-AT_MOST:])) for run, (old, new) in sides.items()}
    return {run: again for run, again in found.items() if again}


def _sort(
    row: tuple[Any, ...],
    called: Mapping[UUID, Mapping[str, None]],
    sides: Mapping[UUID, tuple[list[Asked], list[Asked]]],
) -> None:
    """Put one other run on the side of the run that it is told of, if it belongs there."""
    of_run, id, external_id, status, at, earlier, own_status = row
    asked = Asked(id, external_id, status, at, tuple(called.get(id, ())))
    if earlier and _broke_off(status) and asked.called:
        sides[of_run][0].append(asked)
    elif not earlier and _broke_off(own_status) and called.get(of_run):
        sides[of_run][1].append(asked)


def _broke_off(status: str) -> bool:
    return status in ("interrupted", "failed")
