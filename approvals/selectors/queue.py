"""The queue: which lineages and campaigns stand on a tab, in the order they should be dealt with.

Everything reads `approvals_queueitem`, which triggers keep. Counts stop at COUNTED, pages follow a key, and the
choices of the filter hop through an index, so that no page reads a table as a whole. Words are the exception: they
are looked for by `search_items`, once a page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

TABS = ("decide", "progress", "history")
COUNTED = 1_000  # where a count stops counting
FOUND = 1_000  # items that a search brings at most
CHOICES = 200  # agents or tools that the filter offers at most


@dataclass(frozen=True, slots=True)
class Wanted:
    """A tab and its filters; empty means any. `history` holds everything, whatever else it is on."""

    tab: str = "decide"
    kind: str = ""
    agent: str = ""
    tool: str = ""
    subject: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the order of a tab: behind this item. `due` is None where nothing is due."""

    due: datetime | None
    since: datetime
    id: UUID


@dataclass(frozen=True, slots=True)
class Item:
    """One row: a lineage (`run_id` is the attempt that counts) or a campaign."""

    id: UUID
    kind: str
    tab: str
    state: str
    run_id: UUID | None
    agent: str
    subject: str
    title: str
    since: datetime
    due: datetime | None

    @property
    def position(self) -> Position:
        """The place behind this item."""
        return Position(self.due, self.since, self.id)

    @property
    def target_id(self) -> UUID:
        """What its page is about: the run or the campaign."""
        return self.run_id or self.id


@dataclass(frozen=True, slots=True)
class Choices:
    """What the filter offers."""

    agents: tuple[str, ...]
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Counts:
    """The items of each tab under the filters, up to COUNTED; those new to the wanted tab; the moment of counting."""

    tabs: Mapping[str, int]
    new: int
    at: datetime


Found = Sequence[UUID] | None
"""The items in which the words of a search occur; None where nothing is searched for."""

_COLUMNS = """q.id, q.kind, q.tab, q.state, q.run_id, q.agent, q.subject, q.title, q.since,
  nullif(q.due, 'infinity')"""


def search(text: str) -> Found:
    """At most FOUND items in which the words occur: in subject, name, external id, recipient or Message-ID."""
    if not text:
        return None
    with connection.cursor() as cursor:
        cursor.execute("select item_id from search_items(%s, %s)", [text, FOUND])
        return [row[0] for row in cursor.fetchall()]


def page_of(
    wanted: Wanted, found: Found, *, after: Position | None = None, size: int = 50
) -> tuple[list[Item], bool]:
    """(the items behind `after`, whether there are more)."""
    conditions, values = _conditions(wanted, found, wanted.tab)
    if wanted.tab == "history":
        order = "q.since desc, q.id desc"
        if after:
            conditions.append("(q.since, q.id) < (%s, %s)")
            values += [after.since, after.id]
    else:
        order = "q.due, q.since, q.id"
        if after:
            conditions.append("(q.due, q.since, q.id) > (%s::timestamptz, %s, %s)")
            values += [after.due or "infinity", after.since, after.id]
    with connection.cursor() as cursor:
        cursor.execute(
            f"select {_COLUMNS} from approvals_queueitem q {_where(conditions)}"  # noqa: S608 - our own words
            f" order by {order} limit %s",
            [*values, size + 1],
        )
        items = [Item(*row) for row in cursor.fetchall()]
    return items[:size], len(items) > size


def counts(wanted: Wanted, found: Found, *, made: datetime | None = None) -> Counts:
    """How much stands on each tab under the filters, and how much came to the wanted tab after `made`."""
    parts, values = [], []
    for tab in TABS:
        conditions, more = _conditions(wanted, found, tab)
        parts.append(_counted(conditions))
        values += [*more, COUNTED]
    conditions, more = _conditions(wanted, found, wanted.tab)
    parts.append(_counted([*conditions, "q.since > %s"]) if made else "0")
    values += [*more, made, COUNTED] if made else []
    with connection.cursor() as cursor:
        cursor.execute(f"select statement_timestamp(), {', '.join(parts)}", values)
        at, *numbers, new = cursor.fetchone()
    return Counts(tabs=dict(zip(TABS, numbers, strict=True)), new=new, at=at)


# From one value to the next by the index, instead of reading every row between them.
_CHOICES = """
    with recursive tab(name) as (values ('decide'), ('progress'), ('history')),
    agent(tab, name) as (
      select tab.name, (select min(q.agent) from approvals_queueitem q where q.tab = tab.name) from tab
      union all
      select a.tab, (select min(q.agent) from approvals_queueitem q where q.tab = a.tab and q.agent > a.name)
      from agent a where a.name is not null
    ),
    tool(name) as (
      select (select min(t.name) from approvals_runtool t)
      union all
      select (select min(t.name) from approvals_runtool t where t.name > tool.name)
      from tool where tool.name is not null
    )
    (select 'agent', name from agent where name is not null limit %s)
    union all
    (select 'tool', name from tool where name is not null limit %s)
"""


def choices() -> Choices:
    """The agents and tools that occur in this workspace, in order; at most CHOICES of each."""
    with connection.cursor() as cursor:
        cursor.execute(_CHOICES, [CHOICES * len(TABS), CHOICES])
        rows = cursor.fetchall()
    return Choices(
        agents=tuple(sorted({name for what, name in rows if what == "agent"}))[:CHOICES],
        tools=tuple(sorted(name for what, name in rows if what == "tool")),
    )


def item_of(item_id: UUID) -> Item | None:
    """The item of this lineage or campaign."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"select {_COLUMNS} from approvals_queueitem q where q.id = %s",  # noqa: S608 - our own words
            [item_id],
        )
        row = cursor.fetchone()
    return Item(*row) if row else None


def _conditions(wanted: Wanted, found: Found, tab: str) -> tuple[list[str], list[Any]]:
    conditions: list[str] = []
    values: list[Any] = []
    for condition, value in (
        ("q.tab = %s", "" if tab == "history" else tab),
        ("q.kind = %s", wanted.kind),
        ("q.agent = %s", wanted.agent),
        ("q.id in (select t.lineage_id from approvals_runtool t where t.name = %s)", wanted.tool),
        ("q.id in (select r.lineage_id from approvals_run r where r.subject = %s)", wanted.subject),
    ):
        if value:
            conditions.append(condition)
            values.append(value)
    if found is not None:
        conditions.append("q.id = any(%s::uuid[])")
        values.append(list(found))
    return conditions, values


def _where(conditions: Sequence[str]) -> str:
    return f"where {' and '.join(conditions)}" if conditions else ""


def _counted(conditions: Sequence[str]) -> str:
    return f"(select count(*) from (select from approvals_queueitem q {_where(conditions)} limit %s) counted)"  # noqa: S608 - our own words
