"""A small world to test in: a workspace with a member for each role, a runtime, runs, campaigns and decisions.

Runs get their state the way they do in life: events move them, the sweep's own service interrupts them. Everything
is written as app, so it works in a plain `django_db` test, which rolls back.

    world = World.create()
    run = world.run("refund-1", call("c1", "send_email", to="ann@example.com"))
    world.visit("support").get(world.at(f"runs/{run.id}/"))
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import uuid4

from django.db import transaction
from django.db.models.functions import Now
from django.test import Client

from approvals.access.actors import Actor, operator
from approvals.db.binding import bind
from approvals.models import (
    AudienceRow,
    Campaign,
    Decision,
    Delivery,
    Event,
    Job,
    Member,
    Run,
    Runtime,
    User,
    Version,
    Workspace,
)
from approvals.rules import decisions as kinds
from approvals.rules.addresses import Address, check_address
from approvals.rules.digests import canonical, sha256_hex
from approvals.rules.permissions import ROLES
from approvals.rules.shown import Shown
from approvals.selectors.lineages import judged
from approvals.services import campaigns, outcomes, payloads, replays, setup

PASSWORD = "correct horse battery"
NAMES = {"support": "Sam Okafor", "reviewer": "Mia Berg", "manager": "Max Lind", "admin": "Ada Admin"}
_T = TypeVar("_T")
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Told:
    """One event of a journal, without its number."""

    type: str
    content: dict[str, Any] | None = None
    columns: dict[str, Any] = field(default_factory=dict)


def call(call_id: str, name: str, **args: Any) -> Told:
    """The agent called a tool."""
    return Told("tool_call", {"args": args}, {"call_id": call_id, "name": name})


def answer(call_id: str, result: Any = "ok", receipt: str = "") -> Told:
    """The tool answered."""
    return Told(
        "tool_result", {"result": result} | ({"receipt": receipt} if receipt else {}), {"call_id": call_id}
    )


def failure(call_id: str, error: str) -> Told:
    """The tool answered with an error."""
    return Told("tool_result", {"error": error}, {"call_id": call_id, "is_error": True})


def said(text: str) -> Told:
    """The agent said something."""
    return Told("message", {"text": text, "author": "agent"})


def ended(outcome: str = "completed", error: str = "") -> Told:
    """The run came to its end."""
    return Told("ended", {"error": error} if error else None, {"outcome": outcome})


@dataclass
class World:
    """One workspace and everybody in it."""

    workspace: Workspace
    runtime: Runtime
    people: dict[str, User]

    @classmethod
    def create(cls, name: str = "Northwind", *, writes_ahead: bool = True, hold_s: int = 0) -> World:
        """A workspace with one member for each role, and a runtime; an approval is held for `hold_s` seconds."""
        by, number = operator("tests"), next(_numbers)
        workspace = setup.create_workspace(by=by, name=name, slug=f"{name.lower()}-{number}", hold_s=hold_s)
        with bind(workspace.id):
            people = {
                role: setup.add_member(
                    by=by,
                    email=f"{role}{number}@example.com",
                    roles=[role],
                    password=PASSWORD,
                    name=NAMES[role],
                ).user
                for role in ROLES
            }
            runtime = setup.add_runtime(
                by=by, name="runtime", base_url="http://127.0.0.1:9", writes_ahead=writes_ahead
            ).runtime
        return cls(workspace, runtime, people)

    # -- asking ---------------------------------------------------

    def at(self, path: str = "") -> str:
        """The address of a page of this workspace."""
        return f"/w/{self.workspace.slug}/{path}"

    def visit(self, role: str) -> Client:
        """A browser in which the member with this role is signed in."""
        client = Client()
        client.force_login(self.people[role])
        return client

    def actor(self, role: str) -> Actor:
        """The member with this role, as a service wants to know them."""
        user = self.people[role]
        return Actor("member", str(user.pk), str(user), (role,), "password")

    @contextmanager
    def bound(self) -> Iterator[None]:
        """Bound to this workspace, in a transaction."""
        with bind(self.workspace.id), transaction.atomic():
            yield

    def read(self, query: Callable[[], _T]) -> _T:
        """The result of a query within this workspace."""
        with self.bound():
            return query()

    # -- runs -----------------------------------------------------

    def run(
        self,
        external_id: str = "",
        *events: Told,
        agent: str = "refunds",
        subject: str = "ann@example.com",
        input: Any = "refund C-17",
        interrupted: bool = True,
    ) -> Run:
        """A run with these events. One that has not come to its end is interrupted, unless it is still running."""
        run_id = uuid4()
        with self.bound():
            stored = payloads.store({"input": input})
            run = Run.objects.create(
                id=run_id, workspace_id=self.workspace.id, runtime=self.runtime, agent=agent, subject=subject,
                external_id=external_id or f"run-{next(_numbers)}", input_payload_id=stored.id,
                input_hash=stored.hash, body_digest="", lineage_id=run_id,
            )  # fmt: skip
        if events:
            self.report(run, *events)
        if interrupted and not any(event.type == "ended" for event in events):
            self.interrupt(run)
        return self.read(lambda: Run.objects.get(id=run_id))

    def report(self, run: Run, *events: Told, missing: int = 0, **columns: Any) -> None:
        """More events of a run's journal; `missing` leaves out so many numbers before them."""
        with self.bound():
            first = Run.objects.values_list("max_seq", flat=True).get(id=run.id) + 1 + missing
            rows = []
            for seq, told in enumerate(events, first):
                stored = payloads.store(told.content) if told.content is not None else None
                rows.append(
                    Event(
                        workspace_id=self.workspace.id,
                        run=run,
                        seq=seq,
                        type=told.type,
                        at=datetime.now(UTC),
                        payload_id=stored and stored.id,
                        payload_hash=stored and stored.hash,
                        **told.columns,
                        **columns,
                    )
                )
            Event.objects.bulk_create(rows)

    def interrupt(self, run: Run, why: str = "silent") -> None:
        """What the sweep does to a run that went silent."""
        with self.bound():
            Run.objects.filter(id=run.id).update(
                status="interrupted", interrupted_at=Now(), interrupted_why=why, silent_after=None,
                overlong_after=None,
            )  # fmt: skip

    def forced(
        self, run: Run, *, by: str = "support", reason: str = "The customer got no answer."
    ) -> replays.Started:
        """A forced replay, with everything ticked that had to be."""
        with bind(self.workspace.id):
            facts, verdict, digest = self.read(lambda: judged(run))
            return replays.force(
                by=self.actor(by), run_id=run.id, shown=Shown(digest, datetime.now(UTC), kinds.told(facts)),
                reason=reason, ticked=[kinds.call_key(c.run_id, c.call_id) for c in verdict.calls],
                unknown_ticked=True,
            )  # fmt: skip

    def handed_over(self, started: replays.Started) -> Run:
        """What a worker does when the runtime takes the replay; the new run."""
        with self.bound():
            Run.objects.filter(id=started.run.id).update(started_at=Now())
            Job.objects.filter(id=started.job.id).update(
                status="running",
                claimed_at=Now(),
                intent_at=Now(),
                accepted_at=Now(),
                fence=1,
                task_id="task-1",
            )
            return Run.objects.get(id=started.run.id)

    def settled(self, job: Job, status: str, outcome: str) -> None:
        """The end of a job, whatever its worker did."""
        with self.bound():
            Job.objects.filter(id=job.id, status__in=["held", "queued"]).update(status="running", fence=1)
            Job.objects.filter(id=job.id).update(
                status=status, outcome=outcome, finished_at=Now(), lease_until=None
            )
            outcomes.record(job.id)

    # -- campaigns ------------------------------------------------

    def campaign(
        self,
        name: str = "Winter schedule",
        recipients: Sequence[str] = ("ann@example.com", "bob@example.com", "no address"),
        *,
        send_by: datetime | None = None,
        html: str = "<p>Hello <b>{{ name }}</b></p>",
        run: Run | None = None,
        agent: str = "outreach",
    ) -> Campaign:
        """A sealed campaign that waits for a decision."""
        number = next(_numbers)
        with self.bound():
            campaign = Campaign.objects.create(
                workspace_id=self.workspace.id, runtime=self.runtime, external_id=f"campaign-{number}", agent=agent,
                name=name, purpose="tell people", send_by=send_by, run=run,
            )  # fmt: skip
            version = Version.objects.create(
                workspace_id=self.workspace.id, campaign=campaign, number=1,
                from_address="Northwind <hello@northwind.example.com>", subject_line="Hello {{ name }}",
                text="Dear {{ name }},\n\nyour departure moved.", html=html,
            )  # fmt: skip
            for position, email in enumerate(recipients, 1):
                self._recipient(campaign, version, position, email)
            digest = sha256_hex(canonical([name, *recipients, number]))
            Version.objects.filter(id=version.id).update(digest=digest, sealed_at=Now())
        return campaign

    def _recipient(self, campaign: Campaign, version: Version, position: int, email: str) -> None:
        address = check_address(email)
        good = isinstance(address, Address)
        row = AudienceRow.objects.create(
            workspace_id=self.workspace.id, version=version, position=position, email=email,
            address=address.normal if isinstance(address, Address) else "", vars='{"name":"Ann"}',
            state="addressable" if good else "refused",
            reason="" if isinstance(address, Address) else address.reason,
        )  # fmt: skip
        if isinstance(address, Address):
            delivery_id = uuid4()
            Delivery.objects.create(
                id=delivery_id, workspace_id=self.workspace.id, campaign=campaign, version=version,
                audience_row=row, position=position, address=address.normal, dedupe_key=address.dedupe_key,
                message_id=f"<{delivery_id.hex}@northwind.example.com>",
            )  # fmt: skip

    def shown(self, campaign: Campaign) -> Shown:
        """What the page of a campaign shows."""
        newest = self.read(lambda: Version.objects.filter(campaign_id=campaign.id).latest("number"))
        return Shown(newest.digest, datetime.now(UTC) - timedelta(minutes=5))

    def approved(self, campaign: Campaign, by: str = "reviewer") -> Decision:
        """Somebody approves it."""
        with bind(self.workspace.id):
            return campaigns.approve(by=self.actor(by), campaign_id=campaign.id, shown=self.shown(campaign))[
                0
            ]

    def rejected(
        self, campaign: Campaign, by: str = "reviewer", comment: str = "The date is wrong."
    ) -> Decision:
        """Somebody rejects it."""
        with bind(self.workspace.id):
            return campaigns.reject(
                by=self.actor(by), campaign_id=campaign.id, shown=self.shown(campaign), comment=comment
            )[0]

    def sent(self, campaign: Campaign, *states: str) -> list[Delivery]:
        """What a worker does with an approved campaign: its deliveries end in these states, in order."""
        with self.bound():
            job = Job.objects.get(campaign_id=campaign.id, status__in=["held", "queued"])
            Job.objects.filter(id=job.id).update(status="queued")
            Job.objects.filter(id=job.id).update(
                status="running", claimed_at=Now(), fence=1, task_id="task-2"
            )
            Campaign.objects.filter(id=campaign.id).update(status="sending")
            planned = Delivery.objects.filter(campaign_id=campaign.id, state="planned")
            deliveries = list(planned.order_by("position"))
            for delivery, state in zip(deliveries, states, strict=True):
                mine = Delivery.objects.filter(id=delivery.id)
                mine.update(state="attempting", job=job, fence=1, attempt=1, attempted_at=Now())
                mine.update(
                    state=state, settled_at=Now(), reply="250 kept" if state == "sent" else "550 no such box"
                )
            Job.objects.filter(id=job.id).update(status="done", outcome="Done.", finished_at=Now())
            Campaign.objects.filter(id=campaign.id).update(status="finished", finished_at=Now())
            outcomes.record(job.id)
            return list(Delivery.objects.filter(campaign_id=campaign.id).order_by("position"))

    # -- more people ----------------------------------------------

    def person(self, *roles: str, name: str = "Kim Both") -> User:
        """One more member, who is known under the first of their roles' names from now on."""
        with bind(self.workspace.id):
            return setup.add_member(
                by=operator("tests"),
                email=f"p{next(_numbers)}@example.com",
                roles=roles,
                password=PASSWORD,
                name=name,
            ).user

    def member_of(self, user: User, *roles: str) -> Member:
        """Somebody who exists joins this workspace too."""
        with bind(self.workspace.id):
            return setup.add_member(by=operator("tests"), email=user.email, roles=roles).member


def stranger() -> User:
    """Somebody who can sign in and belongs to no workspace."""
    return User.objects.create_user(f"stranger{next(_numbers)}@example.com", PASSWORD, name="Nobody")


def signed_in(user: User) -> Client:
    """A browser in which this person is signed in."""
    client = Client()
    client.force_login(user)
    return client
