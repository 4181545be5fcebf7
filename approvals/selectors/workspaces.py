"""Which workspaces there are, for the operator's commands before any is bound; and how the bound one sends."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from approvals.exceptions import NotFound
from approvals.models import Workspace


@dataclass(frozen=True, slots=True)
class WorkspaceRow:
    """One workspace as the operator sees it."""

    id: UUID
    slug: str
    name: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Sending:
    """How a workspace sends: seconds that an approval is held, and messages a minute (0: no limit)."""

    hold_s: int
    messages_per_minute: int


def sending() -> Sending:
    """How the bound workspace sends."""
    return Sending(*Workspace.objects.values_list("hold_s", "messages_per_minute").get())


def all_workspaces() -> list[WorkspaceRow]:
    """Every workspace, oldest first."""
    with connection.cursor() as cursor:
        cursor.execute("select workspace_id, slug, name, created_at from all_workspaces()")
        return [WorkspaceRow(*row) for row in cursor.fetchall()]


def workspace_by_slug(slug: str) -> WorkspaceRow:
    """The workspace with this slug; NotFound without one."""
    for row in all_workspaces():
        if row.slug == slug:
            return row
    raise NotFound(f'There is no workspace "{slug}". `workspace list` shows all of them.')
