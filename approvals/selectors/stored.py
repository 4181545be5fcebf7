"""What is known of the sessions of a runtime's own store, and of their rows."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from django.db import connection

from approvals.models import AgentSession, StoredRow
from approvals.rules.observed import Session, SessionKey
from approvals.rules.sessions import Known

_NAMED = """
    select s.id, s.app, s."user", s.session, s.updated_at from approvals_agentsession s
    join unnest(%s::text[], %s::text[], %s::text[]) as named (app, "user", session)
      on (s.app, s."user", s.session) = (named.app, named."user", named.session)
    where s.runtime_id = %s
"""


def columns_of(keys: Collection[SessionKey]) -> list[list[str]]:
    """The keys as three columns, for a statement that takes many."""
    return [[key.app for key in keys], [key.user for key in keys], [key.id for key in keys]]


def updated_of(runtime_id: UUID, keys: Collection[SessionKey]) -> dict[SessionKey, datetime]:
    """When each of these sessions was last changed, as it is known here; a session that is not known has no entry."""
    with connection.cursor() as cursor:
        cursor.execute(_NAMED, [*columns_of(keys), runtime_id])
        return {SessionKey(*row[1:4]): row[4] for row in cursor.fetchall()}


def ids_of(runtime_id: UUID, keys: Collection[SessionKey]) -> dict[SessionKey, dict[str, bytes | None]]:
    """Of each of these sessions that is known: the ids of its rows with their digests."""
    with connection.cursor() as cursor:
        cursor.execute(_NAMED, [*columns_of(keys), runtime_id])
        names = {row[0]: SessionKey(*row[1:4]) for row in cursor.fetchall()}
    found: dict[SessionKey, dict[str, bytes | None]] = {key: {} for key in names.values()}
    rows = StoredRow.objects.filter(session_id__in=names)
    for session_id, event_id, digest in rows.values_list("session_id", "event_id", "digest"):
        found[names[session_id]][event_id] = None if digest is None else bytes(digest)
    return found


def slice_of(runtime_id: UUID, *, after: int, size: int) -> list[tuple[int, Session]]:
    """So many of the sessions that are known, in the order in which they became so, each with its id here."""
    rows = AgentSession.objects.filter(runtime_id=runtime_id, id__gt=after).order_by("id")[:size]
    return [(row.id, Session(SessionKey(row.app, row.user, row.session), row.updated_at)) for row in rows]


def rows_of(session_ids: Collection[int]) -> dict[int, Sequence[Known]]:
    """The rows of these sessions, by the session's id here."""
    found: dict[int, list[Known]] = defaultdict(list)
    for row in StoredRow.objects.filter(session_id__in=session_ids) if session_ids else ():
        found[row.session_id].append(
            Known(
                event_id=row.event_id,
                invocation_id=row.invocation_id,
                at=row.at,
                digest=None if row.digest is None else bytes(row.digest),
                run_id=row.run_id,
                deleted=row.deleted_at is not None,
            )
        )
    return dict(found)
