"""A recorded choice, and the hash chain it is a link of."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from approvals.models.base import IdentifiedModel


class Decision(IdentifiedModel):
    """One entry of a workspace's append-only decision log. seq, at and both hashes are set by the database."""

    seq = models.BigIntegerField(db_default=0, editable=False)
    at = models.DateTimeField(db_default=models.functions.Now(), editable=False)
    kind = models.TextField()
    actor_kind = models.TextField()  # member, rule, token, run, operator, system
    actor_id = models.TextField()
    actor_name = models.TextField()
    actor_roles = ArrayField(models.TextField())
    sign_in = models.TextField(blank=True, default="")
    opened_at = models.DateTimeField(null=True)
    target_kind = models.TextField()
    target_id = models.UUIDField()
    item_id = models.UUIDField(null=True)  # the lineage or campaign on whose page it stands
    agent = models.TextField(blank=True, default="")
    subject = models.TextField(blank=True, default="")
    digest = models.TextField(blank=True, default="")  # of what was shown
    payload_id = models.UUIDField()  # reason, evidence, verdict: what may be erased
    payload_hash = models.BinaryField(max_length=32)
    prev_hash = models.BinaryField(db_default=b"", editable=False)
    hash = models.BinaryField(db_default=b"", editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "seq"], name="decision_seq_once")]
        indexes = [
            models.Index(fields=["workspace", "item_id", "seq"], name="decision_item"),
            models.Index(fields=["workspace", "target_id", "seq"], name="decision_target"),
            models.Index(fields=["workspace", "kind", "seq"], name="decision_kind"),
            models.Index(fields=["workspace", "agent", "seq"], name="decision_agent"),
            models.Index(fields=["workspace", "actor_kind", "actor_id", "seq"], name="decision_actor"),
            models.Index(fields=["workspace", "at"], name="decision_at"),
        ]

    def __str__(self) -> str:
        return f"{self.seq} {self.kind}"
