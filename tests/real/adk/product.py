"""The whole product beside a real ADK service: its processes, a person with a browser, and a machine with a token.

Everything is done as those outside do it: runs are found by reading the service's database, decisions are forms of
pages, and a machine asks over the API. Only what no page tells in a word is looked up in the product's own database.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, TypeVar

import httpx
from django.conf import settings

from approvals.access.actors import operator
from approvals.db.binding import bind
from approvals.models import Event, Job, Run, ToolCall
from approvals.services import setup
from dashboard.embedded import programs
from dashboard.embedded.valkey import Valkey
from tests import cluster
from tests.cluster import TestServers
from tests.faults.crew import Crew, Person, Process
from tests.faults.lab import Lab, eventually
from tests.real.adk.client import Conversation
from tests.real.adk.running import Reference
from tests.views.forms import form_of

SILENCE_S = 8
PATIENCE_S = 60.0
RUNTIME = "reference service"
T = TypeVar("T")
OPERATOR = operator("tests")


@dataclass
class Product:
    """One workspace that reads `reference`; `person` decides, and the token of `machine` asks."""

    lab: Lab
    crew: Crew
    reference: Reference
    workers: dict[str, Process] = field(default_factory=dict)  # by queue
    machine: httpx.Client = field(init=False)
    person: Person = field(init=False)

    def start(self) -> None:
        """Start the processes, and set the runtime, a person and a token up."""
        with bind(self.lab.workspace_id):
            setup.add_runtime(
                by=OPERATOR, name=RUNTIME, kind="adk", base_url=self.reference.url,
                database_url=self.reference.reader_url, silence_s=SILENCE_S,
            )  # fmt: skip
            token = setup.create_token(by=OPERATOR, runtime=RUNTIME).text
        self.crew.dispatcher()
        for queue in programs.QUEUES:
            self.worker(queue)
        self.crew.web()
        eventually(lambda: self.crew.get("/readyz") == 200, "everything is there", PATIENCE_S)
        self.person = Person(self.lab, self.crew.url)
        headers = {"Authorization": f"Bearer {token}"}
        self.machine = httpx.Client(base_url=f"{self.crew.url}/api/v1", headers=headers, timeout=20)

    def worker(self, queue: str, **fault: str) -> Process:
        """One worker of a queue, in place of the last one."""
        self.workers[queue] = self.crew.worker(queue, **fault)
        return self.workers[queue]

    def read(self, query: Callable[[], T]) -> T:
        """The result of a query within the workspace."""
        return self.lab.read(query)  # type: ignore[no-any-return]

    # What became known

    def runs_of(self, conversation: Conversation) -> list[Run]:
        """The runs that were read of a session, oldest first."""
        where = {
            "agent": conversation.app,
            "subject": conversation.user,
            "session_id": conversation.session,
        }
        return self.read(lambda: list(Run.objects.filter(**where).order_by("created_at", "id")))

    def observed(self, conversation: Conversation, seconds: float = PATIENCE_S) -> Run:
        """The newest run of a session, once it was read and is over or interrupted."""

        def over() -> bool:
            runs = self.runs_of(conversation)
            return bool(runs) and all(run.status != "running" for run in runs)

        eventually(over, f"what {conversation.session} did is known", seconds)
        return self.runs_of(conversation)[-1]

    def now(self, run: Run) -> Run:
        """The run as it is now."""
        return self.read(lambda: Run.objects.get(id=run.id))

    def job_of(self, run: Run) -> Job:
        """The job that started this run."""
        return self.read(lambda: Job.objects.get(run_id=run.id))

    def replays_of(self, run: Run) -> list[Run]:
        """The attempts after a run, oldest first."""
        others = Run.objects.filter(lineage_id=run.lineage_id).exclude(id=run.lineage_id)
        return self.read(lambda: list(others.order_by("created_at", "id")))

    def ended(self, run: Run, seconds: float = PATIENCE_S) -> Run:
        """A replay once it is over, and its job with it."""

        def over() -> bool:
            return self.now(run).status != "running" and self.job_of(run).status != "running"

        eventually(over, f"{run.external_id} is over", seconds)
        return self.now(run)

    def calls(self, run: Run) -> dict[str, str]:
        """The calls of a run by name, each with its state. Several of one name are told apart by *, ** and so on."""
        found: dict[str, str] = {}
        for call in self.read(lambda: list(ToolCall.objects.filter(run=run).order_by("seq"))):
            name = call.name
            while name in found:
                name += "*"
            found[name] = call.state
        return found

    def call_ids(self, run: Run) -> list[str]:
        """The ids of its calls, in order."""
        calls = ToolCall.objects.filter(run=run).order_by("seq")
        return self.read(lambda: list(calls.values_list("call_id", flat=True)))

    def journal(self, run: Run) -> list[str]:
        """The types of a run's events but for signs of life, in order."""
        events = Event.objects.filter(run=run).exclude(type="heartbeat").order_by("seq")
        return self.read(lambda: list(events.values_list("type", flat=True)))

    # What those outside see

    def page(self, run: Run) -> str:
        """The words on the page of a run."""
        answer = self.person.http.get(f"/w/{self.person.slug}/runs/{run.id}/")
        assert answer.status_code == 200, answer.text
        return words_of(answer.text)

    def told(self, run: Run) -> dict[str, Any]:
        """What the API tells of a run."""
        answer = self.machine.get(f"/runs/{run.id}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def machine_asks(self, run: Run) -> httpx.Response:
        """The answer to a machine that asks for a run to start again."""
        return self.machine.post(f"/runs/{run.id}/replay")

    # What a person decides

    def another(self, name: str) -> Person:
        """One more person of the workspace."""
        return Person(self.lab, self.crew.url, name)

    def forcing(self, run: Run, person: Person) -> Callable[[], httpx.Response]:
        """Somebody opens a run's page now; calling what comes back forces the replay, and gives the answer."""
        form = form_of(person.http.get(f"/w/{person.slug}/runs/{run.id}/"), "/force")
        given = form.fields | form.ticks | {"reason": ["the customer got no answer"]}
        return lambda: person.http.post(form.action, data=given)

    def forced(self, run: Run) -> Run:
        """The new run of a replay that the person forced on the page, which may not have begun yet."""
        before = len(self.replays_of(run))
        self.person.forces(run)()
        replays = self.replays_of(run)
        assert len(replays) == before + 1
        return replays[-1]


@contextmanager
def product_of(reference: Reference, servers: TestServers, broker: Valkey, logs: Path) -> Iterator[Product]:
    """The product on a database of its own, which this process enters too, until the end of the block."""
    database = servers.new_database()
    cluster.point_at(servers, database)
    env = {
        **servers.environment(database),
        **{"SECRET_KEY": settings.SECRET_KEY, "REDIS_URL": broker.url},
        **{"POLL_S": "0.5", "OBSERVE_PASS_S": "1"},
    }
    lab = Lab(env)
    lab.env["LEASE_S"] = "10"  # long enough that nobody loses a lease only because the machine is busy
    crew = Crew(lab, logs)
    try:
        product = Product(lab, crew, reference)
        product.start()
        yield product
    finally:
        crew.stop()
        cluster.point_at(servers, cluster.ROLLBACK)
        servers.cluster.drop_database(database)


def nothing_more(count: Callable[[], Any], seconds: float = 2) -> bool:
    """Whether a count stays as it is for a while."""
    before = count()
    time.sleep(seconds)
    return bool(count() == before)


def words_of(html: str) -> str:
    """The text of a page, with one space between words."""
    found = _Words()
    found.feed(html)
    return " ".join(" ".join(found.texts).split())


class _Words(HTMLParser):
    """Gathers the texts of an HTML document but for scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self._silent += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.texts.append(data)
