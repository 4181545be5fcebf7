"""The observing part of `bench adk`: a store as ADK makes it, full of sessions, read for the first time and then again.

The store is a database of its own on the same server as ours, with the tables and the index that google-adk 2.13
makes. First read: events a second from the first look until every session is known. Poll: seconds that one look takes
after CHANGED sessions got an event, once everything is known.
"""

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg
from django.db import transaction
from django.db.models.functions import Now

from approvals.db.binding import bind
from approvals.models import AgentSession, Observation
from approvals.services import setup
from approvals.tasks import observe
from dashboard.bench import house
from dashboard.bench.house import House
from dashboard.bench.servers import Servers
from dashboard.bench.telling import Teller

DATABASE = "adk"
SESSIONS, EVENTS = 100_000, 10
CHANGED, POLLS = 10, 7
LONGEST_S = 3_600

_TABLES = """
create table sessions (app_name varchar(128) not null, user_id varchar(128) not null, id varchar(128) not null,
  state jsonb not null, create_time timestamp not null, update_time timestamp not null,
  primary key (app_name, user_id, id));
create table events (id varchar(128) not null, app_name varchar(128) not null, user_id varchar(128) not null,
  session_id varchar(128) not null, invocation_id varchar(256) not null, "timestamp" timestamp not null,
  event_data jsonb, primary key (id, app_name, user_id, session_id),
  foreign key (app_name, user_id, session_id) references sessions on delete cascade);
create index idx_events_app_user_session_ts_id on events (app_name, user_id, session_id, "timestamp" desc, id desc);
"""

_SESSIONS = """
insert into sessions select 'support', 'customer-' || n || '@example.com', 's-' || n, '{}',
  now() at time zone 'utc' - interval '30 days', now() at time zone 'utc' - interval '2 days' + n * interval '1 s' / 10
from generate_series(1, %s::int) n
"""

# A message, calls and their answers in turn, and a last word.
_EVENTS = """
insert into events
select 'ev-' || n || '-' || e, 'support', 'customer-' || n || '@example.com', 's-' || n, 'e-' || n, made,
jsonb_build_object(
  'id', 'ev-' || n || '-' || e, 'invocation_id', 'e-' || n, 'timestamp', extract(epoch from made),
  'author', case when e = 1 then 'user' else 'support' end,
  'actions', jsonb_build_object('state_delta', '{}'::jsonb, 'artifact_delta', '{}'::jsonb,
    'requested_auth_configs', '{}'::jsonb, 'requested_tool_confirmations', '{}'::jsonb),
  'node_info', jsonb_build_object('path', case when e = 1 then '' else 'support@1' end),
  'finish_reason', 'STOP', 'model_version', 'scripted-1',
  'content', case
    when e = 1 then jsonb_build_object('role', 'user', 'parts', jsonb_build_array(
      jsonb_build_object('text', 'Please refund the order of customer ' || n)))
    when e = %s::int then jsonb_build_object('role', 'model', 'parts', jsonb_build_array(
      jsonb_build_object('text', 'Done: the refund was made and the mail is out.')))
    when e %% 2 = 0 then jsonb_build_object('role', 'model', 'parts', jsonb_build_array(jsonb_build_object(
      'function_call', jsonb_build_object('id', 'adk-' || n || '-' || e, 'name', 'lookup_customer',
        'args', jsonb_build_object('customer_id', 'C-' || n, 'because', repeat('look again ', 8))))))
    else jsonb_build_object('role', 'user', 'parts', jsonb_build_array(jsonb_build_object(
      'function_response', jsonb_build_object('id', 'adk-' || n || '-' || (e - 1), 'name', 'lookup_customer',
        'response', jsonb_build_object('tier', 'gold', 'email', 'c' || n || '@example.com'))))) end)
from generate_series(%s::int, %s::int) n, generate_series(1, %s::int) e,
  lateral (select now() at time zone 'utc' - interval '2 days' + n * interval '1 s' / 10
                  + (e - %s::int) * interval '1 s' as made) m
"""

_CHANGE = """
with changed as (
  update sessions set update_time = clock_timestamp() at time zone 'utc' where id = any (%s) returning *
)
insert into events select id || '-' || %s, app_name, user_id, id, 'more-' || %s, update_time, jsonb_build_object(
  'author', 'user', 'content', jsonb_build_object('role', 'user', 'parts', jsonb_build_array(
    jsonb_build_object('text', 'And one more thing'))))
from changed
"""


def measure(tell: Teller, running: Servers, made: House, scale: float, base_url: str) -> dict[str, Any]:
    """Fill a store, read it, look again; events a second, seconds of a look, and what each was of."""
    sessions = max(50, int(SESSIONS * scale))
    with _store(running) as store:
        _fill(tell, store, sessions)
        with bind(made.workspace_id):
            runtime_id = _add_runtime(running, base_url)
            first_s = _read_first(tell, runtime_id, made, sessions)
            _finish_pass(tell, runtime_id, made)
            polls = [_poll(store, runtime_id, made, sessions, number) for number in range(POLLS)]
    return {
        "events_per_s": sessions * EVENTS / first_s,
        "poll_s": statistics.median(polls),
        "sessions": sessions,
        "polls_s": polls,
    }


@contextmanager
def _store(running: Servers) -> Iterator[psycopg.Connection]:
    with running.superuser() as superuser:
        superuser.execute(f"create database {DATABASE}".encode())
    with running.superuser(DATABASE) as store:
        store.execute(_TABLES.encode())
        yield store


def _fill(tell: Teller, store: psycopg.Connection, sessions: int) -> None:
    store.execute(_SESSIONS.encode(), [sessions])
    for start in tell.through(range(1, sessions + 1, 5_000), f"Filling a store with {sessions:,} sessions"):
        upto = min(start + 4_999, sessions)
        store.execute(_EVENTS.encode(), [EVENTS, start, upto, EVENTS, EVENTS])
    store.execute("vacuum analyze")


def _add_runtime(running: Servers, base_url: str) -> UUID:
    added = setup.add_runtime(
        by=house.BY,
        name="adk",
        kind="adk",
        base_url=base_url,
        database_url=running.postgres.dsn(database=DATABASE),
    )
    return added.runtime.id


def _look(runtime_id: UUID, made: House) -> float:
    """One task, as the worker does it; the seconds it took."""
    began = time.perf_counter()
    observe.execute(str(runtime_id), workspace=str(made.workspace_id))
    return time.perf_counter() - began


def _read_first(tell: Teller, runtime_id: UUID, made: House, sessions: int) -> float:
    tell.say("Reading it for the first time")
    began = time.perf_counter()
    while time.perf_counter() - began < LONGEST_S:
        _look(runtime_id, made)
        with transaction.atomic():
            if AgentSession.objects.filter(runtime_id=runtime_id).count() == sessions:
                return time.perf_counter() - began
    raise TimeoutError("the first read did not end")


def _finish_pass(tell: Teller, runtime_id: UUID, made: House) -> None:
    tell.say("Going through all of it once more, as the pass does")
    while True:
        with transaction.atomic():
            watch = Observation.objects.get(runtime_id=runtime_id)
        if watch.pass_ended_at is not None:
            return
        _look(runtime_id, made)


def _poll(store: psycopg.Connection, runtime_id: UUID, made: House, sessions: int, number: int) -> float:
    first = number * CHANGED % sessions + 1
    ids = [f"s-{n}" for n in range(first, first + CHANGED)]
    store.execute(_CHANGE.encode(), [ids, str(number), str(number)])
    with transaction.atomic():
        Observation.objects.filter(runtime_id=runtime_id).update(due_at=Now())
    return _look(runtime_id, made)
