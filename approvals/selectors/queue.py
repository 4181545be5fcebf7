"""The queue: which lineages and campaigns stand on a tab, in the order they should be dealt with.

Everything reads `approvals_queueitem`, which triggers keep, or pages over `approvals_runtool`, which stands where its
item stands. Each filter has an index in the order of each tab, counts stop at COUNTED, pages follow a key, and the
choices of the filter hop through an index: a page costs the same at any size. Words are looked for by `search_items`,
once a page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from approvals.selectors.words import Found, found_by

TABS = ("decide", "progress", "history")
COUNTED = 1_000  # where a count stops counting
FOUND = 500  # items that a search brings at most
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


_COLUMNS = """q.id, q.kind, q.tab, q.state, q.run_id, q.agent, q.subject, q.title, q.since,
  nullif(q.due, 'infinity')"""


def search(text: str) -> Found | None:
    """At most FOUND items in which all the words occur: in subject, name, external id, recipient or Message-ID.

    None where nothing is searched for.
    """
    return found_by("search_items", text, at_most=FOUND)


def page_of(
    wanted: Wanted, found: Found | None, *, after: Position | None = None, size: int = 50
) -> tuple[list[Item], bool]:
    """(the items behind `after`, whether there are more)."""
    conditions, values = _conditions(wanted, found, wanted.tab)
    place = _place(wanted)
    if wanted.tab == "history":
        order = "{since} desc, {id} desc"
        if after:
            conditions.append("({since}, {id}) < (%s, %s)")
            values += [after.since, after.id]
    else:
        order = "{due}, {since}, {id}"
        if after:
            conditions.append("({due}, {since}, {id}) > (%s::timestamptz, %s, %s)")
            values += [after.due or "infinity", after.since, after.id]
    query = f"select {_COLUMNS} from {_BOTH if wanted.tool else _ITEMS} {_where(conditions)} order by {order} limit %s"  # noqa: S608 - our own words
    with connection.cursor() as cursor:
        cursor.execute(query.format(**place), [*values, size + 1])
        items = [Item(*row) for row in cursor.fetchall()]
    return items[:size], len(items) > size


def counts(wanted: Wanted, found: Found | None, *, made: datetime | None = None) -> Counts:
    """How much stands on each tab under the filters, and how much came to the wanted tab after `made`."""
    query, values = _count_of_few(wanted, found, made) if found else _count_by_tab(wanted, made)
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        at, *numbers, new = cursor.fetchone()
    return Counts(tabs=dict(zip(TABS, numbers, strict=True)), new=new, at=at)


# From one value to the next by the index, instead of reading every row between them.
_CHOICES = """
    with recursive agent(name) as (
      select (select min(q.agent) from approvals_queueitem q)
      union all
      select (select min(q.agent) from approvals_queueitem q where q.agent > agent.name)
      from agent where agent.name is not null
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
        cursor.execute(_CHOICES, [CHOICES, CHOICES])
        rows = cursor.fetchall()
    return Choices(
        agents=tuple(sorted(name for what, name in rows if what == "agent")),
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


_ITEMS = "approvals_queueitem q"
_TOOLS = "approvals_runtool t"
_BOTH = f"{_TOOLS} join {_ITEMS} on q.id = t.lineage_id"


def _place(wanted: Wanted) -> dict[str, str]:
    """The columns that say where an item stands: those of the table whose index has the wanted filter in its order.

    An agent or a customer beside a tool: Postgres has seen which of them is rarer.
    """
    if wanted.tool and not wanted.agent and not wanted.subject:
        return {"tab": "t.tab", "due": "t.due", "since": "t.since", "id": "t.lineage_id"}
    return {"tab": "q.tab", "due": "q.due", "since": "q.since", "id": "q.id"}


def _conditions(wanted: Wanted, found: Found | None, tab: str) -> tuple[list[str], list[Any]]:
    conditions: list[str] = []
    values: list[Any] = []
    for condition, value in (
        ("{tab} = %s", "" if tab == "history" else tab),
        ("t.tab = %s", tab if wanted.tool and tab != "history" else ""),
        ("t.name = %s", wanted.tool),
        (
            "q.kind = %s",
            wanted.kind if wanted.kind != "run" or not wanted.tool else "",
        ),  # only runs call tools
        ("q.agent = %s", wanted.agent),
        ("q.subject = %s", wanted.subject),
    ):
        if value:
            conditions.append(condition)
            values.append(value)
    if found is not None:
        conditions.append("{id} = any(%s::uuid[])")
        values.append(list(found.ids))
    if wanted.tool and wanted.kind == "campaign":
        conditions.append("false")
    return conditions, values


def _where(conditions: Sequence[str]) -> str:
    return f"where {' and '.join(conditions)}" if conditions else ""


def _count_by_tab(wanted: Wanted, made: datetime | None) -> tuple[str, list[Any]]:
    """A count of its own for each tab, up to COUNTED, along the index in the tab's order."""
    parts, values = [], []
    for tab in TABS:
        conditions, more = _conditions(wanted, None, tab)
        parts.append(_counted(wanted, conditions))
        values += [*more, COUNTED]
    conditions, more = _conditions(wanted, None, wanted.tab)
    parts.append(_counted(wanted, [*conditions, "{since} > %s"]) if made else "0")
    values += [*more, made, COUNTED] if made else []
    return f"select statement_timestamp(), {', '.join(parts)}", values


def _counted(wanted: Wanted, conditions: Sequence[str]) -> str:
    tables = _tables(wanted, conditions)
    query = f"(select count(*) from (select from {tables} {_where(conditions)} limit %s) counted)"  # noqa: S608 - our own words
    return query.format(**_place(wanted))


def _count_of_few(wanted: Wanted, found: Found, made: datetime | None) -> tuple[str, list[Any]]:
    """What a search found is looked at once for all tabs: it is never much."""
    conditions, values = _conditions(wanted, found, "history")
    on = {tab: "true" if tab == "history" else f"{{tab}} = '{tab}'" for tab in TABS}
    counts = [f"count(*) filter (where {condition})" for condition in on.values()]
    counts.append(f"count(*) filter (where {on[wanted.tab]} and {{since}} > %s)" if made else "0")
    query = f"select statement_timestamp(), {', '.join(counts)} from {_tables(wanted, conditions)} {_where(conditions)}"  # noqa: S608 - our own words
    return query.format(**_place(wanted)), [*([made] if made else []), *values]


def _tables(wanted: Wanted, conditions: Sequence[str]) -> str:
    if not wanted.tool:
        return _ITEMS
    return _BOTH if any(condition.startswith("q.") for condition in conditions) else _TOOLS
