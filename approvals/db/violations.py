"""Which constraint refused a write: where nothing is asked first, the database says who was first."""

from django.db import IntegrityError


def violated(error: IntegrityError) -> str:
    """The name of the constraint or unique index, or of what a trigger calls itself; empty where none is told."""
    return getattr(getattr(error.__cause__, "diag", None), "constraint_name", None) or ""
