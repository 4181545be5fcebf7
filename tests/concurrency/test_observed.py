"""Many people, workers and the reader of a store at one run of an agent: one decision, one stream, each line once."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from django.db import transaction

from approvals.exceptions import AlreadyDecided, Conflict
from approvals.models import Event, Job, StoredRow
from approvals.rules.in_place import Said
from approvals.rules.observed import Row, Session, SessionKey
from approvals.services import (
    answers,
    handover,
    jobs,
    observations,
    observing,
    replays,
    setup,
    stops,
    streaming,
)
from approvals.services.observing import Read
from approvals.tasks import replay
from tests import factories as f
from tests.concurrency.test_campaigns import reviewer
from tests.concurrency.test_runs import REASON, bound, names, replays_of, shown, support
from tests.servers.adk import AdkServer

FIFTY = 50
MESSAGE = {"message": {"role": "user", "parts": [{"text": "Please refund customer C-17."}]}}
DONE = {"a2": Said(happened=True, result="sent at noon")}


@pytest.fixture
def adk(world):
    with world.bound():
        return f.adk_runtime()


def made(world, make, **more):
    with world.bound():
        return make(**more)


def one_was_first(taken):
    """Of the answers that all got: one began it, and the others read who was first."""
    assert names(taken) == {"Started": 1, "AlreadyDecided": FIFTY - 1}
    [started] = [answer for answer in taken if isinstance(answer, replays.Started)]
    assert {answer.who for answer in taken if isinstance(answer, AlreadyDecided)} == {
        started.decision.actor_name
    }
    return started


def test_fifty_people_answer_one_held_call_and_one_answer_is_given(world, adk, at_once):
    run = made(world, f.held_call, of=adk)
    seen = shown(world, run)
    given = {"run_id": run.id, "call_id": "a1", "shown": seen}
    taken = at_once(
        [
            partial(bound, world, answers.confirm_call, by=reviewer(n), comment="", **given)
            if n % 2
            else partial(bound, world, answers.reject_call, by=reviewer(n), reason=REASON, **given)
            for n in range(FIFTY)
        ]
    )
    started = one_was_first(taken)
    assert started.decision.kind in ("confirm_call", "reject_call")
    assert len(replays_of(world, run)) == world.read(Job.objects.count) == 1


def test_fifty_people_answer_what_a_run_left_open_and_it_goes_on_once(world, adk, at_once):
    run = made(world, f.broken_off, of=adk)
    given = {"run_id": run.id, "shown": shown(world, run), "said": DONE, "reason": REASON}
    taken = at_once(
        [partial(bound, world, answers.answer_calls, by=support(n), **given) for n in range(FIFTY)]
    )
    one_was_first(taken)
    assert len(replays_of(world, run)) == world.read(Job.objects.count) == 1


def test_one_persons_many_clicks_confirm_once_and_all_succeed(world, adk, at_once):
    run = made(world, f.held_call, of=adk)
    given = {"run_id": run.id, "call_id": "a1", "shown": shown(world, run), "comment": ""}
    taken = at_once([partial(bound, world, answers.confirm_call, by=reviewer(1), **given) for _ in range(10)])
    assert names(taken) == {"Started": 10}
    assert sorted(started.repeated for started in taken) == [False] + [True] * 9


def test_two_runs_of_one_session_that_are_handed_over_at_once_are_one(world, adk, at_once):
    for round in range(6):
        session = f"s-both-{round}"
        both = [made(world, f.broken_off, of=adk, session_id=session, input=MESSAGE) for _ in range(2)]
        held = []
        for run in both:
            given = {"run_id": run.id, "shown": shown(world, run), "said": DONE, "reason": REASON}
            job = bound(world, answers.answer_calls, by=support(1), **given).job
            held.append(bound(world, jobs.claim, job_id=job.id, task_id="t"))
        orders = at_once([partial(bound, world, handover.prepare, held=claim) for claim in held])
        assert sorted(order is None for order in orders) == [False, True], orders


def test_many_workers_that_wake_for_one_replay_open_one_stream(world, at_once):
    with AdkServer() as server:
        with world.bound():
            runtime = f.adk_runtime(base_url=server.url)
        run = made(world, f.broken_off, of=runtime, input=MESSAGE)
        job = world.forced(run).job
        at_once([partial(bound, world, replay.execute.run, job_id=str(job.id)) for _ in range(8)])
        assert len(server.asked) == len(server.sessions) == 1
        assert world.read(lambda: Job.objects.get(id=job.id).status) == "done"


def rows_of(number):
    """So many events, each with a call of its own."""
    at = datetime.now(UTC)
    return [
        Row(
            event_id=f"event-{n}", invocation_id="e-1", at=at + timedelta(milliseconds=n),
            digest=f"{n}".encode().ljust(32), lines=(f.made("look_up", f"c{n}"),),
        )
        for n in range(number)
    ]  # fmt: skip


@pytest.mark.parametrize("round", range(4))
def test_a_worker_and_whoever_reads_the_store_write_each_event_down_once(world, at_once, round):
    del round
    with world.bound():
        by = world.actor("admin")
        runtime = setup.add_runtime(
            by=by, name="adk", kind="adk", base_url="http://127.0.0.1:9",
            database_url="postgresql://reader@127.0.0.1:9/sessions",
        ).runtime  # fmt: skip
    run = made(world, f.broken_off, of=runtime, input=MESSAGE)
    started = world.forced(run)
    held = bound(world, jobs.claim, job_id=started.job.id, task_id="t")
    order = bound(world, handover.prepare, held=held)
    key = SessionKey(order.app, order.user, order.session_id)
    watch = bound(world, observations.claim, runtime_id=runtime.id)
    rows = rows_of(40)

    def listens():
        mine = bound(world, streaming.opened, held=held, order=order, session_id=order.session_id)
        for row in rows:
            assert bound(world, streaming.heard, listening=mine, pieces=[row])
        return bound(
            world, streaming.ended, listening=mine, pieces=[], outcome="completed", sentence="It completed."
        )

    def reads():
        for end in range(1, len(rows) + 1):
            read = Read(Session(key, datetime.now(UTC)), rows[:end])
            with world.bound():
                assert observations.holds(watch)
                observing.take(watch, [read], at=datetime.now(UTC))
        return True

    assert at_once([listens, reads]) == [True, True]
    with world.bound(), transaction.atomic():
        events = Event.objects.filter(type="tool_call").exclude(run_id=run.id)
        told = Counter(events.values_list("run_id", "call_id"))
        stored = StoredRow.objects.filter(run_id=started.run.id).count()
    assert told == {(started.run.id, f"c{n}"): 1 for n in range(len(rows))}
    assert stored == len(rows)


def test_stopping_and_the_end_of_a_stream_are_one_or_the_other(world, adk, at_once):
    for _ in range(6):
        run = made(world, f.broken_off, of=adk, input=MESSAGE)
        started = world.forced(run)
        held = bound(world, jobs.claim, job_id=started.job.id, task_id="t")
        order = bound(world, handover.prepare, held=held)
        mine = bound(world, streaming.opened, held=held, order=order, session_id=order.session_id)
        stopped, ended = at_once(
            [
                partial(
                    bound, world, stops.stop_replay, by=support(1), job_id=started.job.id,
                    shown=shown(world, run),
                ),
                partial(
                    bound, world, streaming.ended, listening=mine, pieces=[], outcome="completed",
                    sentence="It completed.",
                ),
            ]
        )  # fmt: skip
        assert isinstance(stopped, Conflict) == ended, (stopped, ended)
