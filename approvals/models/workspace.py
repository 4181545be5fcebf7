"""The tenant, and who belongs to it."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from approvals.models.base import IdentifiedModel


class Workspace(models.Model):
    """The tenant: the isolation boundary. Its pages live at /w/<slug>/."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=200)
    hold_s = models.PositiveIntegerField(db_default=0, default=0)
    messages_per_minute = models.PositiveIntegerField(
        db_default=0, default=0
    )  # 0: as fast as the server takes them
    next_message_at = models.DateTimeField(null=True)  # the mark of rules/pace
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return self.name


class Member(IdentifiedModel):
    """A user in a workspace, with one or more roles (rules.permissions)."""

    user = models.ForeignKey("approvals.User", models.PROTECT, related_name="+")
    roles = ArrayField(models.TextField())
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "user"], name="member_once")]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.workspace_id}"
