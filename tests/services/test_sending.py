"""Sending one campaign: an intent before each message, its outcome after, and nothing twice."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings

from approvals.models import Campaign, Delivery, Job, Version
from approvals.services import campaigns, jobs, rounds, sending
from tests import factories as f
from tests.services import sends
from tests.services.sends import approve, begun, in_doubt, resolve, states, take_back, the_job

pytestmark = pytest.mark.usefixtures("desk")


def send_one(held, sealed, state="sent", reply="250 ok"):
    intent = sends.next_intent(held=held, sealed=sealed)
    assert sends.settle(held=held, intent=intent, state=state, reply=reply)
    return intent


def pauses_over(as_superuser, campaign):
    """Let everybody who was asked to wait have waited."""
    as_superuser(
        "update approvals_delivery set settled_at = settled_at - interval '1 hour' where campaign_id = %s",
        campaign.id,
    )
    as_superuser("update approvals_job set due_at = now() where campaign_id = %s", campaign.id)


def test_everybody_gets_one_message_and_the_campaign_is_finished(mia):
    campaign, held, sealed = begun(mia, to=3)
    sent = [send_one(held, sealed).address for _ in range(3)]
    assert sent == ["guest1@example.com", "guest2@example.com", "guest3@example.com"]
    assert sends.next_intent(held=held, sealed=sealed) is None
    assert sending.end_batch(held=held) == "done"
    assert (f.fresh(campaign).status, the_job().outcome) == ("finished", "3 sent, 0 failed, 0 in doubt.")
    assert f.fresh(campaign).finished_at is not None


def test_the_intent_is_committed_before_the_message_and_fixes_its_date(mia):
    _, held, sealed = begun(mia, to=1)
    intent = sends.next_intent(held=held, sealed=sealed)
    [delivery] = f.rows(Delivery.objects)
    assert (delivery.state, delivery.job_id, delivery.fence, delivery.attempt) == (
        "attempting",
        held.job_id,
        held.fence,
        1,
    )
    assert (intent.date, intent.message_id) == (delivery.attempted_at, delivery.message_id)
    assert intent.date.microsecond == 0
    assert sends.next_intent(held=held, sealed=sealed) is None


def test_a_batch_that_ends_early_gives_the_rest_back_at_once(mia):
    campaign, held, sealed = begun(mia, to=3)
    send_one(held, sealed)
    assert sending.end_batch(held=held) == "queued"
    again = jobs.claim(job_id=held.job_id, task_id="t2")
    assert again.fence == held.fence + 1
    assert sending.begin(held=again) == sealed
    send_one(again, sealed)
    assert f.fresh(campaign).status == "sending"


def test_whoever_lost_the_job_neither_sends_nor_settles_nor_ends(mia, lease_over):
    campaign, old, sealed = begun(mia, to=2)
    intent = sends.next_intent(held=old, sealed=sealed)
    lease_over(old.job_id)
    assert jobs.expire(job_id=old.job_id) == "queued"
    jobs.claim(job_id=old.job_id, task_id="t2")
    assert sends.next_intent(held=old, sealed=sealed) is None
    assert not sends.settle(held=old, intent=intent, state="sent", reply="250 ok")
    assert sending.end_batch(held=old) == "lost"
    assert states(campaign) == ["in_doubt", "planned"]


def test_no_message_begins_after_the_lease(mia, lease_over):
    campaign, held, sealed = begun(mia, to=1)
    lease_over(held.job_id)
    assert sends.next_intent(held=held, sealed=sealed) is None
    assert states(campaign) == ["planned"]


def test_what_a_dead_worker_held_is_in_doubt_and_the_rest_goes_on(mia, lease_over):
    campaign, held, sealed = begun(mia, to=3)
    send_one(held, sealed)
    sends.next_intent(held=held, sealed=sealed)
    lease_over(held.job_id)
    jobs.expire(job_id=held.job_id)
    again = jobs.claim(job_id=held.job_id, task_id="t2")
    send_one(again, sending.begin(held=again))
    assert sending.end_batch(held=again) == "done"
    assert states(campaign) == ["sent", "in_doubt", "sent"]
    assert (f.fresh(campaign).status, the_job().outcome) == ("finished", "2 sent, 0 failed, 1 in doubt.")


def test_a_recipient_whose_server_asks_to_wait_is_tried_after_everybody_else(mia, as_superuser):
    campaign, held, sealed = begun(mia, to=2)
    first = send_one(held, sealed, "planned", "451 try later")
    second = send_one(held, sealed)
    assert second.address != first.address
    assert sends.next_intent(held=held, sealed=sealed) is None, "not within the pause"
    assert sending.end_batch(held=held) == "queued"
    job = the_job()
    assert (job.due_at - job.queued_at).total_seconds() > settings.SEND_RETRY_S / 2
    assert jobs.claim(job_id=held.job_id, task_id="early") is None
    pauses_over(as_superuser, campaign)
    again = jobs.claim(job_id=held.job_id, task_id="t2")
    assert send_one(again, sealed).delivery_id == first.delivery_id
    assert sending.end_batch(held=again) == "done"


def test_a_recipient_who_is_always_asked_to_wait_fails_in_the_end(mia, as_superuser):
    campaign, held, sealed = begun(mia, to=1)
    for attempt in range(1, rounds.ATTEMPTS + 1):
        send_one(held, sealed, "planned", f"451 try later ({attempt})")
        ended = sending.end_batch(held=held)
        if ended == "queued":
            pauses_over(as_superuser, campaign)
            held = jobs.claim(job_id=held.job_id, task_id=f"t{attempt}")
    [delivery] = f.rows(Delivery.objects)
    assert (ended, delivery.state, delivery.attempt) == ("done", "failed", rounds.ATTEMPTS)
    assert delivery.reply == "451 try later (5)"


def test_a_server_that_is_not_there_lets_the_job_rest_and_says_so(mia):
    campaign, held, _ = begun(mia, to=2)
    assert sending.end_batch(held=held, trouble=sending.Trouble("connection refused")) == "queued"
    job = the_job()
    assert job.outcome == "The mail server asked to wait, or was not there: connection refused"
    assert job.due_at > job.queued_at
    assert states(campaign) == ["planned", "planned"]


def test_a_recipient_that_failed_does_not_stop_the_others(mia):
    campaign, held, sealed = begun(mia, to=2)
    send_one(held, sealed, "failed", "550 no such mailbox")
    send_one(held, sealed)
    sending.end_batch(held=held)
    assert states(campaign) == ["failed", "sent"]
    assert f.fresh(campaign).status == "finished"


def test_one_more_try_goes_out_even_within_the_pause(mia):
    _, delivery = in_doubt(mia, "failed", to=1)
    resolve(mia, delivery, "do_again")
    [own] = f.rows(Job.objects.filter(delivery_id=delivery.id))
    held = jobs.claim(job_id=own.id, task_id="t2")
    assert sends.next_intent(held=held, sealed=sending.begin(held=held)).delivery_id == delivery.id


def test_the_campaign_is_finished_when_the_last_of_its_jobs_ends(mia):
    campaign, delivery = in_doubt(mia, to=1)
    main = the_job()
    resolve(mia, delivery, "do_again")
    [own] = f.rows(Job.objects.filter(delivery_id=delivery.id))
    held = jobs.claim(job_id=own.id, task_id="t2")
    send_one(held, sending.begin(held=held))
    assert sending.end_batch(held=held) == "done"
    assert f.fresh(campaign).status == "sending"
    claim = jobs.Claim(main.id, main.fence, main.kind, None, main.campaign_id, main.version_id, None)
    assert sending.end_batch(held=claim) == "done"
    assert f.fresh(campaign).status == "finished"


def test_another_content_than_the_approved_one_is_not_sent_and_waits_for_a_decision(mia, as_superuser):
    campaign = f.campaign(to=1)
    approve(mia, campaign)
    as_superuser("update approvals_version set digest = 'x' where campaign_id = %s", campaign.id)
    held = jobs.claim(job_id=the_job().id, task_id="t")
    assert sending.begin(held=held) is None
    assert the_job().status == "failed"
    assert f.fresh(campaign).status == "pending"
    assert states(campaign) == ["planned"]


def test_only_the_claim_that_made_the_intent_settles_it(mia):
    campaign, held, sealed = begun(mia, to=1)
    intent = sends.next_intent(held=held, sealed=sealed)
    for other in (replace(held, fence=held.fence - 1), replace(held, fence=held.fence + 1)):
        assert not sends.settle(held=other, intent=intent, state="sent", reply="250 ok")
    assert states(campaign) == ["attempting"]
    assert sends.settle(held=held, intent=intent, state="sent", reply="250 ok")


def test_trouble_with_the_server_itself_is_held_against_no_recipient(mia):
    campaign, held, sealed = begun(mia, to=1)
    for _ in range(rounds.ATTEMPTS + 1):
        intent = sends.next_intent(held=held, sealed=sealed)
        assert sends.settle(
            held=held, intent=intent, state="planned", reply="550 no such sender", counts=False
        )
    assert states(campaign) == ["planned"]


def test_what_no_worker_took_in_time_is_not_sent_and_waits_for_a_decision(mia, as_superuser):
    campaign = f.campaign(to=1, send_by=datetime.now(UTC) + timedelta(hours=1))
    approve(mia, campaign)
    as_superuser("update approvals_campaign set send_by = now() - interval '1 s' where id = %s", campaign.id)
    assert sending.begin(held=jobs.claim(job_id=the_job().id, task_id="t")) is None
    assert (the_job().status, f.fresh(campaign).status, states(campaign)) == (
        "failed",
        "pending",
        ["planned"],
    )


def test_a_job_whose_campaign_was_stopped_sends_nothing(mia):
    campaign, held, sealed = begun(mia, to=2)
    campaigns.stop(
        by=mia, campaign_id=campaign.id, shown=f.shown_campaign(campaign), reason="The wrong list."
    )
    assert sends.next_intent(held=held, sealed=sealed) is None
    assert sending.end_batch(held=held) == "done"
    assert the_job().outcome == "Stopped: 0 sent, 0 failed, 0 in doubt."


def test_what_is_sent_is_the_newest_version_that_was_approved(mia):
    campaign, _, sealed = begun(mia, to=1)
    [version] = f.rows(Version.objects.filter(campaign_id=campaign.id))
    assert sealed.version_id == version.id
    assert (sealed.content.subject, sealed.content.text) == (version.subject_line, version.text)
    assert f.rows(Campaign.objects)[0].status == "sending"


def taken_back_while_its_worker_slept(mia, lease_over):
    """(a campaign that waits for a decision again, the claim of the worker that slept through it)."""
    campaign = f.campaign(to=3)
    approve(mia, campaign)
    held = jobs.claim(job_id=the_job().id, task_id="t")
    lease_over(held.job_id)
    assert jobs.expire(job_id=held.job_id) == "queued"
    take_back(mia, campaign)
    return campaign, held


def test_a_worker_that_slept_through_a_take_back_touches_nothing(mia, lease_over):
    campaign, held = taken_back_while_its_worker_slept(mia, lease_over)
    assert sending.begin(held=held) is None
    assert sending.end_batch(held=held) == "lost"
    assert (f.fresh(campaign).status, states(campaign)) == ("pending", ["planned"] * 3)


def test_a_worker_that_slept_does_not_begin_for_the_job_of_another_approval(mia, lease_over):
    campaign, held = taken_back_while_its_worker_slept(mia, lease_over)
    approve(mia, campaign)
    assert sending.begin(held=held) is None
    assert f.fresh(campaign).status == "approved"
    take_back(mia, campaign)
    assert f.fresh(campaign).status == "pending"
