"""The life of a job: held, claimed once, leased, fenced, settled by whoever holds the fence, followed to its end."""

import pytest
from django.db import transaction

from approvals.db.binding import bind
from approvals.models import Decision, Job, Run
from approvals.services import campaigns, handover, jobs, replays, sweep
from tests import factories as f
from tests.services.sends import approve
from tests.services.starts import resolve_job
from tests.shared import slug

pytestmark = pytest.mark.usefixtures("desk")


def queued_replay(ada, run=None):
    old = run or f.clean_run()
    return replays.replay(by=ada, run_id=old.id, shown=f.shown_run(old))


def claim(job, task="task-1"):
    return jobs.claim(job_id=job.id, task_id=task)


def handed_over(ada):
    """(the started replay, the claim, its order), the intent committed."""
    started = queued_replay(ada)
    held = claim(started.job)
    return started, held, handover.prepare(held=held)


def due(job):
    return {item.what for item in sweep.due(at_most=10_000) if item.id == job.id}


# Claiming.


def test_A09_a_queued_job_is_claimed_once_however_often_a_wake_up_comes(ada):
    job = queued_replay(ada).job
    held = claim(job)
    assert (held.fence, held.kind) == (1, "replay")
    assert claim(job, "task-2") is None
    after = f.fresh(job)
    assert (after.status, after.task_id) == ("running", "task-1")
    assert after.lease_until > after.claimed_at


@pytest.mark.parametrize("state", ["held", "cancelled", "done", "failed", "in_doubt"])
def test_nothing_but_a_queued_job_can_be_claimed(ada, as_superuser, state):
    job = queued_replay(ada).job
    as_superuser("update approvals_job set status = %s where id = %s", state, job.id)
    assert claim(job) is None


def test_a_job_that_rests_is_not_claimed_before_its_time(ada, as_superuser):
    job = queued_replay(ada).job
    as_superuser("update approvals_job set due_at = now() + interval '1 minute' where id = %s", job.id)
    assert claim(job) is None


def test_a_wake_up_in_another_workspace_claims_nothing(ada):
    job = queued_replay(ada).job
    with bind(f.workspace(slug()).id):
        assert claim(job) is None
    assert f.fresh(job).status == "queued"


# The hold.


def test_a_held_job_is_released_by_the_clock_when_its_time_is_over(desk, mia, as_superuser):
    as_superuser("update approvals_workspace set hold_s = 60 where id = %s", desk.id)
    approve(mia, f.campaign())
    [job] = f.rows(Job.objects)
    assert not jobs.release(job_id=job.id)
    as_superuser("update approvals_job set due_at = now() - interval '1 second' where id = %s", job.id)
    assert due(job) == {"release"}
    assert jobs.release(job_id=job.id)
    assert f.fresh(job).status == "queued"
    assert not jobs.release(job_id=job.id)


def test_what_was_taken_back_is_not_released(desk, mia, as_superuser):
    as_superuser("update approvals_workspace set hold_s = 60 where id = %s", desk.id)
    campaign = f.campaign()
    approve(mia, campaign)
    campaigns.take_back(by=mia, campaign_id=campaign.id, shown=f.shown_campaign(campaign))
    [job] = f.rows(Job.objects)
    as_superuser("update approvals_job set due_at = now() - interval '1 second' where id = %s", job.id)
    assert not jobs.release(job_id=job.id)


# Lease and fence.


def test_a_lease_that_still_holds_does_not_expire(ada):
    started, _, _ = handed_over(ada)
    assert jobs.expire(job_id=started.job.id) is None


def test_lost_before_the_intent_it_is_queued_again(ada, lease_over):
    started = queued_replay(ada)
    held = claim(started.job)
    lease_over(held.job_id)
    assert due(started.job) == {"lease"}
    assert jobs.expire(job_id=started.job.id) == "queued"
    assert claim(started.job, "task-2").fence == 2


def test_lost_after_the_intent_it_is_in_doubt_and_never_again_automatically(ada, lease_over):
    started, held, _ = handed_over(ada)
    lease_over(held.job_id)
    assert jobs.expire(job_id=started.job.id) == "in_doubt"
    assert claim(started.job) is None
    assert f.fresh(started.run).status == "running"
    assert due(started.job) == set()


def test_no_intent_is_stated_once_the_lease_is_over(ada, lease_over):
    started = queued_replay(ada)
    held = claim(started.job)
    lease_over(held.job_id)
    assert handover.prepare(held=held) is None
    assert (f.fresh(started.job).intent_at, f.fresh(started.run).started_at) == (None, None)


def test_no_intent_is_stated_with_an_old_fence(ada, lease_over):
    started = queued_replay(ada)
    old = claim(started.job)
    lease_over(old.job_id)
    jobs.expire(job_id=started.job.id)
    new = claim(started.job, "task-2")
    assert handover.prepare(held=old) is None
    assert handover.prepare(held=new) is not None


@pytest.mark.parametrize("kind", ["accepted", "refused", "in_doubt"])
def test_a_late_answer_is_not_written_down_by_somebody_who_lost_the_lease(ada, lease_over, kind):
    started, held, _ = handed_over(ada)
    lease_over(held.job_id)
    jobs.expire(job_id=started.job.id)
    assert not handover.settle(held=held, kind=kind, detail="too late")
    assert (f.fresh(started.job).status, f.fresh(started.run).status) == ("in_doubt", "running")


@pytest.mark.parametrize("kind", ["accepted", "refused", "in_doubt"])
@pytest.mark.parametrize("by", ["the runtime", "a person"])
def test_nor_by_one_who_wakes_when_the_doubt_is_over(ada, lease_over, by, kind):
    started, held, _ = handed_over(ada)
    lease_over(held.job_id)
    jobs.expire(job_id=started.job.id)
    if by == "a person":
        resolve_job(ada, started.job, "happened")
    else:
        f.tell(f.fresh(started.run), f.said("Good morning."))
        jobs.follow(job_id=started.job.id)
    before = f.fresh(started.job)
    assert before.status == "running"
    assert not handover.settle(held=held, kind=kind, detail="too late")
    after = f.fresh(started.job)
    assert (after.status, after.outcome, after.accepted_at) == (
        before.status,
        before.outcome,
        before.accepted_at,
    )
    assert f.fresh(started.run).status == "running"


def test_a_claim_counts_as_long_as_nobody_took_it_away(ada, lease_over):
    started, held, _ = handed_over(ada)
    lease_over(held.job_id)
    assert handover.settle(held=held, kind="accepted", detail="202")
    assert jobs.expire(job_id=started.job.id) is None


# A worker that stays with its replay.


def listened_to(ada):
    """(the started replay, the claim), whose runtime took it and tells of it."""
    started, held, _ = handed_over(ada)
    with transaction.atomic():
        assert jobs.opened(held, "It began.")
    return started, held


def extended(held):
    with transaction.atomic():
        return jobs.extend(held)


def test_a_worker_that_hears_of_the_new_run_keeps_its_lease(ada, lease_over):
    started, held = listened_to(ada)
    job = f.fresh(started.job)
    assert job.accepted_at
    assert job.lease_until > job.claimed_at
    lease_over(held.job_id)
    assert extended(held)
    assert f.fresh(started.job).lease_until > job.lease_until
    assert jobs.expire(job_id=held.job_id) is None


def test_lost_while_it_heard_of_the_new_run_that_one_is_watched(ada, lease_over):
    started, held = listened_to(ada)
    lease_over(held.job_id)
    assert jobs.expire(job_id=held.job_id) == "running"
    job = f.fresh(started.job)
    assert (job.status, job.lease_until) == ("running", None)
    assert "watched from outside" in job.outcome
    assert not extended(held)
    f.tell(started.run, f.ended("completed"))
    assert jobs.follow(job_id=held.job_id) == "done"
    assert not extended(held)


# Handing a replay over.


def test_the_order_carries_what_was_stored_and_nothing_else(ada):
    started, held, order = handed_over(ada)
    old = f.rows(Run.objects.filter(id=started.run.replay_of_id))[0]
    assert order.payload == {
        "job_id": str(held.job_id),
        "run_id": str(started.run.id),
        "replay_of": str(old.id),
        "agent": "refund-assistant",
        "session_id": "s-1",
        "subject": "anna@example.org",
        "input": {"ticket": 55102},
    }
    assert (order.base_url, order.secret) == ("http://127.0.0.1:9", f.SECRET)
    assert order.allowed_hosts == {"127.0.0.1:9"}


def test_what_changed_after_the_decision_is_not_started(ada):
    old = f.clean_run()
    started = queued_replay(ada, old)
    f.tell(old, f.called("send_email", "late"))
    assert handover.prepare(held=claim(started.job)) is None
    after = f.fresh(started.job)
    assert (after.status, after.outcome[:32]) == ("failed", "What this run did changed after ")
    assert (f.fresh(started.run).status, f.fresh(started.run).started_at) == ("cancelled", None)


def test_an_input_that_was_erased_meanwhile_is_not_started(ada, as_superuser):
    started = queued_replay(ada)
    as_superuser("delete from approvals_payload where id = %s", started.run.input_payload_id)
    assert handover.prepare(held=claim(started.job)) is None
    job = f.fresh(started.job)
    assert (job.status, job.outcome[:37]) == ("failed", "The input of this run was erased mean")


def test_accepted_the_new_run_is_watched(ada):
    started, held, _ = handed_over(ada)
    assert handover.settle(held=held, kind="accepted", detail="202")
    job, run = f.fresh(started.job), f.fresh(started.run)
    assert (job.status, job.lease_until, run.status) == ("running", None, "running")
    assert job.accepted_at and run.silent_after and run.overlong_after
    assert due(started.job) == set()


def test_refused_the_new_run_never_began(ada):
    started, held, _ = handed_over(ada)
    assert handover.settle(held=held, kind="refused", detail="404: no such agent")
    job, run = f.fresh(started.job), f.fresh(started.run)
    assert (job.status, job.outcome, run.status, run.started_at) == (
        "failed",
        "404: no such agent",
        "cancelled",
        None,
    )
    [old] = f.rows(Run.objects.filter(id=run.replay_of_id))
    assert not queued_replay(ada, old).repeated, "the old run can be decided about again"


# Following the new run.


@pytest.mark.parametrize(
    ("outcome", "status", "words"),
    [
        ("completed", "done", "The new run completed."),
        ("failed", "done", "The new run ended with a failure."),
        ("cancelled", "done", "The new run was cancelled by its runtime."),
    ],
)
def test_the_job_is_done_only_when_the_new_run_ends(ada, outcome, status, words):
    started, held, _ = handed_over(ada)
    handover.settle(held=held, kind="accepted", detail="202")
    f.tell(started.run, f.said("Going on."))
    assert jobs.follow(job_id=started.job.id) == "running"
    f.tell(started.run, f.ended(outcome))
    assert due(started.job) == {"follow"}
    assert jobs.follow(job_id=started.job.id) == status
    assert (f.fresh(started.job).outcome, f.fresh(started.job).finished_at) == (
        words,
        f.fresh(started.run).ended_at,
    )
    assert jobs.follow(job_id=started.job.id) is None


def test_a_run_that_ended_before_its_runtime_answered_waits_for_the_answer(ada):
    started, held, _ = handed_over(ada)
    f.tell(started.run, f.ended("completed"))
    assert jobs.follow(job_id=started.job.id) == "running"
    handover.settle(held=held, kind="accepted", detail="202")
    assert jobs.follow(job_id=started.job.id) == "done"


def test_the_first_event_ends_a_doubt(ada):
    started, held, _ = handed_over(ada)
    handover.settle(held=held, kind="in_doubt", detail="reset")
    assert jobs.follow(job_id=started.job.id) is None
    f.tell(started.run, f.said("Here I am."))
    assert due(started.job) == {"follow"}
    assert jobs.follow(job_id=started.job.id) == "running"
    f.tell(started.run, f.ended("completed"))
    assert jobs.follow(job_id=started.job.id) == "done"


def test_silence_after_acceptance_ends_the_job_and_leaves_the_new_run_to_a_person(ada):
    started, held, _ = handed_over(ada)
    handover.settle(held=held, kind="accepted", detail="202")
    f.interrupted(started.run)
    assert jobs.follow(job_id=started.job.id) == "failed"
    assert f.fresh(started.job).outcome == "The new run was interrupted; it waits for a decision itself."


def test_one_clock_step_is_the_same_as_two(ada, lease_over):
    started, held, _ = handed_over(ada)
    lease_over(held.job_id)
    [item] = [item for item in sweep.due(at_most=10_000) if item.id == started.job.id]
    sweep.step(item)
    sweep.step(item)
    assert f.fresh(started.job).status == "in_doubt"
    assert [entry.kind for entry in f.rows(Decision.objects.order_by("seq"))] == ["replay", "outcome"]
