"""What may have to be erased: inputs, arguments, results, texts, evidence."""

from django.db import models

from approvals.models.base import IdentifiedModel


class Payload(IdentifiedModel):
    """Canonical JSON text and its salt. The row that cites it keeps SHA-256(salt + body), so that erasing this row
    leaves journal and log verifiable."""

    body = models.TextField()
    salt = models.BinaryField(max_length=16)

    def __str__(self) -> str:
        return str(self.id)
