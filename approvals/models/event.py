"""The journal, and what Postgres derives from it."""

from django.db import models
from django.db.models.functions import Now

from approvals.models.base import Reference, WorkspaceModel


class Event(WorkspaceModel):
    """One line of a run's append-only journal."""

    id = models.BigAutoField(primary_key=True)
    run = Reference("approvals.Run", related_name="events")
    seq = models.IntegerField()
    type = models.TextField()
    at = models.DateTimeField()  # what the runtime says
    received_at = models.DateTimeField(db_default=Now(), editable=False)  # what the database's clock says
    call_id = models.TextField(null=True)
    name = models.TextField(null=True)
    outcome = models.TextField(null=True)
    is_error = models.BooleanField(db_default=False, default=False)
    origin = models.TextField(db_default="live", default="live")
    provenance = models.TextField(db_default="reported", default="reported")
    payload_id = models.UUIDField(null=True)
    payload_hash = models.BinaryField(null=True, max_length=32)
    late = models.BooleanField(db_default=False, editable=False)  # set by the database

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "run", "seq"], name="event_seq_once"),
        ]
        indexes = [  # who allowed this call?
            models.Index(
                fields=["workspace", "call_id"], condition=models.Q(type="tool_call"), name="event_call"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.seq} {self.type}"


class ToolCall(models.Model):
    """A view over the journal: one row a call of a run."""

    pk = models.CompositePrimaryKey("run_id", "call_id")
    workspace = models.ForeignKey("approvals.Workspace", models.DO_NOTHING, related_name="+")
    run = models.ForeignKey("approvals.Run", models.DO_NOTHING, related_name="calls")
    call_id = models.TextField()
    name = models.TextField()
    state = models.TextField()
    seq = models.IntegerField()
    at = models.DateTimeField()
    provenance = models.TextField()
    late = models.BooleanField()
    args_payload_id = models.UUIDField(null=True)
    result_payload_id = models.UUIDField(null=True)
    result_at = models.DateTimeField(null=True)

    class Meta:
        managed = False
        db_table = "approvals_toolcall"

    def __str__(self) -> str:
        return self.name


class RunTool(WorkspaceModel):
    """Which tools a lineage called, and where it stands, kept by triggers: what the tool filter pages over."""

    id = models.BigAutoField(primary_key=True)
    run = Reference("approvals.Run")  # the first attempt that called it
    lineage_id = models.UUIDField()
    name = models.TextField()
    tab = models.TextField()  # this and the rest as in the lineage's queue item
    since = models.DateTimeField()
    due = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "lineage_id", "name"], name="run_tool_once")
        ]
        indexes = [
            models.Index(
                fields=["workspace", "name", "tab", "due", "since", "lineage_id"], name="run_tool_order"
            ),
            models.Index(fields=["workspace", "name", "-since", "-lineage_id"], name="run_tool_history"),
        ]

    def __str__(self) -> str:
        return self.name
