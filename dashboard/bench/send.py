"""`bench send`: campaign mail a second against Postfix's `smtp-sink`, beside the limit and beside another queue.

Ours: the worker's task with all it does (claims, batches, durable intents, settling, building) over one connection and
over four. The limit: the same messages, built before the clock starts, through bare `smtplib` on one connection, and on
four with a thread each; nothing is stored. The other queue: django-post_office on the same Postgres server, with as
many threads, its mail queued before the clock starts. All take turns within each round; a ratio is taken within a
round, and the median of the rounds is the figure. Memory is in `send_memory`, the campaigns in `send_load`.
"""

import logging
import os
import shutil
import smtplib
import socket
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from typing import Any

from django.conf import settings

from dashboard.bench import house, post_office, send_load, send_memory, servers
from dashboard.bench.figures import Goal, answer, rounded
from dashboard.bench.servers import Servers
from dashboard.bench.telling import Teller
from dashboard.embedded import ports

MESSAGES, LEAST, ROUNDS = 3_000, 60, 5
FEW, MANY = 10_000, 1_000_000
CONNECTIONS = 4
HOME_OF_THE_SINK = "/usr/sbin"
ABSENT = (
    "smtp-sink is not on this machine; it comes with the Debian package postfix (apt-get install postfix)."
)
GOALS = {
    "of_limit_1": Goal("at_least", 0.4),
    "of_limit_4": Goal("at_least", 0.5),
    "vs_post_office": Goal("at_least", 4),
    "memory_ratio": Goal("at_most", 1.1),
}
KEYS = (*GOALS, "ours_per_s", "limit_per_s", "peak_mb", "peak_mb_million")


def run(tell: Teller, scale: float) -> dict[str, Any]:
    """Send, compare, answer."""
    sink = shutil.which("smtp-sink", path=f"{os.environ.get('PATH', '')}:{HOME_OF_THE_SINK}")
    tell.say("Starting a database and a mail server that throws everything away")
    if sink is None:
        tell.say(f"Skipped: {ABSENT}")
        return answer("send", scale, dict.fromkeys(KEYS), {}, skipped=ABSENT)
    logging.getLogger("celery.app.trace").setLevel(logging.WARNING)  # it tells of every batch
    number = max(LEAST, int(MESSAGES * scale))
    with servers.running(need_mb=4_000) as running:
        made = house.make("bench-1")
        port = _start_sink(running, sink)
        other, why_not = post_office.prepared(tell, running, port)
        rates: dict[str, list[float]] = {}
        sent: dict[str, Callable[[], float]] = {
            "ours_1": lambda: _ours(running, made, port, number, 1),
            "limit_1": lambda: _limit(running, made, port, number, 1),
            "ours_4": lambda: _ours(running, made, port, number, CONNECTIONS),
            "limit_4": lambda: _limit(running, made, port, number, CONNECTIONS),
        }
        if other is not None:
            sent["post_office"] = lambda: other.send(number // 2, CONNECTIONS)
        for _ in tell.through(range(ROUNDS), f"Sending {number} messages each way, in turn"):
            for name, send in sent.items():
                rates.setdefault(name, []).append(send())
        few, many = (max(LEAST, int(size * scale)) for size in (FEW, MANY))
        memory = [
            send_memory.peak_mb(tell, running, made, port=port, recipients=size, messages=few)
            for size in (few, many)
        ]
    figures = {
        "of_limit_1": _ratio(rates, "ours_1", "limit_1"),
        "of_limit_4": _ratio(rates, "ours_4", "limit_4"),
        "vs_post_office": _ratio(rates, "ours_4", "post_office") if other else None,
        "memory_ratio": rounded(memory[1] / memory[0]),
        "ours_per_s": rounded(statistics.median(rates["ours_4"])),
        "limit_per_s": rounded(statistics.median(rates["limit_4"])),
        "peak_mb": memory[0],
        "peak_mb_million": memory[1],
    }
    more = {"post_office": why_not} if why_not else {}
    goals = {name: goal for name, goal in GOALS.items() if figures[name] is not None}
    per_s = {name: [rounded(rate) for rate in found] for name, found in rates.items()}
    return answer("send", scale, figures, goals, messages=number, per_s=per_s, **more)


def _start_sink(running: Servers, program: str) -> int:
    with ports.listen(0) as free:
        port: int = free.getsockname()[1]
    as_nobody = ["-u", "nobody"] if os.geteuid() == 0 else []  # it refuses to be root
    words = [program, *as_nobody, f"127.0.0.1:{port}", "1000"]
    running.processes.start("smtp-sink", words, env=dict(os.environ), cwd=settings.BASE_DIR).watched = True
    running.processes.wait_until(lambda: _takes(port), "the mail server to answer", servers.START_S)
    return port


def _takes(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def _ours(running: Servers, made: house.House, port: int, number: int, connections: int) -> float:
    """Messages a second of the worker's task, from its first wake-up to the end of the campaign."""
    mailing = send_load.approved(running, made, number)
    settings.SMTP |= {"host": "127.0.0.1", "port": port}
    settings.SEND_CONNECTIONS = connections
    began = time.perf_counter()
    mailing.send_all()
    return number / (time.perf_counter() - began)


def _limit(running: Servers, made: house.House, port: int, number: int, connections: int) -> float:
    """Messages a second of bare smtplib, which neither builds nor remembers anything."""
    ready = send_load.prebuilt(send_load.approved(running, made, number))
    parts = [ready[place::connections] for place in range(connections)]
    began = time.perf_counter()
    with ThreadPoolExecutor(connections) as pool:
        list(pool.map(lambda part: _plainly(port, part), parts))
    return number / (time.perf_counter() - began)


def _plainly(port: int, part: Sequence[tuple[str, str, bytes]]) -> None:
    with closing(smtplib.SMTP("127.0.0.1", port)) as smtp:
        for sender, recipient, raw in part:
            smtp.sendmail(sender, [recipient], raw)
        smtp.quit()


def _ratio(rates: dict[str, list[float]], ours: str, other: str) -> float:
    return rounded(statistics.median(a / b for a, b in zip(rates[ours], rates[other], strict=True)))
