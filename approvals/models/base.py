"""What every table of a workspace has in common."""

import uuid

from django.db import models


class WorkspaceModel(models.Model):
    """A row of one workspace. Row-level security shows it to that workspace's transactions only.

    References between such rows are `db_constraint=False` here: the real foreign keys are on (workspace_id, id) and
    stand in `sql/`, because a plain foreign key looks past row-level security.
    """

    workspace = models.ForeignKey("approvals.Workspace", models.PROTECT, related_name="+")

    class Meta:
        abstract = True


class IdentifiedModel(WorkspaceModel):
    """A row with an id that may be told to others."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)

    class Meta:
        abstract = True


def reference(to: str, *, null: bool = False, related_name: str = "+") -> "models.ForeignKey[object, object]":
    """A reference within the workspace; its constraint is the composite one in `sql/`."""
    return models.ForeignKey(
        to, models.DO_NOTHING, null=null, db_constraint=False, db_index=False, related_name=related_name
    )
