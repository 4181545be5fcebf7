"""Decisions a second with the chain and without it.

Without it means: a second database of the same server, equal but for the one trigger that makes the chain, which is
off there; numbers come from a sequence instead, hashes are empty. Everything else is the same on both sides: the
payload, the policies, the deferred check that a release has its job, the indexes, safe commits. Each decision is a
transaction of its own as the product makes it: bound, payload, decision last, commit, with no round trip spared.
"""

import hashlib
import multiprocessing
import os
import signal
import statistics
import time
from collections.abc import Sequence
from multiprocessing.pool import Pool
from typing import Any
from uuid import UUID, uuid4

import psycopg

from approvals.db.base import BIND
from dashboard.bench import house, servers
from dashboard.bench.figures import rounded
from dashboard.bench.servers import Servers
from dashboard.bench.telling import Teller
from dashboard.embedded.cluster import DATABASE
from dashboard.embedded.processes import end_with_parent

WRITERS = 8
ROUNDS, ROUND_S, LEAST_S = 5, 3.0, 0.3
TWIN = "unchained"
EVIDENCE = '{"reason":"%s"}' % ("The customer was called back and wants it done again. " * 16)

_PAYLOAD = "insert into approvals_payload (id, workspace_id, body, salt) values (%s, %s, %s, %s)"
_DECISION = """
  insert into approvals_decision (id, workspace_id, kind, actor_kind, actor_id, actor_name, actor_roles, sign_in,
    opened_at, target_kind, target_id, item_id, agent, subject, digest, payload_id, payload_hash)
  values (%s, %s, 'dismiss', 'member', '1', 'Bench', array['support'], 'password', now(), 'run', %s, %s,
    'refund-assistant', 'customer-17@example.com', %s, %s, %s)
"""


def measure(tell: Teller, scale: float) -> dict[str, Any]:
    """The ratios for one workspace and for eight, and the rounds they are made of."""
    seconds = max(LEAST_S, ROUND_S * scale)
    tell.say("Starting a database with the chain and one without")
    # Forked before anything is connected to: a child must not share a connection.
    fork = multiprocessing.get_context("fork")
    with fork.Pool(WRITERS, _begin_writing, (os.getpid(),)) as writers, servers.running() as running:
        workspaces = [house.make(f"bench-{number}").workspace_id for number in range(1, WRITERS + 1)]
        _make_twin(running)
        rates: dict[str, list[float]] = {}
        for name in ("chained_one", "unchained_one", "chained_eight", "unchained_eight"):
            rates[name] = []
            _round(writers, running, name, workspaces, LEAST_S)
        for _ in tell.through(
            range(ROUNDS), f"Deciding with {WRITERS} writers, with the chain and without, in turn"
        ):
            for name, found in rates.items():
                found.append(_round(writers, running, name, workspaces, seconds))
    medians = {name: statistics.median(found) for name, found in rates.items()}
    return {
        "one": rounded(medians["chained_one"] / medians["unchained_one"]),
        "eight": rounded(medians["chained_eight"] / medians["unchained_eight"]),
        "writers": WRITERS,
        "per_s": {name: rounded(median) for name, median in medians.items()},
        "rounds": {name: [rounded(rate) for rate in found] for name, found in rates.items()},
    }


def _make_twin(running: Servers) -> None:
    """The database without the chain: a copy, made before anything was decided in it."""
    running.disconnect()
    running.cluster.create_database(TWIN, template=DATABASE)
    with running.superuser(TWIN) as superuser:
        superuser.execute("create sequence bench_seq start 1000")
        superuser.execute(f"grant usage on sequence bench_seq to {running.cluster.prefix}_app".encode())
        superuser.execute("alter table approvals_decision alter column seq set default nextval('bench_seq')")
        superuser.execute("alter table approvals_decision disable trigger decision_chained")


def _round(writers: Pool, running: Servers, name: str, workspaces: Sequence[UUID], seconds: float) -> float:
    """Decisions a second by all writers together."""
    chained, _, spread = name.partition("_")
    url = running.cluster.url("app", DATABASE if chained == "chained" else TWIN)
    begin_at = time.time() + 0.3
    work = [
        (url, workspaces[number if spread == "eight" else 0], begin_at, seconds) for number in range(WRITERS)
    ]
    return sum(writers.starmap(_write, work, chunksize=1)) / seconds


# -- in the writers' processes

_connections: dict[str, psycopg.Connection] = {}


def _begin_writing(parent: int) -> None:
    """Ctrl-C is for the one who started us, and when that one is gone so are we."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(signal.SIGKILL, parent)()


def _write(url: str, workspace_id: UUID, begin_at: float, seconds: float) -> int:
    """Decide until the time is over; how often."""
    if url not in _connections:
        _connections[url] = psycopg.connect(url, autocommit=True)
    connection = _connections[url]
    time.sleep(max(0, begin_at - time.time()))
    end = begin_at + seconds
    written = 0
    while time.time() < end:
        _decide(connection, workspace_id)
        written += 1
    return written


def _decide(connection: psycopg.Connection, workspace_id: UUID) -> None:
    """One decision, as services.decisions records it."""
    payload_id, target_id, salt = uuid4(), uuid4(), os.urandom(16)
    payload_hash = hashlib.sha256(salt + EVIDENCE.encode()).digest()
    with connection.transaction():
        connection.execute(BIND, {"workspace": str(workspace_id), "subject": ""})
        connection.execute(_PAYLOAD, [payload_id, workspace_id, EVIDENCE, salt])
        connection.execute(
            _DECISION, [uuid4(), workspace_id, target_id, target_id, "0" * 64, payload_id, payload_hash]
        )
