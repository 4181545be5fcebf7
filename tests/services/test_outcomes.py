"""Whatever ends a job says in the log what came of it, in the same transaction; the database insists."""

import pytest
from django.db import IntegrityError, transaction

from approvals.exceptions import Conflict
from approvals.models import Decision, Job
from approvals.services import decisions, handover, jobs, outcomes, sending
from tests import factories as f
from tests.services import sends
from tests.services.sends import begun, in_doubt, resolve, stop
from tests.services.starts import evidence_of, replay, replay_in_doubt, resolve_job

pytestmark = pytest.mark.usefixtures("desk")


def told():
    """(status, sentence) of each outcome in the log, in order."""
    kept = [evidence_of(entry) for entry in f.rows(Decision.objects.filter(kind="outcome").order_by("seq"))]
    return [(one["status"], one["outcome"]) for one in kept]


def handed_over(ada):
    started = replay(ada, f.clean_run())
    held = jobs.claim(job_id=started.job.id, task_id="t")
    assert handover.prepare(held=held)
    return started, held


def accepted(ada):
    started, held = handed_over(ada)
    assert handover.settle(held=held, kind="accepted", detail="202")
    return started


# Replays.


def test_a_replay_that_completes_is_told_with_its_new_run_and_the_decision_behind_it(ada):
    started = accepted(ada)
    assert told() == []
    f.tell(started.run, f.ended("completed"))
    assert jobs.follow(job_id=started.job.id) == "done"
    [entry] = f.rows(Decision.objects.filter(kind="outcome"))
    assert (entry.actor_kind, entry.actor_id, entry.actor_name) == ("system", "Secondlook", "Secondlook")
    assert (entry.target_kind, entry.target_id) == ("job", started.job.id)
    assert (entry.item_id, entry.agent, entry.subject) == (
        started.run.lineage_id, started.run.agent, started.run.subject
    )  # fmt: skip
    decision = f.fresh(started.decision)
    assert evidence_of(entry) == {
        "run": started.run.external_id,
        "run_status": "completed",
        "status": "done",
        "outcome": "The new run completed.",
        "decision": {"seq": decision.seq, "id": str(decision.id)},
    }


def test_a_replay_that_its_runtime_refuses_is_told(ada):
    _, held = handed_over(ada)
    assert handover.settle(held=held, kind="refused", detail="The runtime said 409.")
    assert told() == [("failed", "The runtime said 409.")]
    [entry] = f.rows(Decision.objects.filter(kind="outcome"))
    assert evidence_of(entry)["run_status"] == "cancelled", "what follows is done before it is told"


def test_a_replay_of_something_that_changed_is_told(ada):
    old = f.clean_run()
    started = replay(ada, old)
    held = jobs.claim(job_id=started.job.id, task_id="t")
    f.tell(old, f.called("send_email", "c9"))
    assert handover.prepare(held=held) is None
    assert [status for status, _ in told()] == ["failed"]


def test_a_lost_worker_is_told_and_what_came_of_the_doubt_is_told_again(ada, lease_over):
    started, held = handed_over(ada)
    lease_over(held.job_id)
    assert jobs.expire(job_id=started.job.id) == "in_doubt"
    f.tell(started.run, f.said("Here I am."), f.ended("completed"))
    assert jobs.follow(job_id=started.job.id) == "done"
    assert [status for status, _ in told()] == ["in_doubt", "done"]


def test_a_lost_worker_that_had_asked_for_nothing_is_no_outcome(ada, lease_over):
    started = replay(ada, f.clean_run())
    jobs.claim(job_id=started.job.id, task_id="t")
    lease_over(started.job.id)
    assert jobs.expire(job_id=started.job.id) == "queued"
    assert told() == []


@pytest.mark.parametrize("resolution", ["leave", "do_again"])
def test_a_person_who_ends_a_doubt_has_said_what_came_of_it(ada, ben, resolution):
    _, job = replay_in_doubt(ada)
    assert [status for status, _ in told()] == ["in_doubt"]
    resolve_job(ben, job, resolution)
    assert f.fresh(job).status == "failed"
    assert [status for status, _ in told()] == ["in_doubt"]


# Campaigns.


def test_a_campaign_is_told_with_its_deliveries_by_state(mia):
    campaign, held, sealed = begun(mia, to=3)
    for state in ("sent", "failed", "in_doubt"):
        intent = sends.next_intent(held=held, sealed=sealed)
        assert sends.settle(held=held, intent=intent, state=state, reply="")
    assert sending.end_batch(held=held) == "done"
    assert f.fresh(campaign).status == "finished"
    [entry] = f.rows(Decision.objects.filter(kind="outcome"))
    given = evidence_of(entry)
    assert (entry.item_id, entry.agent, entry.subject) == (campaign.id, campaign.agent, "")
    assert (given["status"], given["outcome"]) == ("done", "1 sent, 1 failed, 1 in doubt.")
    assert given["deliveries"] == {"sent": 1, "failed": 1, "in_doubt": 1}
    assert given["campaign"] == campaign.name


def test_one_that_is_sent_again_is_told_by_itself(mia):
    campaign, delivery = in_doubt(mia, to=2)
    resolve(mia, delivery, "do_again")
    [job] = f.rows(Job.objects.filter(delivery__isnull=False))
    held = jobs.claim(job_id=job.id, task_id="t2")
    sealed = sending.begin(held=held)
    intent = sends.next_intent(held=held, sealed=sealed)
    sends.settle(held=held, intent=intent, state="sent", reply="250")
    assert sending.end_batch(held=held) == "done"
    [entry] = f.rows(Decision.objects.filter(kind="outcome", target_id=job.id))
    given = evidence_of(entry)
    assert (given["recipient"], given["deliveries"]) == (delivery.address, {"sent": 1})
    assert entry.item_id == campaign.id


def test_a_batch_that_is_given_back_is_no_outcome_and_a_stopped_one_is(mia):
    campaign, held, sealed = begun(mia, to=2)
    intent = sends.next_intent(held=held, sealed=sealed)
    assert told() == []
    stop(mia, campaign)
    sends.settle(held=held, intent=intent, state="sent", reply="250")
    assert sending.end_batch(held=held) == "done"
    assert told() == [("done", "Stopped: 1 sent, 0 failed, 0 in doubt.")]


def test_a_campaign_that_was_stopped_before_its_worker_began_again_is_told(mia):
    campaign, held, _ = begun(mia, to=2)
    stop(mia, campaign)
    assert sending.begin(held=held) is None
    assert told() == [("done", sending.STOPPED)]


# The database insists.


@pytest.mark.parametrize("status", ["done", "failed", "in_doubt"])
def test_a_job_that_ends_without_a_word_in_the_log_is_not_committed(ada, status):
    started, held = handed_over(ada)
    with pytest.raises(IntegrityError, match="the log does not say so"), transaction.atomic():
        Job.objects.filter(id=held.job_id).update(status=status, lease_until=None)
    assert f.fresh(started.job).status == "running"


def test_an_earlier_word_about_the_job_does_not_count(ada):
    started = accepted(ada)
    with transaction.atomic():
        outcomes.record(started.job.id)  # of nothing that happened
    with pytest.raises(IntegrityError, match="the log does not say so"), transaction.atomic():
        Job.objects.filter(id=started.job.id).update(status="done")
    assert f.fresh(started.job).status == "running"


def test_who_was_refused_has_not_said_what_came_of_it(ada, ben):
    started = accepted(ada)
    with pytest.raises(IntegrityError, match="the log does not say so"), transaction.atomic():
        Job.objects.filter(id=started.job.id).update(status="done")
        decisions.record_refusal(
            by=ben,
            tried="cancel_replay",
            target=("job", started.job.id),
            refusal=Conflict("A worker has it."),
        )
