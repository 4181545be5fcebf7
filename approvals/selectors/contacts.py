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
CAMPAIGNS = 5  # campaigns that are named, in which somebody waits
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
# Where they wait, looked up only if somebody does; those in which most of them wait come first.
_ELSEWHERE = f"""select o.campaign_id, count(*) as shared from approvals_delivery d
  join approvals_delivery o on o.workspace_id = d.workspace_id and o.dedupe_key = d.dedupe_key
    and o.state = 'planned' and o.version_id = any(array({_OPEN}))
  where d.version_id = %(version)s and exists (select from waits) group by o.campaign_id"""  # noqa: S608
_COUNTED = f"""with written as materialized ({_FOUND} {_WRITTEN}), waits as materialized ({_FOUND} {_WAITS}),
  elsewhere as materialized ({_ELSEWHERE})
select (select count(*) from written), {_FIRST.format("written")},
  (select count(*) from waits), {_FIRST.format("waits")},
  (select json_agg(json_build_array(id, name, shared)) from (
     select c.id, c.name, e.shared from elsewhere e join approvals_campaign c on c.id = e.campaign_id
     order by e.shared desc, c.name, c.id limit %(campaigns)s) first_ones),
  (select count(*) from elsewhere)"""  # noqa: S608 - our own words
_LATEST = f"""select d.id, max(coalesce(o.settled_at, o.attempted_at)) filter (
    where o.state = any(%(taken)s) and c.agent = %(agent)s),
  bool_or(o.state = 'planned' and o.version_id = any(array({_OPEN})))
from approvals_delivery d
join approvals_delivery o on o.workspace_id = d.workspace_id and o.dedupe_key = d.dedupe_key
  and o.campaign_id <> d.campaign_id
join approvals_campaign c on c.workspace_id = o.workspace_id and c.id = o.campaign_id
where d.id = any(%(ids)s) group by d.id"""  # noqa: S608 - our own words


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another campaign, and how many of these recipients wait in it."""

    id: UUID
    name: str
    shared: int


@dataclass(frozen=True, slots=True)
class Contacts:
    """How many this agent wrote to in another campaign, and how many wait in one of anybody's; the first of each.

    `elsewhere` are the first campaigns in which they wait, `campaigns` is how many there are.
    """

    written: int
    first_written: Sequence[str]
    waiting: int
    first_waiting: Sequence[str]
    elsewhere: Sequence[Elsewhere] = ()
    campaigns: int = 0


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
                "campaigns": CAMPAIGNS,
            },
        )
        written, first_written, waiting, first_waiting, named, campaigns = cursor.fetchone()
    elsewhere = [Elsewhere(UUID(id), name, shared) for id, name, shared in named or []]
    return Contacts(written, first_written or [], waiting, first_waiting or [], elsewhere, campaigns)


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
