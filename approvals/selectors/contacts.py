"""Who of an audience was written to already, or waits in another campaign: one statement over `delivery_recipient`.

Recipients are the same by the one spelling of their address. Of a campaign that waits its newest version counts.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from approvals.models.delivery import TAKEN

FIRST = 3  # addresses that are named
OPEN = [
    "pending",
    "returned",
    "approved",
    "sending",
    "paused",
]  # campaigns whose planned deliveries may still go out

# Each condition stands in the WHERE of a query of its own, so that Postgres may choose: a look-up for each recipient,
# or, where most of them got most of it, one pass over what this agent sent (`delivery_once_per_campaign` alone) or over
# the few versions that wait. As a column it would be a look-up each time, and slower by ten.
_WRITTEN = """exists (select from approvals_delivery o
  join approvals_campaign c on c.workspace_id = o.workspace_id and c.id = o.campaign_id
  where o.workspace_id = d.workspace_id and o.dedupe_key = d.dedupe_key and o.state = any(%(taken)s)
    and c.agent = %(agent)s and c.id <> %(campaign)s)"""
_OPEN = """select distinct on (v.campaign_id) v.id from approvals_version v
  join approvals_campaign c on c.workspace_id = v.workspace_id and c.id = v.campaign_id
  where c.status = any(%(open)s) and c.id <> %(campaign)s order by v.campaign_id, v.number desc"""
_WAITS = f"""exists (select from approvals_delivery o
  where o.workspace_id = d.workspace_id and o.dedupe_key = d.dedupe_key and o.state = 'planned'
    and o.version_id = any(array({_OPEN})))"""
_FOUND = "select d.position, d.address from approvals_delivery d where d.version_id = %(version)s and"
_FIRST = (
    "(select array_agg(address) from (select address from {0} order by position limit %(first)s) first_ones)"
)
_COUNTED = f"""with written as materialized ({_FOUND} {_WRITTEN}), waits as materialized ({_FOUND} {_WAITS})
select (select count(*) from written), {_FIRST.format("written")},
  (select count(*) from waits), {_FIRST.format("waits")}"""  # noqa: S608 - our own words
_LATEST = f"""select d.id, max(coalesce(o.settled_at, o.attempted_at)) filter (
    where o.state = any(%(taken)s) and c.agent = %(agent)s),
  bool_or(o.state = 'planned' and o.version_id = any(array({_OPEN})))
from approvals_delivery d
join approvals_delivery o on o.workspace_id = d.workspace_id and o.dedupe_key = d.dedupe_key
  and o.campaign_id <> d.campaign_id
join approvals_campaign c on c.workspace_id = o.workspace_id and c.id = o.campaign_id
where d.id = any(%(ids)s) group by d.id"""  # noqa: S608 - our own words


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
    values: dict[str, Any] = {
        "ids": list(ids),
        "campaign": campaign_id,
        "agent": agent,
        "taken": TAKEN,
        "open": OPEN,
    }
    with connection.cursor() as cursor:
        cursor.execute(_LATEST, values)
        rows = cursor.fetchall()
    return {id: Contact(at, bool(waits)) for id, at, waits in rows if at or waits}


def written_condition(*, campaign_id: UUID, agent: str) -> tuple[str, dict[str, object]]:
    """(the condition on a delivery `d` that its recipient was written to or waits elsewhere, its values)."""
    values = {"campaign": campaign_id, "agent": agent, "taken": TAKEN, "open": OPEN}
    return f"({_WRITTEN} or {_WAITS})", values
