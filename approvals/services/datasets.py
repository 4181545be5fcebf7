"""Receiving a list of recipients: the file is kept under its SHA-256, and a worker imports it.

A file that was imported already, read in the same way, is not imported again: whoever sends it is offered the first.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction

from approvals.access.actors import Actor, TokenBearer
from approvals.access.campaigns import require_proposer
from approvals.access.datasets import datasets_of_bearer
from approvals.db.binding import current_workspace
from approvals.exceptions import Invalid, Refusal
from approvals.models import Dataset
from approvals.rules.addresses import check_header
from approvals.rules.csv_rows import HEAD, LONGEST_NAME, Layout, layout_of
from approvals.services import decisions, files

MB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file as it comes in: read once, in pieces. `encoding` and `address_column` may be empty: then found out."""

    name: str
    pieces: Iterable[bytes]
    encoding: str = ""
    address_column: str = ""


def most_bytes() -> int:
    """The largest file that is taken."""
    most: int = settings.IMPORT_MOST_MB * MB
    return most


def too_big() -> Refusal:
    """The refusal of a file beyond the limit."""
    return Refusal(
        f"The file is larger than {settings.IMPORT_MOST_MB} MB. Split the list, or leave out columns that no text"
        " uses.",
        code="too_large",
        status=413,
        field="file",
    )


def receive(*, by: Actor | TokenBearer, upload: Upload) -> tuple[Dataset, bool]:
    """Keep a file and have it imported; (the dataset, whether it is new).

    Invalid with a sentence for what is no list of recipients, Refusal for one that is too big, NotAllowed; then
    nothing is kept. What is wrong with single rows is told by the dataset.
    """
    if isinstance(by, TokenBearer):
        require_proposer(by)
    else:
        by.require("import_audience")
    name = _checked_name(upload.name)
    with files.spooled(upload.pieces, most=most_bytes(), too_big=too_big()) as came:
        layout = layout_of(
            came.file.read(HEAD), encoding=upload.encoding, address_column=upload.address_column
        )
        known = _known(by, came.sha256, layout)
        # One that waits for its file gets it back, if it was lost.
        if known is None or known.ended_at is None:
            files.store(came, name_in_storage(current_workspace(), came.sha256))
        if known is not None:
            return known, False
    try:
        with transaction.atomic():
            dataset = Dataset.objects.create(
                workspace_id=current_workspace(),
                runtime_id=by.runtime_id if isinstance(by, TokenBearer) else None,
                name=name,
                sha256=came.sha256,
                size=came.size,
                encoding=layout.encoding,
                delimiter=layout.delimiter,
                columns=list(layout.columns),
                address_column=layout.address_column,
                by_name=by.actor.name if isinstance(by, TokenBearer) else by.name,
            )
            decisions.record(
                by=by.actor if isinstance(by, TokenBearer) else by,
                kind="dataset_imported",
                target_kind="dataset",
                target_id=dataset.id,
                digest=came.sha256,
                evidence={"name": name, "bytes": came.size},
            )
            return dataset, True
    except IntegrityError:
        if known := _known(by, came.sha256, layout):  # sent twice at once
            return known, False
        raise


def name_in_storage(workspace_id: UUID, sha256: str) -> str:
    """Where a file of a workspace is kept."""
    return f"datasets/{workspace_id}/{sha256}.csv"


def layout_from(dataset: Dataset) -> Layout:
    """How the file of a dataset is written."""
    return Layout(dataset.encoding, dataset.delimiter, tuple(dataset.columns), dataset.address_column)


def _checked_name(name: str) -> str:
    if not name.strip():
        raise Invalid("name", "Give the list a name, such as the file's.")
    if reason := check_header(name):
        raise Invalid("name", reason)
    if len(name) > LONGEST_NAME:
        raise Invalid("name", f"Keep the name under {LONGEST_NAME} characters.")
    return name.strip()


@transaction.atomic
def _known(by: Actor | TokenBearer, sha256: str, layout: Layout) -> Dataset | None:
    """The first import of this file, read in this way, that this sender may know of; a failed one does not count."""
    seen = datasets_of_bearer(by) if isinstance(by, TokenBearer) else Dataset.objects.order_by("created_at")
    return seen.filter(
        sha256=sha256, encoding=layout.encoding, address_column=layout.address_column, trouble=""
    ).first()
