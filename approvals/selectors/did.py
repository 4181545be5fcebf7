"""What runs and campaigns did, in short: enough for one line each, read for a whole page at once."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from approvals.db.binding import current_workspace
from approvals.rules.digests import canonical

COUNTED = 1_000  # where a count stops counting
READ = 8_000  # characters: a longer payload is not opened for one line
ADDRESSED = ("to", "recipient", "recipients", "email")  # arguments that say whom a call reaches


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of one run to one tool that are in one state; `recipients` of the first few of them."""

    name: str
    state: str
    count: int
    recipients: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run. `began` is false for a replay that was never handed over; `job` is the replay that made it."""

    id: UUID
    lineage_id: UUID
    external_id: str
    agent: str
    subject: str
    status: str
    began: bool
    at: datetime  # when it was made
    record: str
    complete: bool
    why: str
    interrupted_why: str
    job_status: str
    job_outcome: str
    error: str = ""
    calls: tuple[Calls, ...] = ()


@dataclass(frozen=True, slots=True)
class Mailing:
    """A campaign's newest version: its subject line, and its deliveries and recipients by state, up to COUNTED.

    `starts_at` is when what was approved goes out, while it is held. `earlier` are the deliveries of the versions
    before that somebody has to settle, and those that they sent.
    """

    id: UUID
    status: str
    subject_line: str
    deliveries: Mapping[str, int]
    excluded: int
    starts_at: datetime | None = None
    version: int = 1
    earlier: Mapping[str, int] = field(default_factory=dict)

    @property
    def recipients(self) -> int:
        """Everybody whom it can be sent to."""
        return sum(self.deliveries.values())


_ATTEMPTS = """
    with wanted as materialized (select r.* from approvals_run r where {condition})
    select r.id, r.lineage_id, r.external_id, r.agent, r.subject, r.status, r.started_at is not null, r.created_at,
      rec.kind, rec.complete, rec.why, r.interrupted_why, coalesce(job.status, ''), coalesce(job.outcome, ''),
      ended.payload_id
    from wanted r
    join run_records(%s, array(select w.id from wanted w)) rec on rec.run_id = r.id
    left join lateral (
      select e.payload_id from approvals_event e
      where e.workspace_id = r.workspace_id and e.run_id = r.id and e.type = 'ended' order by e.seq limit 1
    ) ended on true
    left join lateral (
      select j.status, j.outcome from approvals_job j
      where j.workspace_id = r.workspace_id and j.run_id = r.id order by j.created_at desc limit 1
    ) job on true
    order by r.created_at, r.id
"""
_CALLS = """
    select c.run_id, c.name, c.state, count(*),
      (array_agg(c.args_payload_id order by c.seq) filter (where c.args_payload_id is not null))[1:3]
    from approvals_toolcall c where c.run_id = any(%s)
    group by c.run_id, c.name, c.state order by c.run_id, min(c.seq)
"""
_MAILINGS = """
    select c.id, c.status, v.subject_line, (
        select jsonb_object_agg(s.state, (select count(*) from (
          select from approvals_delivery d where d.version_id = v.id and d.state = s.state limit %s) d))
        from unnest(array['planned','attempting','sent','failed','in_doubt','skipped']) s(state)),
      (select count(*) from (select from approvals_audiencerow a
        where a.version_id = v.id and a.state in ('duplicate', 'suppressed', 'refused') limit %s) a),
      (select max(j.due_at) from approvals_job j
        where j.workspace_id = c.workspace_id and j.campaign_id = c.id and j.status = 'held'),
      v.number, (select jsonb_object_agg(s.state, (select count(*) from (
          select from approvals_delivery d
          join approvals_version o on o.workspace_id = d.workspace_id and o.id = d.version_id
          where o.campaign_id = c.id and o.number < v.number and d.state = s.state
            and (s.state = 'sent' or d.resolved_at is null) limit %s) d))
        from unnest(array['sent','failed','in_doubt']) s(state) where v.number > 1)
    from approvals_campaign c
    cross join lateral (select v.id, v.number, v.subject_line from approvals_version v
      where v.workspace_id = c.workspace_id and v.campaign_id = c.id order by v.number desc limit 1) v
    where c.id = any(%s)
"""


def attempts_of(lineages: Collection[UUID]) -> dict[UUID, tuple[Attempt, ...]]:
    """The attempts of each lineage, oldest first."""
    grouped: dict[UUID, tuple[Attempt, ...]] = {}
    for attempt in _attempts("r.lineage_id = any(%s)", lineages):
        grouped[attempt.lineage_id] = (*grouped.get(attempt.lineage_id, ()), attempt)
    return grouped


def runs_in_short(run_ids: Sequence[UUID]) -> list[Attempt]:
    """These runs, in the order given."""
    by_id = {attempt.id: attempt for attempt in _attempts("r.id = any(%s)", run_ids)}
    return [by_id[id] for id in run_ids if id in by_id]


def mailings_of(campaign_ids: Collection[UUID]) -> dict[UUID, Mailing]:
    """Each campaign's numbers."""
    if not campaign_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_MAILINGS, [COUNTED, COUNTED, COUNTED, list(campaign_ids)])
        rows = cursor.fetchall()
    return {
        id: Mailing(
            id, status, subject, json.loads(counts), excluded, at, version, json.loads(earlier or "{}")
        )
        for id, status, subject, counts, excluded, at, version, earlier in rows
    }


def _attempts(condition: str, ids: Collection[UUID]) -> list[Attempt]:
    if not ids:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_ATTEMPTS.format(condition=condition), [list(ids), current_workspace()])
        rows = cursor.fetchall()
        cursor.execute(_CALLS, [[row[0] for row in rows]])
        calls = cursor.fetchall()
    ended = {row[0]: row[-1] for row in rows}
    bodies = _short_bodies([*ended.values(), *(id for call in calls for id in call[4] or ())])
    by_run: dict[UUID, tuple[Calls, ...]] = {}
    for run_id, name, state, count, arguments in calls:
        reached = _recipients(bodies[id] for id in arguments or () if id in bodies)
        by_run[run_id] = (*by_run.get(run_id, ()), Calls(name, state, count, reached))
    return [
        replace(Attempt(*row[:-1]), error=_error(bodies.get(row[-1])), calls=by_run.get(row[0], ()))
        for row in rows
    ]


def _short_bodies(ids: Iterable[UUID | None]) -> dict[UUID | None, Any]:
    wanted = {id for id in ids if id is not None}
    if not wanted:
        return {}
    # A page asks for a hundred: one list is read faster than a hundred values.
    with connection.cursor() as cursor:
        cursor.execute(
            "select id, body from approvals_payload where id = any(%s) and length(body) <= %s",
            [list(wanted), READ],
        )
        return {id: json.loads(body) for id, body in cursor.fetchall()}


def _recipients(contents: Iterable[Any]) -> tuple[str, ...]:
    """Whom calls reach, as far as their arguments say so in a usual way; each once, in order."""
    found: dict[str, None] = {}
    for content in contents:
        arguments = content.get("args") if isinstance(content, dict) else None
        if not isinstance(arguments, dict):
            continue
        for value in (arguments.get(key) for key in ADDRESSED):
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, str) and one.strip():
                    found[one] = None
    return tuple(found)


def _error(content: Any) -> str:
    error = content.get("error") if isinstance(content, dict) else None
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        error = error["message"]
    return error if isinstance(error, str) else "" if error is None else canonical(error)
