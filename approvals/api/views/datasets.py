"""Lists of recipients: sending one, and asking how far its import is."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest
from ninja import Query, Router, Status

from approvals.access.datasets import dataset_for_bearer
from approvals.api.auth import bearer
from approvals.api.pieces import pieces_of
from approvals.api.schemas.datasets import DatasetAsked, DatasetOut
from approvals.api.schemas.problems import refusals
from approvals.exceptions import Invalid, Refusal
from approvals.selectors import datasets as selector
from approvals.services import datasets

router = Router(tags=["datasets"])
_BODY = {
    "requestBody": {
        "required": True,
        "content": {"text/csv": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post(
    "/datasets",
    response={201: DatasetOut, 200: DatasetOut},
    summary="Import a list of recipients",
    openapi_extra={
        **refusals(
            400,
            403,
            411,
            413,
            415,
            422,
            s400="The body ended before all of the file was there (`bad_json`).",
            s413="The file is larger than this installation takes (`too_large`).",
            s415="The body is not sent as text/csv (`unsupported_media_type`).",
        ),
        **_BODY,
    },
)
def import_dataset(request: HttpRequest, asked: Query[DatasetAsked]) -> Any:
    """The body is the CSV file, whose first row names the columns. The same file again answers 200 with the first
    import. Ask for the list until its status is ready; then a campaign can name it as its `dataset_id`."""
    for name in request.GET:
        if name not in DatasetAsked.model_fields:
            raise Invalid(name, "There is no such parameter.")
    dataset, created = datasets.receive(
        by=bearer(request),
        upload=datasets.Upload(
            name=asked.name,
            pieces=_file(request),
            encoding=asked.encoding,
            address_column=asked.address_column,
        ),
    )
    with transaction.atomic():
        told = selector.told(dataset_for_bearer(bearer(request), dataset.id))
    return Status(201 if created else 200, told)


@router.get(
    "/datasets/{uuid:dataset_id}",
    response=DatasetOut,
    summary="Tell of a list",
    openapi_extra=refusals(404),
)
def tell_dataset(request: HttpRequest, dataset_id: UUID) -> Any:
    """How far its import is, and how many of its rows are what."""
    return selector.told(dataset_for_bearer(bearer(request), dataset_id))


def _file(request: HttpRequest) -> Iterator[bytes]:
    """The body as it comes in; a Refusal where it is of another kind."""
    if request.content_type != "text/csv":
        raise Refusal(
            "Send the file as the body, with the header Content-Type: text/csv.",
            code="unsupported_media_type",
            status=415,
        )
    yield from pieces_of(request, most=datasets.most_bytes(), too_big=datasets.too_big())
