"""A runtime with a declared tool, for tests of what its calls propose."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

from approvals.access.actors import Actor, operator
from approvals.db.binding import bind
from approvals.models import (
    CalledCampaign,
    Campaign,
    Job,
    Run,
    Version,
)
from approvals.rules.observed import Line
from approvals.rules.shown import Shown
from approvals.selectors.called import Called, called_by
from approvals.services import campaigns, lines, sweep
from approvals.tasks import propose
from tests.api.world import AT, Caller, a_caller, a_runtime
from tests.house import decided

Owner = Callable[[], AbstractContextManager[None]]

TOOL = "propose_campaign"
ADA = operator("a test")
MIA = Actor("member", "7", "Mia", ("reviewer",), "password")
ARGS: dict[str, Any] = {
    "from": "Shop <news@shop.example.com>",
    "subject": "Hello {{ name }}",
    "text": "Dear {{ name }}",
    "recipients": [
        {"email": "ann@shop.example.com", "vars": {"name": "Ann"}},
        {"email": "nobody", "vars": {}},
    ],
}


class Shop:
    """A runtime with one declared tool, whoever reports for it, and a worker that is woken by hand."""

    def __init__(self) -> None:
        self.runtime = a_runtime(name="shop", campaign_tools=[TOOL])
        self.caller = a_caller(self.runtime)

    def read(self, query: Callable[[], Any]) -> Any:
        with bind(self.runtime.workspace_id), transaction.atomic():
            return query()

    def run(self, **changes: Any) -> str:
        return self.caller.open_run(agent="writer", **changes)

    def call(self, run_id: str, seq: int = 1, *, by: Caller | None = None, **changes: Any) -> None:
        """The run calls the declared tool, and a worker sees to it."""
        (by or self.caller).report(run_id, a_call(seq, **changes))
        self.work(run_id)

    def work(self, run_id: str) -> None:
        propose.execute.apply(args=[run_id], kwargs={"workspace": str(self.runtime.workspace_id)}, throw=True)

    def hear(self, run_id: str, *heard: Line) -> None:
        """What a worker hears on the run's stream."""
        self.read(lambda: lines.append({UUID(run_id): list(heard)}))

    def end(self, run_id: str, seq: int) -> None:
        self.caller.report(run_id, {"type": "ended", "seq": seq, "at": AT, "outcome": "failed"})

    def replay(self, of: str, *, kind: str = "") -> str:
        """Another attempt of a run; released by a decision of this kind, where that matters."""
        run: Run = self.read(lambda: Run.objects.get(id=of))
        id, decision = uuid4(), uuid4()
        with bind(run.workspace_id), transaction.atomic():
            Run.objects.create(
                id=id, workspace_id=run.workspace_id, runtime_id=run.runtime_id, external_id=f"replay {id}",
                agent=run.agent, subject=run.subject, session_id=run.session_id, replay_of_id=run.id,
                lineage_id=run.lineage_id, input_payload_id=run.input_payload_id, input_hash=run.input_hash,
                body_digest="",
            )  # fmt: skip
            if kind:
                Job.objects.create(
                    workspace_id=run.workspace_id,
                    decision_id=decision,
                    kind="replay",
                    run_id=id,
                    status="queued",
                )
                decided(id=decision, kind=kind, target_kind="run", target_id=run.id, item_id=run.lineage_id)
        return str(id)

    def became(self, run_id: str) -> dict[int, Called]:
        return dict(self.read(lambda: called_by(UUID(run_id))))

    def campaigns(self) -> list[tuple[str, int]]:
        """(name, versions) of each campaign, as they were proposed."""
        found = self.read(lambda: list(Campaign.objects.order_by("created_at")))
        return [(one.name, self.versions(one)) for one in found]

    def versions(self, campaign: Campaign) -> int:
        return int(self.read(Version.objects.filter(campaign_id=campaign.id).count))

    def ordinals(self, run_id: str) -> list[tuple[str, int | None]]:
        """(what became of it, which call of its tool it is) of each call."""
        calls = CalledCampaign.objects.filter(run_id=run_id).order_by("seq")
        return list(self.read(lambda: list(calls.values_list("state", "ordinal"))))

    def waiting(self) -> list[UUID]:
        """The runs whose calls the clock would wake a worker for."""
        due = sweep.due(at_most=500)
        return [
            item.id
            for item in due
            if item.kind == "propose" and item.workspace_id == self.runtime.workspace_id
        ]


def a_call(seq: int, **changes: Any) -> dict[str, Any]:
    given = {"type": "tool_call", "seq": seq, "at": AT, "call_id": f"c{seq}", "name": TOOL, "args": ARGS}
    return given | changes


def approve(shop: Shop) -> None:
    with bind(shop.runtime.workspace_id):
        campaigns.approve(by=MIA, campaign_id=campaign_id(shop), shown=shown(shop))


def reject(shop: Shop) -> None:
    with bind(shop.runtime.workspace_id):
        campaigns.reject(by=MIA, campaign_id=campaign_id(shop), shown=shown(shop), comment="not like this")


def campaign_id(shop: Shop) -> UUID:
    found: UUID = shop.read(Campaign.objects.get).id
    return found


def shown(shop: Shop) -> Shown:
    return Shown(shop.read(lambda: Version.objects.latest("number")).digest, datetime.now(UTC), {})
