"""What every table of a workspace has in common."""

import uuid
from typing import Any, TypeVar

from django.db import models


class WorkspaceModel(models.Model):
    """A row of one workspace. Row-level security shows it to that workspace's transactions only.

    References between such rows are `db_constraint=False` here: the real foreign keys are on (workspace_id, id) and
    stand in `sql/`, because a plain foreign key looks past row-level security.
    """

    # No index of its own: each table has one that begins with it, and while a table's statistics are young Postgres
    # would take the plain one and read a whole workspace for a single row.
    workspace = models.ForeignKey("approvals.Workspace", models.PROTECT, related_name="+", db_index=False)

    class Meta:
        abstract = True


class IdentifiedModel(WorkspaceModel):
    """A row with an id that may be told to others."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)

    class Meta:
        abstract = True


_ST_contra = TypeVar("_ST_contra", contravariant=True)
_GT_co = TypeVar("_GT_co", covariant=True)


class Reference(models.ForeignKey[_ST_contra, _GT_co]):
    """A reference within the workspace; its constraint is the composite one in `sql/`, and so are its indexes."""

    def __init__(self, to: Any, on_delete: Any = models.DO_NOTHING, **options: Any) -> None:
        defaults: dict[str, Any] = {"db_constraint": False, "db_index": False, "related_name": "+"}
        super().__init__(to, on_delete, **(defaults | options))
