"""An audience that was imported from a file: the file, how far the import is, and each of its rows."""

from django.db import models
from django.db.models.functions import Now

from approvals.models.base import IdentifiedModel, Reference


class Dataset(IdentifiedModel):
    """A list of recipients. It can be used once `ended_at` is set and there is no `trouble`; then it never changes.

    Whoever holds the lease imports it; the fence grows with each claim. The four counters say what the rows that were
    stored so far are; together they are how far the import is.
    """

    runtime = Reference("approvals.Runtime", null=True)  # whose token sent it; null for a person
    name = models.TextField()  # of the file, as whoever sent it calls it
    sha256 = models.TextField()  # of the file, in hex; it is kept under this name
    size = models.BigIntegerField()  # bytes
    encoding = models.TextField()
    delimiter = models.TextField()
    columns = models.JSONField()  # their names, in order
    address_column = models.TextField()
    by_name = models.TextField()  # who sent it
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    due_at = models.DateTimeField(db_default=Now())
    lease_until = models.DateTimeField(null=True)
    fence = models.BigIntegerField(db_default=0, default=0)
    notice = models.TextField(blank=True, db_default="", default="")  # what it waits for
    total = models.PositiveIntegerField(null=True)  # rows of the file, once they were counted
    addressable = models.PositiveIntegerField(db_default=0, default=0)
    duplicate = models.PositiveIntegerField(db_default=0, default=0)
    suppressed = models.PositiveIntegerField(db_default=0, default=0)
    refused = models.PositiveIntegerField(db_default=0, default=0)
    formulas = models.PositiveIntegerField(db_default=0, default=0)  # rows with a cell that looks like one
    trouble = models.TextField(blank=True, db_default="", default="")  # why the file cannot be imported
    ended_at = models.DateTimeField(null=True)
    # Then the file itself is erased for good, or is about to be; what it is told by stays.
    file_erased_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "runtime", "sha256", "encoding", "address_column"],
                nulls_distinct=False,
                condition=models.Q(trouble=""),
                name="dataset_once",
            )
        ]
        indexes = [
            models.Index(fields=["workspace", "-created_at"], name="dataset_newest"),
            models.Index(fields=["due_at"], condition=models.Q(ended_at=None), name="dataset_due"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def stored(self) -> int:
        """Rows that are stored so far."""
        return self.addressable + self.duplicate + self.suppressed + self.refused

    @property
    def ready(self) -> bool:
        """Whether a campaign can use it."""
        return self.ended_at is not None and not self.trouble


class DatasetRow(models.Model):
    """One row of the file, whatever became of it: addressable, duplicate, suppressed or refused, with a reason.

    It has no foreign keys, which would be asked a million times: a trigger asks once a statement (sql/0020_datasets).
    """

    workspace = Reference("approvals.Workspace")
    pk = models.CompositePrimaryKey("dataset_id", "position")
    dataset = Reference("approvals.Dataset")
    position = models.PositiveIntegerField()  # as a spreadsheet counts: the names of the columns are row 1
    email = models.TextField()  # as it was given
    address = models.TextField(blank=True)  # as it is written to; empty for a refused row, like its key
    dedupe_key = models.TextField(blank=True, db_collation="C")
    vars = models.TextField()  # canonical JSON
    state = models.TextField()
    reason = models.TextField(blank=True)
    formula = models.BooleanField()  # a spreadsheet would take one of its cells for a formula
    unfit = models.TextField(blank=True)  # JSON list of the variables that may not stand in a header
    erased_at = models.DateTimeField(null=True)  # then email, address, its key, vars and unfit are empty

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "dataset", "dedupe_key"],
                condition=models.Q(state__in=["addressable", "suppressed"], erased_at=None),
                name="datasetrow_first_wins",
            )
        ]
        indexes = [
            # Few of a list, and looked through by their reasons.
            models.Index(
                fields=["workspace", "dataset", "state", "position"],
                condition=models.Q(state__in=["duplicate", "suppressed", "refused"]),
                name="datasetrow_excluded",
            )
        ]

    def __str__(self) -> str:
        return self.email
