"""The machine API as its contract says, kept in memory: it records what a runtime tells it."""

import json
import re
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

from tests.servers.http import Answer, HttpServer, Request

TOKEN = "demo-token"


def run_id_of(external_id: str) -> str:
    """The id that a run is given, in the form that the product gives ids."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, external_id))


class RecordedApi(HttpServer):
    """`runs` by external id, `events` by run id, `campaigns` by external id; `answers` come before all else."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[Answer] = []
        self.refuse: Callable[[dict[str, Any]], bool] = lambda event: False
        self.runs: dict[str, dict[str, Any]] = {}
        self.events: dict[str, list[dict[str, Any]]] = {}
        self.statuses: dict[str, str] = {}
        self.campaigns: dict[str, dict[str, Any]] = {}
        self._lock = threading.RLock()

    def answer(self, request: Request) -> Answer:
        with self._lock:
            if self.answers:
                return self.answers.pop(0)
            if request.headers.get("authorization") != f"Bearer {TOKEN}":
                return _said(401, detail="This token is not known.")
            return self._routed(request)

    def told(self, external_id: str) -> list[dict[str, Any]]:
        """The events of a run, heartbeats left out, without their times."""
        with self._lock:
            events = list(self.events.get(run_id_of(external_id), []))
        told = [{name: value for name, value in event.items() if name != "at"} for event in events]
        return [event for event in told if event["type"] != "heartbeat"]

    def heartbeats(self, external_id: str) -> list[int]:
        """The numbers of a run's heartbeats."""
        with self._lock:
            events = list(self.events.get(run_id_of(external_id), []))
        return [event["seq"] for event in events if event["type"] == "heartbeat"]

    def _routed(self, request: Request) -> Answer:
        body = json.loads(request.body) if request.body else {}
        path = request.target.removeprefix("/api/v1")
        if (request.method, path) == ("POST", "/runs"):
            run_id = run_id_of(body["external_id"])
            self.events.setdefault(run_id, [])
            self.statuses.setdefault(run_id, "running")
            return self._remembered(self.runs, body, id=run_id, status="running")
        if (request.method, path) == ("POST", "/campaigns"):
            return self._remembered(
                self.campaigns, body, id=f"campaign-{body['external_id']}", status="pending"
            )
        found = re.fullmatch(r"/runs/([^/]+)(/events)?", path)
        if found is None or found[1] not in self.events:
            return _said(404, detail="There is no such run.")
        if found[2] is None:
            return _said(200, id=found[1], status=self.statuses[found[1]])
        return self._journal(found[1], body["events"])

    def _remembered(self, known: dict[str, dict[str, Any]], body: dict[str, Any], **said: Any) -> Answer:
        earlier = known.setdefault(body["external_id"], body)
        if earlier != body:
            return _said(409, detail="This external id stands for another body.")
        return _said(201 if earlier is body else 200, **said)

    def _journal(self, run_id: str, events: list[dict[str, Any]]) -> Answer:
        known = {event["seq"]: event for event in self.events[run_id]}
        for event in events:
            if self.refuse(event) or known.get(event["seq"], event) != event:
                return _said(409, detail="This number stands for another event.")
        fresh = [event for event in events if event["seq"] not in known]
        self.events[run_id].extend(fresh)
        return _said(202, accepted=len(fresh), duplicates=len(events) - len(fresh), next_seq=len(known) + 1)


def _said(status_code: int, /, **said: Any) -> Answer:
    return Answer(status_code, json.dumps(said).encode(), (("content-type", "application/json"),))


def until(holds: Callable[[], Any], patience_s: float = 10) -> None:
    """Wait until something holds."""
    end = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.01)
