"""`bench queue`: whether the queue's pages stay quick however many runs a workspace has.

Three workspaces in one database, asked in turn over HTTP by one signed-in person: the first page, a deep one, and the
first page under each filter, each with the counts of the tabs. `ratio` and `p95_ms` are those of the worst filter.
"""

import html
import re
from collections import defaultdict
from typing import Any

from django.db import connection
from django.test.client import Client as InProcess
from django.test.utils import CaptureQueriesContext

from approvals.selectors.queue import Wanted
from dashboard.bench import house, load, servers
from dashboard.bench.client import Client
from dashboard.bench.figures import Goal, answer, milliseconds, p95, rounded
from dashboard.bench.telling import Teller
from dashboard.forms.queue import address
from dashboard.presenters.places import Places

SIZES = (2_000, 200_000, 2_000_000)
LEAST = 200
SAMPLES, LEAST_SAMPLES, WARM_UP = 120, 5, 8
PATIENCE_S = 20  # for one page of one size: where it is very slow, fewer samples say so too
DEEP = 20  # pages
ROWS = 50  # on a page
GOALS = {"p95_ms": Goal("at_most", 25), "ratio": Goal("at_most", 1.3)}
FILTERS = {
    "first": Wanted(),
    "runs": Wanted(kind="run"),
    "campaigns": Wanted(kind="campaign"),
    "frequent_agent": Wanted(agent=load.FREQUENT_AGENT),
    "rare_agent": Wanted(agent=load.RARE_AGENT),
    "frequent_tool": Wanted(tool=load.FREQUENT_TOOL),
    "rare_tool": Wanted(tool=load.RARE_TOOL),
}
_NEXT = re.compile(r'href="([^"]+)" rel="next"')


def run(tell: Teller, scale: float) -> dict[str, Any]:
    """Load, measure, answer."""
    sizes = [max(LEAST, int(size * scale)) for size in SIZES]
    tell.say("Starting a database")
    with servers.running(fast=True, need_mb=1_000 + sum(sizes) // 250) as running:
        places = loaded(running, tell, sizes)
        tell.say("Starting the pages")
        client = Client(running.start_web())
        client.sign_in(house.EMAIL, house.PASSWORD)
        addresses = {place.runs: _addresses(client, place) for place in places}
        queries = _queries(addresses, client.cookies)
        samples = max(LEAST_SAMPLES, int(SAMPLES * scale))
        seconds, rows = _measured(tell, client, addresses, samples)
        return _answer(scale, sizes, seconds, rows, queries)


def loaded(
    running: servers.Servers, tell: Teller, sizes: list[int], *, findable: bool = False
) -> list[load.Place]:
    """A workspace of each size, in one database; `findable` for somebody who searches."""
    places = []
    for number, runs in enumerate(sizes, start=1):
        made = house.make(f"bench-{number}")
        places.append(load.Place(made.slug, made.workspace_id, made.runtime_id, runs))
    work = load.chunks(places)
    with running.superuser() as superuser:
        said = f"Loading {' and '.join(f'{size:,}' for size in sizes)} runs"
        load.fill(superuser, tell.through(work, said), findable=findable)
        tell.say("Letting the database look at them")
        load.look(superuser)
    return places


def _addresses(client: Client, place: load.Place) -> dict[str, str]:
    """Filter to address, the deep page's found by following the links as far as a full page leads on."""
    places = Places(place.slug)
    found = {name: places.queue(address(wanted)) for name, wanted in FILTERS.items()}
    deep = places.queue()
    for _ in range(min(DEEP, place.runs // 10 // ROWS) - 1):
        link = _NEXT.search(client.get(deep).body.decode())
        if link is None:
            break
        deep = html.unescape(link[1])
    return found | {"deep": deep}


def _measured(
    tell: Teller, client: Client, addresses: dict[int, dict[str, str]], samples: int
) -> tuple[dict[str, dict[int, list[float]]], dict[str, dict[int, int]]]:
    """Filter to size to seconds, and to the rows that were shown."""
    seconds: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    rows: dict[str, dict[int, int]] = defaultdict(dict)
    names = list(next(iter(addresses.values())))
    turns = range(-min(WARM_UP, samples), samples)
    for turn in tell.through(turns, f"Asking for {len(names)} pages of each size in turn"):
        for name in names:
            for size, of_size in addresses.items():
                taken = seconds[name][size]
                if len(taken) >= LEAST_SAMPLES and sum(taken) > PATIENCE_S:
                    continue
                told = client.get(of_size[name])
                if turn >= 0:
                    taken.append(told.seconds)
                rows[name][size] = told.body.count(b'<li class="row')
    return seconds, rows


def _queries(addresses: dict[int, dict[str, str]], cookies: dict[str, str]) -> dict[str, dict[int, int]]:
    """Filter to size to the number of queries, asked of the same views in this process, by the same session."""
    browser = InProcess(SERVER_NAME="127.0.0.1")
    for name, value in cookies.items():
        browser.cookies[name] = value
    counted: dict[str, dict[int, int]] = defaultdict(dict)
    for size, of_size in addresses.items():
        for name, asked in of_size.items():
            with CaptureQueriesContext(connection) as seen:
                told = browser.get(asked)
            if told.status_code != 200:
                raise RuntimeError(f"{asked} was answered with {told.status_code}")
            counted[name][size] = len(seen)
    return counted


def _answer(
    scale: float,
    sizes: list[int],
    seconds: dict[str, dict[int, list[float]]],
    rows: dict[str, dict[int, int]],
    queries: dict[str, dict[int, int]],
) -> dict[str, Any]:
    small, middle, large = sizes
    ratios = {name: p95(of[large]) / p95(of[small]) for name, of in seconds.items()}
    slowest = max(seconds, key=lambda name: p95(seconds[name][middle]))
    figures = {
        "p95_ms": rounded(p95(seconds[slowest][middle]) * 1000),
        "ratio": rounded(max(ratios.values())),
        "worst": max(ratios, key=lambda name: ratios[name]),
        "queries": max(count for of in queries.values() for count in of.values()),
    }
    details = {
        name: {
            "ratio": rounded(ratios[name]),
            **{str(size): milliseconds(of[size]) | {"rows": rows[name][size], "queries": queries[name][size]}
               for size in sizes},
        }
        for name, of in seconds.items()
    }  # fmt: skip
    return answer(
        "queue", scale, figures, GOALS,
        slowest=slowest,
        queries_constant=all(len(set(of.values())) == 1 for of in queries.values()),
        sizes=sizes,
        filters=details,
    )  # fmt: skip
