"""Our own processes on a lab's database and broker, started as `up` starts them; and a broker that can be lost."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch
from uuid import UUID

import httpx
import redis
from django.conf import settings
from django.test import Client

from approvals.access.actors import operator
from approvals.db.binding import bind
from approvals.models import Campaign, Run
from approvals.services import setup
from dashboard.embedded import programs, valkey
from dashboard.embedded.home import Home
from dashboard.embedded.processes import Processes
from dashboard.embedded.valkey import Valkey
from tests.faults.lab import Lab, eventually
from tests.servers.http import HttpServer
from tests.up import reachable_folder
from tests.views.forms import form_of

SLOW_S = 60  # how long a process may take to come up on a machine that has other things to do
Process = subprocess.Popen[bytes]


@dataclass
class Crew:
    """Processes of one lab; their logs are in `logs`."""

    lab: Lab
    logs: Path
    started: list[Process] = field(default_factory=list)
    url: str = ""

    def start(self, *words: str, fault: str = "", how: str = "", fds: Sequence[int] = ()) -> Process:
        """Start one of our processes, which dies, or with how="stop" freezes, at a fault point."""
        with (self.logs / f"{len(self.started)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, *words],
                env={**self.lab.env, "FAULT_AT": fault, "FAULT_HOW": how},
                cwd=settings.BASE_DIR,
                start_new_session=True,
                pass_fds=fds,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.started.append(process)
        return process

    def dispatcher(self, **fault: str) -> Process:
        """One more dispatcher."""
        return self.start(*programs.DISPATCH, **fault)

    def worker(self, queue: str, **fault: str) -> Process:
        """One more worker of a queue."""
        name = f"{queue}-{len(self.started)}@%h"
        return self.start(*programs.worker(queue), "--hostname", name, **fault)

    def web(self) -> Process:
        """The pages, at `url`, once they answer."""
        with socket.create_server(("127.0.0.1", 0), backlog=256) as listening:
            self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
            process = self.start(*programs.web(listening.fileno()), fds=[listening.fileno()])
        eventually(lambda: self.get("/healthz") == 200, "the pages answer", SLOW_S)
        return process

    def get(self, path: str) -> int:
        """The status of one page; 0 where nobody answers."""
        try:
            return httpx.get(self.url + path, timeout=5).status_code
        except httpx.HTTPError:
            return 0

    def everything(self) -> list[Process]:
        """One of each: dispatcher, both workers, the pages; once all of them are there."""
        crew = [self.dispatcher(), *(self.worker(queue) for queue in programs.QUEUES), self.web()]
        eventually(lambda: self.get("/readyz") == 200, "everything is there", SLOW_S)
        return crew

    def said(self) -> str:
        """Everything that the processes wrote."""
        return "".join(log.read_text() for log in sorted(self.logs.glob("*.log")))

    @staticmethod
    def signal(number: signal.Signals, *processes: Process) -> None:
        """Send a signal to processes and all that they started."""
        for process in processes:
            os.killpg(process.pid, number)

    def kill(self, process: Process) -> None:
        """kill -9 of a process and all that it started."""
        self.signal(signal.SIGKILL, process)
        process.wait()

    def stop(self) -> None:
        """End all that still run."""
        for process in self.started:
            if process.poll() is None:
                self.kill(process)


def asked(runtime: HttpServer) -> Counter[UUID]:
    """How often a runtime was asked to start the replay of each job."""
    return Counter(UUID(json.loads(request.body)["job_id"]) for request in runtime.requests)


class Person:
    """Somebody of a lab's workspace with a browser, who decides over HTTP."""

    def __init__(self, lab: Lab, url: str, name: str = "somebody") -> None:
        self.lab, self.slug = lab, f"w{lab.workspace_id.hex[:8]}"
        with bind(lab.workspace_id):
            user = setup.add_member(
                by=operator("tests"), email=f"{name}@{self.slug}.example.com", roles=["support", "reviewer"]
            ).user
        browser = Client()
        browser.force_login(user)
        self.http = httpx.Client(
            base_url=url, cookies={"sessionid": browser.cookies["sessionid"].value}, timeout=20
        )

    def forces(self, run: Run) -> Callable[[], None]:
        """Open a run's page now; calling what comes back sends its form and waits for the answer."""
        form = form_of(self.http.get(f"/w/{self.slug}/runs/{run.id}/"), "/force")
        given = form.fields | form.ticks | {"reason": ["the customer got no answer"]}
        return lambda: self._send(form.action, given)

    def approves(self, campaign: Campaign) -> Callable[[], None]:
        """The same for a campaign that waits."""
        form = form_of(self.http.get(f"/w/{self.slug}/campaigns/{campaign.id}/"), "/approve")
        return lambda: self._send(form.action, form.fields)

    def _send(self, address: str, given: dict[str, list[str]]) -> None:
        answer = self.http.post(address, data=given)
        assert answer.status_code == httpx.codes.SEE_OTHER, answer.text


class Broker:
    """A Valkey of a test's own, which can be lost and comes back at the same address."""

    def __init__(self, server: Valkey) -> None:
        self.server = server
        self._child = server.wait(server.start())
        self.url, self._port = server.url, server.port

    def asked(self) -> redis.Redis:
        """A client of it."""
        return redis.Redis.from_url(self.url, decode_responses=True)

    def kill(self) -> None:
        """kill -9."""
        self._child.process.kill()
        self.server.processes.forget(self._child)

    def come_back(self) -> None:
        """Start it again after a kill, with what it kept."""
        with patch.object(valkey, "free_port", lambda: self._port):
            self._child = self.server.wait(self.server.start())

    def freeze(self) -> None:
        """It keeps its connections and says nothing."""
        self._child.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """After a freeze."""
        self._child.process.send_signal(signal.SIGCONT)


@contextmanager
def a_broker() -> Iterator[Broker]:
    """One that is gone after the block."""
    with reachable_folder() as folder:
        home = Home.open(folder / "data")
        logs = folder / "log"
        logs.mkdir()
        processes = Processes(logs)
        try:
            yield Broker(Valkey(home, processes, "broker-of-one-test"))
        finally:
            processes.stop_all()
