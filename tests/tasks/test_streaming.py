"""A replay that the worker streams: what comes is in the journal, and what rules.turns says of it is done.

Against a real HTTP server that plays what google-adk 2.13 sent.
"""

import json

from approvals.models import Decision
from approvals.rules.turns import MOST_REPEATS
from approvals.services import streaming as service
from tests import factories as f
from tests.servers.adk import Gate, Turn, event, sample
from tests.servers.http import Answer
from tests.services.starts import declare, tab_of
from tests.tasks.streamed import (
    HIDDEN,
    NORMAL,
    RATE_LIMITED,
    SENT,
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
    MESSAGE,
    calls,
    error_of,
    journal,
    soon,
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
