"""What can happen, in any order: Hypothesis chooses, and the laws are asked after every step.

The services and tasks are the product's own, as app and as ingest. The rules are coarse, each a whole scene of what
somebody does, so that few steps get far; `pick` chooses among what there is.
"""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from approvals.rules import decisions as kinds
from approvals.rules.proposals import Proposal, Recipient
from approvals.services import campaigns, journal, proposals, replays, runs
from approvals.services.journal import NewEvent, NewRun
from tests import factories as f
from tests.machine.outside import ANSWERS
from tests.machine.scene import PAST, PEOPLE, REASON, Page, Scene, one_of
from tests.machine.seen import Row

MOST_LINEAGES, MOST_CAMPAIGNS = 3, 2

# How a run may begin: the words of its first report. `-` leaves out a number.
BEGINNINGS = {
    "and calls a tool": ["call"],
    "and fails without a call": ["message", "failed"],
    "and says nothing": [],
    "and fails after a call": ["call", "answer", "failed"],
    "and completes": ["message", "completed"],
    "and goes on from elsewhere": ["restored"],
    "with an event missing": ["message", "-", "failed"],
}
REPORTS = ("failed", "call", "failed", "completed", "message", "answer", "heartbeat", "restored", "cancelled")
OF_RUNS = ("start again", "dismiss", "reopen", "declare", "call", "take back the replay")
OF_CAMPAIGNS = ("approve", "stop", "take back", "reject", "return", "pause", "go on", "approve")
WORDS = ("Good day", "Hello", "Dear guest")
DYING = 11  # the pick with which a web process dies before it commits

ORDERS = ("next", "next", "next", "early", "again")

picks = st.integers(0, 11)
people = st.sampled_from(PEOPLE)
meetings = st.lists(st.sampled_from(("taken", *ANSWERS)), min_size=1, max_size=3)


# What happens, and how often.
ACTS = {
    "a_run_reports": 3,
    "a_runtime_asks": 2,
    "somebody_answers": 4,
    "somebody_decides": 3,
    "a_worker_is_woken": 5,
    "a_frozen_worker_comes_back": 5,
    "time_passes": 2,
}
Draw = Callable[[st.SearchStrategy[Any]], Any]


class Machine(Scene):
    """One workspace, and everything that can happen in it."""

    @initialize(hold=st.sampled_from([0, 0, 0, 60]), how=st.sampled_from(list(BEGINNINGS)[:3]))
    def a_workspace(self, hold: int, how: str) -> None:
        """With a run that is over, and a campaign that waits."""
        self.opens(hold)
        self.begins(how, True)
        self.proposes(1, 2)
        self.the_laws_hold()
        if (run := next(iter(self.seen.runs.values()))).status == "running":
            self.is_silent(run, "silent_after")

    @rule(act=st.sampled_from([name for name, often in ACTS.items() for _ in range(often)]), data=st.data())
    def something_happens(self, act: str, data: Any) -> None:
        """One of the acts below. Which one is drawn here, so that workers are as busy as people."""
        getattr(self, act)(data.draw)

    # -- the runtimes ------------------------------------------------------------------------------------------------

    def begins(self, how: str, writes_ahead: bool) -> None:
        """A runtime makes a run known, and reports for the first time."""
        name = f"run-{1 + sum(1 for _ in self.seen.lineages())}"
        new = NewRun(
            external_id=name, agent="refunds", session_id="", subject="C-17", trigger="", input="refund C-17"
        )
        with self.happens(f"{name} begins {how}"):
            bearer = self.bearer(writes_ahead)
            run_id = journal.register_run(by=bearer, run=new).id
            if events := _events(1, BEGINNINGS[how]):
                journal.append(by=bearer, run_id=run_id, events=events)

    def a_run_reports(self, draw: Draw) -> None:
        """In order, with a gap before it, or the same once more; the run may be over long since."""
        run = one_of(self.reachable(), draw(picks))
        what, order = draw(st.sampled_from(REPORTS)), draw(st.sampled_from(ORDERS))
        with self.happens(f"{run.external_id} reports {what} ({order})"):
            if order == "again":
                self.reports_again(run)
            else:
                events = _events(run.next_seq + (2 if order == "early" else 0), [what])
                journal.append(by=self.bearer_of(run), run_id=run.id, events=events)

    def reports_again(self, run: Row) -> None:
        """The same event once more: a success that changes nothing."""
        for event in self.seen.journal(run.id)[-1:]:
            same = NewEvent(
                seq=event.seq, type=event.type, at=event.at, call_id=event.call_id, name=event.name,
                outcome=event.outcome, is_error=event.is_error, origin=event.origin, content=_CONTENT.get(event.type),
            )  # fmt: skip
            found = journal.append(by=self.bearer_of(run), run_id=run.id, events=[same])
            assert (found.accepted, found.duplicates) == (0, 1)

    def a_runtime_asks(self, draw: Draw) -> None:
        """For a replay by the rule, or for something new to be known."""
        what, pick = draw(st.sampled_from(["replay", "replay", "run", "campaign", "version"])), draw(picks)
        if what == "run" and sum(1 for _ in self.seen.lineages()) < MOST_LINEAGES:
            self.begins(draw(st.sampled_from(list(BEGINNINGS))), writes_ahead=pick % 4 > 0)
        elif what == "campaign" and len(self.seen.campaigns) < MOST_CAMPAIGNS:
            self.proposes(1 + len(self.seen.campaigns), 1 + pick % 3)
        elif what == "version":
            self.proposes(1 + pick % len(self.seen.campaigns), 1 + pick % 4, words=one_of(WORDS, pick))
        else:
            run = self.a_run(pick)
            with self.happens(f"its runtime asks to start {run.external_id} again"):
                replays.request_by_rule(bearer=self.bearer_of(run), run_id=run.id)

    def proposes(self, number: int, recipients: int, *, words: str = "Hello") -> None:
        """For so many people, one of them twice, and somebody who cannot be reached; anew, where it is known."""
        name = f"c{number}"
        addresses = [f"p{n}@{name}.example.com" for n in range(1, recipients + 1)]
        listed = [*addresses, addresses[0].upper(), "nobody"]
        proposal = Proposal(
            external_id=name, name=name, purpose="", send_by=None, run_id=None, sender="News <news@example.com>",
            reply_to="", subject=words, text="Dear {{ name }}", html="",
            recipients=[Recipient(email, {"name": "Ann"}) for email in listed],
        )  # fmt: skip
        with self.happens(f"campaign {name} for {recipients} is proposed, saying {words}"):
            proposals.propose(by=self.bearer(True), proposal=proposal)

    # -- people ------------------------------------------------------------------------------------------------------

    def somebody_answers(self, draw: Draw) -> None:
        """What waits on the tab "decide": mostly so that it goes on."""
        if not self.waiting():
            self.somebody_decides(draw)
            return
        who, stale = draw(people), draw(st.booleans())
        kind, row = one_of(self.waiting(), draw(picks))
        answer = draw(st.sampled_from(["do_again", "do_again", "happened", "leave"]))
        if kind == "replay":
            self.answers_replay(row, who, stale, answer)
        elif kind == "delivery":
            self.answers_delivery(row, who, answer)
        elif kind == "campaign":
            self.decides_about_campaign(row, who, stale, "approve")
        else:
            self.decides_about_run(row, who, stale, "start again")

    def somebody_decides(self, draw: Draw) -> None:
        """Anything that a page may offer, sensible or not; from an old page, or by a double click."""
        what, pick, who = draw(st.sampled_from((*OF_RUNS, *OF_CAMPAIGNS))), draw(picks), draw(people)
        stale, twice = draw(st.booleans()), draw(st.booleans())
        self.lab.web_dies = pick == DYING
        if what in OF_CAMPAIGNS:
            self.decides_about_campaign(one_of(list(self.seen.campaigns.values()), pick), who, stale, what)
        elif what == "take back the replay":
            self.takes_back(self.a_run(pick), who)
        else:
            resolution = one_of(runs.OF_CALLS, pick)
            self.decides_about_run(self.a_run(pick), who, stale, what, resolution=resolution, times=1 + twice)

    def decides_about_run(
        self, run: Row, who: Any, stale: bool, what: str, *, resolution: str = "leave", times: int = 1
    ) -> None:
        """One decision from the page of an attempt."""
        self.page = page = self.opened(run.lineage_id, stale=stale, run=run)
        given = {"by": who, "run_id": run.id, "shown": page.shown}
        acts: dict[str, Callable[[], Any]] = {
            "start again": lambda: _start_again(given, page),
            "declare": lambda: runs.declare_interrupted(**given, reason=REASON),
            "dismiss": lambda: runs.dismiss(**given, reason=REASON),
            "reopen": lambda: runs.reopen(**given, reason=REASON),
            "call": lambda: runs.resolve_call(
                **given, call_id=self.open_call(run), resolution=resolution, reason=REASON
            ),
        }
        for _ in range(times):
            with self.happens(f"{who.name} decides about {run.external_id}: {what}", stale=stale):
                acts[what]()

    def takes_back(self, run: Row, who: Any) -> None:
        """The last replay of this run's lineage."""
        if job := self.seen.last_job(run.lineage_id):
            with self.happens(f"{who.name} takes back {self.job_called(job)}"):
                replays.cancel(by=who, job_id=job.id, shown=self.opened(run.lineage_id).shown)

    def decides_about_campaign(self, campaign: Row, who: Any, stale: bool, what: str) -> None:
        """One decision from the page of a campaign."""
        given = {"by": who, "campaign_id": campaign.id, "shown": self.opened(campaign.id, stale=stale).shown}
        acts: dict[str, Callable[[], Any]] = {
            "approve": lambda: campaigns.approve(**given),
            "take back": lambda: campaigns.take_back(**given),
            "stop": lambda: campaigns.stop(**given, reason=REASON),
            "return": lambda: campaigns.return_(**given, comment=REASON),
            "pause": lambda: campaigns.pause(**given),
            "go on": lambda: campaigns.go_on(**given),
            "reject": lambda: campaigns.reject(**given, comment=REASON),
        }
        with self.happens(f"{who.name} decides about campaign {campaign.name}: {what}", stale=stale):
            acts[what]()

    # -- workers and the clock ---------------------------------------------------------------------------------------

    def a_worker_is_woken(self, draw: Draw) -> None:
        """For a job that is due, or by a wake-up that comes twice or late.

        It may be killed, or freeze, between any two of its steps; then the leases may run out at once.
        """
        idle = [worker for worker in self.lab.workers if worker.at is None]
        if not (self.seen.jobs and idle):
            self.somebody_answers(draw)
            return
        job, points, meets = self.a_job(draw(picks)), draw(st.sampled_from([2, 1, 3, 0, 4])), draw(meetings)
        fate = draw(st.sampled_from(["finish", "finish", "die", "freeze"]))
        self.works(job, points, fate, meets)
        if fate != "finish" and draw(st.sampled_from([True, True, False])):
            self.the_laws_hold()
            self.leases_end(swept=True)

    def a_frozen_worker_comes_back(self, draw: Draw) -> None:
        """And goes on with what it had in its hands, whoever else may have that now."""
        frozen = [worker for worker in self.lab.workers if worker.at]
        if not frozen:
            self.a_worker_is_woken(draw)
            return
        worker, points = one_of(frozen, draw(picks)), draw(st.integers(1, 4))
        fate = draw(st.sampled_from(["finish", "finish", "die", "freeze"]))
        with self.happens(f"{worker.name} goes on from {worker.at}"):
            self.goes_on(worker, points, fate)

    def time_passes(self, draw: Draw) -> None:
        """A run is not heard from, leases run out, holds and pauses are over, or the clock just sweeps."""
        what, pick = draw(st.sampled_from(["silence", "lease", "wait", "overlong", "lease"])), draw(picks)
        watched = [run for run in self.seen.runs.values() if run.silent_after]
        if what == "lease":
            self.leases_end(swept=draw(st.booleans()))
        elif what in ("silence", "overlong") and watched:
            self.is_silent(one_of(watched, pick), {"silence": "silent_after"}.get(what, "overlong_after"))
        else:
            with self.happens("holds and pauses are over"):
                self.waits_are_over()
                self.sweep()

    def is_silent(self, run: Row, timer: str) -> None:
        """Its time is over, and the clock sees it."""
        with self.happens(f"{run.external_id} is silent for too long ({timer})"):
            self.later(f"update approvals_run set {timer} = {PAST} where id = %s", run.id)
            self.sweep()

    def leases_end(self, *, swept: bool) -> None:
        """For everybody at once."""
        with self.happens(f"the leases run out, the clock {'sees it' if swept else 'does not see it yet'}"):
            self.leases_run_out()
            if swept:
                self.sweep()


def _start_again(given: dict[str, Any], page: Page) -> None:
    """By the button that the page had."""
    assert page.verdict is not None
    if page.verdict.may_start_again:
        replays.replay(**given)
    else:
        ticked = [kinds.call_key(call.run_id, call.call_id) for call in page.verdict.calls]
        replays.force(**given, reason=REASON, ticked=ticked, unknown_ticked=True)


_CONTENT: dict[str, dict[str, Any]] = {
    "message": {"text": "I will see to it.", "author": "agent"},
    "tool_call": {"args": {"to": "C-17"}},
    "tool_result": {"result": "ok"},
}


def _events(first: int, words: list[str]) -> list[NewEvent]:
    """Events numbered from `first` on, from the words of the rules."""
    events: list[NewEvent] = []
    for seq, word in enumerate(words, first):
        more: dict[str, Any] = {"type": "message"}
        match word:
            case "-":
                continue
            case "call":
                more = {"type": "tool_call", "call_id": f"c{seq}", "name": "send_email"}
            case "answer":
                more = {"type": "tool_result", "call_id": f"c{seq - 1}"}
            case "failed" | "completed" | "cancelled":
                more = {"type": "ended", "outcome": word}
            case "heartbeat":
                more = {"type": "heartbeat"}
        origin = "restored" if word == "restored" else "live"
        events.append(NewEvent(seq=seq, at=f.NOON, origin=origin, content=_CONTENT.get(more["type"]), **more))
    return events
