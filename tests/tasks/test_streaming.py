"""A replay that the worker streams: what comes is in the journal, how it ends is decided once, and nothing is repeated.

Against a real HTTP server that plays what google-adk 2.13 sent.
"""

import json
import random
import threading
import time
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import OperationalError, connections, transaction

from approvals.db.binding import bind
from approvals.models import AgentSession, Decision, Job, Observation, StoredRow
from approvals.rules.observed import Line
from approvals.rules.turns import MOST_REPEATS
from approvals.services import handover, jobs, lines, runs
from approvals.services import streaming as service
from approvals.tasks import streaming
from tests import factories as f
from tests.servers.adk import AdkServer, Gate, Turn, event, sample
from tests.servers.http import Answer
from tests.services.conftest import ada, as_superuser, database, desk, lease_over
from tests.services.starts import declare, resolve_job, tab_of
from tests.tasks.streams import (
    MESSAGE,
    adk,
    calls,
    error_of,
    in_place,
    journal,
    run_on,
    seen_in_the_store,
    soon,
    started,
    stored,
    work,
    working,
)

__all__ = ["ada", "as_superuser", "database", "desk", "lease_over"]

NORMAL = [
    ("tool_call", "lookup_customer"),
    ("tool_result", "lookup_customer"),
    ("tool_call", "send_email"),
    ("tool_result", "send_email"),
    ("message", "Done: the mail to ada@example.test is out."),
]
HIDDEN = ("finding",)
SENT = sample("normal")
RATE_LIMITED = [line.replace(b"'7s'", b"'0.1s'") for line in sample("rate_before")]
UNKNOWN_ENDING = "so how the run ended is not known from it"


@pytest.fixture
def server(desk):
    with AdkServer() as server:
        yield server


@pytest.fixture
def runtime(server):
    return adk(server)


@pytest.fixture
def replay(ada, runtime):
    """A replay in a fresh session, decided and not begun."""
    return started(ada, run_on(runtime))


@pytest.fixture
def in_a_hurry(monkeypatch):
    """The lease is extended all the time."""
    monkeypatch.setattr(streaming, "BEAT_S", 0.05)


class Preparing(threading.Thread):
    """A second worker at the check before its intent; `prepared` is what came of it."""

    def __init__(self, desk, held):
        super().__init__()
        self.desk, self.held, self.prepared = desk, held, []

    def run(self):
        with bind(self.desk.id):
            self.prepared.append(handover.prepare(held=self.held))
        connections.close_all()


@contextmanager
def preparing(desk, held):
    """One that has come back at the end."""
    thread = Preparing(desk, held)
    yield thread
    thread.join(10)


def ended(replay):
    """(status of the job, status of the new run, what came of the job)."""
    job, run = f.fresh(replay.job), f.fresh(replay.run)
    return job.status, run.status, job.outcome


# The whole of it.


def test_what_comes_is_the_journal_of_the_new_run(server, replay):
    work(replay.job)
    assert journal(replay.run) == [HIDDEN, *NORMAL, ("ended", "completed")]
    assert ended(replay) == ("done", "completed", "The new run completed.")
    assert calls(replay.run) == {"lookup_customer": "answered", "send_email": "answered"}
    assert {session for session, _ in stored(replay.run)} == {replay.run.session_id}
    assert len(stored(replay.run)) == len(SENT)
    job = f.fresh(replay.job)
    assert job.accepted_at
    assert job.lease_until is None
    kinds = [decision.kind for decision in f.rows(Decision.objects.filter(target_id=job.id))]
    assert kinds == ["outcome"]


def test_the_turn_is_the_message_of_the_old_run_in_a_session_of_its_own(server, replay):
    work(replay.job)
    [asked] = server.asked
    assert server.sessions == [replay.run.session_id]
    assert asked == {
        "appName": "support",
        "userId": "u1",
        "sessionId": replay.run.session_id,
        "streaming": True,
        "newMessage": MESSAGE,
    }


def test_an_agent_whose_tools_are_known_has_no_finding(ada, as_superuser, server, runtime, replay):
    facts = json.dumps({"support": {"hides_calls": False, "detail": ""}})
    as_superuser(
        "insert into approvals_observation (id, workspace_id, runtime_id, facts)"
        " values (gen_random_uuid(), %s, %s, %s)",
        runtime.workspace_id,
        runtime.id,
        facts,
    )
    work(replay.job)
    assert journal(replay.run) == [*NORMAL, ("ended", "completed")]
    assert f.fresh(replay.run).tools_executed


def test_a_call_is_in_the_journal_while_its_tool_still_runs(server, replay):
    gate = Gate()
    server.turns = [Turn([*SENT[:3], gate, *SENT[3:]])]
    with working(replay.job):
        assert gate.reached()
        soon(lambda: calls(replay.run) == {"lookup_customer": "answered", "send_email": "open"}, 2)
        assert ended(replay)[:2] == ("running", "running")
        gate.open.set()
    assert journal(replay.run) == [HIDDEN, *NORMAL, ("ended", "completed")]


def test_what_comes_at_once_is_written_at_once(server, replay, monkeypatch):
    times = []
    heard = service.heard
    monkeypatch.setattr(
        service, "heard", lambda **given: times.append(len(given["pieces"])) or heard(**given)
    )
    server.turns = [
        Turn(
            [
                event({"id": f"m-{n}", "author": "support", "content": {"parts": [{"text": "x"}]}})
                for n in range(500)
            ]
        )
    ]
    work(replay.job)
    assert len(journal(replay.run)) == 502
    assert len(times) < 20


# The rule for a rate limit and for an empty turn.


def test_a_rate_limit_after_a_call_is_handed_on_with_its_name(server, replay):
    server.turns = [Turn(sample("rate_after"))]
    work(replay.job)
    job, run, outcome = ended(replay)
    assert (job, run, len(server.asked)) == ("done", "failed", 1)
    error = error_of(replay.run)
    assert error["code"] == "rate_limited"
    assert error["completed"] == ["lookup_customer", "send_email"]
    assert error["open"] == []
    assert "send_email" in error["message"]
    assert "again" not in error["message"]
    assert outcome == error["message"]
    assert tab_of(replay.run) == "decide"


def test_a_rate_limit_before_any_call_is_tried_again_in_sessions_of_their_own(server, replay):
    server.turns = [Turn(RATE_LIMITED), Turn(RATE_LIMITED), Turn(SENT)]
    work(replay.job)
    id = replay.run.session_id
    assert server.sessions == [asked["sessionId"] for asked in server.asked] == [id, f"{id}-2", f"{id}-3"]
    assert ended(replay)[:2] == ("done", "completed")
    told = journal(replay.run)
    assert [line for line in told if line[0].startswith("tool")] == NORMAL[:4]
    assert sum("asked once more" in line[-1] for line in told) == MOST_REPEATS
    assert {session for session, _ in stored(replay.run)} == {id, f"{id}-2", f"{id}-3"}


def test_a_rate_limit_that_stays_is_handed_on(server, replay):
    server.turns = [Turn(RATE_LIMITED)]
    work(replay.job)
    assert len(server.asked) == 1 + MOST_REPEATS
    assert ended(replay)[:2] == ("done", "failed")
    assert error_of(replay.run)["code"] == "rate_limited"


def test_a_call_in_the_second_attempt_ends_the_trying(server, replay):
    server.turns = [Turn(RATE_LIMITED), Turn([*SENT[:4], *RATE_LIMITED]), Turn(SENT)]
    work(replay.job)
    assert len(server.asked) == 2
    assert error_of(replay.run)["completed"] == ["lookup_customer", "send_email"]


def test_an_empty_turn_is_asked_once_more(server, replay):
    server.turns = [Turn(sample("empty")), Turn(SENT)]
    work(replay.job)
    assert len(server.asked) == 2
    assert ended(replay)[:2] == ("done", "completed")


def test_an_empty_turn_twice_is_handed_on(server, replay):
    server.turns = [Turn()]
    work(replay.job)
    assert len(server.asked) == 2
    assert error_of(replay.run)["code"] == "empty_turn"


def test_a_session_that_cannot_be_made_for_the_second_attempt_fails_the_run(server, replay):
    server.turns = [Turn(RATE_LIMITED)]
    server.session_answers = [
        Answer(200, json.dumps({"id": replay.run.session_id}).encode()),
        Answer(403, b'{"detail": "no more sessions"}'),
    ]
    work(replay.job)
    assert ended(replay)[:2] == ("done", "failed")
    assert "no more sessions" in error_of(replay.run)["message"]


def test_whoever_is_stopped_while_waiting_asks_for_nothing_more(server, ada, replay, in_a_hurry):
    server.turns = [Turn([line.replace(b"'7s'", b"'30s'") for line in sample("rate_before")])]
    with working(replay.job):
        soon(lambda: any("asked once more" in line[-1] for line in journal(replay.run)))
        declare(ada, f.fresh(replay.run))
    assert len(server.asked) == 1
    assert f.fresh(replay.run).interrupted_why == "declared"


# Calls that are still being written.


def test_a_call_that_is_still_written_counts_and_gives_way_to_the_whole(server, replay):
    gate = Gate()
    events = sample("stream_call")
    server.turns = [Turn([*events[:2], gate, *events[2:]])]
    with working(replay.job):
        assert gate.reached()
        soon(lambda: calls(replay.run) == {"lookup_customer": "open"}, 2)
        gate.open.set()
    assert journal(replay.run) == [
        HIDDEN,
        ("tool_call", "lookup_customer"),
        ("tool_result", "lookup_customer", "replaced"),
        ("tool_call", "lookup_customer"),
        ("tool_result", "lookup_customer"),
        ("message", "Streamed call done."),
        ("ended", "completed"),
    ]
    assert calls(replay.run) == {"lookup_customer": "answered"}


def test_a_call_that_was_never_finished_stays_open(server, replay):
    server.turns = [Turn(sample("stream_call")[:1], whole=False)]
    work(replay.job)
    assert calls(replay.run) == {"lookup_customer": "open"}
    assert "Left open: lookup_customer." in ended(replay)[2]


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


# In the session of the run that it is about.


def test_answers_go_into_the_session_of_the_old_run_and_into_the_journal(server, ada, runtime):
    old = run_on(runtime, f.dead_run)
    response = {"status": "sent", "note": "It is in the provider's log."}
    answers = [{"call_id": "c1", "name": "send_email", "happened": True, "response": response}]
    replay = in_place(ada, old, "answer_calls", {"reason": "it is in the log", "answers": answers})
    server.turns = [Turn(sample("orphan_support_slow_answered"))]
    work(replay.job)
    [asked] = server.asked
    assert server.sessions == []
    assert asked["sessionId"] == "s-1"
    part = {"functionResponse": {"id": "c1", "name": "send_email", "response": response}}
    assert asked["newMessage"] == {"role": "user", "parts": [part]}
    assert ("tool_result", "send_email", "supplied") in journal(replay.run)
    assert calls(replay.run)["send_email"] == "supplied"
    assert ended(replay)[:2] == ("done", "completed")


def test_a_call_id_that_was_used_again_is_told_to_the_agent_as_it_knows_it(server, ada, runtime):
    old = run_on(runtime, f.dead_run)
    answers = [
        {"call_id": call_id, "name": "send_email", "happened": True, "response": {"n": call_id}}
        for call_id in ("c1", "c1 #2")
    ]
    replay = in_place(ada, old, "answer_calls", {"reason": "it is in the log", "answers": answers})
    server.turns = [Turn(sample("orphan_support_slow_answered"))]
    work(replay.job)
    [part] = server.asked[0]["newMessage"]["parts"]
    assert part["functionResponse"]["id"] == "c1"


@pytest.mark.parametrize(("kind", "says"), [("confirm_call", True), ("reject_call", False)])
def test_a_confirmation_is_answered_with_yes_or_no(server, ada, runtime, kind, says):
    old = run_on(runtime, f.dead_run)
    replay = in_place(ada, old, kind, {"reason": "seen", "confirmation": {"id": "adk-77"}})
    server.turns = [Turn(sample("confirm_yes_answer"))]
    work(replay.job)
    [asked] = server.asked
    [part] = asked["newMessage"]["parts"]
    assert part["functionResponse"] == {
        "id": "adk-77",
        "name": "adk_request_confirmation",
        "response": {"confirmed": says},
    }
    assert calls(replay.run) == {"send_email": "answered"}
    assert ended(replay)[:2] == ("done", "completed")


def test_a_run_that_asks_for_a_confirmation_waits_for_a_person(server, replay):
    server.turns = [Turn(sample("confirm_yes"))]
    work(replay.job)
    assert ended(replay)[:2] == ("done", "completed")
    assert calls(replay.run)["send_email"] == "awaiting"
    assert tab_of(replay.run) == "decide"


def test_what_a_second_attempt_asks_is_answered_in_the_session_of_that_attempt(server, ada, replay):
    server.turns = [Turn(RATE_LIMITED), Turn(sample("confirm_yes")), Turn(sample("confirm_yes_answer"))]
    work(replay.job)
    again = in_place(ada, replay.run, "confirm_call", {"reason": "seen", "confirmation": {"id": "adk-77"}})
    work(again.job)
    assert [asked["sessionId"] for asked in server.asked][1:] == [f"{replay.run.session_id}-2"] * 2
    assert ended(again)[:2] == ("done", "completed")


def test_in_place_nothing_is_asked_twice(server, ada, runtime):
    old = run_on(runtime, f.dead_run)
    answers = [{"call_id": "c1", "name": "send_email", "happened": True, "response": {"ok": True}}]
    replay = in_place(ada, old, "answer_calls", {"reason": "seen", "answers": answers})
    server.turns = [Turn(RATE_LIMITED)]
    work(replay.job)
    assert len(server.asked) == 1
    assert ended(replay)[:2] == ("done", "failed")


def test_done_again_after_a_doubt_the_same_message_is_sent(server, ada, replay):
    server.turns = [Answer(500), Turn(SENT)]
    work(replay.job)
    assert ended(replay)[0] == "in_doubt"
    again, _ = resolve_job(ada, replay.job, "do_again")
    [job] = f.rows(Job.objects.filter(decision=again))
    work(job)
    assert [asked["newMessage"] for asked in server.asked] == [MESSAGE, MESSAGE]
    assert f.fresh(job).status == "done"


def test_answers_that_were_erased_are_not_given(server, ada, runtime, as_superuser):
    old = run_on(runtime, f.dead_run)
    answers = [{"call_id": "c1", "name": "send_email", "happened": True, "response": {}}]
    replay = in_place(ada, old, "answer_calls", {"reason": "seen", "answers": answers})
    as_superuser("delete from approvals_payload where id = %s", replay.decision.payload_id)
    work(replay.job)
    assert server.asked == []
    assert ended(replay)[:2] == ("failed", "cancelled")
    assert "was erased meanwhile" in ended(replay)[2]


def test_one_run_uses_a_session_at_a_time(server, ada, runtime):
    old = run_on(runtime, f.dead_run)
    other = run_on(runtime, f.run)
    answers = [{"call_id": "c1", "name": "send_email", "happened": True, "response": {}}]
    replay = in_place(ada, old, "answer_calls", {"reason": "seen", "answers": answers})
    work(replay.job)
    assert f.fresh(other).status == "running"
    assert server.asked == []
    assert ended(replay)[:2] == ("failed", "cancelled")
    assert ended(replay)[2].startswith("Another run is using this session")


def test_of_two_replays_in_one_session_the_second_waits_for_the_first_and_is_refused(ada, desk, runtime):
    first, second = (
        in_place(
            ada, run_on(runtime, f.dead_run), "confirm_call", {"reason": "seen", "confirmation": {"id": id}}
        )
        for id in ("adk-1", "adk-2")
    )
    one, two = (jobs.claim(job_id=started.job.id, task_id="t") for started in (first, second))
    with preparing(desk, two) as waiting, transaction.atomic():
        assert handover.prepare(held=one)
        waiting.start()
        time.sleep(0.5)
        assert waiting.is_alive()
    assert waiting.prepared == [None]
    assert ended(second)[2].startswith("Another run is using this session")


def test_what_the_store_showed_of_the_answers_is_not_written_twice(server, ada, runtime):
    old = run_on(runtime, f.dead_run)
    answers = [{"call_id": "c1", "name": "send_email", "happened": True, "response": {}}]
    replay = in_place(ada, old, "answer_calls", {"reason": "seen", "answers": answers})
    shown = Line(
        type="tool_result", at=f.NOON, call_id="c1", name="send_email", outcome="supplied", content={}
    )
    with transaction.atomic():
        lines.append({replay.run.id: [shown]})
    server.turns = [Turn(sample("orphan_support_slow_answered"))]
    work(replay.job)
    assert journal(replay.run).count(("tool_result", "send_email", "supplied")) == 1


def test_a_run_without_a_message_cannot_be_sent_again(server, ada, runtime):
    replay = started(ada, run_on(runtime, input={}))
    work(replay.job)
    assert ended(replay)[:2] == ("failed", "cancelled")
    assert "holds no message" in ended(replay)[2]


@pytest.mark.parametrize("where", ["id", "name", "event"])
def test_texts_that_no_index_could_hold_stop_no_stream(server, replay, where):
    noise = random.Random(1).randbytes(50_000).hex()
    call = {"id": "call-1", "name": "send_email", "args": {}} | ({where: noise} if where != "event" else {})
    content = {"role": "model", "parts": [{"functionCall": call}]}
    told = {"id": noise if where == "event" else "ev-1", "invocationId": "e-1", "author": "support"}
    server.turns = [Turn([event(told | {"content": content})])]
    work(replay.job)
    assert ended(replay)[:2] == ("done", "failed")
    kinds = [line[0] for line in journal(replay.run)]
    assert kinds == ["finding", "tool_call" if where == "name" else "finding", "ended"]
