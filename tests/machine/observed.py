"""What can happen to runs that are read from their runtime's store, and streamed by a worker; in any order.

Beside the acts of machine.py: people talk to the agents without us, somebody tampers with their store, the store is
read, and a worker owns the stream of a replay. The laws are the same ones, and those of observed_laws.py.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.db import transaction
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from approvals.models import Observation
from approvals.rules.in_place import Said
from approvals.rules.observed import SessionKey
from approvals.services import answers, replays, runs, stops
from tests import factories as f
from tests.machine.agents import APP, STREAMS, TURNS, USER, Agents
from tests.machine.machine import _start_again as start_again
from tests.machine.observed_laws import OBSERVED_LAWS, everything_was_read
from tests.machine.scene import PAST, PEOPLE, REASON, Lab, Scene, one_of
from tests.machine.seen import Row, Seen

SESSIONS = [SessionKey(APP, USER, "s-1"), SessionKey(APP, USER, "s-2")]
MOST_INVOCATIONS = 4
OF_RUNS = (
    "start again",
    "answer",
    "confirm",
    "reject",
    "stop",
    "take back",
    "declare",
    "dismiss",
    "reopen",
    "call",
)

picks = st.integers(0, 11)
people = st.sampled_from(PEOPLE)

# What happens, and how often.
ACTS = {
    "an_agent_works": 2,
    "the_store_is_read": 3,
    "somebody_answers": 4,
    "somebody_decides": 2,
    "a_worker_is_woken": 5,
    "a_frozen_worker_comes_back": 4,
    "time_passes": 2,
}
Draw = Callable[[st.SearchStrategy[Any]], Any]


@dataclass(frozen=True)
class Focus:
    """Where to look: what turns come to, how streams go, what happens, and which workers die or freeze."""

    turns: Sequence[str] = (*TURNS, "asks for a confirmation")
    streams: Sequence[str] = STREAMS
    acts: Sequence[str] = tuple(name for name, often in ACTS.items() for _ in range(often))
    fates: Sequence[str] = ("finish", "finish", "die", "freeze")
    begins_with: int = 1  # turns at least


class ObservedMachine(Scene):
    """One workspace with one ADK service."""

    laws = OBSERVED_LAWS
    outside: Agents

    def __init__(self, lab: Lab, focus: Focus | None = None) -> None:
        super().__init__(lab)
        self.focus = focus = focus or Focus()
        self.turns, self.fates = st.sampled_from(focus.turns), st.sampled_from(focus.fates)
        self.streams = st.lists(st.sampled_from(focus.streams), min_size=1, max_size=2)

    @initialize(data=st.data())
    def a_service(self, data: Any) -> None:
        """With a conversation of one or two turns, each read at its end, and over or interrupted."""
        self.workspace_id = f.workspace(f"w{uuid4().hex[:12]}").id
        with self.bound(), transaction.atomic():
            self.runtime_id = f.adk_runtime(writes_ahead=False).id
            Observation.objects.create(workspace_id=self.workspace_id, runtime_id=self.runtime_id)
        self.outside = Agents(self.lab.sql, self.workspace_id)
        self.outside.whose, self.outside.pause = self.lab.job_here, self.lab.point
        self.lab.outside = self.outside
        self.seen = Seen.of(self.lab.sql, self.workspace_id)
        for turn in data.draw(st.lists(self.turns, min_size=self.focus.begins_with, max_size=2)):
            self.outside.asked(SESSIONS[0], TURNS[turn])
            self.story.append(f"somebody asks the agent, which {turn}")
            self.reads("finish", 0)
            self.ask_the_laws()
            self.silence()
            self.ask_the_laws()

    @rule(data=st.data())
    def something_happens(self, data: Any) -> None:
        """One of the acts below."""
        getattr(self, data.draw(st.sampled_from(self.focus.acts)))(data.draw)

    # -- the service and its store -----------------------------------------------------------------------------------

    def an_agent_works(self, draw: Draw) -> None:
        """Without us: a new turn, more of an old one, an answer from elsewhere, or somebody tampers with the rows."""
        what = draw(st.sampled_from(["turn", "turn", "more", "elsewhere", "elsewhere", "edit", "delete"]))
        key, pick = one_of(list(self.outside.sessions), draw(picks)), draw(picks)
        events = self.outside.sessions[key]
        words = TURNS[draw(self.turns)]
        if what in ("edit", "delete") and events:
            self.story.append(f"somebody {what}s row {pick % len(events)} of {key.id}")
            (self.outside.edits if what == "edit" else self.outside.deletes)(key, pick % len(events))
        elif what == "elsewhere" and self.outside.requests(key):
            self.story.append(f"somebody answers a confirmation in {key.id} elsewhere")
            asked = one_of(self.outside.requests(key), pick)
            self.outside.answered(key, "adk_request_confirmation", asked, {"confirmed": pick % 2 == 0})
        elif what == "more" and events and not self.is_over(key):
            self.story.append(f"the last turn of {key.id} goes on: {words}")
            self.outside.goes_on(key, self.outside.last_invocation(key), words)
        elif len(self.outside.calls) < MOST_INVOCATIONS:
            key = SESSIONS[pick % 3 == 0]
            self.story.append(f"somebody asks the agent in {key.id}: {words}")
            self.outside.asked(key, words)

    def is_over(self, key: SessionKey) -> bool:
        """Whether the last row of a session is the proven end of its turn."""
        return bool(self.outside.sessions[key][-1].get("actions"))

    def the_store_is_read(self, draw: Draw) -> None:
        """By a worker that may be killed, or held up between what it reads and what it writes down."""
        if self.idle():
            self.reads(draw(self.fates), draw(st.sampled_from([2, 3, 1, 4])))

    def reads(self, fate: str, points: int) -> None:
        """All that is new, and all that is known once more."""
        self.later(
            f"update approvals_observation set due_at = {PAST}, pass_ended_at = null where workspace_id = %s",
            self.workspace_id,
        )
        worker = self.idle()[0]
        with self.happens(f"{worker.name} reads the store"):
            worker.take("observe", self.runtime_id, self.workspace_id)
            self.goes_on(worker, points, fate)

    # -- people ------------------------------------------------------------------------------------------------------

    def somebody_answers(self, draw: Draw) -> None:
        """What waits on the tab "decide": mostly so that it goes on."""
        if not self.waiting():
            self.somebody_decides(draw)
            return
        who, stale, pick = draw(people), draw(st.booleans()), draw(picks)
        kind, row = one_of(self.waiting(), draw(picks))
        if kind == "replay":
            self.answers_replay(
                row, who, stale, one_of(["do_again", "did_not_happen", "happened", "leave"], pick)
            )
            return
        if self.seen.held_calls(row.id):
            self.decides(row, who, stale, "confirm" if pick % 3 else "reject", pick, times=1 + pick % 2)
        else:
            self.decides(row, who, stale, one_of(["answer", "start again"], pick), pick)

    def somebody_decides(self, draw: Draw) -> None:
        """Anything that a page may offer, sensible or not; from an old page, or by a double click."""
        what, pick, who = draw(st.sampled_from(OF_RUNS)), draw(picks), draw(people)
        if not self.seen.runs:
            self.the_store_is_read(draw)
            return
        run = self.a_run(pick)
        if what in ("confirm", "reject") and not self.asked_in(run):
            what = "start again"
        self.decides(run, who, draw(st.booleans()), what, pick, times=1 + draw(st.booleans()))

    def decides(self, run: Row, who: Any, stale: bool, what: str, pick: int, *, times: int = 1) -> None:
        """One decision from the page of an attempt."""
        self.page = page = self.opened(run.lineage_id, stale=stale, run=run)
        given = {"by": who, "run_id": run.id, "shown": page.shown}
        job = self.seen.last_job(run.lineage_id)
        said = {call: Said(happened=pick % 2 == 0, result="done") for call in self.calls_of(run)}
        held = one_of([*self.asked_in(run), "none"], 0)
        acts: dict[str, Callable[[], Any]] = {
            "start again": lambda: start_again(given, page),
            "answer": lambda: answers.answer_calls(**given, said=said, reason=REASON),
            "confirm": lambda: answers.confirm_call(**given, call_id=held, comment=""),
            "reject": lambda: answers.reject_call(**given, call_id=held, reason=REASON),
            "declare": lambda: runs.declare_interrupted(**given, reason=REASON),
            "dismiss": lambda: runs.dismiss(**given, reason=REASON),
            "reopen": lambda: runs.reopen(**given, reason=REASON),
            "call": lambda: runs.resolve_call(
                **given, call_id=self.open_call(run), resolution=one_of(runs.OF_CALLS, pick), reason=REASON
            ),
        }
        if job is not None:
            acts["stop"] = lambda: stops.stop_replay(by=who, job_id=job.id, shown=page.shown)
            acts["take back"] = lambda: replays.cancel(by=who, job_id=job.id, shown=page.shown)
        for _ in range(times):
            with self.happens(f"{who.name} decides about {self.called(run.lineage_id)}: {what}", stale=stale):
                acts.get(what, lambda: None)()

    def calls_of(self, run: Row) -> set[str]:
        """All calls of a run."""
        return {event.call_id for event in self.seen.journal(run.id) if event.type == "tool_call"}

    def asked_in(self, run: Row) -> list[str]:
        """The calls of a run of which a confirmation was ever asked for, the last one first."""
        return [event.call_id for event in reversed(self.seen.journal(run.id)) if event.outcome == "awaiting"]

    # -- workers and the clock ---------------------------------------------------------------------------------------

    def a_worker_is_woken(self, draw: Draw) -> None:
        """For a replay, which it streams; it may be killed, or freeze, between any two of its steps."""
        if not (self.seen.jobs and self.idle()):
            self.somebody_answers(draw)
            return
        job, points, meets = (
            self.a_job(draw(picks)),
            draw(st.sampled_from([3, 4, 2, 5, 1])),
            draw(self.streams),
        )
        turn, fate = draw(self.turns), draw(self.fates)
        self.outside.script = TURNS[turn]
        self.works(job, points, fate, meets)
        self.story[-1] += f" ({turn})"
        if fate != "finish" and draw(st.sampled_from([True, False, False])):
            self.the_laws_hold()
            self.leases_end(swept=True)

    def a_frozen_worker_comes_back(self, draw: Draw) -> None:
        """And goes on with what it had in its hands, whoever else may have that now."""
        frozen = [worker for worker in self.lab.workers if worker.at]
        if not frozen:
            self.a_worker_is_woken(draw)
            return
        worker, points, fate = one_of(frozen, draw(picks)), draw(st.integers(1, 4)), draw(self.fates)
        with self.happens(f"{worker.name} goes on from {worker.at}"):
            self.goes_on(worker, points, fate)

    def time_passes(self, draw: Draw) -> None:
        """Leases run out, runs are not heard from, or the clock just sweeps."""
        what = draw(st.sampled_from(["lease", "silence", "sweep"]))
        if what == "lease":
            self.leases_end(swept=draw(st.booleans()))
        elif what == "silence":
            self.silence()
        else:
            with self.happens("the clock sweeps"):
                self.sweep()

    def silence(self) -> None:
        """All runs are silent for too long, but those whose worker lives and says so."""
        with self.happens("what is not heard from is silent for too long"):
            self.later(
                f"""update approvals_run r set silent_after = {PAST} where workspace_id = %s
                and silent_after is not null and not exists (select from approvals_job j
                  where j.run_id = r.id and j.status = 'running' and j.lease_until > now())""",
                self.workspace_id,
            )
            self.sweep()

    def leases_end(self, *, swept: bool) -> None:
        """For everybody at once."""
        with self.happens(f"the leases run out, the clock {'sees it' if swept else 'does not see it yet'}"):
            self.leases_run_out()
            if swept:
                self.sweep()

    def leases_run_out(self) -> None:
        """Those of whoever reads the store too."""
        super().leases_run_out()
        self.later(
            f"update approvals_observation set lease_until = {PAST} where lease_until > now() and workspace_id = %s",
            self.workspace_id,
        )

    def idle(self) -> list[Any]:
        """The workers that wait for work."""
        return [worker for worker in self.lab.workers if worker.at is None]

    def due(self) -> list[Any]:
        """Without the store, which is read by an act of its own."""
        return [item for item in super().due() if item.kind != "observe"]

    def becomes_quiet(self) -> None:
        """Whatever the store holds is read, too."""
        self.outside.script = TURNS["says nothing but a word"]
        self.leases_run_out()
        for _ in range(2):
            self.reads("finish", 0)
            self.ask_the_laws()
            super().becomes_quiet()
        self.reads("finish", 0)
        self.ask_the_laws()
        if missed := everything_was_read(self.lab.sql, self.workspace_id, self.outside):
            self.fail(missed)
