"""`bench import`: a list of a million recipients, from the file to rows that a campaign can use.

The import is what a worker does, from the claim to the end: the file is decoded, cut into rows, each address checked,
each row compared with those before it and with a list of suppressed addresses, and stored as app under row-level
security. It runs in a process of its own, whose peak memory is told. The limit it is compared with is a bare COPY, by
the superuser, of the very rows that came out of it into a table with the same indexes and checks. Both in turn.

Of 100 rows 1 has a name before its address, 1 cannot be addressed, 1 comes twice, and 1 in 100 of the rest is on the
list of suppressed addresses.
"""

import multiprocessing
import os
import resource
import signal
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from django.conf import settings
from django.db import connections, transaction

from approvals.access.actors import Actor
from approvals.db.binding import bind
from approvals.services import datasets, importing
from approvals.tasks.imports import import_all
from dashboard.bench import house, servers
from dashboard.bench.figures import Goal, answer, rounded
from dashboard.bench.servers import Servers
from dashboard.bench.telling import Teller
from dashboard.embedded.processes import end_with_parent

ROWS, LEAST, ROUNDS = 1_000_000, 2_000, 3
PIECE = 1024 * 1024
PER_S, OF_COPY = 40_000, 0.2
# Either of the two is enough: the first depends on the machine, the second does not.
GOALS = {"of_copy": Goal("at_least", OF_COPY), "peak_mb": Goal("at_most", 200)}
_COLUMNS = (
    "workspace_id, dataset_id, position, email, address, dedupe_key, vars, state, reason, formula, unfit"
)


def run(tell: Teller, scale: float) -> dict[str, Any]:
    """Import and copy in turn, and answer."""
    rows = max(LEAST, int(ROWS * scale))
    imported, copied, peaks = [], [], []
    tell.say("Starting a database")
    with servers.running(need_mb=4_000) as running:
        settings.MEDIA_ROOT = running.home.data / "files"
        workspace_id = house.make("bench-1").workspace_id
        _suppress(running, workspace_id, rows)
        for number in tell.through(range(ROUNDS), f"Importing {rows:,} rows and copying them, in turn"):
            file = running.home.data / "list.csv"
            _write(file, rows, number)
            dataset_id = _receive(workspace_id, file)
            seconds, peak_mb = _import(running, workspace_id, dataset_id)
            imported.append(rows / seconds)
            peaks.append(peak_mb)
            copied.append(rows / _copy(running, dataset_id, file))
    per_s, limit = statistics.median(imported), statistics.median(copied)
    figures = {
        "rows_per_s": rounded(per_s),
        "of_copy": rounded(per_s / limit),
        "peak_mb": rounded(max(peaks)),
    }
    goals = GOALS
    if per_s >= PER_S:
        goals = {"rows_per_s": Goal("at_least", PER_S), "peak_mb": GOALS["peak_mb"]}
    return answer(
        "import",
        scale,
        figures,
        goals,
        rows=rows,
        copy_per_s=rounded(limit),
        rounds={
            "imported_per_s": [rounded(rate) for rate in imported],
            "copied_per_s": [rounded(rate) for rate in copied],
            "peak_mb": [rounded(peak) for peak in peaks],
        },
    )


def _write(file: Path, rows: int, number: int) -> None:
    with file.open("w") as out:
        out.write("email,first_name,last_name,city,plan\n")
        out.writelines(_line(row, number) for row in range(rows))


def _line(row: int, number: int) -> str:
    address = f"customer.{row}@shop{row % 977}.example.com"
    match row % 100:
        case 7:
            address = f"Customer {row} <{address}>"
        case 23:
            address = f"customer.{row}.example.com"
        case 61:
            address = f"Customer.{row - 1}@shop{(row - 1) % 977}.example.com"
    return f"{address},Zo\u00eb,Lindstr\u00f6m {row},Amsterdam,plan {number}\n"


def _suppress(running: Servers, workspace_id: UUID, rows: int) -> None:
    with running.superuser() as superuser:
        superuser.execute(
            "insert into approvals_suppression (id, workspace_id, scope, dedupe_key, reason, source)"
            " select gen_random_uuid(), %s, '', 'customer.' || n || '@shop' || n %% 977 || '.example.com', 'by_hand',"
            " '' from generate_series(0, %s, 100) n",
            [workspace_id, rows],
        )


def _receive(workspace_id: UUID, file: Path) -> UUID:
    person = Actor("member", "1", "Bench", house.ROLES, "password")
    with bind(workspace_id), file.open("rb") as source:
        pieces: Iterator[bytes] = iter(lambda: source.read(PIECE), b"")
        dataset, _ = datasets.receive(by=person, upload=datasets.Upload(name=file.name, pieces=pieces))
    return dataset.id


def _import(running: Servers, workspace_id: UUID, dataset_id: UUID) -> tuple[float, float]:
    """(seconds, peak memory in MB) of a worker that imports it."""
    running.disconnect()  # a child must not share a connection
    with multiprocessing.get_context("fork").Pool(1, _begin_working, (os.getpid(),)) as worker:
        return worker.apply(_work, (workspace_id, dataset_id))


def _copy(running: Servers, dataset_id: UUID, file: Path) -> float:
    """Seconds for the same rows through a bare COPY."""
    with running.superuser() as superuser:
        with (
            superuser.cursor().copy(
                f"copy (select {_COLUMNS} from approvals_datasetrow where dataset_id = '{dataset_id}'"
                " order by position) to stdout".encode()
            ) as out,
            file.open("wb") as ready,
        ):
            for piece in out:
                ready.write(piece)
        superuser.execute("drop table if exists bench_copy")
        superuser.execute("create table bench_copy (like approvals_datasetrow including all)")
        superuser.execute("checkpoint")
        began = time.perf_counter()
        _copy_in(superuser, file)
        return time.perf_counter() - began


def _copy_in(superuser: psycopg.Connection, file: Path) -> None:
    with (
        superuser.cursor().copy(f"copy bench_copy ({_COLUMNS}) from stdin".encode()) as into,
        file.open("rb") as ready,
    ):
        for piece in iter(lambda: ready.read(PIECE), b""):
            into.write(piece)


# -- in the worker's process


def _begin_working(parent: int) -> None:
    """Ctrl-C is for the one who started us, and when that one is gone so are we."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # not what `servers.running` does on it
    end_with_parent(signal.SIGKILL, parent)()


def _work(workspace_id: UUID, dataset_id: UUID) -> tuple[float, float]:
    with bind(workspace_id):
        with transaction.atomic():
            pass  # connects
        began = time.perf_counter()
        held = importing.claim(dataset_id=dataset_id)
        if held is None or not import_all(held):
            raise RuntimeError("the list was not imported")
        seconds = time.perf_counter() - began
    connections.close_all()
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
