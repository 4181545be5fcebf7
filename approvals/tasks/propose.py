"""Seeing to the calls of a run that are to propose a campaign, one after the other."""

from typing import Any
from uuid import UUID

import structlog
from celery import shared_task
from django.db import InterfaceError, InternalError, OperationalError

from approvals import faults
from approvals.services import called
from approvals.tasks.base import WorkspaceTask

AT_MOST = 50  # calls in one task; the clock finds the others
log = structlog.get_logger(__name__)


@shared_task(base=WorkspaceTask, bind=True, name="approvals.tasks.propose.execute")  # type: ignore[untyped-decorator]
def execute(self: Any, run_id: str) -> None:
    """What this run's calls propose, if any of them waits and nobody else sees to it."""
    del self
    for _ in range(AT_MOST):
        try:
            if not called.settle_next(run_id=UUID(run_id)):
                return
        except (OperationalError, InterfaceError, InternalError):
            raise  # about the database, not about this call: as after a transaction that rested too long
        except (
            Exception
        ):  # whatever an agent wrote: it keeps no other call waiting, and whoever looks sees it
            log.exception("a call could not be seen to", run=run_id)
            called.give_up_next(run_id=UUID(run_id))
        faults.point("propose.settled")
