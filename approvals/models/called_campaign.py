"""Calls of tools that an admin declared as campaigns, and what became of each."""

from django.db import models
from django.db.models.functions import Now

from approvals.models.base import Reference, WorkspaceModel


class CalledCampaign(WorkspaceModel):
    """One call in the journal that is to propose a campaign: pending, then proposed or refused, and that for good."""

    id = models.BigAutoField(primary_key=True)
    run = Reference("approvals.Run")
    seq = models.IntegerField()  # of the event
    tool = models.TextField()
    by_subject = models.BooleanField(
        db_default=False, default=False
    )  # a token told it that is bound to one customer
    # Which whole call of this tool in its run it is, whatever became of it; null for one that was never whole.
    ordinal = models.IntegerField(null=True)
    state = models.TextField(db_default="pending", default="pending")
    version = Reference("approvals.Version", null=True)
    why_payload_id = models.UUIDField(null=True)  # what cannot be used, as {"field": ..., "text": ...}
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    settled_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "run", "seq"], name="calledcampaign_once"),
            models.UniqueConstraint(
                fields=["workspace", "run", "tool", "ordinal"], name="calledcampaign_ordinal_once"
            ),
        ]
        indexes = [
            models.Index(
                fields=["workspace", "run", "seq"],
                condition=models.Q(state="pending"),
                name="calledcampaign_pending",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tool} {self.seq}"
