"""A streamed replay in the session of the run that it is about."""

import random
import time

import pytest
from django.db import transaction

from approvals.models import Job
from approvals.rules.observed import Line
from approvals.services import handover, jobs, lines
from tests import factories as f
from tests.servers.adk import Turn, event, sample
from tests.servers.http import Answer
from tests.services.starts import resolve_job, tab_of
from tests.tasks.streamed import (
    RATE_LIMITED,
    SENT,
    ada,
    as_superuser,
    database,
    desk,
    ended,
    in_a_hurry,
    lease_over,
    preparing,
    replay,
    runtime,
    server,
)
from tests.tasks.streams import (
    MESSAGE,
    calls,
    in_place,
    journal,
    run_on,
    started,
    work,
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
