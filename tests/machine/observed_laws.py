"""What must be true after every step of runs that are read from their runtime's store, or streamed by a worker."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import psycopg

from tests.machine.agents import Agents
from tests.machine.laws import LAWS
from tests.machine.step import Step

ANSWERED_HELD = ("confirm_call", "reject_call")


def nothing_is_asked_again_after_a_call(step: Step) -> Iterator[str]:
    """A worker repeats a turn by itself only in a session of its own, and only while no call was seen."""
    turns = _agents(step).turns
    for job_id, times in Counter(turn.job_id for turn in turns).items():
        mine = [turn for turn in turns if turn.job_id == job_id]
        if len({turn.session for turn in mine}) < times:
            yield "a turn was asked for twice in one session"
        if any(turn.called for turn in mine):
            yield "a turn was asked for again, though it had called"


def each_event_is_told_once(step: Step) -> Iterator[str]:
    """Whoever heard of an event first writes it down, and nobody else does."""
    told = Counter(
        (event.type, event.call_id, event.outcome)
        for event in step.now.events
        if event.type in ("tool_call", "tool_result")
    )
    for (type, call_id, outcome), times in told.items():
        if times > 1:
            yield f"{call_id} stands {times} times in the journals as {type} {outcome or ''}"


def a_worker_ends_what_it_listens_to(step: Step) -> Iterator[str]:
    """Nobody concludes the end of a run from its rows while a worker holds its lease."""
    known = {event.id for event in step.before.events}
    for event in step.now.events:
        job, before = step.now.job_of(event.run_id), step.before.job_of(event.run_id)
        if event.id in known or event.type != "ended" or job is None or before is None:
            continue
        listened = before.status == "running" and before.lease_until and before.accepted_at
        if listened and job.status == "running" and job.lease_until and job.fence == before.fence:
            yield f"{step.now.runs[event.run_id].external_id} was ended, and a worker listens to it"


def none_is_proven_and_true(step: Step) -> Iterator[str]:
    """That a run called nothing needs its proven end and a whole history; and then it really called nothing."""
    for record in step.now.records.values():
        if record.kind != "none":
            continue
        run, events = step.now.runs[record.id], step.now.journal(record.id)
        if not any(event.type == "ended" and event.origin == "live" for event in events):
            yield f"{run.external_id} is known to have called nothing, and its end is not proven"
        if any(event.type == "finding" for event in events):
            yield f"{run.external_id} is known to have called nothing, and something is wrong with its history"
        if really := _really_called(step, run):
            yield f"{run.external_id} is known to have called nothing, and called {really}"


def _really_called(step: Step, run: Any) -> set[str]:
    agents, job = _agents(step), step.now.job_of(run.id)
    if job is not None:
        return agents.of_job.get(job.id, set())
    return agents.calls.get(run.external_id.rpartition("/")[2], set())


def one_run_of_ours_a_session(step: Step) -> Iterator[str]:
    """Two at once in one session would lose what one of them did."""
    ours = [run for run in step.now.runs.values() if run.replay_of_id and run.started_at]
    for (session, _), times in Counter(
        (run.session_id, run.status) for run in ours if run.status == "running"
    ).items():
        if times > 1:
            yield f"{times} runs of ours run in {session}"


def a_held_call_is_answered_while_it_is_held(step: Step) -> Iterator[str]:
    """Not after it was withdrawn, answered elsewhere, or made."""
    for decision in step.new_decisions:
        if decision.kind in ANSWERED_HELD and not step.before.held_calls(decision.target_id):
            yield f"{decision.actor_name} answered a call that was not asked about any more"


def nobody_waits_where_the_session_went_on(step: Step) -> Iterator[str]:
    """A request for a confirmation is over once somebody sent the next message."""
    observed = [run for run in step.now.runs.values() if run.replay_of_id is None]
    for run in observed:
        later = [r for r in observed if r.session_id == run.session_id and _number(r) > _number(run)]
        if later and step.now.held_calls(run.id):
            yield f"{run.external_id} still asks, and {later[-1].external_id} came after it"


def _number(run: Any) -> int:
    return int(run.external_id.rpartition("-")[2])


def one_answer_for_each_request(step: Step) -> Iterator[str]:
    """What a runtime took is not answered once more, unless a person said that the answer never came."""
    answered = step.now.persons(*ANSWERED_HELD)
    for job in step.now.jobs.values():
        if job.status not in ("done", "running") or not job.accepted_at:
            continue
        mine = next((d for d in answered if d.id == job.decision_id), None)
        later = [d for d in answered if mine and d.target_id == mine.target_id and d.seq > mine.seq]
        if mine and later:
            yield f"{later[0].actor_name} answered what {mine.actor_name} had answered"


def everything_was_read(sql: psycopg.Connection[Any], workspace_id: UUID, agents: Agents) -> list[str]:
    """When all is quiet: each row of the store is known here, and each call stands in a journal."""
    query = "select event_id from approvals_storedrow where workspace_id = %s"
    known = {row[0] for row in sql.execute(query, [workspace_id])}
    query = "select call_id from approvals_event where workspace_id = %s and type = 'tool_call'"
    calls = {row[0] for row in sql.execute(query, [workspace_id])}
    missed = []
    for events in agents.sessions.values():
        for event in events:
            if event["id"] not in known:
                missed.append(f"{event['id']} is in the store, and nobody read it")
            for part in event["content"]["parts"]:
                call = part.get("functionCall", {"name": ""})
                if call["name"] == "send_email" and call["id"] not in calls:
                    missed.append(f"the call {call['id']} is in the store, and in no journal")
    return missed


def _agents(step: Step) -> Agents:
    assert isinstance(step.outside, Agents)
    return step.outside


OBSERVED_LAWS: tuple[Callable[[Step], Iterator[str]], ...] = (
    *LAWS,
    nothing_is_asked_again_after_a_call,
    each_event_is_told_once,
    a_worker_ends_what_it_listens_to,
    none_is_proven_and_true,
    one_run_of_ours_a_session,
    a_held_call_is_answered_while_it_is_held,
    nobody_waits_where_the_session_went_on,
    one_answer_for_each_request,
)
