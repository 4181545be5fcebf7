"""What a restored database holds back: it stands where people decide, goes on once, or is taken back."""

import pytest
from django.db import DatabaseError, transaction
from django.db.models.functions import Now

from approvals.exceptions import AlreadyDecided, Conflict, NotAllowed, NotFound, Stale
from approvals.models import Decision, Delivery, Job, QueueItem
from approvals.services import campaigns, handover, jobs, pauses, replays, restoring, sending
from tests import factories as f
from tests.services import sends
from tests.services.starts import replay

pytestmark = pytest.mark.usefixtures("desk")


@transaction.atomic
def pause(job, why=restoring.REPLAY):
    Job.objects.filter(id=job.id).update(status="paused", outcome=why, lease_until=None, due_at=Now())
    return Job.objects.get(id=job.id)


def item(id):
    [row] = f.rows(QueueItem.objects.defer("due").filter(id=id))
    return row.tab, row.state


def paused_replay(ada):
    old = f.clean_run()
    started = replay(ada, old)
    pause(started.job)
    return old, started


def resume(by, job, shown):
    return pauses.resume_replay(by=by, job_id=job.id, shown=shown)


# Replays.


def test_a_paused_replay_stands_where_people_decide_and_no_worker_takes_it(ada):
    old, started = paused_replay(ada)
    assert item(old.id) == ("decide", "paused")
    assert jobs.claim(job_id=started.job.id, task_id="t") is None


def test_resumed_it_is_queued_and_handed_over_as_it_was_decided(ada, ben):
    old, started = paused_replay(ada)
    decision, repeated = resume(ben, started.job, f.shown_run(old))
    assert (decision.kind, decision.target_id, repeated) == ("resume_replay", started.job.id, False)
    assert item(old.id) == ("progress", "queued")
    assert handover.prepare(held=jobs.claim(job_id=started.job.id, task_id="t"))
    assert [job.status for job in f.rows(Job.objects)] == ["running"], "no second job"


def test_it_is_resumed_once(ada, ben):
    old, started = paused_replay(ada)
    shown = f.shown_run(old)
    first, _ = resume(ada, started.job, shown)
    assert resume(ada, started.job, shown) == (f.fresh(first), True)
    with pytest.raises(AlreadyDecided, match="Ada already let this replay go on"):
        resume(ben, started.job, shown)


def test_what_changed_since_it_was_shown_is_not_resumed(ada):
    old, started = paused_replay(ada)
    shown = f.shown_run(old)
    f.tell(old, f.called("send_email", "late"))
    with pytest.raises(Stale):
        resume(ada, started.job, shown)
    assert f.fresh(started.job).status == "paused"


def test_a_replay_that_its_runtime_tells_of_did_begin_and_is_followed(ada):
    old, started = paused_replay(ada)
    f.tell(f.fresh(started.run), f.said("I am at it."))
    with pytest.raises(Conflict, match="was heard from meanwhile"):
        resume(ada, started.job, f.shown_run(old))
    with pytest.raises(Conflict, match="was heard from meanwhile"):
        replays.cancel(by=ada, job_id=started.job.id, shown=f.shown_run(old))
    assert jobs.follow(job_id=started.job.id) == "running"
    assert item(old.id) == ("progress", "running")


def test_taken_back_it_is_never_started_and_cannot_be_resumed(ada, ben):
    old, started = paused_replay(ada)
    shown = f.shown_run(old)
    replays.cancel(by=ada, job_id=started.job.id, shown=shown)
    assert (f.fresh(started.job).status, f.fresh(started.run).status) == ("cancelled", "cancelled")
    assert item(old.id)[0] == "decide"
    with pytest.raises(AlreadyDecided, match="Ada already took this replay back"):
        resume(ben, started.job, shown)


def test_reviewers_do_not_resume_replays_and_support_no_sendings(ada, mia):
    old, started = paused_replay(ada)
    with pytest.raises(NotAllowed):
        resume(mia, started.job, f.shown_run(old))
    campaign, job = paused_sending(mia)
    with pytest.raises(NotAllowed):
        pauses.resume_send(by=ada, job_id=job.id, shown=f.shown_campaign(campaign))
    with pytest.raises(NotFound):
        pauses.resume_send(by=mia, job_id=started.job.id, shown=f.shown_campaign(campaign))


def test_a_replay_that_may_have_been_asked_for_is_never_paused(ada):
    held = jobs.claim(job_id=replay(ada, f.clean_run()).job.id, task_id="t")
    assert handover.prepare(held=held)
    with pytest.raises(DatabaseError, match="job_asks_once"):
        pause(f.rows(Job.objects)[0])


# Sendings.


def paused_sending(mia, **more):
    campaign = f.campaign(**more)
    sends.approve(mia, campaign)
    [job] = f.rows(Job.objects.filter(campaign_id=campaign.id))
    return campaign, pause(job, restoring.SEND)


def resume_send(by, job, campaign):
    return pauses.resume_send(by=by, job_id=job.id, shown=f.shown_campaign(campaign))


def test_a_paused_sending_stands_where_people_decide_and_goes_on_once(mia, rob):
    campaign, job = paused_sending(mia)
    assert item(campaign.id) == ("decide", "paused")
    decision, _ = resume_send(rob, job, campaign)
    assert (decision.kind, decision.item_id, f.fresh(job).status) == ("resume_send", campaign.id, "queued")
    assert item(campaign.id) == ("progress", "approved")
    with pytest.raises(AlreadyDecided, match="Rob already let this sending go on"):
        resume_send(mia, job, campaign)


def test_a_paused_approval_is_taken_back_and_can_be_given_again(mia):
    campaign, job = paused_sending(mia)
    sends.take_back(mia, campaign)
    assert (f.fresh(job).status, f.fresh(campaign).status) == ("cancelled", "pending")
    sends.approve(mia, campaign)


def test_in_the_middle_of_it_it_is_stopped(mia):
    campaign, held, sealed = sends.begun(mia)
    intent = sends.next_intent(held=held, sealed=sealed)
    sends.settle(held=held, intent=intent, state="sent", reply="250")
    job = pause(sends.the_job(), restoring.SEND)
    with pytest.raises(Conflict, match="can be stopped"):
        sends.take_back(mia, campaign)
    sends.stop(mia, campaign)
    assert (f.fresh(job).status, sends.states(campaign)) == ("cancelled", ["sent", "skipped", "skipped"])
    assert item(campaign.id)[0] == "history"


def test_the_worker_that_had_it_before_settles_nothing_any_more(mia):
    _, held, sealed = sends.begun(mia)
    job = pause(sends.the_job(), restoring.SEND)
    assert sends.next_intent(held=held, sealed=sealed) is None
    assert sending.end_batch(held=held) == "lost"
    assert f.fresh(job).status == "paused"


def once_more(mia):
    campaign, delivery = sends.in_doubt(mia, state="failed", to=1)
    [first] = f.rows(Job.objects)
    sends.resolve(mia, delivery, "do_again")
    [again] = f.rows(Job.objects.exclude(id=first.id))
    return campaign, delivery, pause(again, restoring.SEND)


def test_a_single_message_is_given_up_and_skipped(mia, rob):
    campaign, delivery, job = once_more(mia)
    shown = f.shown_campaign(campaign)
    decision, _ = pauses.give_up(by=mia, job_id=job.id, shown=shown)
    assert (decision.kind, decision.target_id) == ("cancel_send", job.id)
    assert (f.fresh(job).status, f.fresh(delivery).state) == ("cancelled", "skipped")
    assert pauses.give_up(by=mia, job_id=job.id, shown=shown)[1]
    with pytest.raises(AlreadyDecided):
        resume_send(rob, job, campaign)


def test_a_whole_campaign_is_not_given_up_that_way(mia):
    campaign, job = paused_sending(mia)
    with pytest.raises(NotFound):
        pauses.give_up(by=mia, job_id=job.id, shown=f.shown_campaign(campaign))


def test_a_campaign_does_not_end_while_a_message_of_it_is_paused(mia):
    campaign, _, again = once_more(mia)
    [own] = f.rows(Job.objects.filter(delivery=None))
    assert sending.end_batch(held=sends.claimed(own)) == "done"
    assert f.fresh(campaign).status == "sending"
    resume_send(mia, again, campaign)
    held = jobs.claim(job_id=again.id, task_id="t")
    sealed = sending.begin(held=held)
    intent = sends.next_intent(held=held, sealed=sealed)
    sends.settle(held=held, intent=intent, state="sent", reply="250")
    assert sending.end_batch(held=held) == "done"
    assert (f.fresh(campaign).status, f.rows(Delivery.objects)[0].state) == ("finished", "sent")


def test_a_resumption_releases_nothing_of_its_own(mia):
    campaign, job = paused_sending(mia)
    resume_send(mia, job, campaign)
    kinds = [entry.kind for entry in f.rows(Decision.objects.order_by("seq"))]
    assert kinds == ["approve", "resume_send"] and len(f.rows(Job.objects)) == 1
    assert campaigns.WAITING == ("held", "queued", "paused")
