"""What waits, and what should have moved and did not."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from approvals.db.binding import bind
from approvals.models import Delivery, Job
from approvals.selectors import jobs_overdue
from approvals.selectors.jobs_overdue import Alarm
from approvals.services import trials
from tests.world import World, call, ended, said


def alarms(world: World, at_most: int = 10) -> list[Alarm]:
    return world.read(lambda: jobs_overdue.alarms(overdue_s=120, at_most=at_most))


def due_ago(world: World, minutes: float, **which: Any) -> None:
    with world.bound():
        Job.objects.filter(**which).update(due_at=Now() - timedelta(minutes=minutes))  # type: ignore[operator]


def test_what_waits_is_counted_up_to_a_point(world: World, monkeypatch: Any) -> None:
    world.run("", ended())
    for _ in range(3):
        world.run("", said("x"))
    assert world.read(jobs_overdue.waiting) == 3

    monkeypatch.setattr(jobs_overdue, "COUNTED", 2)
    assert world.read(jobs_overdue.waiting) == 2


def test_a_job_is_overdue_two_minutes_after_it_was_due(world: World) -> None:
    campaign = world.campaign("Winter")
    world.approved(campaign)
    due_ago(world, 1.9)
    assert alarms(world) == []

    due_ago(world, 2.1)

    assert [(alarm.what, alarm.kind, alarm.id, alarm.title) for alarm in alarms(world)] == [
        ("not_started", "campaign", campaign.id, "Winter")
    ]


def test_a_replay_leads_to_the_run_that_was_decided_about(world: World) -> None:
    run = world.run("refund-1", call("c1", "t"))
    world.forced(run)
    due_ago(world, 5)

    assert [(alarm.kind, alarm.id, alarm.title) for alarm in alarms(world)] == [("run", run.id, "refund-1")]


def test_a_campaign_that_stands_still_in_the_middle_says_so(world: World) -> None:
    campaign = world.campaign("Winter")
    world.approved(campaign)
    due_ago(world, 5)
    with world.bound():
        Job.objects.filter(campaign_id=campaign.id).update(claimed_at=Now())

    assert [alarm.what for alarm in alarms(world)] == ["not_going_on"]


def test_the_longest_overdue_come_first_and_only_so_many(world: World) -> None:
    for minutes, name in ((3, "young"), (9, "old"), (5, "middle")):
        campaign = world.campaign(name)
        world.approved(campaign)
        due_ago(world, minutes, campaign_id=campaign.id)

    assert [alarm.title for alarm in alarms(world)] == ["old", "middle", "young"]
    assert len(alarms(world, at_most=2)) == 2


@pytest.mark.parametrize(
    ("why", "what"), [("silent", "silent"), ("overlong", "silent"), ("broken", "broken")]
)
def test_a_lost_replay_is_an_alarm_until_another_attempt_takes_its_place(
    world: World, why: str, what: str
) -> None:
    run = world.run("refund-1", call("c1", "t"))
    started = world.forced(run)
    second = world.handed_over(started)
    world.interrupt(second, why=why)
    world.settled(started.job, "failed", "It was lost.")
    assert [(alarm.what, alarm.id) for alarm in alarms(world)] == [(what, second.id)]

    world.forced(second)

    assert alarms(world) == []


def test_somebody_saying_that_a_replay_is_dead_is_no_alarm(world: World) -> None:
    started = world.forced(world.run("refund-1", call("c1", "t")))
    second = world.handed_over(started)
    world.interrupt(second, why="declared")
    world.settled(started.job, "failed", "It was declared interrupted.")

    assert alarms(world) == []


def test_a_test_that_somebody_sent_themselves_keeps_no_alarm_from_being_seen(world: World) -> None:
    campaign = world.campaign("Winter")
    delivery = world.read(lambda: Delivery.objects.filter(campaign=campaign)[0])
    with bind(world.workspace.id):
        trials.send_test(by=world.actor("reviewer"), delivery_id=delivery.id, shown=world.shown(campaign))
    due_ago(world, 9)
    world.approved(campaign)
    due_ago(world, 5, kind="send")
    assert [alarm.id for alarm in alarms(world, at_most=1)] == [campaign.id]
