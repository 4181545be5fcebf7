"""Who of an audience was written to already, or waits in another campaign: one statement over `delivery_recipient`.

Each recipient is looked up by the one spelling of their address; a look-up ends with the first delivery that says yes.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from approvals.models.delivery import TAKEN

FIRST = 3  # addresses that are named
OPEN = ["pending", "approved", "sending"]  # campaigns whose planned deliveries may still go out

# An agent writes campaigns, not millions of them: their ids are read once, and each look-up asks this small table.
_WRITTEN = """exists (select from approvals_delivery o where o.workspace_id = d.workspace_id
  and o.dedupe_key = d.dedupe_key and o.state = any(%(taken)s) and o.campaign_id in (
    select c.id from approvals_campaign c where c.agent = %(agent)s and c.id <> %(campaign)s))"""
_WAITS = """exists (select from approvals_delivery o where o.workspace_id = d.workspace_id
  and o.dedupe_key = d.dedupe_key and o.state = 'planned' and o.campaign_id in (
    select c.id from approvals_campaign c where c.status = any(%(open)s) and c.id <> %(campaign)s))"""
_COUNTED = f"""select
  count(*) filter (where written), (array_agg(address order by position) filter (where written))[:%(first)s],
  count(*) filter (where waits), (array_agg(address order by position) filter (where waits))[:%(first)s]
from (select d.position, d.address, {_WRITTEN} as written, {_WAITS} as waits
  from approvals_delivery d where d.version_id = %(version)s) each_one
where written or waits"""  # noqa: S608 - our own words
_LATEST = """select d.id, max(coalesce(o.settled_at, o.attempted_at)) filter (
    where o.state = any(%(taken)s) and c.agent = %(agent)s),
  bool_or(o.state = 'planned' and c.status = any(%(open)s))
from approvals_delivery d
join approvals_delivery o on o.workspace_id = d.workspace_id and o.dedupe_key = d.dedupe_key
  and o.campaign_id <> d.campaign_id
join approvals_campaign c on c.workspace_id = o.workspace_id and c.id = o.campaign_id
where d.id = any(%(ids)s) group by d.id"""


@dataclass(frozen=True, slots=True)
class Contacts:
    """How many this agent wrote to in another campaign, and how many wait in one of anybody's; the first of each."""

    written: int
    first_written: Sequence[str]
    waiting: int
    first_waiting: Sequence[str]


@dataclass(frozen=True, slots=True)
class Contact:
    """When this agent last wrote to one recipient (None: never), and whether they wait in another campaign."""

    written_at: datetime | None
    waits: bool


def contacts_of(version_id: UUID, *, campaign_id: UUID, agent: str) -> Contacts:
    """Of everybody in this version. Reads in the open transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            _COUNTED,
            {
                "version": version_id,
                "campaign": campaign_id,
                "agent": agent,
                "taken": TAKEN,
                "open": OPEN,
                "first": FIRST,
            },
        )
        written, first_written, waiting, first_waiting = cursor.fetchone()
    return Contacts(written, first_written or [], waiting, first_waiting or [])


def contacts_by_delivery(ids: Collection[UUID], *, campaign_id: UUID, agent: str) -> dict[UUID, Contact]:
    """Of these few deliveries, those with anything to tell."""
    if not ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_LATEST, {"ids": list(ids), "agent": agent, "taken": TAKEN, "open": OPEN})
        rows = cursor.fetchall()
    return {id: Contact(at, bool(waits)) for id, at, waits in rows if at or waits}


def written_condition(*, campaign_id: UUID, agent: str) -> tuple[str, dict[str, object]]:
    """(the condition on a delivery `d` that its recipient was written to or waits elsewhere, its values)."""
    values = {"campaign": campaign_id, "agent": agent, "taken": TAKEN, "open": OPEN}
    return f"({_WRITTEN} or {_WAITS})", values
