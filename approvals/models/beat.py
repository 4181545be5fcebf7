"""Signs of life of the processes, so that /readyz has to ask nobody but Postgres."""

from django.db import models


class Beat(models.Model):
    """The last sign of life of one process."""

    name = models.TextField(primary_key=True)
    at = models.DateTimeField()
    detail = models.TextField(blank=True, default="")

    def __str__(self) -> str:
        return self.name
