"""Requests, tasks and queries of two workspaces, one after the other on the same connections.

Each workspace's rows carry its marker, a word that stands in no other text. Whatever comes back for one workspace
is searched for the other's marker and ids.
"""

import json
import logging
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx
from django.db import DatabaseError, close_old_connections, connection, connections, transaction
from django.db.models import Model
from django.test import Client

from approvals.access.actors import operator
from approvals.db.binding import NotBound, bind
from approvals.models import Campaign, Decision, Delivery, Event, Job, Payload, QueueItem, Run
from approvals.rules.permissions import ROLES
from approvals.services import setup, sweep
from approvals.tasks import replay, send
from dashboard.requests import Application
from tests.world import World, call, ended, said

RUNS = 6
BESIDE = 0.3  # how much is done without a request, for each request
TABLES = (Run, Event, Payload, Campaign, Delivery, Decision, Job, QueueItem)


class HalfWay(Exception):
    """What goes wrong in the middle of a request."""


@dataclass
class Side:
    """One workspace, with somebody who may do everything there, and a machine."""

    marker: str
    world: World
    token: str
    session: str
    job: UUID
    pages: list[str]
    machine: list[str]
    run: UUID  # one that still runs
    http: httpx.Client
    ids: frozenset[str] = frozenset()

    @classmethod
    def build(cls, marker: str) -> "Side":
        """A workspace full of rows that carry the marker."""
        world = World.create(marker)
        at = world.at
        runs = [
            world.run(
                f"{marker}-run-{n}",
                said(f"{marker} says {n}"),
                call(f"{marker}-{n}", "send_email", to=f"{marker}@example.com"),
                *([ended("failed", f"{marker} broke")] if n % 2 else []),
                agent=f"{marker}-agent",
                subject=f"{marker}-{n}@example.com",
                input=f"{marker} asks",
            )
            for n in range(RUNS)
        ]
        open_run = world.run(f"{marker}-open", subject=f"{marker}@example.com", interrupted=False)
        waiting = world.campaign(f"{marker} waits", [f"{marker}-a@example.com", f"{marker}-b@example.com"])
        sent = world.campaign(f"{marker} sent", [f"{marker}-c@example.com"])
        decision = world.approved(sent)
        world.sent(sent, "in_doubt")
        started = world.forced(runs[0], reason=f"{marker} wants it so")
        world.settled(started.job, "in_doubt", f"{marker} was lost")
        message = world.read(lambda: Delivery.objects.filter(campaign_id=waiting.id).first())
        person = world.person(*ROLES, name=f"{marker} Person")
        browser = Client()
        browser.force_login(person)
        with bind(world.workspace.id):
            token = setup.create_token(by=operator("tests"), runtime="runtime").text
        asked = ("", "?tab=history", "?q=example", f"?agent={marker}-agent", "?kind=campaign", "live/")
        pages = [
            *(at(path) for path in (*asked, "decisions/", f"decisions/{decision.id}/")),
            *(at(f"subjects/?name={marker}-{n}@example.com") for n in range(2)),
            *(at(f"runs/{run.id}/") for run in runs),
            at(f"jobs/{started.job.id}/"),
            *(at(f"campaigns/{campaign.id}/") for campaign in (waiting, sent)),
            at(f"campaigns/{waiting.id}/live"),
            at(f"campaigns/{waiting.id}/message/{message.id}"),
            at(f"campaigns/{waiting.id}/message/{message.id}/source"),
        ]
        machine = [
            "/api/v1/runs",
            *(f"/api/v1/runs?subject={marker}-{n}@example.com" for n in range(2)),
            *(f"/api/v1/runs/{run.id}" for run in runs),
            f"/api/v1/campaigns/{waiting.id}",
        ]
        session = browser.cookies["sessionid"].value
        side = cls(marker, world, token, session, started.job.id, pages, machine, open_run.id, _client())
        side.ids = frozenset(str(id) for id in side.everything())
        return side

    def everything(self) -> Iterator[UUID]:
        """The id of every row of it that is named by one."""
        yield self.world.workspace.id
        with self.world.bound():
            for model in (Run, Campaign, Delivery, Decision, Job):
                yield from model.objects.values_list("id", flat=True)


def _client() -> httpx.Client:
    """A caller of the whole application, middleware and all, in this process; what breaks is a 500."""
    transport = httpx.WSGITransport(app=Application(), raise_app_exceptions=False)
    return httpx.Client(transport=transport, base_url="http://127.0.0.1")


@dataclass
class Traffic:
    """Every kind of request for two sides.

    `leaks` tells what came back that belongs to the other side, `trouble` what else was not as it should be, `done`
    how much there was of each kind.
    """

    sides: Sequence[Side]
    seed: int
    leaks: list[str] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, requests: int, *, threads: int = 4, enter: Callable[[], Any] = nullcontext) -> None:
        """So many requests in several threads, each of which changes sides all the time.

        `enter` is around each single thing that a thread does.
        """

        def work(number: int) -> None:
            chance = random.Random(self.seed + number)
            for _ in range(requests // threads):
                for what in (self._ask, self._beside) if chance.random() < BESIDE else (self._ask,):
                    with enter():
                        try:
                            what(chance)
                        except Exception as error:
                            self._trouble(f"{what.__name__}: {error!r}")
            connections.close_all()

        working = [threading.Thread(target=work, args=[number]) for number in range(threads)]
        for thread in working:
            thread.start()
        for thread in working:
            thread.join()

    # -- requests ---------------------------------------------------

    def _ask(self, chance: random.Random) -> None:
        """One request for one side, of any kind."""
        mine, other = chance.sample(self.sides, 2)
        kind = chance.choices(
            [
                self._page,
                self._machine,
                self._report,
                self._foreign,
                self._refused,
                self._half_way,
                self._hang_up,
            ],
            [15, 36, 14, 14, 6, 12, 3],
        )[0]
        kind(mine, other, chance)

    def _page(self, mine: Side, other: Side, chance: random.Random) -> None:
        part = {"HX-Request": "true"} if chance.random() < 0.3 else {}
        answer = self._get(mine, chance.choice(mine.pages), **part)
        self._saw("page", mine, other, answer, {200})

    def _machine(self, mine: Side, other: Side, chance: random.Random) -> None:
        self._saw("machine", mine, other, self._call(mine, "GET", chance.choice(mine.machine)), {200})

    def _report(self, mine: Side, other: Side, chance: random.Random) -> None:
        """As ingest, on the other alias."""
        if chance.random() < 0.5:
            known = {"external_id": f"{mine.marker}-told", "agent": "told", "trigger": "ticket"}
            body = known | {"subject": f"{mine.marker}@example.com", "input": mine.marker}
            answer = self._call(mine, "POST", "/api/v1/runs", body)
        else:
            event = {"seq": 1, "type": "heartbeat", "at": "2026-05-04T13:30:00Z"}
            answer = self._call(mine, "POST", f"/api/v1/runs/{mine.run}/events", {"events": [event]})
        self._saw("report", mine, other, answer, {200, 201, 202})

    def _foreign(self, mine: Side, other: Side, chance: random.Random) -> None:
        """What belongs to the other side, asked for in every way."""
        page, machine = chance.choice(other.pages), chance.choice(other.machine[3:])
        inside = page.replace(other.world.workspace.slug, mine.world.workspace.slug)
        if chance.random() < 0.3:
            answer = self._call(mine, "GET", machine)
        elif "?" in page or inside.count("/") < 5:
            answer = self._get(mine, page)
        else:
            answer = self._get(mine, chance.choice([page, inside]))
        self._saw("foreign", mine, other, answer, {404})

    def _refused(self, mine: Side, other: Side, chance: random.Random) -> None:
        """A decision that is refused after it was looked at: no reason given, or another page seen."""
        page = chance.choice([page for page in mine.pages if "/runs/" in page])
        what = chance.choice(["force", "dismiss", "declare-interrupted"])
        form = {"reason": "", "digest": "0" * 64, "csrfmiddlewaretoken": "c" * 32}
        answer = self._post(mine, page + what, form)
        self._saw("refused", mine, other, answer, {409, 422})

    def _half_way(self, mine: Side, other: Side, chance: random.Random) -> None:
        """A request whose n-th query fails, wherever that is."""
        left = chance.randrange(1, 9)

        def fail(execute: Callable[..., Any], *args: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                raise HalfWay
            return execute(*args)

        with connection.execute_wrapper(fail):
            if chance.random() < 0.3:
                answer = self._call(mine, "GET", chance.choice(mine.machine))
            else:
                answer = self._get(mine, chance.choice(mine.pages))
        self._saw("half way", mine, other, answer, {200, 500})

    def _hang_up(self, mine: Side, other: Side, chance: random.Random) -> None:
        """Somebody who leaves in the middle of an answer."""
        headers = {"Cookie": f"sessionid={mine.session}"}
        with mine.http.stream("GET", chance.choice(mine.pages), headers=headers) as answer:
            for piece in answer.iter_bytes(500):
                self._search("hang up", mine, other, piece.decode(errors="replace"))
                break
        self._count("hang up", request=True)

    def _get(self, side: Side, path: str, **headers: str) -> httpx.Response:
        return side.http.get(path, headers={"Cookie": f"sessionid={side.session}", **headers})

    def _post(self, side: Side, path: str, form: dict[str, str]) -> httpx.Response:
        cookies = f"sessionid={side.session}; csrftoken={form['csrfmiddlewaretoken']}"
        return side.http.post(path, data=form, headers={"Cookie": cookies})

    def _call(self, side: Side, method: str, path: str, body: Any = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {side.token}", "Content-Type": "application/json"}
        return side.http.request(method, path, headers=headers, content=json.dumps(body) if body else None)

    def _saw(self, kind: str, mine: Side, other: Side, answer: httpx.Response, good: set[int]) -> None:
        self._search(kind, mine, other, answer.text, asked=str(answer.url))
        if answer.status_code not in good:
            self._trouble(
                f"{kind}: {answer.request.method} {answer.url.path} is answered {answer.status_code}"
            )
        self._count(kind, request=True)
        if mine.marker in answer.text:
            self._count("with the own marker")

    # -- beside requests ----------------------------------------------

    def _beside(self, chance: random.Random) -> None:
        """What is done in the same thread, on the same connection, without a request."""
        mine, other = chance.sample(self.sides, 2)
        kind = chance.choice(
            [self._task, self._clock, self._query, self._broken, self._unbound, self._unguarded]
        )
        close_old_connections()
        kind(mine, other, chance)
        self._count(kind.__name__.strip("_"))

    def _task(self, mine: Side, other: Side, chance: random.Random) -> None:
        """A worker's wake-up: for a job that cannot be taken, or for somebody else's."""
        job = chance.choice([mine.job, other.job])
        chance.choice([replay, send]).execute(str(job), workspace=str(mine.world.workspace.id))

    def _clock(self, mine: Side, other: Side, chance: random.Random) -> None:
        sweep.step(
            sweep.Due(chance.choice(["lease", "release"]), mine.world.workspace.id, other.job, "send", 0)
        )

    def _query(self, mine: Side, other: Side, chance: random.Random) -> None:
        """Everything of one table."""
        model = chance.choice(TABLES)
        with bind(mine.world.workspace.id), transaction.atomic():
            self._search("query", mine, other, " ".join(_rows(model)))

    def _broken(self, mine: Side, other: Side, chance: random.Random) -> None:
        """A transaction that fails in the middle, and the next one after it."""
        try:
            with bind(other.world.workspace.id), transaction.atomic():
                Run.objects.filter(subject="nobody").update(status="no such state")
                list(Run.objects.all()[:1])
                with transaction.atomic(), connection.cursor() as cursor:
                    cursor.execute("select 1 / 0")
        except DatabaseError:
            self._query(mine, other, chance)

    def _unbound(self, mine: Side, other: Side, chance: random.Random) -> None:
        """A query that belongs to nobody: refused before it is asked."""
        del mine, other
        try:
            with transaction.atomic():
                found = _rows(chance.choice(TABLES))
        except NotBound:
            return
        self._leak(f"unbound: {len(found)} rows")

    def _unguarded(self, mine: Side, other: Side, chance: random.Random) -> None:
        """The same with the first line switched off: what Postgres itself says on a connection that was used."""
        del mine, other
        connection.guarded = False
        try:
            with transaction.atomic():
                found = _rows(chance.choice(TABLES))
        except DatabaseError:
            return
        finally:
            connection.guarded = True
        if found:
            self._leak(f"unguarded: {len(found)} rows")

    # -- what came of it ------------------------------------------------

    def _search(self, kind: str, mine: Side, other: Side, text: str, asked: str = "") -> None:
        if other.marker in text:
            at = text.index(other.marker)
            self._leak(f"{kind} for {mine.marker} {asked}: …{text[max(0, at - 60) : at + 60]}…")
        # Whoever asks for an id may be told that very id back.
        if found := [id for id in _UUID.findall(text) if id in other.ids and id not in asked]:
            self._leak(f"{kind} for {mine.marker} {asked}: {found}")

    def _leak(self, what: str) -> None:
        with self._lock:
            self.leaks.append(what)

    def _trouble(self, what: str) -> None:
        with self._lock:
            self.trouble.append(what)

    def _count(self, kind: str, *, request: bool = False) -> None:
        with self._lock:
            self.done[kind] += 1
            self.requests += request


_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _rows(model: type[Model]) -> list[str]:
    """Every row of a table, as Postgres writes it."""
    with connection.cursor() as cursor:
        cursor.execute(f"select entry::text from {model._meta.db_table} entry")
        return [row for (row,) in cursor.fetchall()]


@contextmanager
def quietly() -> Iterator[None]:
    """Without a line in the log for each of thousands of requests."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
