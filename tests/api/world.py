"""A workspace with a runtime and its tokens, and a caller who speaks to the machine API for one of them."""

import json
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from django.db import connections, transaction
from django.test import Client

from approvals.access.actors import TokenBearer, bearer_of
from approvals.db.binding import bind
from approvals.models import Runtime, Token, Workspace
from approvals.services.secrets import new_token, token_digest

AT = "2026-05-04T13:30:00Z"
TABLES = (
    "payload",
    "run",
    "event",
    "campaign",
    "version",
    "versionattachment",
    "audiencerow",
    "delivery",
    "decision",
    "job",
)


@dataclass
class Answer:
    """What came back."""

    status: int
    json: Any
    headers: Any

    @property
    def problem(self) -> tuple[int, str, str | None]:
        """(status, code, field) of a refusal, having checked that it is a proper problem document."""
        assert self.headers["Content-Type"] == "application/problem+json", self.json
        assert self.json["status"] == self.status, self.json
        assert self.json["detail"].strip() and self.json["title"] and self.json["type"] == "about:blank"
        return self.status, self.json["code"], self.json.get("field")


@dataclass
class Caller:
    """Speaks to the API with one token."""

    token: str
    workspace_id: UUID
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def bearer(self) -> TokenBearer:
        found = bearer_of(token_digest(self.token))
        assert found
        return found

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        given = {"Authorization": f"Bearer {self.token}"} | headers
        response = Client(enforce_csrf_checks=True, raise_request_exception=False, headers=given).generic(
            method, f"/api/v1{path}", body or b"", content_type="application/json"
        )
        text = response.content.decode()
        return Answer(response.status_code, json.loads(text) if text else None, response.headers)

    def post(self, path: str, body: Any) -> Answer:
        return self.send("POST", path, json.dumps(body).encode())

    def get(self, path: str) -> Answer:
        return self.send("GET", path)

    def open_run(self, **changes: Any) -> str:
        """A new run; its id."""
        answer = self.post("/runs", a_run(**changes))
        assert answer.status == 201, answer.json
        return answer.json["id"]

    def report(self, run_id: str, *events: dict[str, Any]) -> dict[str, Any]:
        """Add events that must be taken."""
        answer = self.post(f"/runs/{run_id}/events", {"events": list(events)})
        assert answer.status == 202, answer.json
        return answer.json

    def run(self, run_id: str) -> dict[str, Any]:
        answer = self.get(f"/runs/{run_id}")
        assert answer.status == 200, answer.json
        return answer.json


def a_runtime(workspace_id: UUID | None = None, **changes: Any) -> Runtime:
    """A runtime, in a workspace of its own unless one is given."""
    if workspace_id is None:
        workspace_id = uuid4()
        with bind(workspace_id), transaction.atomic():
            Workspace.objects.create(id=workspace_id, slug=f"w-{workspace_id.hex[:12]}", name="Support")
    given = {"name": f"r-{uuid4().hex[:8]}", "kind": "http", "base_url": "http://127.0.0.1:9"} | changes
    with bind(workspace_id), transaction.atomic():
        return Runtime.objects.create(workspace_id=workspace_id, **given)


def a_caller(runtime: Runtime, subject: str | None = None) -> Caller:
    """Somebody with a new token of this runtime."""
    token, digest, hint = new_token()
    with bind(runtime.workspace_id), transaction.atomic():
        Token.objects.create(
            workspace_id=runtime.workspace_id, runtime=runtime, subject=subject, digest=digest, hint=hint
        )
    return Caller(token, runtime.workspace_id)


def with_subject(owner: Caller, subject: str) -> Caller:
    """A token of the same runtime that is bound to one subject."""
    with bind(owner.workspace_id), transaction.atomic():
        runtime = Runtime.objects.get(id=owner.bearer.runtime_id)
    return a_caller(runtime, subject)


def a_run(**changes: Any) -> dict[str, Any]:
    """The body that makes a run known."""
    return {
        "external_id": f"run-{uuid4().hex}",
        "agent": "support",
        "session_id": "s-1",
        "subject": "customer-17",
        "trigger": "ticket",
        "input": {"text": "Please refund customer C-17."},
    } | changes


def an_event(seq: int, type: str = "heartbeat", **rest: Any) -> dict[str, Any]:
    return {"seq": seq, "type": type, "at": AT} | rest


def a_call(seq: int, call_id: str = "c-1", name: str = "send_email", **args: Any) -> dict[str, Any]:
    return an_event(seq, "tool_call", call_id=call_id, name=name, args=args)


def a_result(seq: int, call_id: str = "c-1", result: Any = "sent") -> dict[str, Any]:
    return an_event(seq, "tool_result", call_id=call_id, result=result)


def the_end(seq: int, outcome: str = "completed", **rest: Any) -> dict[str, Any]:
    return an_event(seq, "ended", outcome=outcome, **rest)


def a_campaign(**changes: Any) -> dict[str, Any]:
    """The body that proposes a campaign to two people."""
    return {
        "external_id": f"campaign-{uuid4().hex}",
        "name": "Spring offers",
        "purpose": "Customers who asked for news.",
        "send_by": "2999-06-01T08:00:00+02:00",
        "from": "Shop <news@shop.example.com>",
        "reply_to": "help@shop.example.com",
        "subject": "New in spring, {{ first_name }}",
        "text": "Dear {{ first_name }}, ...",
        "html": "<p>Dear {{ first_name }}, ...</p>",
        "recipients": [
            {"email": "ann@shop.example.com", "vars": {"first_name": "Ann"}},
            {"email": "bob@shop.example.com", "vars": {"first_name": "Bob"}},
        ],
    } | changes


def stored(workspace_id: UUID) -> dict[str, int]:
    """How many rows each table has of this workspace: what must not change when something is refused."""
    counts = ", ".join(f"(select count(*) from approvals_{table})" for table in TABLES)
    with bind(workspace_id), transaction.atomic(), connections["default"].cursor() as cursor:
        cursor.execute(f"select {counts}")
        return dict(zip(TABLES, cursor.fetchone(), strict=True))
