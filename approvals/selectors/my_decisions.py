"""What one member decided last, and what of it can still be taken back."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from approvals.exceptions import DECIDED

WITHIN_S = 3_600  # a decision of mine stays in reach
_LOOKED_AT = 30  # newest entries of a member, among which refused attempts stand too
# A test of a message decides nothing, and would push aside what can still be taken back.
_KINDS = [kind for kind in DECIDED if kind != "send_test"]

# `claimed_at`: what a worker had once is stopped, not taken back (job_progress.Progress.cancellable says the same).
_MINE = """
    select d.id, d.kind, d.at, q.kind, coalesce(q.run_id, q.id), q.title,
      coalesce(j.status in ('held', 'queued') and (j.kind = 'replay' or j.claimed_at is null)
        and j.delivery_id is null, false)
    from (
      select * from approvals_decision where actor_kind = 'member' and actor_id = %s order by seq desc limit %s
    ) d
    left join approvals_queueitem q on q.id = d.item_id
    left join approvals_job j on j.workspace_id = d.workspace_id and j.decision_id = d.id
    where d.kind = any(%s) and d.at > now() - make_interval(secs => %s)
    order by d.seq desc limit %s
"""


@dataclass(frozen=True, slots=True)
class Mine:
    """A decision of mine: on the run or campaign `item_id` (`item_kind` says which), if it was about one."""

    id: UUID
    kind: str
    at: datetime
    item_kind: str | None
    item_id: UUID | None
    title: str | None
    cancellable: bool


def last_of(user_id: str, *, at_most: int) -> Sequence[Mine]:
    """The member's newest decisions of the last hour."""
    with connection.cursor() as cursor:
        cursor.execute(_MINE, [user_id, _LOOKED_AT, _KINDS, WITHIN_S, at_most])
        return [Mine(*row) for row in cursor.fetchall()]
