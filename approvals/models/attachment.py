"""Files that campaigns may attach, kept under their SHA-256, and what each version has attached."""

from django.db import models
from django.db.models.functions import Now

from approvals.models.base import IdentifiedModel, Reference


class Attachment(IdentifiedModel):
    """A file that somebody sent. It never changes; the same bytes from the same sender are the same row."""

    runtime = Reference("approvals.Runtime", null=True)  # whose token sent it; null for a person
    sha256 = models.TextField()  # in hex; it is kept under this name
    size = models.IntegerField()  # bytes
    content_type = models.TextField()  # as it was sent; each campaign says its own
    looks_like = models.TextField(blank=True)  # what its first bytes say, or empty
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "sha256", "runtime"], nulls_distinct=False, name="attachment_once"
            )
        ]

    def __str__(self) -> str:
        return self.sha256


class VersionAttachment(IdentifiedModel):
    """One file as a version has it attached; sealed with it, and part of its digest."""

    version = Reference("approvals.Version", related_name="attachments")
    position = models.SmallIntegerField()  # 1 to 10
    attachment = Reference("approvals.Attachment")
    filename = models.TextField()
    content_type = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "version", "position"], name="versionattachment_position_once"
            )
        ]

    def __str__(self) -> str:
        return self.filename
