"""The one execution of one releasing decision."""

from django.db import models
from django.db.models.functions import Now

from approvals.models.base import IdentifiedModel, Reference


class Job(IdentifiedModel):
    """What a worker claims. Lease and fence are set by the database's clock when it is claimed."""

    decision = Reference("approvals.Decision", related_name="jobs")
    kind = models.TextField()  # replay, send or test
    run = Reference("approvals.Run", null=True, related_name="jobs")  # the new run of a replay
    campaign = Reference("approvals.Campaign", null=True, related_name="jobs")
    version = Reference("approvals.Version", null=True)  # of the campaign: what the decision is bound to
    delivery = Reference("approvals.Delivery", null=True)  # only this one, for "do it again"
    # Of a test: whose message it shows. It names no campaign and no delivery, so nothing that asks for the jobs of
    # one, to count, stop or take back, ever meets a test.
    sample = Reference("approvals.Delivery", null=True)

    status = models.TextField()
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    due_at = models.DateTimeField(db_default=Now())  # end of the hold, or of a wait before going on
    queued_at = models.DateTimeField(null=True)
    claimed_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    fence = models.BigIntegerField(db_default=0, default=0)
    intent_at = models.DateTimeField(null=True)
    accepted_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    outcome = models.TextField(blank=True, db_default="", default="")
    task_id = models.TextField(blank=True, db_default="", default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "decision"], name="job_once_per_decision")
        ]
        indexes = [
            models.Index(fields=["workspace", "run"], name="job_run"),
            models.Index(fields=["workspace", "campaign"], name="job_campaign"),
            models.Index(
                fields=["workspace", "sample"],
                condition=models.Q(sample__isnull=False),
                name="job_sample",
            ),
            models.Index(
                fields=["due_at"], condition=models.Q(status__in=["held", "queued"]), name="job_waiting"
            ),
            models.Index(fields=["lease_until"], condition=models.Q(status="running"), name="job_leased"),
            models.Index(  # what the clock asks for every two seconds: the replays that follow their runs
                fields=["run"],
                condition=models.Q(kind="replay", status__in=["running", "in_doubt", "paused"]),
                name="job_following",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.status}"
