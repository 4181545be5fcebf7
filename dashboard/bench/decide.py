"""`bench decide`: how long after a decision a worker has its job, with a real dispatcher, broker and worker.

Some people decide at once, RATE decisions a second together: each lets a failed run that provably did nothing start
again, and nothing is held. `p95_ms` is `claimed_at - decision.at`, both by the database's clock. The decision is the
last row before its commit, so the time of the commit itself, in which it is not known to anybody yet, counts too.
`after_commit` counts from when the commit was answered, by this machine's clock, which is also the database's.
"""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID

from django.db import connections, transaction

from approvals.access.actors import TokenBearer, bearer_of
from approvals.db.binding import bind
from approvals.models import Decision, Job, Run
from approvals.rules.decisions import told
from approvals.rules.shown import Shown
from approvals.selectors.lineages import judged
from approvals.services import journal, replays, secrets
from dashboard.bench import house, servers
from dashboard.bench.figures import Goal, answer, milliseconds
from dashboard.bench.telling import Teller
from dashboard.embedded.trouble import Trouble

DECISIONS, LEAST, WARM_UP = 200, 10, 20
RATE = 20  # a second
PEOPLE = 4
CLAIM_S = 60
GOALS = {"p95_ms": Goal("at_most", 300)}


class Agents(BaseHTTPRequestHandler):
    """A runtime that takes every replay at once and does nothing."""

    def do_POST(self) -> None:
        """Take it."""
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: standard error is for how far the benchmark is."""


def run(tell: Teller, scale: float) -> dict[str, Any]:
    """Decide, wait for the claims, answer."""
    number = max(LEAST, int(DECISIONS * scale))
    tell.say("Starting a database, a broker, the dispatcher and a worker")
    with servers.running() as running, ThreadingHTTPServer(("127.0.0.1", 0), Agents) as agents:
        made = house.make("bench-1", base_url=f"http://127.0.0.1:{agents.server_address[1]}")
        running.start_workers()
        threading.Thread(target=agents.serve_forever, daemon=True).start()
        tell.say(f"Making {number + WARM_UP} runs that failed")
        runs = _failed_runs(made, number + WARM_UP)
        tell.say("Deciding about some, so that everything is warm")
        _claims(made, _decide(made, runs[:WARM_UP]))
        tell.say(f"Deciding about {number} runs, {RATE} a second")
        began = time.monotonic()
        committed = _decide(made, runs[WARM_UP:])
        rate = number / (time.monotonic() - began)
        claims = _claims(made, committed)
        agents.shutdown()
    decided = milliseconds([(claimed - at).total_seconds() for claimed, at, _ in claims])
    after = milliseconds([(claimed - answered).total_seconds() for claimed, _, answered in claims])
    return answer(
        "decide", scale, {"p95_ms": decided["p95_ms"]}, GOALS,
        from_decision=decided, after_commit=after, decisions_per_s=round(rate, 1),
    )  # fmt: skip


def _failed_runs(made: house.House, number: int) -> list[UUID]:
    """Runs that failed before they called anything, reported as a runtime reports them."""
    runs = []
    with bind(made.workspace_id):
        by = bearer_of(secrets.token_digest(made.token))
        if by is None:
            raise RuntimeError("the token that was made is not known")
        for n in range(number):
            runs.append(_failed_run(by, n))
    return runs


def _failed_run(by: TokenBearer, number: int) -> UUID:
    reported = journal.NewRun(
        external_id=f"ticket-{number}", agent="refund-assistant", session_id="", subject=f"customer-{number}",
        trigger="ticket", input={"text": "Please refund my order."},
    )  # fmt: skip
    run_id = journal.register_run(by=by, run=reported).id
    at = datetime.now(UTC)
    said = journal.NewEvent(seq=1, type="message", at=at, content={"text": "I will look into it."})
    end = journal.NewEvent(
        seq=2, type="ended", at=at, outcome="failed", content={"error": "model quota exhausted"}
    )
    journal.append(by=by, run_id=run_id, events=[said, end])
    return run_id


def _decide(made: house.House, runs: Sequence[UUID]) -> dict[UUID, datetime]:
    """Let each start again, RATE a second; decision to when its commit was answered."""
    began = time.monotonic()

    def one(place: int, run_id: UUID) -> tuple[UUID, datetime]:
        with bind(made.workspace_id):
            with transaction.atomic():
                facts, _, digest = judged(Run.objects.get(id=run_id))
            shown = Shown(digest=digest, opened_at=datetime.now(UTC), told=told(facts))
            time.sleep(max(0, began + place / RATE - time.monotonic()))
            started = replays.replay(by=house.PERSON, run_id=run_id, shown=shown)
            return started.decision.id, datetime.now(UTC)

    with ThreadPoolExecutor(PEOPLE) as pool:
        committed = dict(pool.map(one, range(len(runs)), runs))
        for _ in range(PEOPLE):
            pool.submit(connections.close_all)
    return committed


def _claims(made: house.House, committed: dict[UUID, datetime]) -> list[tuple[datetime, datetime, datetime]]:
    """(when its job was claimed, when it was decided, when the commit was answered) of each. Trouble for a lost one."""
    end = time.monotonic() + CLAIM_S
    while True:
        with bind(made.workspace_id), transaction.atomic():
            jobs = Job.objects.filter(decision_id__in=committed, claimed_at__isnull=False)
            claimed = {id: at for id, at in jobs.values_list("decision_id", "claimed_at") if at}
            decided = dict(Decision.objects.filter(id__in=committed).values_list("id", "at"))
        if len(claimed) == len(committed):
            return [(claimed[id], decided[id], answered) for id, answered in committed.items()]
        if time.monotonic() > end:
            raise Trouble(f"After {CLAIM_S} s only {len(claimed)} of {len(committed)} jobs had been claimed.")
        time.sleep(0.1)
