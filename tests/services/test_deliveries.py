"""Stopping a campaign, and a delivery that is in doubt or failed."""

from dataclasses import replace

import pytest
from django.db import transaction

from approvals.exceptions import AlreadyDecided, Conflict, Invalid, Stale
from approvals.models import Delivery, Job
from approvals.selectors.payloads import contents_of
from approvals.services import jobs, sending
from tests import factories as f
from tests.services import sends
from tests.services.sends import (
    approve,
    begun,
    claimed,
    entries,
    in_doubt,
    reject,
    resolve,
    sealed_of,
    states,
    stop,
    tab_of,
    the_job,
)

pytestmark = pytest.mark.usefixtures("desk")

# Stopping.


def test_a_stop_skips_the_rest_for_good(mia, rob):
    campaign, held, sealed = begun(mia)
    intent = sends.next_intent(held=held, sealed=sealed)
    decision, _ = stop(rob, campaign)
    assert states(campaign) == ["attempting", "skipped", "skipped"]
    assert sends.next_intent(held=held, sealed=sealed) is None
    assert sends.settle(held=held, intent=intent, state="sent", reply="250 ok")
    assert sending.end_batch(held=held) == "done"
    assert (f.fresh(campaign).status, states(campaign)) == ("stopped", ["sent", "skipped", "skipped"])
    with transaction.atomic():
        assert contents_of([decision.payload_id])[decision.payload_id]["skipped"] == 2


def test_what_was_asked_to_wait_while_the_rest_was_skipped_is_skipped_too(mia):
    campaign, held, sealed = begun(mia)
    intent = sends.next_intent(held=held, sealed=sealed)
    stop(mia, campaign)
    sends.settle(held=held, intent=intent, state="planned", reply="451 later")
    assert sending.end_batch(held=held) == "done"
    assert states(campaign) == ["skipped"] * 3


def test_nothing_stays_planned_in_a_stopped_campaign_when_the_worker_was_lost(mia, lease_over):
    campaign, held, sealed = begun(mia)
    intent = sends.next_intent(held=held, sealed=sealed)
    stop(mia, campaign)
    sends.settle(held=held, intent=intent, state="planned", reply="451 later")
    lease_over(held.job_id)
    jobs.expire(job_id=held.job_id)
    assert sending.begin(held=jobs.claim(job_id=held.job_id, task_id="t2")) is None
    assert states(campaign) == ["skipped"] * 3
    assert the_job().status == "done"


def test_a_stop_between_two_batches_cancels_the_waiting_job(mia):
    campaign, held, sealed = begun(mia)
    intent = sends.next_intent(held=held, sealed=sealed)
    sends.settle(held=held, intent=intent, state="sent", reply="250 ok")
    assert sending.end_batch(held=held) == "queued"
    stop(mia, campaign)
    assert (the_job().status, states(campaign)) == ("cancelled", ["sent", "skipped", "skipped"])


def test_stopping_twice_is_harmless_and_the_second_person_sees_who_was_first(mia, rob):
    campaign, _, _ = begun(mia)
    stop(mia, campaign)
    assert stop(mia, campaign)[1]
    with pytest.raises(AlreadyDecided, match="Mia already stopped"):
        stop(rob, campaign)
    assert entries() == ["approve", "stop"]


def test_a_stop_is_never_refused_as_stale(mia):
    campaign, _, _ = begun(mia)
    assert not stop(mia, campaign, replace(f.shown_campaign(campaign), digest="0" * 64))[1]


@pytest.mark.parametrize("decide", [None, approve, reject])
def test_only_what_is_being_sent_can_be_stopped(mia, decide):
    campaign = f.campaign()
    if decide:
        decide(mia, campaign)
    with pytest.raises(Conflict, match="nothing to stop"):
        stop(mia, campaign)


# One delivery in doubt, or failed.


def test_it_happened_makes_a_delivery_in_doubt_sent(mia, rob):
    campaign, delivery = in_doubt(mia)
    assert tab_of(campaign) == "decide"
    decision, _ = resolve(rob, delivery, "happened")
    after = f.fresh(delivery)
    assert (after.state, after.reply, decision.target_id) == ("sent", "Rob: it happened.", delivery.id)
    assert tab_of(campaign) == "progress"


def test_a_message_that_the_server_refused_did_not_happen(mia):
    _, delivery = in_doubt(mia, "failed")
    with pytest.raises(Conflict, match="was not sent"):
        resolve(mia, delivery, "happened")


@pytest.mark.parametrize("state", ["in_doubt", "failed"])
def test_left_alone_it_leaves_the_queue_as_it_is(mia, state):
    campaign, delivery = in_doubt(mia, state)
    resolve(mia, delivery, "leave")
    assert (f.fresh(delivery).state, tab_of(campaign)) == (state, "progress")
    assert f.fresh(delivery).resolved_at is not None


@pytest.mark.parametrize("state", ["in_doubt", "failed"])
def test_done_again_it_goes_out_by_one_job_of_its_own(mia, state):
    campaign, delivery = in_doubt(mia, state)
    decision, _ = resolve(mia, delivery, "do_again")
    [own] = f.rows(Job.objects.filter(delivery_id=delivery.id))
    assert (own.status, own.decision_id, decision.kind) == ("queued", decision.id, "send_again")
    held = jobs.claim(job_id=own.id, task_id="t2")
    sealed = sending.begin(held=held)
    intent = sends.next_intent(held=held, sealed=sealed)
    assert (intent.delivery_id, intent.message_id) == (delivery.id, delivery.message_id)
    assert sends.next_intent(held=held, sealed=sealed) is None
    sends.settle(held=held, intent=intent, state="sent", reply="250 ok")
    assert sending.end_batch(held=held) == "done"
    after = f.fresh(delivery)
    assert (after.state, after.attempt, f.fresh(own).outcome) == (
        "sent",
        2,
        "1 sent, 0 failed, 0 in doubt.",
    )
    assert f.fresh(campaign).status == "sending"


def test_the_campaigns_own_job_leaves_that_recipient_alone(mia):
    campaign, delivery = in_doubt(mia, to=2)
    resolve(mia, delivery, "do_again")
    held = claimed(the_first_job(campaign))
    sealed = sealed_of(campaign)
    intent = sends.next_intent(held=held, sealed=sealed)
    assert intent.delivery_id != delivery.id
    sends.settle(held=held, intent=intent, state="sent", reply="250 ok")
    assert sends.next_intent(held=held, sealed=sealed) is None
    assert sending.end_batch(held=held) == "done"
    assert f.fresh(campaign).status == "sending", "somebody's second try is still to go"


def the_first_job(campaign):
    return f.rows(Job.objects.filter(campaign_id=campaign.id).order_by("created_at"))[0]


def test_one_more_try_of_a_finished_campaign_leaves_it_finished(mia):
    campaign, held, sealed = begun(mia, to=1)
    intent = sends.next_intent(held=held, sealed=sealed)
    sends.settle(held=held, intent=intent, state="failed", reply="550 no such mailbox")
    sending.end_batch(held=held)
    assert (f.fresh(campaign).status, tab_of(campaign)) == ("finished", "decide")
    [delivery] = f.rows(Delivery.objects)
    resolve(mia, delivery, "do_again")
    [own] = f.rows(Job.objects.filter(delivery_id=delivery.id))
    held = jobs.claim(job_id=own.id, task_id="t2")
    intent = sends.next_intent(held=held, sealed=sending.begin(held=held))
    sends.settle(held=held, intent=intent, state="sent", reply="250 ok")
    assert sending.end_batch(held=held) == "done"
    assert (f.fresh(campaign).status, tab_of(campaign)) == ("finished", "history")


def test_one_more_try_in_a_stopped_campaign_survives_the_end_of_its_last_batch(mia):
    campaign, held, sealed = begun(mia)
    intent = sends.next_intent(held=held, sealed=sealed)
    sends.settle(held=held, intent=intent, state="failed", reply="550 full")
    stop(mia, campaign)
    [delivery] = f.rows(Delivery.objects.filter(id=intent.delivery_id))
    resolve(mia, delivery, "do_again")
    assert sending.end_batch(held=held) == "done"
    assert states(campaign) == ["planned", "skipped", "skipped"]


@pytest.mark.parametrize("answer", ["happened", "do_again", "leave"])
def test_resolving_twice_is_harmless_and_the_second_person_sees_who_was_first(mia, rob, answer):
    _, delivery = in_doubt(mia)
    resolve(mia, delivery, answer)
    before = len(f.rows(Job.objects))
    assert resolve(mia, delivery, answer)[1]
    with pytest.raises(AlreadyDecided, match="Mia already"):
        resolve(rob, delivery, answer)
    assert len(f.rows(Job.objects)) == before


def test_the_second_click_on_send_again_sends_nothing_though_it_is_in_doubt_once_more(mia, rob):
    campaign, delivery = in_doubt(mia, to=1)
    shown = f.shown_campaign(campaign)
    first, repeated = resolve(mia, delivery, "do_again", shown=shown)
    assert not repeated
    [own] = f.rows(Job.objects.filter(delivery_id=delivery.id))
    held = jobs.claim(job_id=own.id, task_id="t2")
    intent = sends.next_intent(held=held, sealed=sending.begin(held=held))
    assert sends.settle(held=held, intent=intent, state="in_doubt", reply="the connection broke again")
    again, repeated = resolve(mia, delivery, "do_again", shown=shown)
    assert (again.id, repeated) == (first.id, True)
    with pytest.raises(AlreadyDecided):
        resolve(rob, delivery, "do_again", shown=shown)
    assert states(campaign) == ["in_doubt"]
    assert len(f.rows(Job.objects.filter(delivery_id=delivery.id))) == 1


def test_another_answer_after_the_first_is_no_repetition(mia):
    _, delivery = in_doubt(mia)
    resolve(mia, delivery, "leave")
    for answer in ("happened", "do_again"):
        with pytest.raises(AlreadyDecided):
            resolve(mia, delivery, answer)


def test_what_needs_no_person_is_not_resolved(mia):
    campaign = f.campaign()
    [delivery, *_] = f.rows(Delivery.objects.filter(campaign_id=campaign.id))
    with pytest.raises(Conflict, match="does not wait"):
        resolve(mia, delivery, "leave")


def test_sending_again_is_bound_to_what_was_shown(mia):
    campaign, delivery = in_doubt(mia)
    with pytest.raises(Stale):
        resolve(mia, delivery, "do_again", shown=replace(f.shown_campaign(campaign), digest="0" * 64))


@pytest.mark.parametrize("answer", ["", "did_not_happen", "x" * 10_000, "leave\0"])
def test_an_answer_that_nobody_offered_is_refused_at_its_field(mia, answer):
    _, delivery = in_doubt(mia)
    with pytest.raises(Invalid) as refused:
        resolve(mia, delivery, answer)
    assert refused.value.field == "resolution"
