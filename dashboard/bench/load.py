"""Filling a workspace with very many runs: as they would stand there after half a year, without living through it.

Written by the superuser with the triggers off, in statements of CHUNK runs which Postgres makes up by itself, so the
memory needed does not grow with the number. What triggers would have kept (the queue's items, the tool filter, the
counters of a journal) is written beside it, in agreement with it.

Of 1,000 runs 100 need a person, one is under way and the others are over. Those that need a person have their
journals, since the queue's pages tell what these runs did; the journals of the others are left out.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import LiteralString
from uuid import UUID

import psycopg

CHUNK = 25_000
FREQUENT_AGENT, RARE_AGENT = "refund-assistant", "chargeback-auditor"
FREQUENT_TOOL, RARE_TOOL = "send_email", "wire_transfer"
RARE = 5  # runs of the rare agent, which alone call the rare tool
PENDING = 60  # campaigns that wait in every workspace, however small, so that a page of them is full


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace to fill, its runtime, and how many runs it gets."""

    slug: str
    workspace_id: UUID
    runtime_id: UUID
    runs: int

    @property
    def campaigns(self) -> tuple[int, int]:
        """How many there are, and how many of them wait."""
        pending = PENDING + self.runs // 2_000
        return pending + self.runs // 200, pending


def chunks(places: Iterable[Place]) -> list[tuple[Place, int, int]]:
    """The pieces of the work: a workspace, and the first and last number of the runs to make."""
    return [
        (place, first, min(first + CHUNK - 1, place.runs))
        for place in places
        for first in range(1, place.runs + 1, CHUNK)
    ]


def fill(
    connection: psycopg.Connection, work: Iterable[tuple[Place, int, int]], *, findable: bool = False
) -> None:
    """Make these pieces, and the campaigns of a workspace with its first; `findable` fills the runs' words too."""
    connection.execute("set session_replication_role = replica")
    connection.execute("set synchronous_commit = off")
    statements = [_RUNS, _ITEMS, _TOOLS, _JOURNALS, *([_WORDS] if findable else [])]
    for place, first, last in work:
        values = _values(place, first, last)
        for statement in statements:
            connection.execute(statement, values)
        if first == 1:
            for statement in _campaigns():
                connection.execute(statement, values)
    connection.execute("reset session_replication_role")


def look(connection: psycopg.Connection) -> None:
    """What autovacuum does in time: statistics for the planner, and which pages everybody may see."""
    connection.execute("vacuum (analyze)")
    connection.execute("checkpoint")


def _values(place: Place, first: int, last: int) -> dict[str, object]:
    campaigns, pending = place.campaigns
    return {
        "w": place.workspace_id,
        "runtime": place.runtime_id,
        "all": place.runs,
        "first": first,
        "last": last,
        # The rare agent's runs, spread over the time; three of them need a person.
        "rare": [place.runs * k // (RARE + 1) // 10 * 10 + (k % 2 == 0) for k in range(1, RARE + 1)],
        "frequent_agent": FREQUENT_AGENT,
        "rare_agent": RARE_AGENT,
        "frequent_tool": FREQUENT_TOOL,
        "rare_tool": RARE_TOOL,
        "campaigns": campaigns,
        "pending": pending,
    }


# One row a run; ids and chances come from its number, so that every statement finds the same ones.
_MADE_UP: LiteralString = """
  select n, md5(%(w)s::text || ' run ' || n)::uuid as id,
    n %% 10 = 0 as waits, n %% 20 = 0 as failed, n %% 1000 = 1 as runs,
    now() - interval '180 days' * (%(all)s - n + 1) / %(all)s as at,
    n = any(%(rare)s::int[]) as rare,
    -- Thousandths: not in step with the number itself, so that agents and states mix.
    abs(hashint8(n)) %% 1000 as agent_chance, abs(hashint8(n * 7)) %% 100 as tool_chance
  from generate_series(%(first)s::bigint, %(last)s::bigint) n
"""
_RUN: LiteralString = f"""
  select m.*,
    case when rare then %(rare_agent)s when agent_chance < 600 then %(frequent_agent)s
         when agent_chance < 750 then 'booking-agent' when agent_chance < 850 then 'triage'
         else 'agent-' || agent_chance %% 15 end as agent,
    case when rare then %(rare_tool)s when tool_chance < 45 then %(frequent_tool)s
         when tool_chance < 60 then 'update_crm' when tool_chance < 70 then 'charge_card' end as tool,
    'customer-' || (n * 7919) %% greatest(%(all)s / 3, 1) || '@example.com' as subject,
    case when failed then 'failed' when waits then 'interrupted' when runs then 'running' else 'completed' end
      as status
  from ({_MADE_UP}) m
"""
_EVENTS: LiteralString = f"""
  select r.n, r.id as run_id, r.at, e.*, row_number() over (partition by r.n order by e.place) as seq
  from ({_RUN}) r cross join lateral (values
    (1, true, 'message', null, null, null, '{{"author":"agent","text":"I will look into order ' || n || '."}}'),
    (2, tool is not null, 'tool_call', 'c1', tool, null, '{{"args":{{"to":"' || subject || '"}}}}'),
    (3, tool is not null and failed, 'tool_result', 'c1', null, null, '{{"result":{{"ok":true}}}}'),
    (4, failed, 'ended', null, null, 'failed', '{{"error":"model quota exhausted"}}')
  ) e (place, there, type, call_id, name, outcome, body)
  where r.waits and e.there
"""
_RUNS: LiteralString = f"""
  insert into approvals_run (id, workspace_id, runtime_id, external_id, agent, session_id, subject, trigger,
    input_payload_id, input_hash, body_digest, status, lineage_id, created_at, started_at, last_event_at,
    silent_after, overlong_after, ended_at, interrupted_at, interrupted_why, next_seq, max_seq, tools_executed,
    settled_at)
  select id, %(w)s, %(runtime)s, 'ticket-' || n, agent, 's-' || n, subject, 'ticket ' || n,
    md5(%(w)s::text || ' input ' || n)::uuid, decode(md5(n::text) || md5(n::text), 'hex'), '', status, id, at, at, at,
    case when runs then at + interval '10 years' end, case when runs then at + interval '10 years' end,
    case when not runs and (failed or not waits) then at + interval '40 seconds' end,
    case when waits and not failed then at + interval '5 minutes' end,
    case when waits and not failed then 'silent' else '' end,
    1 + events, events,
    case when failed then case when tool is null then '[]'::jsonb
      else jsonb_build_array(jsonb_build_object('call_id', 'c1', 'name', tool)) end end,
    case when failed then at + interval '40 seconds' end
  from (select r.*, case when waits then 1 + (tool is not null)::int + (tool is not null and failed)::int
                                         + failed::int else 0 end as events
        from ({_RUN}) r) r
"""
_PLACED: LiteralString = f"""
  select r.*, case when waits then 'decide' when runs then 'progress' else 'history' end as tab,
    at + case when waits and not failed then interval '5 minutes' when runs then interval '0'
              else interval '40 seconds' end as since
  from ({_RUN}) r
"""
_ITEMS: LiteralString = f"""
  insert into approvals_queueitem (id, workspace_id, kind, tab, state, run_id, agent, subject, title, since, due)
  select id, %(w)s, 'run', tab, status, id, agent, subject, 'ticket-' || n, since, 'infinity' from ({_PLACED}) r
"""
_TOOLS: LiteralString = f"""
  insert into approvals_runtool (workspace_id, run_id, lineage_id, name, tab, since, due)
  select %(w)s, id, id, tool, tab, since, 'infinity' from ({_PLACED}) r where tool is not null
"""
_WORDS: LiteralString = f"""
  insert into approvals_itemword (workspace_id, item_id, word, at)
  select %(w)s, id, word, at
  from ({_RUN}) r, lateral (
    select unnest(words_of(subject)) union select unnest(words_of('ticket-' || n))) found (word)
"""
_JOURNALS: LiteralString = f"""
  with told as materialized (
    select e.*, md5(%(w)s::text || ' payload ' || n || ' ' || seq)::uuid as payload_id,
      decode(md5('salt ' || n || ' ' || seq), 'hex') as salt
    from ({_EVENTS}) e
  ), kept as (
    insert into approvals_payload (id, workspace_id, body, salt) select payload_id, %(w)s, body, salt from told
  )
  insert into approvals_event (workspace_id, run_id, seq, type, at, received_at, call_id, name, outcome, payload_id,
    payload_hash)
  select %(w)s, run_id, seq, type, at, at, call_id, name, outcome, payload_id,
    sha256(salt || convert_to(body, 'UTF8'))
  from told
"""

# The first five that wait have a date to be sent by, so they stand first; the others came last.
_CAMPAIGN: LiteralString = """
  select n, md5(%(w)s::text || ' campaign ' || n)::uuid as id, md5(%(w)s::text || ' version ' || n)::uuid as version_id,
    n <= %(pending)s as waits, case when n <= 5 then now() + interval '1 day' * n end as send_by,
    case when n <= %(pending)s then now() - interval '1 second' * n else now() - interval '1 hour' * n end as at
  from generate_series(1, %(campaigns)s) n
"""
_RECIPIENT: LiteralString = f"""
  select c.*, p as position, 'guest' || n || '.' || p || '@example.org' as address,
    -- Beyond what the sequence has reached; nobody else writes here.
    1000000000 + hashtext(%(w)s::text)::bigint * 1000000 + n * 10 + p as row_id
  from ({_CAMPAIGN}) c cross join generate_series(1, 3) p
"""


def _campaigns() -> Iterator[LiteralString]:
    yield f"""
      insert into approvals_campaign (id, workspace_id, runtime_id, external_id, agent, name, purpose, send_by,
        status, comment, created_at, finished_at)
      select id, %(w)s, %(runtime)s, 'campaign-' || n, 'outreach-writer', 'Campaign ' || n, '', send_by,
        case when waits then 'pending' else 'finished' end, '', at, case when not waits then at + interval '1 hour' end
      from ({_CAMPAIGN}) c
    """
    yield f"""
      insert into approvals_version (id, workspace_id, campaign_id, number, from_address, reply_to, subject_line, text,
        html, digest, sealed_at)
      select version_id, %(w)s, id, 1, 'Northwind <hello@northwind.example.com>', '', 'Your departure moved',
        'Dear ...', '', md5(n::text), at
      from ({_CAMPAIGN}) c
    """
    yield f"""
      insert into approvals_audiencerow (id, workspace_id, version_id, position, email, address, vars, state, reason)
      select row_id, %(w)s, version_id, position, address, address, '{{}}', 'addressable', '' from ({_RECIPIENT}) r
    """
    yield f"""
      insert into approvals_delivery (id, workspace_id, campaign_id, version_id, audience_row_id, position, address,
        dedupe_key, message_id, state, attempt)
      select md5(%(w)s::text || ' delivery ' || n || ' ' || position)::uuid, %(w)s, id, version_id, row_id, position,
        address, address, '<' || md5(address || %(w)s) || '@northwind.example.com>',
        case when waits then 'planned' else 'sent' end, case when waits then 0 else 1 end
      from ({_RECIPIENT}) r
    """
    yield f"""
      insert into approvals_queueitem (id, workspace_id, kind, tab, state, agent, subject, title, since, due)
      select id, %(w)s, 'campaign', case when waits then 'decide' else 'history' end,
        case when waits then 'pending' else 'finished' end, 'outreach-writer', '', 'Campaign ' || n, at,
        coalesce(send_by, 'infinity')
      from ({_CAMPAIGN}) c
    """
