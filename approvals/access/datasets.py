"""Which imported audiences a bearer token or a run may use, and which a member may look at."""

from uuid import UUID

from django.db.models import Q, QuerySet

from approvals.access.actors import Actor, CallingRun, TokenBearer
from approvals.exceptions import NotFound
from approvals.models import Dataset


def datasets_of_bearer(bearer: TokenBearer | CallingRun) -> QuerySet[Dataset]:
    """What the runtime or a person imported; nothing for a token bound to one subject."""
    mine = Q(runtime_id=bearer.runtime_id) | Q(runtime_id=None)
    return Dataset.objects.filter(mine) if bearer.subject is None else Dataset.objects.none()


def dataset_for_bearer(bearer: TokenBearer | CallingRun, dataset_id: UUID) -> Dataset:
    """The dataset, or the same NotFound for one that is not there and for one this token may not know of."""
    return _one(datasets_of_bearer(bearer), dataset_id)


def dataset_for(actor: Actor, dataset_id: UUID) -> Dataset:
    """The dataset; NotAllowed without the right to look, NotFound when the workspace has none."""
    actor.require("view")
    return _one(Dataset.objects.all(), dataset_id)


def _one(rows: QuerySet[Dataset], dataset_id: UUID) -> Dataset:
    dataset = rows.filter(id=dataset_id).first()
    if dataset is None:
        raise NotFound()
    return dataset
