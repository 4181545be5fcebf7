"""A campaign that waits: for its proposer, for a person who paused it, or for the time it was approved for."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings
from django.db import transaction

from approvals.exceptions import AlreadyDecided, Conflict, Invalid, Stale
from approvals.models import Job, Version
from approvals.services import decisions, jobs, pauses, sending
from tests import factories as f
from tests.services import sends
from tests.services.sends import (
    REASON,
    approve,
    begun,
    entries,
    go_on,
    pause,
    reject,
    return_,
    states,
    stop,
    tab_of,
    take_back,
    the_job,
)

pytestmark = pytest.mark.usefixtures("desk")
TOMORROW = timedelta(days=1)


def send_one(held, sealed):
    intent = sends.next_intent(held=held, sealed=sealed)
    assert sends.settle(held=held, intent=intent, state="sent", reply="250 ok")


def evidence_of(decision):
    with transaction.atomic():
        return decisions.evidence_of(f.fresh(decision))


# Returned to its proposer.


def test_what_is_returned_waits_for_its_proposer_with_the_comment(mia):
    campaign = f.campaign()
    return_(mia, campaign)
    assert (f.fresh(campaign).status, f.fresh(campaign).comment) == ("returned", REASON)
    assert (f.fresh(campaign).finished_at, tab_of(campaign), entries()) == (
        None,
        "progress",
        ["return_campaign"],
    )


@pytest.mark.parametrize("comment", ["", "  no  ", "x" * 2001])
def test_a_return_without_a_comment_tells_the_proposer_nothing_and_is_refused(mia, comment):
    campaign = f.campaign()
    with pytest.raises(Invalid) as refused:
        return_(mia, campaign, comment=comment)
    assert (refused.value.field, f.fresh(campaign).status) == ("comment", "pending")


def test_what_was_returned_can_be_rejected_and_not_approved(mia, rob):
    campaign = f.campaign()
    return_(mia, campaign)
    with pytest.raises(AlreadyDecided, match="Mia already returned this campaign"):
        approve(rob, campaign)
    reject(rob, campaign)
    assert f.fresh(campaign).status == "rejected"


def test_returning_twice_is_harmless_and_the_second_person_sees_who_was_first(mia, rob):
    campaign = f.campaign()
    return_(mia, campaign)
    assert return_(mia, campaign)[1]
    with pytest.raises(AlreadyDecided, match="Mia already returned"):
        return_(rob, campaign)


# Paused by a person.


def test_a_paused_campaign_sends_nothing_more_until_somebody_lets_it_go_on(mia, rob):
    campaign, held, sealed = begun(mia, to=3)
    send_one(held, sealed)
    pause(rob, campaign)
    assert sends.next_intent(held=held, sealed=sealed) is None
    assert sending.end_batch(held=held) == "paused"
    assert (the_job().status, the_job().outcome) == ("paused", "Paused by Rob.")
    assert (f.fresh(campaign).status, tab_of(campaign)) == ("paused", "decide")
    go_on(mia, campaign)
    assert (f.fresh(campaign).status, the_job().status) == ("sending", "queued")
    again = jobs.claim(job_id=held.job_id, task_id="t2")
    assert sending.begin(held=again) == sealed
    for _ in range(2):
        send_one(again, sealed)
    assert sending.end_batch(held=again) == "done"
    assert (states(campaign), f.fresh(campaign).status) == (["sent"] * 3, "finished")
    assert entries() == ["approve", "pause_send", "resume_send", "outcome"]


def test_what_is_under_way_while_it_is_paused_is_settled_and_the_rest_stays_planned(mia):
    campaign, held, sealed = begun(mia, to=2)
    intent = sends.next_intent(held=held, sealed=sealed)
    pause(mia, campaign)
    assert sends.settle(held=held, intent=intent, state="sent", reply="250 ok")
    assert sending.end_batch(held=held) == "paused"
    assert states(campaign) == ["sent", "planned"]


def test_a_job_between_two_batches_is_laid_down_at_once(mia):
    campaign, held, _ = begun(mia, to=2)
    assert sending.end_batch(held=held) == "queued"
    pause(mia, campaign)
    assert the_job().status == "paused"
    assert jobs.claim(job_id=held.job_id, task_id="t2") is None


def test_a_worker_that_is_lost_while_it_is_paused_leaves_it_paused(mia, lease_over):
    campaign, held, sealed = begun(mia, to=2)
    sends.next_intent(held=held, sealed=sealed)
    pause(mia, campaign)
    lease_over(held.job_id)
    assert jobs.expire(job_id=held.job_id) == "queued"
    again = jobs.claim(job_id=held.job_id, task_id="t2")
    assert sending.begin(held=again) is None
    assert (the_job().status, states(campaign)) == ("paused", ["in_doubt", "planned"])


def test_paused_and_let_go_on_before_the_worker_saw_it_changes_nothing(mia):
    campaign, held, sealed = begun(mia, to=1)
    pause(mia, campaign)
    go_on(mia, campaign)
    send_one(held, sealed)
    assert sending.end_batch(held=held) == "done"
    assert f.fresh(campaign).status == "finished"


def test_the_last_message_ends_a_campaign_that_is_paused(mia):
    campaign, held, sealed = begun(mia, to=1)
    intent = sends.next_intent(held=held, sealed=sealed)
    pause(mia, campaign)
    sends.settle(held=held, intent=intent, state="sent", reply="250 ok")
    assert sending.end_batch(held=held) == "done"
    assert f.fresh(campaign).status == "finished"


def test_a_paused_campaign_can_be_stopped(mia):
    campaign, held, _ = begun(mia, to=2)
    sending.end_batch(held=held)
    pause(mia, campaign)
    stop(mia, campaign)
    assert (f.fresh(campaign).status, the_job().status, states(campaign)) == (
        "stopped",
        "cancelled",
        ["skipped"] * 2,
    )


def test_letting_the_job_go_on_lets_the_campaign_go_on(mia):
    campaign, held, _ = begun(mia, to=1)
    sending.end_batch(held=held)
    pause(mia, campaign)
    pauses.resume_send(by=mia, job_id=held.job_id, shown=f.shown_campaign(campaign))
    assert (f.fresh(campaign).status, the_job().status) == ("sending", "queued")


@pytest.mark.parametrize(("decide", "status"), [(pause, "paused"), (go_on, "sending")])
def test_a_double_click_is_harmless_and_the_second_person_sees_who_was_first(mia, rob, decide, status):
    campaign, _, _ = begun(mia, to=1)
    if decide is go_on:
        pause(mia, campaign)
    decide(mia, campaign)
    assert decide(mia, campaign)[1]
    with pytest.raises(AlreadyDecided, match="Mia already"):
        decide(rob, campaign)
    assert f.fresh(campaign).status == status


def test_only_what_is_being_sent_can_be_paused_and_only_what_was_shown_goes_on(mia):
    campaign = f.campaign()
    with pytest.raises(Conflict, match="nothing to pause"):
        pause(mia, campaign)
    approve(mia, campaign)
    sending.begin(held=jobs.claim(job_id=the_job().id, task_id="t"))
    pause(mia, campaign)
    with pytest.raises(Stale):
        go_on(mia, campaign, replace(f.shown_campaign(campaign), digest="0" * 64))


# Approved for later.


def test_G06_an_approval_for_tomorrow_is_held_until_then(mia):
    campaign = f.campaign()
    at = datetime.now(UTC) + TOMORROW
    decision, _ = approve(mia, campaign, at=at, zone="Europe/Paris")
    assert (the_job().status, the_job().due_at) == ("held", at)
    assert not jobs.release(job_id=the_job().id)
    told = evidence_of(decision)
    assert (told["at"], told["zone"]) == (at.isoformat(), "Europe/Paris")
    take_back(mia, campaign)
    assert f.fresh(campaign).status == "pending"


def test_a_time_within_the_hold_is_refused(desk, mia, as_superuser):
    as_superuser("update approvals_workspace set hold_s = 60 where id = %s", desk.id)
    with pytest.raises(Invalid, match="held for 60 seconds"):
        approve(mia, f.campaign(), at=datetime.now(UTC) + timedelta(seconds=5))


@pytest.mark.parametrize(
    ("at", "says"), [(-timedelta(minutes=1), "has passed"), (2 * TOMORROW, "by which it has to be sent")]
)
def test_a_time_that_is_over_or_after_the_proposers_is_refused(mia, at, says):
    campaign = f.campaign(send_by=datetime.now(UTC) + TOMORROW)
    with pytest.raises(Invalid, match=says) as refused:
        approve(mia, campaign, at=datetime.now(UTC) + at)
    assert (refused.value.field, f.fresh(campaign).status) == ("at", "pending")


def late(as_superuser, seconds):
    as_superuser(
        "update approvals_job set due_at = now() - %s * interval '1 second' where id = %s",
        seconds,
        the_job().id,
    )
    return jobs.claim(job_id=the_job().id, task_id="t")


def test_what_nobody_could_send_for_too_long_asks_first(mia, as_superuser):
    campaign = f.campaign()
    approve(mia, campaign)
    assert sending.begin(held=late(as_superuser, settings.START_OVERDUE_S + 60)) is None
    assert (the_job().status, f.fresh(campaign).status, tab_of(campaign)) == ("paused", "approved", "decide")
    assert "more than 1 h" in the_job().outcome
    pauses.resume_send(by=mia, job_id=the_job().id, shown=f.shown_campaign(campaign))
    assert sending.begin(held=jobs.claim(job_id=the_job().id, task_id="t")) is not None


def test_what_is_a_little_late_goes_out(mia, as_superuser):
    approve(mia, f.campaign())
    assert sending.begin(held=late(as_superuser, settings.START_OVERDUE_S - 60)) is not None


def test_what_is_overdue_can_be_taken_back(mia, as_superuser):
    campaign = f.campaign()
    approve(mia, campaign)
    sending.begin(held=late(as_superuser, settings.START_OVERDUE_S + 60))
    take_back(mia, campaign)
    assert (the_job().status, f.fresh(campaign).status) == ("cancelled", "pending")


# Where links in messages would lead nowhere.


@pytest.fixture
def _this_machine(settings):
    settings.BASE_URL = "http://127.0.0.1:8000"


@pytest.mark.usefixtures("_this_machine")
def test_nothing_goes_out_with_links_that_lead_nowhere_until_that_is_mended(mia, settings):
    campaign = f.campaign()
    approve(mia, campaign)
    assert sending.begin(held=jobs.claim(job_id=the_job().id, task_id="t")) is None
    assert (the_job().status, f.fresh(campaign).status, tab_of(campaign)) == ("paused", "approved", "decide")
    assert "BASE_URL is http://127.0.0.1:8000, which is this machine: set BASE_URL to" in the_job().outcome
    settings.BASE_URL = "https://desk.example"
    pauses.resume_send(by=mia, job_id=the_job().id, shown=f.shown_campaign(campaign))
    assert sending.begin(held=jobs.claim(job_id=the_job().id, task_id="t")) is not None


def test_what_is_being_sent_goes_no_further_with_such_links(mia, settings):
    campaign, held, sealed = begun(mia)
    send_one(held, sealed)
    assert sending.end_batch(held=held) == "queued"
    settings.BASE_URL = "http://desk.example"
    assert sending.begin(held=jobs.claim(job_id=the_job().id, task_id="t")) is None
    assert (the_job().status, f.fresh(campaign).status) == ("paused", "sending")
    assert "Nobody could unsubscribe with one click" in the_job().outcome


def test_nothing_is_sent_again_to_one_recipient_with_such_links(mia, settings):
    campaign, delivery = sends.in_doubt(mia)
    sends.resolve(mia, delivery, "do_again")
    settings.BASE_URL = ""
    [job] = f.rows(Job.objects.filter(delivery_id=delivery.id))
    assert sending.begin(held=jobs.claim(job_id=job.id, task_id="t")) is None
    assert (f.fresh(job).status, states(campaign)[0]) == ("paused", "planned")


@pytest.mark.usefixtures("_this_machine")
@pytest.mark.parametrize(
    ("name", "value"), [("MAIL_CATCHER_DIR", "/somewhere"), ("ALLOWED_RECIPIENT_DOMAINS", ["example.com"])]
)
def test_where_nobody_outside_is_written_to_any_address_does(mia, settings, name, value):
    setattr(settings, name, value)
    approve(mia, f.campaign())
    assert sending.begin(held=jobs.claim(job_id=the_job().id, task_id="t")) is not None


def test_a_campaign_that_was_stopped_ends_whatever_its_links_are(mia, settings):
    campaign, held, _ = begun(mia)
    sending.end_batch(held=held)
    held = jobs.claim(job_id=the_job().id, task_id="t")
    stop(mia, campaign)
    settings.BASE_URL = "http://127.0.0.1:8000"
    assert sending.begin(held=held) is None
    assert (the_job().status, the_job().outcome) == ("done", sending.STOPPED)


# Who may approve.


def test_D13_whoever_proposed_a_version_does_not_approve_it(mia, rob, as_superuser):
    campaign = f.campaign()
    [version] = f.rows(Version.objects.filter(campaign_id=campaign.id))
    as_superuser("alter table approvals_version disable trigger version_sealed")
    as_superuser(
        "update approvals_version set proposer_kind = 'member', proposer_id = %s where id = %s",
        mia.id,
        version.id,
    )
    as_superuser("alter table approvals_version enable trigger version_sealed")
    with pytest.raises(Conflict) as refused:
        approve(mia, campaign)
    assert (refused.value.code, entries()) == ("own_proposal", [])
    approve(rob, campaign)
