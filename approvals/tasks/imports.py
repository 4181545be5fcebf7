"""Importing a dataset: count its rows, then store them, in slices of a few seconds."""

import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any, BinaryIO, cast
from uuid import UUID

import structlog
from celery import shared_task
from django.core.files.storage import default_storage

from approvals import faults
from approvals.exceptions import Invalid
from approvals.rules.csv_rows import Judge, Row, records
from approvals.services import importing
from approvals.tasks.base import WorkspaceTask

BATCH = 20_000  # rows in one transaction, or fewer if they are long
BATCH_CHARS = 4_000_000
PROLONG_S = 10.0  # between two signs of life while rows are only counted
AGAIN_S = 30.0  # after a storage that did not answer
NOT_THERE = "The file cannot be fetched from the storage now; it is tried again in half a minute."
log = structlog.get_logger(__name__)


@shared_task(base=WorkspaceTask, bind=True, name="approvals.tasks.imports.execute")  # type: ignore[untyped-decorator]
def execute(self: Any, dataset_id: str) -> None:
    """Import one dataset to its end, if it is due and nobody else does."""
    del self
    held = importing.claim(dataset_id=UUID(dataset_id))
    if held is None:
        return
    faults.point("import.claimed")
    try:
        import_all(held)
    except OSError as error:  # whatever storage it is, its trouble is one of these or is logged as a bug
        log.warning("the storage does not answer", reason=str(error))
        importing.rest(held, why=NOT_THERE, seconds=AGAIN_S)


def import_all(held: importing.Claim) -> bool:
    """Import what is left of a dataset; False if it was taken from this worker, or cannot be imported."""
    if held.total is None:
        try:
            total = _count(held)
        except Invalid as trouble:
            importing.fail(held, why=trouble.text)
            return False
        if total is None or not importing.counted(held, total=total):
            return False
        faults.point("import.counted")
    judge = Judge(held.layout)
    with (
        default_storage.open(held.file, "rb") as file,
        closing(records(cast("BinaryIO", file), held.layout)) as cells,
    ):
        numbered = itertools.islice(enumerate(cells, start=2), held.stored, None)

        def judged() -> list[Row]:
            batch, chars = [], 0
            for position, row in numbered:
                batch.append(judge(position, row))
                chars += len(batch[-1].vars) + len(batch[-1].email)
                if len(batch) >= BATCH or chars >= BATCH_CHARS:
                    break
            return batch

        # While Postgres stores one batch, the next is read and judged.
        with ThreadPoolExecutor(1) as aside:
            following = aside.submit(judged)
            while batch := following.result():
                following = aside.submit(judged)
                if not importing.store(held, batch):
                    return False
                faults.point("import.stored")
    return importing.finish(held)


def _count(held: importing.Claim) -> int | None:
    """The rows of the file, each of which can be read; None if the dataset was taken from this worker."""
    total, alive = 0, time.monotonic()
    with (
        default_storage.open(held.file, "rb") as file,
        closing(records(cast("BinaryIO", file), held.layout)) as cells,
    ):
        for total, _ in enumerate(cells, start=1):
            if total % 1_000 == 0 and time.monotonic() - alive > PROLONG_S:
                alive = time.monotonic()
                if not importing.still_ours(held):
                    return None
    return total
