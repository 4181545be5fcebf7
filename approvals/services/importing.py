"""Importing a dataset: claimed by one worker, stored a batch a transaction, and never half of it.

The file is gone through twice. The first time only counts its rows, so that a file that cannot be read to its end
leaves nothing behind. The second time stores them; whoever goes on after a killed worker passes over what is stored.
Each step says that its worker still holds the dataset; one that was given up writes nothing more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now

from approvals.db.binding import current_workspace
from approvals.models import Dataset
from approvals.rules.csv_rows import SEPARATOR, Layout, Row
from approvals.services.datasets import layout_from, name_in_storage

LONGEST_TROUBLE = 500  # characters
ON_THE_LIST = "This address is on the list of those who are not to be written to."


@dataclass(frozen=True, slots=True)
class Claim:
    """A dataset in this worker's hands until the lease ends, as it stood when it was claimed."""

    dataset_id: UUID
    fence: int
    file: str  # its name in the storage
    layout: Layout
    total: int | None  # rows of the file, if they were counted
    stored: int  # of these


@transaction.atomic
def claim(*, dataset_id: UUID) -> Claim | None:
    """Take a dataset that is due; None if it is not there to be taken. A wake-up may come twice or late."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            update approvals_dataset set fence = fence + 1, lease_until = clock_timestamp() + %s, notice = ''
            where id = (select id from approvals_dataset where id = %s and ended_at is null
                        and due_at <= clock_timestamp() and (lease_until is null or lease_until < clock_timestamp())
                        for update skip locked)
            """,
            [_lease(), dataset_id],
        )
        if not cursor.rowcount:
            return None
    dataset = Dataset.objects.get(id=dataset_id)
    return Claim(
        dataset_id,
        dataset.fence,
        name_in_storage(dataset.workspace_id, dataset.sha256),
        layout_from(dataset),
        dataset.total,
        dataset.stored,
    )


def _lease() -> Any:
    return timedelta(seconds=settings.LEASE_S)


@transaction.atomic
def still_ours(held: Claim) -> bool:
    """Prolong the lease; False if this worker has the dataset no more."""
    return _update(held, lease_until=Now() + _lease())


@transaction.atomic
def counted(held: Claim, *, total: int) -> bool:
    """The file can be read to its end, and has so many rows."""
    return _update(held, total=total, lease_until=Now() + _lease())


@transaction.atomic
def fail(held: Claim, *, why: str) -> bool:
    """The file cannot be imported; nothing of it is stored."""
    return _update(held, trouble=why[:LONGEST_TROUBLE], ended_at=Now(), lease_until=None)


@transaction.atomic
def finish(held: Claim) -> bool:
    """Every row is stored; from now on the dataset never changes."""
    return _update(held, ended_at=Now(), lease_until=None)


@transaction.atomic
def rest(held: Claim, *, why: str, seconds: float) -> bool:
    """Give the dataset back for a while, because of something that is not the file's fault."""
    return _update(
        held, lease_until=None, due_at=Now() + timedelta(seconds=seconds), notice=why[:LONGEST_TROUBLE]
    )


# One text a column, cut up again by Postgres: many times faster than an array of parameters.
_COLUMNS = ", ".join(["string_to_array(%s, E'\\x1e')"] * len(Row._fields))
_GIVEN = f"""
  select p.position::int, p.email, p.address, p.key, p.vars, p.reason, p.formula::bool, p.unfit
  from unnest({_COLUMNS}) as p (position, email, address, key, vars, reason, formula, unfit)
  where p.position <> ''
"""  # noqa: S608 - put together from constants
_STORED = """
  insert into approvals_datasetrow
    (workspace_id, dataset_id, position, email, address, dedupe_key, vars, state, reason, formula, unfit)
"""
# A key that somebody has already, before or within the batch, is left for the second statement. Answers with the rows
# that are left, and how many of the others are suppressed.
_FIRSTS = f"""
  with given as materialized ({_GIVEN}), stored as (
  {_STORED}
    select %s, %s, g.position, g.email, g.address, g.key, g.vars,
      case when s.dedupe_key is null then 'addressable' else 'suppressed' end,
      case when s.dedupe_key is null then '' else %s end, g.formula, g.unfit
    from given g left join approvals_suppression s
      on s.workspace_id = %s and s.dedupe_key = g.key and s.scope = '' and s.released_at is null
    order by g.position
    on conflict (workspace_id, dataset_id, dedupe_key)
      where state in ('addressable', 'suppressed') and erased_at is null do nothing
    returning position, state
  )
  select array(select g.position from given g where g.position not in (select position from stored)),
    (select count(*) from stored where state = 'suppressed')
"""  # noqa: S608
_OTHERS = f"""
  with given as ({_GIVEN})
  {_STORED}
  select %s, %s, g.position, g.email, g.address, g.key, g.vars,
    case when g.key = '' then 'refused' else 'duplicate' end,
    case when g.key = '' then g.reason
         else 'The same address as row ' || f.position || ', which stands for both.' end, g.formula, g.unfit
  from given g left join approvals_datasetrow f
    on f.workspace_id = %s and f.dataset_id = %s and f.dedupe_key = g.key and f.state in ('addressable', 'suppressed')
    and f.erased_at is null
"""  # noqa: S608


@transaction.atomic
def store(held: Claim, rows: Sequence[Row]) -> bool:
    """Store the rows that follow in the file; False, and nothing stored, if this worker has the dataset no more."""
    if not _update(held, lease_until=Now() + _lease()):
        return False
    workspace = current_workspace()
    good = [row for row in rows if row.key]
    left = [row for row in rows if not row.key]
    refused, suppressed = len(left), 0
    with connection.cursor() as cursor:
        if good:
            values: list[Any] = [*_joined(good), workspace, held.dataset_id, ON_THE_LIST, workspace]
            cursor.execute(_FIRSTS, values)
            known, suppressed = cursor.fetchone()
            taken = frozenset(known)
            left += [row for row in good if row.position in taken]
        if left:
            of = [workspace, held.dataset_id]
            cursor.execute(_OTHERS, [*_joined(left), *of, *of])
    return _update(
        held,
        addressable=F("addressable") + len(rows) - len(left) - suppressed,
        suppressed=F("suppressed") + suppressed,
        duplicate=F("duplicate") + len(left) - refused,
        refused=F("refused") + refused,
        formulas=F("formulas") + sum(row.formula for row in rows),
    )


def _joined(rows: Sequence[Row]) -> list[str]:
    """A text for each column. It ends with a separator: an empty text would be no element at all, instead of one."""
    return [SEPARATOR.join(map(str, column)) + SEPARATOR for column in zip(*rows, strict=True)]


def _update(held: Claim, **values: Any) -> bool:
    mine = Dataset.objects.filter(id=held.dataset_id, fence=held.fence, lease_until__isnull=False)
    return mine.update(**values) == 1
