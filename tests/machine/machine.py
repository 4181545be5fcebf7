"""What can happen, one rule each, in any order: Hypothesis chooses, the laws are asked after every step.

The services and tasks are the product's own, as app and as ingest. `Lab` is what a whole test shares; a machine is
one example: a fresh workspace in the test's database.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg
from django.conf import settings
from django.db import DatabaseError
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from approvals.access.actors import TokenBearer
from approvals.db.binding import bind
from approvals.exceptions import Refusal
from approvals.models import Run
from approvals.rules import decisions as kinds
from approvals.rules.shown import Shown
from approvals.rules.verdict import Verdict
from approvals.selectors.lineages import judged
from approvals.services import campaigns, journal, proposals, replays, runs, sweep
from approvals.services.journal import NewEvent, NewRun
from tests import factories as f
from tests.machine.laws import LAWS, Step, named
from tests.machine.outside import ANSWERS, Outside
from tests.machine.seen import LIVE, OVER, Row, Seen
from tests.machine.workers import Killed, Worker

REASON = "The provider says that no mail went out."
PEOPLE = [f.actor("Ada", "support", "reviewer"), f.actor("Ben", "support", "reviewer")]
MOST_LINEAGES, MOST_CAMPAIGNS = 3, 2
LATER = "now() - interval '1 second'"

picks = st.integers(0, 11)
answers = st.lists(st.sampled_from(("taken", *ANSWERS)), min_size=1, max_size=3)

# How a run may begin: the events of its first report, by type. `-` leaves out a number.
BEGINNINGS = {
    "and says nothing": [],
    "and calls a tool": ["call"],
    "and fails after a call": ["call", "answer", "failed"],
    "and fails without a call": ["message", "failed"],
    "and completes": ["message", "completed"],
    "and goes on from elsewhere": ["restored"],
    "with an event missing": ["message", "-", "failed"],
}


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

    def point(self, name: str) -> None:
        """Stands in for `faults.point`, in every process."""
        if not any(worker.stands_here(name) for worker in self.workers) and self.web_dies:
            raise Killed


class Machine(RuleBasedStateMachine):
    """One workspace, and everything that can happen in it."""

    def __init__(self, lab: Lab) -> None:
        super().__init__()
        self.lab, self.story, self.failed = lab, [], False
        self.pages: dict[UUID, Page] = {}
        self.page: Page | None = None  # that the decision of this step was made from
        self.decided: dict[UUID, Any] = {}
        lab.examples += 1

    @initialize(hold=st.booleans())
    def a_workspace(self, hold: bool) -> None:
        """One runtime that reports each call before it makes it, and one that does not promise to."""
        self.workspace_id = f.workspace(f"w{uuid4().hex[:12]}", hold_s=60 if hold else 0).id
        with self.bound():
            f.runtime(name="plain", writes_ahead=False)
        self.outside = self.lab.outside = Outside(self.lab.sql, self.workspace_id)
        self.seen = Seen.of(self.lab.sql, self.workspace_id)
        self.story.append(f"A workspace, approvals are held: {hold}.")

    # -- the runtimes ------------------------------------------------------------------------------------------------

    @precondition(lambda self: sum(1 for _ in self.seen.lineages()) < MOST_LINEAGES)
    @rule(how=st.sampled_from(sorted(BEGINNINGS)), writes_ahead=st.sampled_from([True, True, True, False]))
    def a_run_begins(self, how: str, writes_ahead: bool) -> None:
        bearer = self.bearer(writes_ahead)
        name = f"run-{1 + sum(1 for _ in self.seen.lineages())}"
        new = NewRun(
            external_id=name, agent="refunds", session_id="", subject="C-17", trigger="", input="refund C-17"
        )
        with self.happens(f"{name} begins {how}"):
            run_id = journal.register_run(by=bearer, run=new).id
            if events := _events(1, BEGINNINGS[how]):
                journal.append(by=bearer, run_id=run_id, events=events)

    @precondition(lambda self: self.reachable())
    @rule(
        pick=picks,
        what=st.sampled_from(["call", "answer", "message", "failed", "completed", "heartbeat", "restored", "cancelled"]),
        order=st.sampled_from(["next", "next", "next", "early", "again"]),
    )  # fmt: skip
    def a_run_reports(self, pick: int, what: str, order: str) -> None:
        run = _one(self.reachable(), pick)
        with self.happens(f"{run.external_id} reports {what} ({order})"):
            if order == "again":
                self.reports_again(run)
            else:
                events = _events(run.next_seq + (2 if order == "early" else 0), [what])
                journal.append(by=self.bearer_of(run), run_id=run.id, events=events)

    def reports_again(self, run: Row) -> None:
        """The same event once more: a success that changes nothing."""
        known = self.seen.journal(run.id)
        if known:
            event = known[-1]
            content = _CONTENT.get(event.type)
            same = NewEvent(
                seq=event.seq, type=event.type, at=event.at, call_id=event.call_id, name=event.name,
                outcome=event.outcome, is_error=event.is_error, origin=event.origin, content=content,
            )  # fmt: skip
            found = journal.append(by=self.bearer_of(run), run_id=run.id, events=[same])
            assert (found.accepted, found.duplicates) == (0, 1)

    @precondition(lambda self: any(run.silent_after for run in self.seen.runs.values()))
    @rule(pick=picks, overlong=st.booleans())
    def a_run_goes_silent(self, pick: int, overlong: bool) -> None:
        run = _one([run for run in self.seen.runs.values() if run.silent_after], pick)
        timer = "overlong_after" if overlong else "silent_after"
        with self.happens(f"{run.external_id} is silent for too long ({timer})"):
            self.later(f"update approvals_run set {timer} = {LATER} where id = %s", run.id)
            self.sweep()

    @precondition(lambda self: self.seen.runs)
    @rule(pick=picks)
    def the_rule_is_asked(self, pick: int) -> None:
        run = self.a_run(pick)
        with self.happens(f"its runtime asks to start {run.external_id} again"):
            replays.request_by_rule(bearer=self.bearer_of(run), run_id=run.id)

    @precondition(lambda self: len(self.seen.campaigns) < MOST_CAMPAIGNS)
    @rule(recipients=st.integers(1, 3))
    def an_agent_proposes_a_campaign(self, recipients: int) -> None:
        name = f"c{1 + len(self.seen.campaigns)}"
        people = [f"p{n}@{name}.example.com" for n in range(1, recipients + 1)]
        proposal = proposals.Proposal(
            external_id=name, name=name, purpose="", send_by=None, run_id=None, sender="News <news@example.com>",
            reply_to="", subject="Hello", text="Dear {{ name }}", html="",
            recipients=[proposals.Recipient(e, {"name": "Ann"}) for e in (*people, people[0].upper(), "nobody")],
        )  # fmt: skip
        with self.happens(f"campaign {name} for {recipients} is proposed"):
            proposals.propose(by=self.bearer(True), proposal=proposal)

    # -- people ------------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.seen.items)
    @rule(pick=picks)
    def somebody_leaves_a_page_open(self, pick: int) -> None:
        id = _one(list(self.seen.items), pick)
        with self.happens(f"somebody opens {self.called(id)}"):
            self.pages[id] = self.opened(id)

    @precondition(lambda self: self.seen.runs)
    @rule(
        pick=picks, who=st.sampled_from(PEOPLE), stale=st.booleans(), twice=st.booleans(), dies=picks,
        what=st.sampled_from(["start again", "start again", "start again", "declare", "dismiss", "reopen", "call"]),
    )  # fmt: skip
    def somebody_decides_about_a_run(self, pick: int, who: Any, stale: bool, twice: bool, dies: int, what: str) -> None:
        run = self.a_run(pick)
        self.page = page = self.opened(run.lineage_id, stale=stale, run=run)
        given = {"by": who, "run_id": run.id, "shown": page.shown}
        acts: dict[str, Callable[[], Any]] = {
            "start again": lambda: self.starts_again(given, page),
            "declare": lambda: runs.declare_interrupted(**given, reason=REASON),
            "dismiss": lambda: runs.dismiss(**given, reason=REASON),
            "reopen": lambda: runs.reopen(**given, reason=REASON),
            "call": lambda: runs.resolve_call(
                **given, call_id=self.open_call(run), resolution=_one(runs.OF_CALLS, pick), reason=REASON
            ),
        }
        self.lab.web_dies = dies == 0
        for _ in range(1 + twice):
            with self.happens(f"{who.name} decides about {run.external_id}: {what}", stale=stale):
                acts[what]()

    def starts_again(self, given: dict[str, Any], page: Page) -> None:
        """By the button that the page had."""
        assert page.verdict is not None
        if page.verdict.may_start_again:
            replays.replay(**given)
        else:
            ticked = [kinds.call_key(call.run_id, call.call_id) for call in page.verdict.calls]
            replays.force(**given, reason=REASON, ticked=ticked, unknown_ticked=True)

    @precondition(lambda self: self.replay_jobs())
    @rule(
        pick=picks, who=st.sampled_from(PEOPLE), stale=st.booleans(), twice=st.booleans(),
        what=st.sampled_from(["do_again", "do_again", "happened", "leave"]),
    )  # fmt: skip
    def somebody_decides_about_a_replay(self, pick: int, who: Any, stale: bool, twice: bool, what: str) -> None:
        """Taken back while it waits, resolved while it is in doubt."""
        job = _one(self.replay_jobs(), pick)
        run = self.seen.runs[job.run_id]
        self.page = page = self.opened(run.lineage_id, stale=stale, run=run)
        for _ in range(1 + twice):
            if job.status == "queued":
                with self.happens(f"{who.name} takes {run.external_id} back"):
                    replays.cancel(by=who, job_id=job.id, shown=page.shown)
            else:
                with self.happens(f"{who.name} resolves the replay {run.external_id}: {what}", stale=stale):
                    runs.resolve_job(by=who, job_id=job.id, shown=page.shown, resolution=what, reason=REASON)

    @precondition(lambda self: self.seen.campaigns)
    @rule(
        pick=picks, who=st.sampled_from(PEOPLE), stale=st.booleans(), dies=picks,
        what=st.sampled_from(["approve"] * 4 + ["take back", "stop", "reject"]),
    )  # fmt: skip
    def somebody_decides_about_a_campaign(self, pick: int, who: Any, stale: bool, dies: int, what: str) -> None:
        campaign = _one(list(self.seen.campaigns.values()), pick)
        given = {"by": who, "campaign_id": campaign.id, "shown": self.opened(campaign.id, stale=stale).shown}
        acts: dict[str, Callable[[], Any]] = {
            "approve": lambda: campaigns.approve(**given),
            "take back": lambda: campaigns.take_back(**given),
            "stop": lambda: campaigns.stop(**given, reason=REASON),
            "reject": lambda: campaigns.reject(**given, comment=REASON),
        }
        self.lab.web_dies = dies == 0
        with self.happens(f"{who.name} decides about campaign {campaign.name}: {what}", stale=stale):
            acts[what]()

    @precondition(lambda self: self.troubled())
    @rule(
        pick=picks, who=st.sampled_from(PEOPLE), twice=st.booleans(),
        what=st.sampled_from(["do_again", "do_again", "happened", "leave"]),
    )  # fmt: skip
    def somebody_decides_about_a_delivery(self, pick: int, who: Any, twice: bool, what: str) -> None:
        delivery = _one(self.troubled(), pick)
        shown = self.opened(delivery.campaign_id).shown
        for _ in range(1 + twice):
            with self.happens(f"{who.name} resolves the message to {delivery.address}: {what}"):
                campaigns.resolve_delivery(
                    by=who, delivery_id=delivery.id, shown=shown, resolution=what, reason=REASON
                )

    # -- workers and the clock ---------------------------------------------------------------------------------------

    @precondition(lambda self: self.seen.jobs and any(worker.at is None for worker in self.lab.workers))
    @rule(pick=picks, points=st.integers(0, 5), then=st.sampled_from(["finish", "finish", "die", "freeze"]), meets=answers)
    def a_worker_is_woken(self, pick: int, points: int, then: str, meets: list[str]) -> None:
        """For a job that is due, or by a wake-up that comes twice or late."""
        due = [self.seen.jobs[item.id] for item in self.due() if item.what == "wake"]
        others = [job for job in self.seen.jobs.values() if job not in due]
        self.works(_one([*due, *due, *due, *others], pick), points, then, meets)

    def works(self, job: Row, points: int, then: str, meets: Sequence[str]) -> None:
        """Some idle worker takes the job and gets so many points far."""
        worker = next(worker for worker in self.lab.workers if worker.at is None)
        self.outside.then(meets)
        with self.happens(f"{worker.name} is woken for {self.job_called(job)}, meets {'/'.join(meets)}"):
            worker.take(job.kind, job.id, self.workspace_id)
            self.goes_on(worker, points, then)

    def goes_on(self, worker: Worker, points: int, then: str) -> None:
        """So many points further; then it dies, freezes, or goes on to the end."""
        while worker.at is not None and (then == "finish" or points > 0):
            points -= 1
            worker.go_on()
        if worker.at is not None:
            self.story[-1] += f", {then}s at {worker.at}"
            if then == "die":
                worker.die()

    @precondition(lambda self: any(worker.at for worker in self.lab.workers))
    @rule(pick=picks, points=st.integers(1, 4), then=st.sampled_from(["finish", "finish", "die", "freeze"]))
    def a_frozen_worker_comes_back(self, pick: int, points: int, then: str) -> None:
        worker = _one([worker for worker in self.lab.workers if worker.at], pick)
        with self.happens(f"{worker.name} goes on from {worker.at}"):
            self.goes_on(worker, points, then)

    @precondition(lambda self: any(job.lease_until for job in self.seen.jobs.values()))
    @rule(swept=st.sampled_from([True, True, True, False]))
    def a_lease_passes(self, swept: bool) -> None:
        with self.happens(f"the leases run out, the clock {'sees it' if swept else 'does not see it yet'}"):
            self.leases_run_out()
            if swept:
                self.sweep()

    @precondition(lambda self: any(job.status in ("held", "queued") for job in self.seen.jobs.values()))
    @rule()
    def a_minute_passes(self) -> None:
        with self.happens("holds and waits are over"):
            self.waits_are_over()
            self.sweep()

    @precondition(lambda self: any(item.what != "wake" for item in self.due()))
    @rule()
    def the_clock_sweeps(self) -> None:
        with self.happens("the clock does what is due"):
            self.sweep()

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
        breaches = [f"{law.__name__}: {breach}" for law in LAWS for breach in law(step)]
        self.seen, self.page, self.lab.web_dies = now, None, False
        if breaches:
            self.fail(breaches)

    def fail(self, breaches: Sequence[str]) -> None:
        """Say what is broken, and how it came to that."""
        self.failed = True
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
        self.becomes_quiet()
        unsettled = [
            f"a {job.kind} job is {job.status} when all is quiet"
            for job in self.seen.jobs.values()
            if job.status not in (*OVER, "in_doubt")
        ]
        for job in [job for job in self.seen.jobs.values() if job.status == "in_doubt"]:
            page = self.page = self.opened(self.seen.runs[job.run_id].lineage_id)
            with self.happens("Ada leaves what is still in doubt"):
                runs.resolve_job(by=PEOPLE[0], job_id=job.id, shown=page.shown, resolution="leave", reason=REASON)
            self.ask_the_laws()
        for delivery in self.troubled():
            with self.happens(f"Ada leaves the message to {delivery.address}"):
                shown = self.opened(delivery.campaign_id).shown
                campaigns.resolve_delivery(
                    by=PEOPLE[0], delivery_id=delivery.id, shown=shown, resolution="leave", reason=REASON
                )
            self.ask_the_laws()
        self.becomes_quiet()
        moving = [
            *(f"a {job.kind} job is {job.status}" for job in self.seen.jobs.values() if job.status in LIVE),
            *(f"{run.external_id} runs" for run in self.seen.runs.values() if run.status == "running"),
            *(f"{c.name} is {c.status}" for c in self.seen.campaigns.values() if c.status in ("approved", "sending")),
        ]
        if unsettled or moving:
            self.fail([*unsettled, *(f"{what} at the very end" for what in moving)])

    def becomes_quiet(self) -> None:
        """Time passes, silent runs are found, and healthy workers do what is due, until nothing is."""
        for _ in range(30):
            with self.happens("time passes"):
                self.leases_run_out()
                self.waits_are_over()
                self.later(f"update approvals_run set silent_after = {LATER} where silent_after is not null"
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

    # -- tools -------------------------------------------------------------------------------------------------------

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
        self.later(f"update approvals_job set lease_until = {LATER} where lease_until > now() and workspace_id = %s",
                   self.workspace_id)  # fmt: skip

    def waits_are_over(self) -> None:
        """Holds, and the pauses after a server that was not there."""
        self.later(f"update approvals_job set due_at = {LATER} where due_at > now() and workspace_id = %s"
                   " and status in ('held', 'queued')", self.workspace_id)  # fmt: skip
        self.later("update approvals_delivery set settled_at = settled_at - interval '1 minute'"
                   " where state = 'planned' and settled_at is not null and workspace_id = %s", self.workspace_id)  # fmt: skip

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
        return _one([*heads, *heads, *others], pick)

    def replay_jobs(self) -> list[Row]:
        """Those about which there is something to decide."""
        return [j for j in self.seen.jobs.values() if j.kind == "replay" and j.status in ("queued", "in_doubt")]

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
        """The page of a lineage (about one attempt) or campaign: the one left open, or a fresh one."""
        if stale and id in self.pages:
            return self.pages[id]
        with self.bound():
            if id in self.seen.campaigns:
                page = Page(f.shown_campaign(self.seen.campaigns[id]))
            else:
                page = self.lineage_page(run or self.seen.head(id))
        self.pages.setdefault(id, page)
        return page

    def lineage_page(self, run: Row) -> Page:
        """What the page of one attempt shows."""
        facts, verdict, digest = _read(lambda: judged(Run.objects.get(id=run.id)))
        shown = Shown(digest, datetime.now(UTC), kinds.told(facts))
        return Page(shown, self.seen.looks(run.lineage_id), verdict)

    def called(self, id: UUID) -> str:
        """How the story names a lineage or campaign."""
        return self.seen.campaigns[id].name if id in self.seen.campaigns else named(self.seen, id)

    def job_called(self, job: Row) -> str:
        """How the story names a job."""
        about = self.seen.runs[job.run_id].external_id if job.run_id else self.called(job.campaign_id)
        return f"the {job.status} job of {about}"


def _read(query: Callable[[], Any]) -> Any:
    from django.db import transaction

    with transaction.atomic():
        return query()


def _one(options: Sequence[Any], pick: int) -> Any:
    return options[pick % len(options)]


_CONTENT: dict[str, dict[str, Any]] = {
    "message": {"text": "I will see to it.", "author": "agent"},
    "tool_call": {"args": {"to": "C-17"}},
    "tool_result": {"result": "ok"},
}


def _events(first: int, words: Sequence[str]) -> list[NewEvent]:
    """Events numbered from `first` on, from the words of the rules."""
    events: list[NewEvent] = []
    for seq, word in enumerate(words, first):
        more: dict[str, Any] = {"at": f.NOON, "origin": "restored" if word == "restored" else "live"}
        match word:
            case "-":
                continue
            case "call":
                more |= {"type": "tool_call", "call_id": f"c{seq}", "name": "send_email"}
            case "answer":
                more |= {"type": "tool_result", "call_id": f"c{seq - 1}"}
            case "failed" | "completed" | "cancelled":
                more |= {"type": "ended", "outcome": word}
            case "heartbeat":
                more |= {"type": "heartbeat"}
            case _:
                more |= {"type": "message"}
        events.append(NewEvent(seq=seq, content=_CONTENT.get(more["type"]), **more))
    return events
