"""The audience of a version from an imported dataset: filled inside Postgres, whatever its size.

Who is suppressed is asked again, for the agent that proposes: somebody may have unsubscribed since the import.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from django.db import connection

from approvals.exceptions import Invalid
from approvals.models import AudienceRow, Dataset, Version
from approvals.rules.addresses import Mailbox
from approvals.rules.decisions import ERASED
from approvals.services.importing import ON_THE_LIST

MOST_FILTERS = 10
# What rules.addresses.check_header refuses, but for NUL and halves of characters, which Postgres does not keep.
_BROKEN = r"[\u0001-\u001f\u007f-\u009f\u2028\u2029]"
_SLOT = re.compile(r"\{\{([^{}]*)\}\}")
NOT_READY = "This list is not imported yet. Ask for it until its status is ready, and propose then."
UNFIT = "With this row's variables the subject cannot be written: it would hold a control character or line break."
NOT_IMPORTED = "This list could not be imported; its trouble says why. Correct the file and import it anew."

ALREADY_SENT = "An earlier version of this campaign reached them, or may have, so they get nothing more."

_REACHED = """
  left join (select t.dedupe_key from approvals_delivery t
             where t.campaign_id = %(campaign)s and t.state in ('sent', 'in_doubt')) t"""
_LISTED = """
  left join (select distinct l.dedupe_key from approvals_suppression l
             where l.scope in ('', %(agent)s) and l.released_at is null) s"""
_PICKED = f"""
  insert into approvals_audiencerow (workspace_id, version_id, position, email, address, vars, state, reason)
  select r.workspace_id, %(version)s, r.position, r.email, r.address, r.vars,
    case when r.erased_at is not null then 'refused'
         when r.dedupe_key = '' then r.state
         when t.dedupe_key is not null then 'already_sent'
         when s.dedupe_key is not null then 'suppressed'
         when r.cannot then 'refused'
         when r.first <> r.position then 'duplicate'
         else 'addressable' end,
    case when r.erased_at is not null then %(erased)s
         when r.dedupe_key = '' then r.reason
         when t.dedupe_key is not null then %(reached)s
         when s.dedupe_key is not null then %(listed)s
         when r.cannot then %(unfit)s
         when r.first <> r.position then 'The same address as row ' || r.first || ', which stands for both.'
         else '' end
  from (
    -- Of several with one address the first whose message can be written stands for all.
    select d.*, case when d.dedupe_key <> '' then first_value(d.position)
                  over (partition by d.dedupe_key order by d.cannot, d.position) end as first
    from (select f.*, f.unfit <> '' and f.unfit::jsonb ?| %(slots)s as cannot from approvals_datasetrow f
          where f.dataset_id = %(dataset)s and f.vars::jsonb @> %(where)s::jsonb) d
  ) r
  {_REACHED} on t.dedupe_key = r.dedupe_key
  {_LISTED} on s.dedupe_key = r.dedupe_key
"""  # noqa: S608 - the words are this module's own
# Whoever erases somebody from the list waits for this, or is waited for.
_HELD = "select from approvals_dataset where id = %(dataset)s for share"
# Whoever was left out before is left out again, for the same reason.
_REST = f"""
  insert into approvals_audiencerow (workspace_id, version_id, position, email, address, vars, state, reason)
  select r.workspace_id, %(version)s, r.position, r.email, r.address, r.vars,
    case when r.state <> 'addressable' then r.state
         when r.erased_at is not null then 'refused'
         when t.dedupe_key is not null then 'already_sent'
         when s.dedupe_key is not null then 'suppressed'
         when r.unfit then 'refused'
         else 'addressable' end,
    case when r.state <> 'addressable' then r.reason
         when r.erased_at is not null then %(erased)s
         when t.dedupe_key is not null then %(reached)s
         when s.dedupe_key is not null then %(listed)s
         when r.unfit then %(unfit)s
         else '' end
  from (
    select a.*, exists (select from unnest(%(slots)s::text[]) slot
                        where a.vars::jsonb ->> slot ~ %(broken)s) as unfit
    from approvals_audiencerow a join approvals_version v on v.workspace_id = a.workspace_id and v.id = a.version_id
    where v.campaign_id = %(campaign)s and v.number = %(number)s - 1
  ) r
  {_REACHED} on t.dedupe_key = lower(r.address)
  {_LISTED} on s.dedupe_key = lower(r.address)
"""  # noqa: S608
_DELIVERIES = """
  insert into approvals_delivery
    (id, workspace_id, campaign_id, version_id, audience_row_id, position, address, dedupe_key, message_id)
  select r.delivery_id, r.workspace_id, %(campaign)s, r.version_id, r.id, r.position, r.address, lower(r.address),
    '<' || replace(r.delivery_id::text, '-', '') || '@' || %(domain)s || '>'
  from (select gen_random_uuid() as delivery_id, a.* from approvals_audiencerow a
        where a.version_id = %(version)s and a.state = 'addressable') r
"""


def usable(dataset: Dataset, where: Mapping[str, str] | None) -> None:
    """Return if a campaign can use these rows of a dataset; Invalid otherwise.

    `where` are columns and the value that each must have; None for all rows. A filter that is empty, of a column that
    is not there, or for an empty value is refused: it would mean nobody, and might have been meant as everybody.
    """
    if dataset.ended_at is None or dataset.trouble:
        raise Invalid("dataset_id", NOT_IMPORTED if dataset.trouble else NOT_READY)
    if where is None:
        return
    if not where or len(where) > MOST_FILTERS:
        raise Invalid(
            "where", f"A filter names 1 to {MOST_FILTERS} columns. Leave it out to write to the whole list."
        )
    for name, value in where.items():
        if name not in dataset.columns or name == dataset.address_column:
            raise Invalid(
                "where",
                f"The list has no column “{name}” to filter by.",
            )
        if not value.strip():
            raise Invalid(
                "where", f"The filter of “{name}” is empty, so it picks nobody. Say which value is meant."
            )


def fill(
    version: Version, *, dataset_id: UUID, where: Mapping[str, str] | None, agent: str, sender: Mailbox
) -> None:
    """In the open transaction: the audience and deliveries of a version that is not sealed.

    Invalid where no row of the dataset passes the filter.
    """
    values = _values(version, agent, sender) | {"dataset": dataset_id, "where": json.dumps(where or {})}
    with connection.cursor() as cursor:
        cursor.execute(_HELD, values)
        cursor.execute(_PICKED, values)
        if not cursor.rowcount:
            raise Invalid("where", "No row of the list has these values, so nobody would be written to.")
        cursor.execute(_DELIVERIES, values)


def fill_from_before(version: Version, *, agent: str, sender: Mailbox) -> None:
    """In the open transaction: the list of the version before, of whom those get something who got nothing yet."""
    values = _values(version, agent, sender) | {
        "number": version.number,
        "broken": _BROKEN,
    }
    with connection.cursor() as cursor:
        cursor.execute(_REST, values)
        cursor.execute(_DELIVERIES, values)


def _values(version: Version, agent: str, sender: Mailbox) -> dict[str, Any]:
    return {
        "version": version.id,
        "campaign": version.campaign_id,
        "slots": [name.strip() for name in _SLOT.findall(version.subject_line)],
        "agent": agent,
        "listed": ON_THE_LIST,
        "reached": ALREADY_SENT,
        "erased": ERASED,
        "unfit": UNFIT,
        "domain": sender.address.domain,
    }


def addressed(version: Version) -> Iterator[tuple[int, str, str]]:
    """(position, address, variables) of everybody who is written to, in order, a few thousand at a time."""
    rows = AudienceRow.objects.filter(version_id=version.id, state="addressable").order_by("position")
    return rows.values_list("position", "address", "vars").iterator(chunk_size=5_000)
