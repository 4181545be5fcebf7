"""What a runtime is to be told of a campaign that it proposed: the outbox."""

from django.db import models
from django.db.models.functions import Now

from approvals.models.base import IdentifiedModel, Reference


class Callback(IdentifiedModel):
    """One piece of news, written in the transaction that makes it. Its id is the `webhook-id` of every try.

    Whoever holds the lease tells it; the fence grows with each claim. Of one campaign they are told in the order of
    `number`: one waits until those before it are told or given up.
    """

    campaign = Reference("approvals.Campaign")  # whose runtime is told
    number = models.PositiveIntegerField()
    decision = Reference("approvals.Decision", null=True)  # null where the sending ended by itself
    type = models.TextField()
    body = models.TextField()  # as it is signed and sent
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    status = models.TextField(db_default="waiting", default="waiting")
    attempts = models.PositiveIntegerField(db_default=0, default=0)
    due_at = models.DateTimeField(db_default=Now())
    lease_until = models.DateTimeField(null=True)
    fence = models.BigIntegerField(db_default=0, default=0)
    answer = models.TextField(
        blank=True, db_default="", default=""
    )  # what came of the last try, in one sentence
    told_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "campaign", "number"], name="callback_order")
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=models.Q(status="waiting"), name="callback_due"),
            models.Index(
                fields=["workspace", "campaign"],
                condition=models.Q(status="given_up"),
                name="callback_given_up",
            ),
        ]

    def __str__(self) -> str:
        return self.type
