"""Many people at one paused job: it goes on once, and everybody else reads who was first."""

from functools import partial

import pytest
from django.db.models.functions import Now

from approvals.exceptions import AlreadyDecided
from approvals.models import Job
from approvals.services import pauses, replays
from tests.concurrency.test_campaigns import decide, logged, reviewer
from tests.concurrency.test_runs import shown as shown_of
from tests.views.forms import form_of, send
from tests.views.reading import Read
from tests.world import call, signed_in


def pause(world, job):
    with world.bound():
        Job.objects.filter(id=job.id).update(status="paused", outcome="Restored.", due_at=Now())
    return job


def status(world, job):
    return world.read(lambda: Job.objects.get(id=job.id).status)


def test_two_people_resume_a_replay_and_one_reads_who_was_first(world, at_once):
    started = world.forced(world.run("refund-1", call("c1", "send_email")))
    pause(world, started.job)
    address = world.at(f"runs/{started.run.replay_of_id}/")
    clients = [signed_in(world.person("support", name=f"Support {n}")) for n in range(5)]
    forms = [form_of(client.get(address), "/resume") for client in clients]
    answers = at_once([partial(send, client, form) for client, form in zip(clients, forms, strict=True)])
    assert sorted(answer.status_code for answer in answers) == [303, 409, 409, 409, 409]
    [entry] = [entry for entry in logged(world) if entry.kind == "resume_replay"]
    for answer in answers:
        if answer.status_code == 409:
            assert f"{entry.actor_name} was first" in Read(answer)
    assert status(world, started.job) == "queued" and world.read(Job.objects.count) == 1


def test_of_many_who_resume_a_sending_one_does(world, at_once):
    campaign = world.campaign()
    world.approved(campaign)
    job = pause(world, world.read(lambda: Job.objects.get(campaign_id=campaign.id)))
    shown = world.shown(campaign)
    given = {"job_id": job.id, "shown": shown}
    answers = at_once(
        [partial(decide, world, pauses.resume_send, by=reviewer(n), **given) for n in range(20)]
    )
    assert sum(isinstance(answer, tuple) for answer in answers) == 1
    assert sum(isinstance(answer, AlreadyDecided) for answer in answers) == 19
    assert status(world, job) == "queued"


@pytest.mark.parametrize("round", range(5))
def test_resumed_and_taken_back_at_once_it_is_not_both(world, at_once, round):
    del round
    started = world.forced(world.run("refund-1", call("c1", "send_email")))
    pause(world, started.job)
    shown = shown_of(world, started.run)
    given = {"job_id": started.job.id, "shown": shown}
    at_once(
        [
            partial(decide, world, pauses.resume_replay, by=world.actor("support"), **given),
            partial(decide, world, replays.cancel, by=world.actor("support"), **given),
        ]
    )
    # Who takes it back after it was let go on takes it back: no worker has it yet.
    assert status(world, started.job) == "cancelled"
