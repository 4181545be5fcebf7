"""What row-level security costs a reader: the same query as app and by the superuser, whom no policy binds.

The owner of the tables is bound by the policies like everybody (FORCE), so the superuser stands for "as owner". The
policy names the workspace, so his query names it itself; for the search he runs the query inside the function, which
is copied from the database as it stands there, so that it follows whatever becomes of it.
"""

import re
import statistics
import time
from typing import Any
from uuid import UUID

import psycopg
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from approvals.db.base import BIND
from approvals.db.binding import bind
from approvals.selectors import queue as selector
from dashboard.bench import queue, servers
from dashboard.bench.figures import rounded
from dashboard.bench.telling import Teller

RUNS, NEIGHBOUR = 1_000_000, 100_000  # somebody else's runs are in the same tables
SAMPLES, LEAST, PATIENCE_S = 200, 5, 20
SEARCHED = ("customer-42@example.com", "ticket-150", "customer")  # a rare one, a single one, one in every run
_OF_QUEUE = "from approvals_queueitem q where "


def measure(tell: Teller, scale: float) -> dict[str, Any]:
    """The ratio of the queue's first page, and that of the search's worst words."""
    sizes = [max(queue.LEAST, int(size * scale)) for size in (RUNS, NEIGHBOUR)]
    tell.say("Starting a database")
    with servers.running(fast=True, need_mb=1_000 + sum(sizes) // 250) as running:
        workspace_id = queue.loaded(running, tell, sizes, findable=True)[0].workspace_id
        with running.app() as app, running.superuser() as superuser:
            tell.say("Reading as app and as superuser, in turn")
            sides = (Side(app, workspace_id), Side(superuser, workspace_id))
            found = {"queue": _compared(sides, _queue_page(workspace_id))}
            _copy_search(superuser)
            for words in SEARCHED:
                found[f"search for {words}"] = _compared(sides, _search(words))
    searches = [of["ratio"] for name, of in found.items() if name != "queue"]
    return {"queue": found["queue"]["ratio"], "search": max(searches), "runs": sizes, "queries": found}


class Side:
    """A connection bound to the workspace as the product binds it, planning anew each time as the product does."""

    def __init__(self, connection: psycopg.Connection, workspace_id: UUID) -> None:
        self._connection, self._workspace_id = connection, workspace_id
        connection.prepare_threshold = None

    def ask(self, query: str) -> tuple[float, list[Any]]:
        """(seconds, rows) of one query."""
        with self._connection.transaction():
            self._connection.execute(BIND, {"workspace": str(self._workspace_id), "subject": ""})
            began = time.perf_counter()
            rows = self._connection.execute(query.encode()).fetchall()
            return time.perf_counter() - began, rows


def _compared(sides: tuple[Side, Side], queries: tuple[str, str]) -> dict[str, Any]:
    """The medians of both sides, taken in turn, and the ratio. Both have to find the same, and something."""
    seconds: tuple[list[float], list[float]] = ([], [])
    end = time.monotonic() + PATIENCE_S
    while len(seconds[0]) < LEAST or (len(seconds[0]) < SAMPLES and time.monotonic() < end):
        found = []
        for side, query, taken in zip(sides, queries, seconds, strict=True):
            spent, rows = side.ask(query)
            taken.append(spent)
            found.append(len(rows))
        if not found[0] == found[1] > 0:
            raise RuntimeError(f"app found {found[0]} rows and the superuser {found[1]}: {queries[0]}")
    app, superuser = (statistics.median(taken) for taken in seconds)
    return {
        "ratio": rounded(app / superuser),
        "app_ms": rounded(app * 1000),
        "superuser_ms": rounded(superuser * 1000),
        "rows": found[0],
        "samples": len(seconds[0]),
    }


def _queue_page(workspace_id: UUID) -> tuple[str, str]:
    """The query of the queue's first page as the selector writes it, and the one that names the workspace."""
    with bind(workspace_id), transaction.atomic(), CaptureQueriesContext(connection) as seen:
        selector.page_of(selector.Wanted(), None)
    written = str(seen.captured_queries[-1]["sql"])
    if _OF_QUEUE not in written:
        raise RuntimeError(f"the queue's query is not what this benchmark knows: {written}")
    return written, written.replace(_OF_QUEUE, f"{_OF_QUEUE} q.workspace_id = '{workspace_id}' and ", 1)


def _copy_search(superuser: psycopg.Connection) -> None:
    """The query inside `search_items` under another name: nobody's rights but the caller's, and free to be inlined."""
    row = superuser.execute(
        "select pg_get_functiondef('search_items(text, integer)'::regprocedure)"
    ).fetchone()
    written = str(row[0]) if row else ""
    written = written.replace("public.search_items(", "bare.search_items(", 1).replace(
        "SECURITY DEFINER", "", 1
    )
    superuser.execute("create schema if not exists bare")
    superuser.execute(re.sub(r"^ SET search_path TO .*$", "", written, count=1, flags=re.MULTILINE).encode())


def _search(words: str) -> tuple[str, str]:
    query = "select item_id from {}search_items('{}', {})"
    return query.format("", words, selector.FOUND), query.format("bare.", words, selector.FOUND)
