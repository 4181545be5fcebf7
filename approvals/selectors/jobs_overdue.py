"""What everybody must see: approved and never taken up, and replays that were lost; and how much waits."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from django.db import connection

COUNTED = 1_000  # where a count stops counting

_WAITING = """
    select count(*) from (select from approvals_queueitem q where q.tab = 'decide' limit %s) counted
"""

# A test that somebody sent themselves is followed by them alone, beside the message that it shows.
# The run that an alarm leads to is the attempt that counts: a replay that never began has nothing to show.
_OVERDUE = """
    select case when j.claimed_at is null then 'not_started' else 'not_going_on' end,
      q.kind, coalesce(q.run_id, q.id), q.title, j.due_at
    from (
      select j.claimed_at, j.due_at, coalesce(r.lineage_id, j.campaign_id) as item_id
      from approvals_job j left join approvals_run r on r.workspace_id = j.workspace_id and r.id = j.run_id
      where j.kind <> 'test' and j.status in ('held', 'queued') and j.due_at < now() - make_interval(secs => %s)
      order by j.due_at, j.id limit %s
    ) j
    join approvals_queueitem q on q.id = j.item_id
    order by j.due_at
"""
_SILENT = """
    select case r.interrupted_why when 'broken' then 'broken' else 'silent' end, q.kind, r.id, q.title, r.interrupted_at
    from approvals_run r
    join approvals_queueitem q on q.id = r.lineage_id and q.run_id = r.id and q.tab = 'decide'
    where r.replay_of_id is not null and r.status = 'interrupted' and r.dismissed_at is null
      and r.interrupted_why in ('silent', 'overlong', 'broken')
    order by r.interrupted_at desc, r.id limit %s
"""


@dataclass(frozen=True, slots=True)
class Alarm:
    """One thing that should have moved and did not. `id` is a run's or a campaign's, as `kind` says."""

    what: Literal["not_started", "not_going_on", "silent", "broken"]
    kind: str
    id: UUID
    title: str
    since: datetime


def waiting() -> int:
    """How many lineages and campaigns need a decision, counted up to COUNTED."""
    with connection.cursor() as cursor:
        cursor.execute(_WAITING, [COUNTED])
        return int(cursor.fetchone()[0])


def alarms(*, overdue_s: int, at_most: int) -> list[Alarm]:
    """Jobs that nobody has taken for `overdue_s` seconds, oldest first, then replays that were lost, newest first."""
    with connection.cursor() as cursor:
        cursor.execute(f"({_OVERDUE}) union all ({_SILENT})", [overdue_s, at_most, at_most])
        return [Alarm(*row) for row in cursor.fetchall()][:at_most]
