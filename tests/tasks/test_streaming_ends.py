"""A streamed replay that does not come to its end, and whoever else looks at it: nothing is repeated."""

import json
import time
from datetime import timedelta

import pytest
from django.db import OperationalError, transaction

from approvals.models import AgentSession, Observation, StoredRow
from approvals.rules.observed import Line
from approvals.services import jobs, lines, runs
from approvals.services import streaming as service
from approvals.tasks import streaming
from tests import factories as f
from tests.servers.adk import Gate, Turn
from tests.servers.http import Answer
from tests.services.starts import declare, tab_of
from tests.tasks.streamed import (
    HIDDEN,
    NORMAL,
    SENT,
    UNKNOWN_ENDING,
    ada,
    as_superuser,
    database,
    desk,
    ended,
    in_a_hurry,
    lease_over,
    replay,
    runtime,
    server,
)
from tests.tasks.streams import (
    adk,
    calls,
    journal,
    run_on,
    seen_in_the_store,
    soon,
    started,
    stored,
    work,
    working,
)

__all__ = [
    "ada",
    "as_superuser",
    "database",
    "desk",
    "in_a_hurry",
    "lease_over",
    "replay",
    "runtime",
    "server",
]


# Streams that do not come to their end.


def test_a_stream_that_breaks_leaves_an_interrupted_run_and_names_its_calls(server, replay):
    server.turns = [Turn(SENT[:3], whole=False)]
    work(replay.job)
    job, run, outcome = ended(replay)
    assert (job, run, len(server.asked)) == ("failed", "interrupted", 1)
    assert f.fresh(replay.run).interrupted_why == "broken"
    assert UNKNOWN_ENDING in outcome
    assert "Completed until then: lookup_customer. Left open: send_email." in outcome
    assert calls(replay.run) == {"lookup_customer": "answered", "send_email": "open"}
    assert tab_of(replay.run) == "decide"


def test_a_session_that_is_refused_began_nothing(server, replay):
    server.session_answers = [Answer(404, b'{"detail": "App not found"}')]
    work(replay.job)
    job, run, outcome = ended(replay)
    assert (job, run, server.asked) == ("failed", "cancelled", [])
    assert "App not found" in outcome


@pytest.mark.parametrize(
    ("version", "asked"),
    [("1.38.9", False), ("not a number", False), ("", True), ("2.13.0", True), ("3.0.0", True)],
)
def test_a_service_that_is_too_old_is_asked_for_nothing(server, runtime, replay, version, asked):
    with transaction.atomic():
        Observation.objects.create(workspace_id=runtime.workspace_id, runtime=runtime, version=version)
    work(replay.job)
    job, run, outcome = ended(replay)
    assert bool(server.asked) is asked
    if not asked:
        assert (job, run, outcome.startswith("Nothing was asked for:")) == ("failed", "cancelled", True)


def test_a_turn_that_is_refused_began_nothing(server, replay):
    server.turns = [Answer(404, b'{"detail": "Session not found"}')]
    work(replay.job)
    assert ended(replay)[:2] == ("failed", "cancelled")


def test_a_turn_without_a_proper_answer_is_in_doubt(server, replay):
    server.turns = [Answer(500, b"Internal Server Error")]
    work(replay.job)
    assert ended(replay)[:2] == ("in_doubt", "running")
    assert len(server.asked) == 1


def test_a_run_that_a_person_stops_is_left_at_once(server, ada, replay, in_a_hurry):
    gate = Gate()
    server.turns = [Turn([*SENT[:3], gate])]
    with working(replay.job):
        assert gate.reached()
        soon(lambda: "send_email" in calls(replay.run))
        declare(ada, f.fresh(replay.run))
    gate.open.set()
    assert server.left.wait(5)
    assert jobs.follow(job_id=replay.job.id) == "failed"
    assert f.fresh(replay.run).interrupted_why == "declared"
    assert calls(replay.run)["send_email"] == "open"


def test_a_worker_that_lost_its_lease_writes_nothing_more(server, replay, in_a_hurry, lease_over):
    gate = Gate()
    server.turns = [Turn([*SENT[:1], gate, *SENT[1:]])]

    def lose():
        lease_over(replay.job.id)
        return jobs.expire(job_id=replay.job.id) == "running"

    with working(replay.job):
        assert gate.reached()
        soon(lambda: calls(replay.run))
        soon(lose)
        gate.open.set()
    assert [line for line in journal(replay.run) if line[0] == "ended"] == []
    assert "watched from outside" in f.fresh(replay.job).outcome
    assert f.fresh(replay.run).silent_after
    f.interrupted(replay.run)
    assert jobs.follow(job_id=replay.job.id) == "failed"


def test_a_worker_that_is_to_end_closes_its_streams(server, replay, monkeypatch):
    monkeypatch.setattr(streaming, "_leaving", bytearray(1))
    gate = Gate()
    server.turns = [Turn([*SENT[:3], gate])]
    with working(replay.job):
        assert gate.reached()
        soon(lambda: "send_email" in calls(replay.run))
        streaming.leave()
    gate.open.set()
    assert server.left.wait(5)
    assert ended(replay)[:2] == ("failed", "interrupted")
    assert ended(replay)[2].startswith(streaming.LEAVING)


# The lease, the timers, and whoever else looks at the run.


def test_a_long_quiet_tool_keeps_its_lease_and_its_run(server, ada, as_superuser, in_a_hurry):
    quiet = adk(server, silence_s=3)
    replay = started(ada, run_on(quiet))
    gate = Gate()
    server.turns = [Turn([*SENT[:3], gate, *SENT[3:]])]
    with working(replay.job):
        assert gate.reached()
        soon(lambda: "send_email" in calls(replay.run))
        first = f.fresh(replay.job).lease_until
        soon(lambda: ("heartbeat",) in journal(replay.run), 5)
        assert f.fresh(replay.job).lease_until > first + timedelta(seconds=0.5)
        gate.open.set()
    assert [line for line in journal(replay.run) if line[0] != "heartbeat"] == [
        HIDDEN,
        *NORMAL,
        ("ended", "completed"),
    ]


def test_a_run_that_only_gives_signs_of_life_comes_to_its_limit(server, replay, as_superuser, in_a_hurry):
    gate = Gate()
    server.turns = [Turn([*SENT[:1], gate])]
    with working(replay.job):
        assert gate.reached()
        soon(lambda: calls(replay.run))
        as_superuser(
            "update approvals_run set overlong_after = now() - interval '1 second' where id = %s",
            replay.run.id,
        )
        assert runs.interrupt(run_id=replay.run.id, why="overlong")
    gate.open.set()
    assert server.left.wait(5)


def test_what_the_store_showed_first_is_not_written_twice(server, runtime, replay):
    first = json.loads(SENT[0].removeprefix(b"data: "))["id"]
    seen_in_the_store(runtime, replay.run.session_id, first, replay.run)
    work(replay.job)
    assert journal(replay.run) == [HIDDEN, *NORMAL[1:], ("ended", "completed")]
    assert len(stored(replay.run)) == len(SENT)


def test_whoever_reads_the_store_meanwhile_is_waited_for(server, replay):
    gate = Gate()
    server.turns = [Turn([gate, *SENT])]
    first = json.loads(SENT[0].removeprefix(b"data: "))["id"]
    with working(replay.job):
        assert gate.reached()
        soon(lambda: f.rows(AgentSession.objects))
        with transaction.atomic():
            of = AgentSession.objects.select_for_update(no_key=True).get()
            gate.open.set()
            time.sleep(0.5)
            StoredRow.objects.create(
                workspace_id=of.workspace_id, session=of, event_id=first, invocation_id="e-1", run=replay.run,
                at=f.NOON, digest=b"d" * 32,
            )  # fmt: skip
            call = Line(
                type="tool_call", at=f.NOON, call_id="c1", name="lookup_customer", content={"args": {}}
            )
            lines.append({replay.run.id: [call]})
    assert journal(replay.run) == [HIDDEN, *NORMAL, ("ended", "completed")]


def test_an_event_that_is_sent_twice_is_one(server, replay):
    server.turns = [Turn([SENT[0], *SENT])]
    work(replay.job)
    assert journal(replay.run) == [HIDDEN, *NORMAL, ("ended", "completed")]


def test_postgres_may_be_away_for_a_moment(server, replay, monkeypatch, in_a_hurry):
    heard, away = service.heard, [True, True]

    def shaky(**given):
        if given["pieces"] and away and away.pop():
            raise OperationalError("the server closed the connection")
        return heard(**given)

    monkeypatch.setattr(service, "heard", shaky)
    server.turns = [Turn([*SENT[:3], 1.0, *SENT[3:]])]
    work(replay.job)
    assert away == []
    assert journal(replay.run) == [HIDDEN, *NORMAL, ("ended", "completed")]
