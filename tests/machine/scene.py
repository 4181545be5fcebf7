"""One example of the machine: a fresh workspace, what was seen of it last, and the story that is told if a law breaks.

Also how an example ends: everybody is well again, and everything has to come to rest.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg
from django.conf import settings
from django.db import DatabaseError, transaction
from hypothesis.stateful import RuleBasedStateMachine, invariant

from approvals.access.actors import TokenBearer
from approvals.db.binding import bind
from approvals.exceptions import Refusal
from approvals.models import Run
from approvals.rules import decisions as kinds
from approvals.rules.shown import Shown
from approvals.rules.verdict import Verdict
from approvals.selectors.lineages import judged
from approvals.services import campaigns, deliveries, runs, sweep
from tests import factories as f
from tests.machine.agents import Agents
from tests.machine.laws import LAWS
from tests.machine.outside import Outside
from tests.machine.seen import LIVE, OVER, Row, Seen
from tests.machine.step import Step, named
from tests.machine.workers import Killed, Worker

REASON = "The provider says that no mail went out."
PEOPLE = [f.actor("Ada", "support", "reviewer"), f.actor("Ben", "support", "reviewer")]
PAST = "now() - interval '1 second'"


class Broken(AssertionError):
    """A law does not hold."""


@dataclass
class Page:
    """What somebody looked at: what they send along, and how things really were."""

    shown: Shown
    looks: Any = None
    verdict: Verdict | None = None


@dataclass
class Lab:
    """What the examples of one test share."""

    sql: psycopg.Connection[Any]
    workers: list[Worker]
    outside: Outside | None = None
    mutated: bool = False  # then the database may have to stop what the mutant tries
    web_dies: bool = False
    examples: int = 0
    steps: int = 0
    caught: str = ""  # after how many of both a law was broken first

    def start_replay(self, order: Any) -> Any:
        """Stands in for the runtime's connector; there is another outside for each example."""
        assert self.outside is not None
        return self.outside.start_replay(order)

    def lines(self, settings: Any, count: int) -> Any:
        """Stands in for the mail server's connector."""
        assert self.outside is not None
        return self.outside.lines(settings, count)

    def stream(self, order: Any) -> Any:
        """Stands in for the connector of a service that streams."""
        assert isinstance(self.outside, Agents)
        return self.outside.stream(order)

    def create_session(self, *given: Any) -> Any:
        """The same one."""
        assert isinstance(self.outside, Agents)
        return self.outside.create_session(*given)

    def open_store(self, *given: Any, **more: Any) -> Any:
        """Stands in for the connector's store."""
        assert isinstance(self.outside, Agents)
        return self.outside.open_store(*given, **more)

    def job_here(self) -> UUID:
        """The job of the worker that asks."""
        [job_id] = [worker.job_id for worker in self.workers if worker.is_this_thread()]
        assert job_id is not None
        return job_id

    def point(self, name: str) -> None:
        """Stands in for `faults.point`, in every process."""
        if not any(worker.stands_here(name) for worker in self.workers) and self.web_dies:
            raise Killed


class Scene(RuleBasedStateMachine):
    """What the rules (machine.py) are made with."""

    laws = LAWS

    def __init__(self, lab: Lab) -> None:
        super().__init__()
        self.lab, self.story, self.failed = lab, [], False
        self.pages: dict[UUID, Page] = {}
        self.page: Page | None = None  # that the decision of this step was made from
        self.decided: dict[UUID, Any] = {}
        lab.examples += 1

    def opens(self, hold_s: int) -> None:
        """One runtime that reports each call before it makes it, and one that does not promise to."""
        self.workspace_id = f.workspace(f"w{uuid4().hex[:12]}", hold_s=hold_s).id
        with self.bound():
            f.runtime(name="plain", writes_ahead=False)
        self.outside = self.lab.outside = Outside(self.lab.sql, self.workspace_id)
        self.seen = Seen.of(self.lab.sql, self.workspace_id)

    # -- the laws ----------------------------------------------------------------------------------------------------

    @invariant()
    def the_laws_hold(self) -> None:
        """Ask every law about the step that was just made."""
        if not self.failed:
            self.lab.steps += 1
            self.ask_the_laws()

    def ask_the_laws(self) -> None:
        """What holds is the beginning of the next step."""
        now = Seen.of(self.lab.sql, self.workspace_id)
        for job in now.jobs.values():
            if job.kind == "replay" and job.id not in self.decided:
                lineage_id = now.runs[job.run_id].lineage_id
                self.decided[job.id] = now.looks(lineage_id, without=job.run_id)
        shown = self.page.looks if self.page else None
        step = Step(self.seen, now, self.outside, shown, self.decided)
        breaches = [f"{law.__name__}: {breach}" for law in self.laws for breach in law(step)]
        self.seen, self.page, self.lab.web_dies = now, None, False
        if breaches:
            self.fail(breaches)

    def fail(self, breaches: Sequence[str]) -> None:
        """Say what is broken, and how it came to that."""
        self.failed = True
        self.lab.caught = self.lab.caught or f"{self.lab.examples} examples, {self.lab.steps} steps"
        told = [f"{number:3}. {line}" for number, line in enumerate(self.story, 1)]
        raise Broken("\n".join([*breaches, "It came to that by:", *told]))

    def teardown(self) -> None:
        """When everybody is well again everything comes to rest, or waits for a person who then has a way on."""
        try:
            if not self.failed and hasattr(self, "seen"):
                self.comes_to_rest()
        finally:
            for worker in self.lab.workers:
                while worker.at is not None:
                    worker.die()

    def comes_to_rest(self) -> None:
        """The rest of the story: no more trouble, then an answer to every doubt."""
        for worker in self.lab.workers:
            if worker.at is not None:
                worker.die()
        for campaign in [c for c in self.seen.campaigns.values() if c.status == "paused"]:
            with self.happens(f"{PEOPLE[0].name} lets {campaign.name} go on"):
                shown = self.opened(campaign.id).shown
                campaigns.go_on(by=PEOPLE[0], campaign_id=campaign.id, shown=shown)
            self.ask_the_laws()
        self.becomes_quiet()
        unsettled = [
            f"a {job.kind} job is {job.status} when all is quiet"
            for job in self.seen.jobs.values()
            if job.status not in (*OVER, "in_doubt")
        ]
        for job in [job for job in self.seen.jobs.values() if job.status == "in_doubt"]:
            self.answers_replay(job, PEOPLE[0], False, "leave")
            self.ask_the_laws()
        for delivery in self.troubled():
            self.answers_delivery(delivery, PEOPLE[0], "leave")
            self.ask_the_laws()
        self.becomes_quiet()
        moving = [
            *(f"a {job.kind} job is {job.status}" for job in self.seen.jobs.values() if job.status in LIVE),
            *(f"{run.external_id} runs" for run in self.seen.runs.values() if run.status == "running"),
            *(
                f"{c.name} is {c.status}"
                for c in self.seen.campaigns.values()
                if c.status in ("approved", "sending")
            ),
        ]
        if unsettled or moving:
            self.fail([*unsettled, *(f"{what} at the very end" for what in moving)])

    def becomes_quiet(self) -> None:
        """Time passes, silent runs are found, and healthy workers do what is due, until nothing is."""
        for _ in range(30):
            with self.happens("time passes"):
                self.leases_run_out()
                self.waits_are_over()
                self.later(f"update approvals_run set silent_after = {PAST} where silent_after is not null"
                           " and workspace_id = %s", self.workspace_id)  # fmt: skip
                self.sweep()
            self.ask_the_laws()
            due = self.due()
            if not due:
                return
            for item in due:
                if item.what == "wake":
                    self.works(self.seen.jobs[item.id], 0, "finish", ["taken"])
                    self.ask_the_laws()
        self.fail(["it never became quiet"])

    # -- what several rules are made of ------------------------------------------------------------------------------

    def answers_replay(self, job: Row, who: Any, stale: bool, answer: str) -> None:
        """What became of a replay in doubt."""
        run = self.seen.runs[job.run_id]
        self.page = page = self.opened(run.lineage_id, stale=stale, run=run)
        with self.happens(f"{who.name} answers for the replay {run.external_id}: {answer}", stale=stale):
            runs.resolve_job(by=who, job_id=job.id, shown=page.shown, resolution=answer, reason=REASON)

    def answers_delivery(self, delivery: Row, who: Any, answer: str) -> None:
        """What became of a message in doubt, or refused; by a double click."""
        with self.bound():
            shown = f.shown_delivery(delivery)
        for _ in range(2):
            with self.happens(f"{who.name} answers for the message to {delivery.address}: {answer}"):
                deliveries.resolve(
                    by=who, delivery_id=delivery.id, shown=shown, resolution=answer, reason=REASON
                )

    def works(self, job: Row, points: int, fate: str, meets: Sequence[str]) -> None:
        """Some idle worker takes the job and gets so many points far."""
        worker = next(worker for worker in self.lab.workers if worker.at is None)
        self.outside.then(meets)
        with self.happens(f"{worker.name} is woken for {self.job_called(job)}, meets {'/'.join(meets)}"):
            worker.take(job.kind, job.id, self.workspace_id)
            self.goes_on(worker, points, fate)

    def goes_on(self, worker: Worker, points: int, fate: str) -> None:
        """So many points further; then it dies, freezes, or goes on to the end."""
        while worker.at is not None and (fate == "finish" or points > 0):
            points -= 1
            worker.go_on()
        if worker.at is not None:
            self.story[-1] += f", {fate}s at {worker.at}"
            if fate == "die":
                worker.die()

    @contextmanager
    def happens(self, what: str, *, stale: bool = False) -> Iterator[None]:
        """One thing that happens, with how it went. A refusal is an answer, and a death is one too."""
        self.story.append(what + (" (from an old page)" if stale else ""))
        try:
            with self.bound():
                yield
        except Refusal as refusal:
            self.story[-1] += f" -> {type(refusal).__name__}"
        except Killed:
            self.story[-1] += " -> the web process dies before its commit"
        except DatabaseError as error:
            if not self.lab.mutated:
                self.failed = True
                raise
            self.story[-1] += f" -> the database refuses: {str(error).splitlines()[0]}"
        except BaseException:
            self.failed = True
            raise

    def bound(self) -> Any:
        """Bound to this example's workspace."""
        return bind(self.workspace_id)

    def later(self, statement: str, *values: object) -> None:
        """Time passes for these rows: what Postgres would do if it were later."""
        self.lab.sql.execute(statement.encode(), values)

    def leases_run_out(self) -> None:
        """For the database and for the workers, whose own clock it is too."""
        self.outside.now += settings.LEASE_S + 1
        self.later(f"update approvals_job set lease_until = {PAST} where lease_until > now() and workspace_id = %s",
                   self.workspace_id)  # fmt: skip

    def waits_are_over(self) -> None:
        """Holds, and the pauses after a server that was not there."""
        mine = self.workspace_id
        self.later(
            f"update approvals_job set due_at = {PAST} where workspace_id = %s and due_at > now()"
            " and status in ('held', 'queued')", mine,
        )  # fmt: skip
        self.later(
            "update approvals_delivery set settled_at = settled_at - interval '1 minute' where workspace_id = %s"
            " and state = 'planned' and settled_at is not null", mine,
        )  # fmt: skip

    def due(self) -> list[sweep.Due]:
        """What is due here; other examples may have left something."""
        return [item for item in sweep.due(at_most=500) if item.workspace_id == self.workspace_id]

    def sweep(self) -> None:
        """One round of the clock."""
        for item in self.due():
            if item.what != "wake":
                sweep.step(item)

    def bearer(self, writes_ahead: bool) -> TokenBearer:
        """A token of one of the two runtimes."""
        [id] = [r.id for r in self.seen.runtimes.values() if r.writes_ahead == writes_ahead]
        return TokenBearer(self.workspace_id, uuid4(), id, None, "sl_test")

    def bearer_of(self, run: Row) -> TokenBearer:
        """A token of this run's runtime."""
        return self.bearer(self.seen.runtimes[run.runtime_id].writes_ahead)

    def reachable(self) -> list[Row]:
        """The runs that a runtime knows of, newest first: its own, and the replays that it took."""
        taken = {call.run_id for call in self.outside.handovers if call.took_it}
        return [r for r in reversed(self.seen.runs.values()) if r.replay_of_id is None or r.id in taken]

    def a_run(self, pick: int) -> Row:
        """Mostly an attempt that counts, now and then one whose place was taken."""
        heads = [self.seen.head(lineage_id) for lineage_id, _ in self.seen.lineages()]
        others = [run for run in self.seen.runs.values() if run not in heads]
        return one_of([*heads, *heads, *others], pick)

    def a_job(self, pick: int) -> Row:
        """Mostly one that is due; else one that a wake-up comes twice for, or too late."""
        due = [self.seen.jobs[item.id] for item in self.due() if item.what == "wake"]
        others = [job for job in reversed(self.seen.jobs.values()) if job not in due]
        held = [job for job in others if job.status == "running" and job.lease_until]
        return one_of([*due, *due, *held, *due, *others[:2]] or list(self.seen.jobs.values()), pick)

    def waiting(self) -> list[tuple[str, Row]]:
        """What waits for a person, what is in doubt first."""
        doubts = [("replay", job) for job in self.seen.jobs.values() if job.status == "in_doubt"]
        campaigns = [("campaign", c) for c in self.seen.campaigns.values() if c.status == "pending"]
        heads = [self.seen.head(lineage_id) for lineage_id, _ in self.seen.lineages()]
        dead = [
            ("run", head) for head in heads if self.seen.items[head.lineage_id].tab == "decide"
        ]  # fmt: skip
        return [*doubts, *(("delivery", delivery) for delivery in self.troubled()), *dead, *campaigns]

    def troubled(self) -> list[Row]:
        """The deliveries about which there is something to decide."""
        return [
            delivery
            for delivery in self.seen.deliveries.values()
            if delivery.state in ("in_doubt", "failed") and delivery.resolved_at is None
        ]

    def open_call(self, run: Row) -> str:
        """The last call of a run, or one that there is not."""
        calls = [event.call_id for event in self.seen.journal(run.id) if event.type == "tool_call"]
        return calls[-1] if calls else "none"

    def opened(self, id: UUID, *, stale: bool = False, run: Row | None = None) -> Page:
        """The page of a lineage (about one attempt) or campaign: a fresh one, or one that was opened some time ago."""
        if stale and id in self.pages:
            return self.pages.pop(id)  # the next one is opened anew, and left open
        with self.bound(), transaction.atomic():
            if id in self.seen.campaigns:
                page = Page(f.shown_campaign(self.seen.campaigns[id]))
            else:
                page = self.lineage_page(run or self.seen.head(id))
        self.pages.setdefault(id, page)
        return page

    def lineage_page(self, run: Row) -> Page:
        """What the page of one attempt shows."""
        facts, verdict, digest = judged(Run.objects.get(id=run.id))
        shown = Shown(digest, datetime.now(UTC), kinds.told(facts))
        return Page(shown, self.seen.looks(run.lineage_id), verdict)

    def called(self, id: UUID) -> str:
        """How the story names a lineage or campaign."""
        return self.seen.campaigns[id].name if id in self.seen.campaigns else named(self.seen, id)

    def job_called(self, job: Row) -> str:
        """How the story names a job."""
        about = self.seen.runs[job.run_id].external_id if job.run_id else self.called(job.campaign_id)
        return f"the {job.status} job of {about}"


def one_of(options: Sequence[Any], pick: int) -> Any:
    """Any number picks one."""
    return options[pick % len(options)]
