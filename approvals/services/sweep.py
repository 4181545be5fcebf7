"""What the clock does: one step for each thing that is due."""

import json
from dataclasses import dataclass
from uuid import UUID

from django.db import connection
from django.db.models.functions import Now

from approvals.db.binding import bind
from approvals.models import Beat
from approvals.services import jobs, runs


@dataclass(frozen=True, slots=True)
class Due:
    """One thing to do: wake (whatever a worker does); release, lease, follow (a job); silent, overlong (a run)."""

    what: str
    workspace_id: UUID
    id: UUID
    kind: str
    fence: int


def due(*, at_most: int) -> list[Due]:
    """What is due now, in all workspaces."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select what, workspace_id, id, kind, fence from due(%s)"
            " union all select what, workspace_id, id, kind, fence from due_imports(%s)"
            " union all select what, workspace_id, id, kind, fence from due_callbacks(%s)"
            " union all select what, workspace_id, id, kind, fence from due_calls(%s)",
            [at_most] * 4,
        )
        return [Due(*row) for row in cursor.fetchall()]


def step(item: Due) -> None:
    """Do one thing that is due, other than a wake-up; harmless when somebody else did it meanwhile."""
    with bind(item.workspace_id):
        match item.what:
            case "release":
                jobs.release(job_id=item.id)
            case "lease":
                jobs.expire(job_id=item.id)
            case "follow":
                jobs.follow(job_id=item.id)
            case "silent" | "overlong":
                runs.interrupt(run_id=item.id, why=item.what)
            case other:
                raise ValueError(f"{other} is no step of the clock")


def beat(name: str, **detail: str) -> None:
    """A sign of life of a process, for /readyz."""
    Beat.objects.bulk_create(
        [Beat(name=name, at=Now(), detail=json.dumps(detail))],
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=["at", "detail"],
    )
