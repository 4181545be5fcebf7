"""One attempt of an agent at one input, on behalf of one subject."""

from django.db import models
from django.db.models.functions import Now

from approvals.models.base import IdentifiedModel, Reference


class Run(IdentifiedModel):
    """A run. The journal's trigger moves it along while events come in (sql/0003_journal); `tools_executed` is
    written by Postgres alone (sql/0004_record)."""

    runtime = Reference("approvals.Runtime")
    external_id = models.TextField()
    agent = models.TextField()
    session_id = models.TextField(blank=True, default="")
    subject = models.TextField()
    trigger = models.TextField(blank=True, default="")
    input_payload_id = models.UUIDField()
    input_hash = models.BinaryField(max_length=32)
    body_digest = models.TextField()  # of the request that made it, to tell a repetition from a conflict

    status = models.TextField(db_default="running", default="running")
    replay_of = Reference("approvals.Run", null=True, related_name="replays")
    lineage_id = models.UUIDField()  # the id of the original run

    created_at = models.DateTimeField(db_default=Now(), editable=False)
    started_at = models.DateTimeField(null=True)  # null: a replay that was never handed over
    last_event_at = models.DateTimeField(null=True)  # by the database's clock
    silent_after = models.DateTimeField(null=True)
    overlong_after = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    interrupted_at = models.DateTimeField(null=True)
    interrupted_why = models.TextField(
        blank=True, db_default="", default=""
    )  # silent, overlong, declared, broken, stopped
    dismissed_at = models.DateTimeField(null=True)

    next_seq = models.IntegerField(db_default=1, default=1)  # the lowest missing
    max_seq = models.IntegerField(db_default=0, default=0)
    tools_executed = models.JSONField(null=True, editable=False)
    settled_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "runtime", "subject", "external_id"],
                condition=models.Q(replay_of=None),
                name="run_external_id_once",
            ),
            models.UniqueConstraint(
                fields=["workspace", "lineage_id"],
                condition=models.Q(status="running"),
                name="run_one_active_per_lineage",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "lineage_id", "created_at"], name="run_lineage"),
            models.Index(fields=["workspace", "subject", "-created_at"], name="run_subject"),
            models.Index(fields=["workspace", "created_at", "id"], name="run_created"),
            models.Index(fields=["workspace", "external_id"], name="run_external_id"),
            models.Index(  # what else happened in a session
                fields=["workspace", "session_id", "created_at"],
                condition=~models.Q(session_id=""),
                name="run_session",
            ),
            models.Index(  # whether a replay of it began; asked for each event
                fields=["workspace", "replay_of"],
                condition=models.Q(replay_of__isnull=False),
                name="run_replay_of",
            ),
            # Not of every running run: nothing but the clock's own questions may find these two.
            models.Index(
                fields=["silent_after"],
                condition=models.Q(status="running", silent_after__isnull=False),
                name="run_silent",
            ),
            models.Index(
                fields=["overlong_after"],
                condition=models.Q(status="running", overlong_after__isnull=False),
                name="run_overlong",
            ),
            models.Index(  # the alarm on every page: replays that were lost
                fields=["workspace", "interrupted_at"],
                condition=models.Q(status="interrupted", replay_of__isnull=False, dismissed_at__isnull=True),
                name="run_replay_lost",
            ),
        ]

    def __str__(self) -> str:
        return self.external_id
