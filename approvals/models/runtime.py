"""Where agents run, and the tokens by which they speak to the machine API."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from approvals.models.base import IdentifiedModel, Reference


class Runtime(IdentifiedModel):
    """How to reach a runtime, what it can do, and how far its journal is trusted."""

    name = models.CharField(max_length=200)
    kind = models.TextField()
    base_url = models.TextField(blank=True, default="")
    silence_s = models.PositiveIntegerField(default=300)
    time_limit_s = models.PositiveIntegerField(default=21_600)
    # An admin's word that each call is reported before it is made; without it "no call seen" proves nothing.
    writes_ahead = models.BooleanField(default=False)
    signing_secret = models.BinaryField(default=b"")  # encrypted (services.secrets)
    database_url = models.BinaryField(db_default=b"", default=b"")  # likewise: where its own store is read
    # An admin's word that its agents have tools whose own calls leave no trace; then "no call seen" proves nothing.
    hides_calls = models.BooleanField(db_default=False, default=False)
    # An admin's word that a call of such a tool only proposes the campaign that its arguments describe.
    campaign_tools = ArrayField(models.TextField(), db_default=[], default=list)
    # Where it is told what became of its campaigns; empty: it asks by itself.
    callback_url = models.TextField(blank=True, db_default="", default="")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "name"], name="runtime_name_once")]

    def __str__(self) -> str:
        return self.name


class Token(IdentifiedModel):
    """A bearer token of a runtime, known by its SHA-256 only; with a subject it sees that subject's runs alone."""

    runtime = Reference("approvals.Runtime")
    subject = models.TextField(null=True)
    digest = models.BinaryField(unique=True, max_length=32)
    hint = models.CharField(max_length=12)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.hint}…"
