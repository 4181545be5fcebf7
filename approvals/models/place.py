"""Where the database lives, so that a copy that starts elsewhere is known for what it is."""

from django.db import models


class Place(models.Model):
    """The one row that says where this database was when somebody last said that it is the real one.

    It belongs to no workspace. The owner alone writes it (`sql/0012_restore`: adopt_place).
    """

    id = models.SmallIntegerField(primary_key=True, default=1)
    system = models.BigIntegerField()  # the server's identifier
    timeline = models.IntegerField()  # of its write-ahead log: a fail-over begins a new one
    database = models.BigIntegerField()  # its oid
    relation = models.BigIntegerField()  # this table's oid
    restoring_since = models.DateTimeField(null=True)  # `manage.py restored` began and has not ended
    restored_at = models.DateTimeField(null=True)  # the last time it ended

    def __str__(self) -> str:
        return f"database {self.database} of server {self.system}"
