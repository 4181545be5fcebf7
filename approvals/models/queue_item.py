"""The queue's rows: one for a lineage, one for a campaign, kept by triggers (sql/0006_queue)."""

import uuid

from django.db import models

from approvals.models.base import WorkspaceModel


class QueueItem(WorkspaceModel):
    """Where a lineage or a campaign stands: which tab, since when, why. Nobody but the database writes it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)  # the lineage's or the campaign's
    kind = models.TextField()  # run or campaign
    tab = models.TextField()  # decide, progress or history
    state = models.TextField()
    run_id = models.UUIDField(null=True)  # the attempt that counts
    agent = models.TextField()
    subject = models.TextField(blank=True, default="")
    title = models.TextField()
    since = models.DateTimeField()
    due = models.DateTimeField()  # send_by, or infinity: the order of the tabs

    class Meta:
        indexes = [
            models.Index(fields=["workspace", "tab", "due", "since", "id"], name="queue_order"),
            models.Index(fields=["workspace", "tab", "agent", "due", "since", "id"], name="queue_agent"),
            models.Index(fields=["workspace", "tab", "kind", "due", "since", "id"], name="queue_kind"),
            models.Index(fields=["workspace", "-since", "-id"], name="queue_history"),
            models.Index(fields=["workspace", "agent", "-since", "-id"], name="queue_agent_history"),
            models.Index(fields=["workspace", "kind", "-since", "-id"], name="queue_kind_history"),
            models.Index(fields=["workspace", "subject", "-since", "-id"], name="queue_subject"),
        ]

    def __str__(self) -> str:
        return self.title
