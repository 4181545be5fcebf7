"""Everybody in the list of one version of a campaign with what became of them, by page or as a whole.

A page follows the positions of the list. What is looked for is looked for within this one list, from where the page
begins, and no further than the page needs.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import connection

from approvals.db.reading import reading
from approvals.rules.spreadsheets import cell
from approvals.rules.states import DELIVERY
from approvals.selectors.contacts import written_condition
from approvals.selectors.lacking import LACKS

BATCH = 1_000
LEFT_OUT = ("duplicate", "suppressed", "refused", "already_sent")
SHOWS = (*DELIVERY.states, *LEFT_OUT, "lacking", "linked", "contacted")
COLUMNS = (
    "row",
    "given",
    "address",
    "state",
    "at",
    "answer",
    "reason",
    "attempts",
    "message_id",
    "delivery_id",
)

# A value may bring along what no template shows: a link, into the message of one recipient among thousands.
_LINKED = r"a.vars ~* '(https?:|www\.|javascript:|data:|<a\s)'"

_SELECT = """select a.position, a.email, a.address, a.erased_at is not null,
  case when a.state = 'addressable' then coalesce(d.state, a.state) else a.state end,
  a.reason, d.id, d.address, d.attempt, coalesce(d.settled_at, d.attempted_at), d.reply, d.message_id
from """
_BY_ROW = """approvals_audiencerow a left join approvals_delivery d on a.state = 'addressable'
  and d.workspace_id = a.workspace_id and d.version_id = a.version_id and d.position = a.position
  and d.state = any(%(states)s)
where a.version_id = %(version)s and a.position > %(after)s"""
_BY_DELIVERY = """approvals_delivery d join approvals_audiencerow a
  on a.workspace_id = d.workspace_id and a.version_id = d.version_id and a.position = d.position
where d.version_id = %(version)s and a.version_id = %(version)s and d.position > %(after)s"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Whom to list: those in one state (one of SHOWS, empty for all) whose address holds `text`.

    `fields` are the campaign's merge fields, for those who lack a value of one.
    """

    show: str = ""
    text: str = ""
    fields: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the list. `delivery_id` is None for whoever gets nothing; `at` is when its state was reached."""

    position: int
    given: str
    address: str
    erased: bool
    state: str
    reason: str
    delivery_id: UUID | None
    attempts: int
    at: datetime | None
    answer: str
    message_id: str


@dataclass(frozen=True, slots=True)
class Of:
    """Whose list it is."""

    campaign_id: UUID
    version_id: UUID
    agent: str


def page_of(of: Of, wanted: Wanted, *, after: int = 0, size: int) -> tuple[list[Row], bool]:
    """(the rows behind this position, whether there are more)."""
    rows = _rows(of, wanted, after, size + 1)
    return rows[:size], len(rows) > size


def linked(version_id: UUID) -> tuple[int, Sequence[str]]:
    """(how many recipients bring a link along in one of their values, the first addresses of them)."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"select count(*), (array_agg(d.address order by d.position))[:3] from {_BY_DELIVERY} and {_LINKED}",  # noqa: S608
            {"version": version_id, "after": 0},
        )
        number, first = cursor.fetchone()
    return number, first or []


def csv_lines(workspace_id: UUID, of: Of, wanted: Wanted) -> Iterator[str]:
    """For spreadsheets: a line of names, then one row a recipient, in constant memory.

    Each batch is read in a transaction of its own, so a list that is exported while it is being sent tells of each
    row as it was when its turn came.
    """
    page = io.StringIO()
    writer = csv.writer(page, quoting=csv.QUOTE_ALL)
    page.write("\ufeff")  # by which spreadsheets know UTF-8
    writer.writerow(COLUMNS)
    after = 0
    while True:
        with reading(workspace_id):
            rows = _rows(of, wanted, after, BATCH)
        for row in rows:
            writer.writerow([cell(value) for value in _cells(row)])
        yield _taken(page)
        if len(rows) < BATCH:
            return
        after = rows[-1].position


def _rows(of: Of, wanted: Wanted, after: int, size: int) -> list[Row]:
    source, conditions, values = _asked(of, wanted)
    if wanted.text:
        conditions.append("(a.email ilike %(like)s or a.address ilike %(like)s or d.address ilike %(like)s)")
        values["like"] = f"%{_literally(wanted.text)}%"
    order = "d.position" if source == _BY_DELIVERY else "a.position"
    query = " ".join(
        [_SELECT, source, *(f"and {one}" for one in conditions), f"order by {order} limit %(size)s"]
    )
    given = {
        "version": of.version_id,
        "after": after,
        "size": size,
        "states": list(DELIVERY.states),
        **values,
    }
    with connection.cursor() as cursor:
        cursor.execute(query, given)
        return [_row(row) for row in cursor.fetchall()]


def _asked(of: Of, wanted: Wanted) -> tuple[str, list[str], dict[str, Any]]:
    """(where to read, the conditions, their values)."""
    if wanted.show in DELIVERY.states:
        return _BY_DELIVERY, ["d.state = %(state)s"], {"state": wanted.show}
    if wanted.show in LEFT_OUT:
        return _BY_ROW, ["a.state = %(state)s"], {"state": wanted.show}
    everybody = "d.state = any(%(states)s)"
    if wanted.show == "lacking":
        return _BY_DELIVERY, [everybody, LACKS], {"fields": list(wanted.fields)}
    if wanted.show == "linked":
        return _BY_DELIVERY, [everybody, _LINKED], {}
    if wanted.show == "contacted":
        condition, values = written_condition(campaign_id=of.campaign_id, agent=of.agent)
        return _BY_DELIVERY, [everybody, condition], dict(values)
    return _BY_ROW, [], {}


def _row(row: Sequence[Any]) -> Row:
    position, given, address, erased, state, reason, delivery_id, to, attempts, at, reply, message_id = row
    return Row(
        position=position,
        given=given,
        address=to or address,
        erased=erased,
        state=state,
        reason=reason,
        delivery_id=delivery_id,
        attempts=attempts or 0,
        at=at,
        answer=reply or "",
        message_id=message_id or "",
    )


def _cells(row: Row) -> Sequence[object]:
    at = f"{row.at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if row.at else ""
    given = "erased" if row.erased else row.given
    id = str(row.delivery_id or "")
    return (
        *(row.position, given, row.address, row.state, at),
        *(row.answer, row.reason, row.attempts, row.message_id, id),
    )


def _literally(text: str) -> str:
    """`text` within a LIKE, standing for itself."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _taken(page: io.StringIO) -> str:
    text = page.getvalue()
    page.seek(0)
    page.truncate()
    return text
