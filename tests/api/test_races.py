"""Two calls at the same moment: one is first, both get a clear answer, nothing is stored twice."""

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connections

from tests.api.world import Answer, Caller, a_call, a_campaign, a_run, an_event, stored, the_end

pytestmark = pytest.mark.usefixtures("database")


def at_once(*calls: Callable[[], Answer]) -> list[Answer]:
    """The answers to calls that all start together."""
    start = threading.Barrier(len(calls))
    answers: list[Answer | None] = [None] * len(calls)

    def one(position: int) -> None:
        start.wait()
        try:
            answers[position] = calls[position]()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=one, args=[position]) for position in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert all(answers)
    return [answer for answer in answers if answer]


def statuses(answers: list[Answer]) -> dict[int, int]:
    return dict(Counter(answer.status for answer in answers))


def added(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {table: after[table] - before[table] for table in before if after[table] != before[table]}


@pytest.mark.parametrize("round", range(3))
def test_the_same_run_ten_times_is_one_run(caller: Caller, round: int) -> None:
    body = a_run()
    answers = at_once(*[lambda: caller.post("/runs", body)] * 10)
    assert statuses(answers) == {201: 1, 200: 9}
    assert len({answer.json["id"] for answer in answers}) == 1
    # The nine left no payload behind either.
    assert added(dict.fromkeys(stored(caller.workspace_id), 0), stored(caller.workspace_id)) == {
        "payload": 1,
        "run": 1,
    }


@pytest.mark.parametrize("round", range(3))
def test_two_runs_under_one_name_are_one_run_and_one_conflict(caller: Caller, round: int) -> None:
    bodies = [a_run(external_id="1", input=n) for n in range(2)]
    answers = at_once(*[lambda body=body: caller.post("/runs", body) for body in bodies])
    assert statuses(answers) == {201: 1, 409: 1}
    assert stored(caller.workspace_id)["payload"] == 1


@pytest.mark.parametrize("round", range(3))
def test_the_same_events_eight_times_are_stored_once(caller: Caller, round: int) -> None:
    run_id = caller.open_run()
    body = {"events": [a_call(seq, f"c-{seq}") for seq in range(1, 21)] + [the_end(21, "failed")]}
    before = stored(caller.workspace_id)
    answers = at_once(*[lambda: caller.post(f"/runs/{run_id}/events", body)] * 8)
    assert statuses(answers) == {202: 8}
    assert sorted(answer.json["accepted"] for answer in answers) == [0] * 7 + [21]
    assert {answer.json["next_seq"] for answer in answers} == {22}
    assert added(before, stored(caller.workspace_id)) == {"payload": 20, "event": 21}


def test_overlapping_batches_are_stored_once_each(caller: Caller) -> None:
    run_id = caller.open_run()

    def post(first: int) -> Callable[[], Answer]:
        events = [a_call(seq, f"c-{seq}") for seq in range(first, first + 10)]
        return lambda: caller.post(f"/runs/{run_id}/events", {"events": events})

    answers = at_once(*[post(first) for first in (1, 4, 8, 11, 6, 2)])
    assert statuses(answers) == {202: 6}
    assert sum(answer.json["accepted"] for answer in answers) == 20
    assert stored(caller.workspace_id)["event"] == 20


def test_two_events_under_one_number_are_one_event_and_one_conflict(caller: Caller) -> None:
    run_id = caller.open_run()
    answers = at_once(
        *[
            lambda event=event: caller.post(f"/runs/{run_id}/events", {"events": [event]})
            for event in (an_event(1), a_call(1))
        ]
    )
    assert statuses(answers) == {202: 1, 409: 1}
    assert stored(caller.workspace_id)["event"] == 1


def test_the_same_campaign_five_times_is_one_campaign(caller: Caller) -> None:
    body = a_campaign()
    answers = at_once(*[lambda: caller.post("/campaigns", body)] * 5)
    assert statuses(answers) == {201: 1, 200: 4}
    assert len({answer.json["digest"] for answer in answers}) == 1
    now: Any = stored(caller.workspace_id)
    assert (now["campaign"], now["version"], now["delivery"]) == (1, 1, 2)


def test_one_run_asked_to_start_again_by_five_starts_once(caller: Caller) -> None:
    run_id = caller.open_run()
    caller.report(run_id, the_end(1, "failed"))
    answers = at_once(*[lambda: caller.send("POST", f"/runs/{run_id}/replay")] * 5)
    assert statuses(answers) == {202: 1, 409: 4}
    assert stored(caller.workspace_id)["job"] == 1
