"""An outbound action that waits for a person, and its sealed content."""

from django.db import models
from django.db.models.functions import Now

from approvals.models.base import IdentifiedModel, Reference, WorkspaceModel


class Campaign(IdentifiedModel):
    """A proposed campaign. Name, purpose and the time by which it is to be sent are those of its newest version."""

    runtime = Reference("approvals.Runtime", null=True)
    run = Reference("approvals.Run", null=True)
    external_id = models.TextField()
    agent = models.TextField()
    name = models.TextField()
    purpose = models.TextField(blank=True, default="")
    send_by = models.DateTimeField(null=True)
    status = models.TextField(db_default="pending", default="pending")
    comment = models.TextField(blank=True, default="")  # the reviewer's, for the proposer
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "runtime", "external_id"],
                nulls_distinct=False,
                name="campaign_external_id_once",
            )
        ]
        indexes = [
            models.Index(
                fields=["workspace", "run"], condition=models.Q(run__isnull=False), name="campaign_run"
            )
        ]

    def __str__(self) -> str:
        return self.name


class Version(IdentifiedModel):
    """One content of a campaign. Once sealed neither it nor its audience changes."""

    campaign = Reference("approvals.Campaign", related_name="versions")
    number = models.PositiveIntegerField()
    from_address = models.TextField()
    reply_to = models.TextField(blank=True, default="")
    subject_line = models.TextField()
    text = models.TextField()
    html = models.TextField(blank=True, default="")
    body_digest = models.TextField(
        blank=True, db_default="", default=""
    )  # of the proposal that made it, to know a repetition
    # Who proposed it: a token or a member. Whoever did does not approve it.
    proposer_kind = models.TextField(blank=True, db_default="", default="")
    proposer_id = models.TextField(blank=True, db_default="", default="")
    proposer_name = models.TextField(blank=True, db_default="", default="")
    # Canonical JSON of the list that its audience was drawn from: name, rows, where, rest; empty for one without.
    drawn_from = models.TextField(blank=True, db_default="", default="")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    digest = models.TextField(blank=True, default="")
    sealed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "campaign", "number"], name="version_once"),
            # A decision holds the digest of the version that it is about.
            models.UniqueConstraint(
                fields=["workspace", "campaign", "digest"],
                condition=~models.Q(digest=""),
                name="version_digest_once",
            ),
        ]

    def __str__(self) -> str:
        return f"version {self.number}"


class AudienceRow(WorkspaceModel):
    """One proposed recipient, whatever became of it.

    Addressable, or with a reason duplicate, suppressed, refused or, by an earlier version, already_sent.
    """

    id = models.BigAutoField(primary_key=True)
    version = Reference("approvals.Version", related_name="audience")
    position = models.PositiveIntegerField()
    email = models.TextField()  # as it was given
    address = models.TextField(blank=True, default="")  # as it is written to
    vars = models.TextField(default="{}")  # canonical JSON
    state = models.TextField()
    reason = models.TextField(blank=True, default="")
    erased_at = models.DateTimeField(null=True)  # then email, address and vars are empty

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "version", "position"], name="audience_position_once"
            )
        ]
        indexes = [models.Index(fields=["workspace", "version", "state", "position"], name="audience_state")]

    def __str__(self) -> str:
        return self.email
