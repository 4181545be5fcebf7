"""Watching a runtime's own store: how far that is, the sessions seen there, and each of their rows."""

from django.db import models
from django.db.models.functions import Now

from approvals.models.base import IdentifiedModel, Reference, WorkspaceModel


class Observation(IdentifiedModel):
    """How far the reading of one runtime's store is. Whoever holds the lease reads; the fence grows with each claim.

    A *pass* goes through every session in the order of their keys, over and over, and finds what was changed or
    deleted; besides, what changed lately is read every few seconds.
    """

    runtime = Reference("approvals.Runtime")
    due_at = models.DateTimeField(db_default=Now())
    lease_until = models.DateTimeField(null=True)
    fence = models.BigIntegerField(db_default=0, default=0)
    trouble = models.TextField(
        blank=True, db_default="", default=""
    )  # why the store cannot be read, one sentence
    notice = models.TextField(
        blank=True, db_default="", default=""
    )  # what the service itself does not answer
    troubled_since = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)  # when reading last went well
    version = models.TextField(blank=True, db_default="", default="")  # of the service, as it says
    facts = models.JSONField(db_default={}, default=dict)  # per application: what its agent can hide
    asked_at = models.DateTimeField(null=True)  # when the service was last asked for both

    changed_until = models.DateTimeField(null=True)  # the newest change that was read, by the store's clock
    pass_after = models.JSONField(
        null=True
    )  # how far this pass is: services.observations.Place; null: none goes on
    pass_began_at = models.DateTimeField(null=True)
    pass_done = models.BigIntegerField(db_default=0, default=0)  # sessions
    pass_total = models.BigIntegerField(db_default=0, default=0)
    pass_ended_at = models.DateTimeField(null=True)  # the last complete one

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "runtime"], name="observation_once_per_runtime")
        ]
        indexes = [models.Index(fields=["due_at"], name="observation_due")]

    def __str__(self) -> str:
        return f"observation of {self.runtime_id}"


class AgentSession(WorkspaceModel):
    """A session of a runtime, as its store listed it last."""

    id = models.BigAutoField(primary_key=True)
    runtime = Reference("approvals.Runtime")
    app = models.TextField()
    user = models.TextField()
    session = models.TextField()
    updated_at = models.DateTimeField()  # by the store's clock

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "runtime", "app", "user", "session"], name="agentsession_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.app}/{self.user}/{self.session}"


class StoredRow(WorkspaceModel):
    """A row of a session in its store, or an event that a worker heard of before it was seen there."""

    id = models.BigAutoField(primary_key=True)
    session = Reference("approvals.AgentSession")
    event_id = models.TextField()
    invocation_id = models.TextField()
    at = models.DateTimeField()  # by the store's clock
    digest = models.BinaryField(
        null=True, max_length=32
    )  # SHA-256 of the row; null until it was seen in the store
    run = Reference("approvals.Run", null=True)  # null for a row that is about no run
    ends = models.TextField(blank=True, default="")  # how the run stands after it: rules.observed.Row.ends
    answers = models.BooleanField(default=False)  # whether it answers calls from outside
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "session", "event_id"], name="storedrow_once")
        ]

    def __str__(self) -> str:
        return self.event_id
