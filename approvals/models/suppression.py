"""Who is not to be written to."""

from django.db import models
from django.db.models.functions import Now

from approvals.models.base import IdentifiedModel


class Suppression(IdentifiedModel):
    """An address that gets nothing, from nobody or from one agent, until somebody releases it."""

    scope = models.TextField(blank=True, default="")  # an agent; empty for all of them
    dedupe_key = models.TextField(db_collation="C")  # the address in the one spelling that counts
    reason = models.TextField()  # unsubscribed, bounced, complained, by_hand
    source = models.TextField(blank=True, default="")  # whose word that is: a delivery's id, a member's name
    at = models.DateTimeField(db_default=Now(), editable=False)
    released_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "dedupe_key", "scope"],
                condition=models.Q(released_at=None),
                name="suppression_once",
            )
        ]
        indexes = [models.Index(fields=["workspace", "-at"], name="suppression_newest")]

    def __str__(self) -> str:
        return self.dedupe_key
