"""Which runs a bearer token may reach."""

from uuid import UUID

from django.db.models import QuerySet

from approvals.access.actors import TokenBearer
from approvals.exceptions import NotFound
from approvals.models import Run


def runs_of_bearer(bearer: TokenBearer, *, using: str = "default") -> QuerySet[Run]:
    """The runs of the token's runtime; with a subject, that subject's alone."""
    runs = Run.objects.using(using).filter(workspace_id=bearer.workspace_id, runtime_id=bearer.runtime_id)
    return runs if bearer.subject is None else runs.filter(subject=bearer.subject)


def run_for_bearer(bearer: TokenBearer, run_id: UUID, *, using: str = "default") -> Run:
    """The run, or the same NotFound for one that is not there and for one of another workspace, runtime or subject."""
    run = runs_of_bearer(bearer, using=using).filter(id=run_id).first()
    if run is None:
        raise NotFound()
    return run
