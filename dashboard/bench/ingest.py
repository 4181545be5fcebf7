"""`bench ingest`: how many events a second a runtime can report, one by one and in batches of 100.

Over HTTP, by CLIENTS runtimes at once, each on a kept connection and reporting its own runs, into a database that
writes safely to its disk. Beside it the same rows by one bare COPY: each event's columns with the text and the salt
of its payload, into a table of those columns without index, key, trigger or policy, by the superuser, committed.
`of_copy` is what the whole way (HTTP, token, checks, hashes, journal triggers, policies) leaves of that speed.
Rounds of the three are taken in turn; the figures are their medians.
"""

import json
import statistics
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import psycopg

from dashboard.bench import house, servers
from dashboard.bench.client import Client
from dashboard.bench.figures import answer, rounded
from dashboard.bench.telling import Teller

CLIENTS = 4
ROUNDS = 5
SINGLES, BATCHES = 250, 25  # requests of each client in a round
BATCH = 100
JSON = "application/json"
_ROWS = """select e.*, p.body, p.salt from approvals_event e left join approvals_payload p on p.id = e.payload_id"""


class Runtime:
    """One reporting runtime: its kept connection, and a new run for each round."""

    def __init__(self, port: int, token: str, number: int) -> None:
        self._client = Client(port, {"Authorization": f"Bearer {token}"})
        self._number = number
        self._runs = 0

    def begin(self) -> str:
        """Make a run known; where its events go."""
        self._runs += 1
        run = {
            "external_id": f"run-{self._number}-{self._runs}",
            "agent": "refund-assistant",
            "subject": f"customer-{self._number}@example.com",
            "trigger": "ticket 4711",
            "input": {"text": "Please refund order 4711."},
        }
        told = self._client.post("/api/v1/runs", json.dumps(run).encode(), JSON, expect=(201,))
        return f"/api/v1/runs/{json.loads(told.body)['id']}/events"

    def send(self, address: str, bodies: Sequence[bytes]) -> None:
        """Report them, one request after the other."""
        for body in bodies:
            self._client.post(address, body, JSON, expect=(202,))


def run(tell: Teller, scale: float) -> dict[str, Any]:
    """Report, copy, answer."""
    singles, batches = max(5, int(SINGLES * scale)), max(2, int(BATCHES * scale))
    tell.say("Starting a database and the machine API")
    with servers.running() as running:
        made = house.make("bench-1")
        port = running.start_web()
        runtimes = [Runtime(port, made.token, number) for number in range(CLIENTS)]
        one_by_one = bodies_of(1, singles)
        in_batches = bodies_of(BATCH, batches)
        _round(runtimes, in_batches[:2])
        single, batch, copied = [], [], []
        with running.superuser() as superuser:
            superuser.execute(f"create table bare_event as {_ROWS} with no data".encode())
            for _ in tell.through(range(ROUNDS), "Reporting one by one, in batches, and copying, in turn"):
                single.append(CLIENTS * singles / _round(runtimes, one_by_one))
                last = _last_event(superuser)
                batch.append(CLIENTS * batches * BATCH / _round(runtimes, in_batches))
                copied.append(_copy(superuser, last))
    figures = {
        "single_per_s": rounded(statistics.median(single)),
        "batch_per_s": rounded(statistics.median(batch)),
        "of_copy": rounded(statistics.median(batch) / statistics.median(copied)),
    }
    rounds = {"single_per_s": single, "batch_per_s": batch, "copy_per_s": copied}
    return answer(
        "ingest", scale, figures, {},
        copy_per_s=rounded(statistics.median(copied)),
        clients=CLIENTS,
        batch=BATCH,
        rounds={name: [rounded(value) for value in values] for name, values in rounds.items()},
    )  # fmt: skip


def bodies_of(size: int, number: int) -> list[bytes]:
    """The requests that report one run's first `size` * `number` events."""
    events = _events(size * number)
    return [json.dumps({"events": [next(events) for _ in range(size)]}).encode() for _ in range(number)]


def _events(number: int) -> Iterator[dict[str, Any]]:
    """A run's events: it says something, calls a tool, is answered."""
    at = datetime.now(UTC).isoformat()
    for seq in range(1, number + 1):
        call_id = f"c{(seq + 2) // 3}"
        yield {"seq": seq, "at": at} | (
            {"type": "message", "author": "agent", "text": f"Step {seq}: " + "I look at the order again. " * 5},
            {"type": "tool_call", "call_id": call_id, "name": "send_email",
             "args": {"to": f"customer-{seq}@example.com", "subject": "Your refund", "text": "Dear customer, " * 8}},
            {"type": "tool_result", "call_id": call_id, "result": {"status": "sent", "id": f"<{seq}@example.com>"}},
        )[(seq - 1) % 3]  # fmt: skip


def _round(runtimes: Sequence[Runtime], bodies: Sequence[bytes]) -> float:
    """Every runtime reports these on a new run of its own, at the same time; the seconds it took."""
    addresses = [runtime.begin() for runtime in runtimes]
    with ThreadPoolExecutor(len(runtimes)) as pool:
        began = time.perf_counter()
        for _ in pool.map(lambda runtime, address: runtime.send(address, bodies), runtimes, addresses):
            pass
        return time.perf_counter() - began


def _last_event(connection: psycopg.Connection) -> int:
    row = connection.execute("select coalesce(max(id), 0) from approvals_event").fetchone()
    return int(row[0]) if row else 0


def _copy(connection: psycopg.Connection, last: int) -> float:
    """Rows a second at which the events after `last` go into the bare table."""
    with connection.cursor().copy(f"copy ({_ROWS} where e.id > {last}) to stdout".encode()) as source:
        rows = [bytes(block) for block in source]
    connection.execute("truncate bare_event")
    began = time.perf_counter()
    with connection.cursor().copy("copy bare_event from stdin") as target:
        target.write(b"".join(rows))
    return len(rows) / (time.perf_counter() - began)
