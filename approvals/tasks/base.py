"""What every task has: a workspace, bound for its whole length."""

from typing import Any

from celery import Task
from django.db import close_old_connections

from approvals.db.binding import bind


class WorkspaceTask(Task):  # type: ignore[misc]  # Celery has no types
    """A task names its workspace; there is none without one."""

    abstract = True

    def __call__(self, *args: Any, workspace: str, **kwargs: Any) -> Any:
        """Run within the workspace, on connections that are known to be alive."""
        close_old_connections()
        with bind(workspace):
            return super().__call__(*args, **kwargs)
