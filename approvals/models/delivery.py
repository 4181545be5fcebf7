"""One recipient of one version."""

from django.db import models

from approvals.models.base import IdentifiedModel, Reference

TAKEN = ["attempting", "sent", "in_doubt"]
MAY_HAVE_IT = ["sent", "in_doubt"]


class Delivery(IdentifiedModel):
    """What happened to one recipient. Everything but its progress is fixed when the version is sealed."""

    campaign = Reference("approvals.Campaign", related_name="deliveries")
    version = Reference("approvals.Version", related_name="deliveries")
    audience_row = Reference("approvals.AudienceRow")
    position = models.PositiveIntegerField()
    address = models.TextField()
    dedupe_key = models.TextField()  # the address in the one spelling that counts as the same recipient
    message_id = models.TextField()

    state = models.TextField(db_default="planned", default="planned")
    job = Reference("approvals.Job", null=True)
    fence = models.BigIntegerField(null=True)  # of the job when it was attempted
    attempt = models.PositiveIntegerField(db_default=0, default=0)
    attempted_at = models.DateTimeField(null=True)  # also the message's Date
    settled_at = models.DateTimeField(null=True)
    reply = models.TextField(blank=True, db_default="", default="")
    resolved_at = models.DateTimeField(
        null=True
    )  # a person said what became of it or left it, or a newer version wrote to them

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "version", "dedupe_key"], name="delivery_once_per_version"
            ),
            models.UniqueConstraint(
                fields=["workspace", "campaign", "dedupe_key"],
                condition=models.Q(state__in=TAKEN),
                name="delivery_once_per_campaign",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "version", "state", "position"], name="delivery_state"),
            # what waits for a person, of which the queue asks each time that one more does, or one less
            models.Index(
                fields=["workspace", "campaign", "state"],
                condition=models.Q(state__in=["in_doubt", "failed"], resolved_at=None),
                name="delivery_unsettled",
            ),
            # by their beginnings too, whatever order the database's language has
            models.Index(
                fields=["workspace", "dedupe_key"],
                opclasses=["uuid_ops", "text_pattern_ops"],
                name="delivery_recipient",
            ),
            models.Index(
                fields=["workspace", "message_id"],
                opclasses=["uuid_ops", "text_pattern_ops"],
                name="delivery_message",
            ),
        ]

    def __str__(self) -> str:
        return self.address
