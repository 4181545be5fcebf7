"""Telling a runtime of its campaigns: written with each decision, told in order, given up at last, told again."""

import json
from datetime import timedelta
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from approvals.exceptions import AlreadyDecided, Conflict, NotAllowed, NotFound
from approvals.models import Callback, Campaign, Runtime
from approvals.rules import webhooks
from approvals.rules.callbacks import PAUSES_S
from approvals.selectors import callbacks as selectors
from approvals.selectors.payloads import contents_of
from approvals.services import callbacks, campaigns, jobs, listening, pauses, secrets, sending, sweep
from tests import factories as f
from tests.house import OPERATOR
from tests.services.sends import (
    REASON,
    approve,
    begun,
    entries,
    in_doubt,
    next_intent,
    reject,
    resolve,
    settle,
    stop,
    take_back,
    the_job,
)

pytestmark = pytest.mark.usefixtures("desk")

URL = "https://agents.example/told"
SECRET = webhooks.new_secret()


@pytest.fixture
def agents(desk):
    """A runtime that listens."""
    return f.runtime(name="agents", callback_url=URL, signing_secret=secrets.seal(SECRET))


@pytest.fixture
def campaign(agents):
    return f.campaign(to=2, runtime=agents, external_id="spring")


@pytest.fixture
def due(as_superuser):
    """What waits is due now; what is being told has lost its worker."""
    return lambda: as_superuser(
        "update approvals_callback set due_at = now(), lease_until = lease_until - interval '1 day'"
    )


def outbox():
    return f.rows(Callback.objects.order_by("campaign_id", "number"))


def types():
    return [row.type for row in outbox()]


def due_ids(campaign):
    found = sweep.due(at_most=100)
    return [
        item.id for item in found if (item.kind, item.workspace_id) == ("callback", campaign.workspace_id)
    ]


def data_of(row):
    return json.loads(row.body)["data"]


def returned(by, campaign):
    shown = f.shown_campaign(campaign)
    return campaigns.return_(by=by, campaign_id=campaign.id, shown=shown, comment=REASON)


def taken(row):
    return callbacks.claim(callback_id=row.id)


def told_of(row, kind="told", detail="It took the callback (200 OK)."):
    return callbacks.settle(held=taken(row), kind=kind, detail=detail)


def given_up(row):
    assert told_of(row, "gone", "It wants no more.")
    return f.fresh(row)


def again(by, campaign, shown=None):
    shown = shown or f.shown_campaign(campaign)
    return callbacks.tell_again(by=by, campaign_id=campaign.id, shown=shown)


class TestNews:
    def test_a_campaign_that_is_returned_is_told_with_the_comment(self, mia, campaign):
        decision, _ = returned(mia, campaign)
        [row] = outbox()
        assert (row.type, row.status, row.decision_id, row.number) == (
            "campaign.returned",
            "waiting",
            decision.id,
            1,
        )
        assert json.loads(row.body)["type"] == "campaign.returned"
        data = data_of(row)
        counts = data.pop("counts")
        assert data == {
            "id": str(campaign.id),
            "external_id": "spring",
            "version": 1,
            "status": "returned",
            "comment": REASON,
        }
        assert (counts["total"], counts["planned"], counts["sent"]) == (2, 2, 0)

    def test_nobodys_address_is_in_it(self, mia, campaign):
        returned(mia, campaign)
        with transaction.atomic():
            addresses = list(campaign.versions.get().audience.values_list("address", flat=True))
        assert len(addresses) == 2
        assert not [address for address in addresses if address in outbox()[0].body]

    def test_each_decision_tells_the_state_that_it_led_to(self, mia, campaign):
        approve(mia, campaign)
        take_back(mia, campaign)
        reject(mia, campaign)
        assert [(row.type, data_of(row)["status"]) for row in outbox()] == [
            ("campaign.approved", "approved"),
            ("campaign.taken_back", "pending"),
            ("campaign.rejected", "rejected"),
        ]
        assert [row.number for row in outbox()] == [1, 2, 3]

    def test_pausing_going_on_and_stopping_are_told(self, mia, agents):
        sent, *_ = begun(mia, to=2, runtime=agents)
        by = {"by": mia, "campaign_id": sent.id}
        campaigns.pause(**by, shown=f.shown_campaign(sent))
        campaigns.go_on(**by, shown=f.shown_campaign(sent))
        stop(mia, sent)
        assert [(row.type, data_of(row)["status"]) for row in outbox()[1:]] == [
            ("campaign.paused", "paused"),
            ("campaign.resumed", "sending"),
            ("campaign.stopped", "stopped"),
        ]
        assert data_of(outbox()[-1])["counts"]["skipped"] == 2

    def test_the_end_of_the_sending_is_told_though_nobody_decides_it(self, mia, agents):
        _, held, sealed = begun(mia, to=1, runtime=agents)
        intent = next_intent(held=held, sealed=sealed)
        settle(held=held, intent=intent, state="sent", reply="250 ok")
        assert sending.end_batch(held=held) == "done"
        last = outbox()[-1]
        assert (last.type, last.decision_id, data_of(last)["status"]) == (
            "campaign.finished",
            None,
            "finished",
        )
        assert data_of(last)["counts"]["sent"] == 1

    def test_what_is_decided_about_a_single_delivery_is_none(self, mia, agents):
        _, delivery = in_doubt(mia, to=2, runtime=agents)
        before = types()
        resolve(mia, delivery, "do_again")
        assert types() == before

    def test_to_let_a_paused_job_go_on_is_none_of_the_campaign(self, mia, agents, campaign, as_superuser):
        approve(mia, campaign)
        as_superuser("update approvals_job set status = 'paused' where id = %s", the_job().id)
        pauses.resume_send(by=mia, job_id=the_job().id, shown=f.shown_campaign(campaign))
        assert types() == ["campaign.approved"]

    def test_nobody_is_told_where_nobody_listens_or_no_runtime_proposed_it(self, mia):
        for runtime in (f.runtime(name="deaf"), None):
            reject(mia, f.campaign(to=1, runtime=runtime))
        assert outbox() == []

    def test_there_is_none_of_what_was_not_decided_after_all(self, mia, campaign):
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            reject(mia, campaign)
            raise ZeroDivisionError
        assert outbox() == []
        reject(mia, campaign)
        _, repeated = reject(mia, campaign)
        assert repeated
        assert types() == ["campaign.rejected"]


class TestTelling:
    def test_whoever_takes_it_has_all_that_is_needed_and_nobody_else_gets_it(self, mia, campaign):
        returned(mia, campaign)
        [row] = outbox()
        held = taken(row)
        assert (held.url, held.secret, held.body, held.attempts) == (URL, SECRET, row.body, 1)
        assert taken(row) is None
        assert SECRET not in repr(held)

    def test_what_was_told_is_told_no_more(self, mia, campaign, due):
        returned(mia, campaign)
        [row] = outbox()
        assert told_of(row)
        row = f.fresh(row)
        assert (row.status, row.answer, row.lease_until) == ("told", "It took the callback (200 OK).", None)
        assert row.told_at is not None
        due()
        assert taken(row) is None

    def test_after_each_try_that_failed_it_waits_longer_and_then_it_is_given_up(self, mia, campaign, due):
        returned(mia, campaign)
        [row] = outbox()
        for attempt, pause in enumerate(PAUSES_S, start=1):
            assert told_of(row, "not_told", "It did not answer.")
            now = f.fresh(row)
            assert (now.status, now.attempts) == ("waiting", attempt)
            assert abs((now.due_at - timezone.now()).total_seconds() - pause) < 5
            assert taken(row) is None
            due()
        assert told_of(row, "not_told", "It did not answer.")
        now = f.fresh(row)
        assert (now.status, now.attempts, now.answer, now.told_at) == (
            "given_up",
            7,
            "It did not answer.",
            None,
        )

    def test_a_runtime_that_wants_no_more_is_given_up_at_once(self, mia, campaign):
        returned(mia, campaign)
        assert given_up(outbox()[0]).attempts == 1

    def test_news_wait_until_those_before_them_were_told(self, mia, campaign, due):
        approve(mia, campaign)
        take_back(mia, campaign)
        first, second = outbox()
        assert taken(second) is None
        assert due_ids(campaign) == [first.id]
        told_of(first, "not_told", "It did not answer.")
        assert taken(second) is None
        due()
        told_of(first)
        assert due_ids(campaign) == [second.id]
        assert taken(second) is not None

    def test_news_go_on_behind_those_that_were_given_up(self, mia, campaign):
        approve(mia, campaign)
        take_back(mia, campaign)
        first, second = outbox()
        given_up(first)
        assert told_of(second)

    def test_campaigns_do_not_wait_for_each_other(self, mia, agents, campaign):
        other = f.campaign(to=1, runtime=agents)
        reject(mia, campaign)
        reject(mia, other)
        assert all(taken(row) for row in outbox())

    def test_a_worker_that_was_lost_is_followed_by_another_under_the_same_id(self, mia, campaign, due):
        returned(mia, campaign)
        [row] = outbox()
        lost = taken(row)
        due()
        held = taken(row)
        assert (held.callback_id, held.body) == (lost.callback_id, lost.body)
        assert (held.fence, held.attempts) == (lost.fence + 1, 2)
        assert not callbacks.settle(held=lost, kind="told", detail="late")
        assert f.fresh(row).status == "waiting"
        assert callbacks.settle(held=held, kind="told", detail="in time")
        assert not callbacks.settle(held=held, kind="gone", detail="twice")
        assert f.fresh(row).answer == "in time"

    def test_the_lease_is_as_long_as_any_other(self, mia, campaign):
        returned(mia, campaign)
        taken(outbox()[0])
        left = f.fresh(outbox()[0]).lease_until - timezone.now()
        assert timedelta(seconds=settings.LEASE_S - 5) < left <= timedelta(seconds=settings.LEASE_S)

    def test_nobody_is_told_who_stopped_listening_meanwhile(self, mia, agents, campaign):
        returned(mia, campaign)
        listening.set_callback(by=OPERATOR, runtime="agents", callback_url="")
        [row] = outbox()
        assert taken(row) is None
        assert (f.fresh(row).status, f.fresh(row).answer) == ("given_up", callbacks.NO_ADDRESS)
        with transaction.atomic():
            assert selectors.untold_of(campaign.id) is None

    def test_a_callback_that_is_not_there_is_nobodys(self):
        assert callbacks.claim(callback_id=uuid4()) is None


class TestAnotherAddress:
    def test_what_waits_and_what_was_given_up_is_tried_there_at_once(self, mia, agents, campaign):
        other = f.campaign(to=1, runtime=agents)
        returned(mia, campaign)
        reject(mia, other)
        waiting, gone = outbox() if outbox()[0].campaign_id == campaign.id else outbox()[::-1]
        told_of(waiting, "not_told", "It did not answer.")
        given_up(gone)
        listening.set_callback(by=OPERATOR, runtime="agents", callback_url="http://new.example/told")
        for row in (waiting, gone):
            assert taken(row).url == "http://new.example/told"
        assert f.fresh(gone).attempts == 1

    def test_what_newer_news_overtook_stays_given_up(self, mia, agents, campaign):
        approve(mia, campaign)
        take_back(mia, campaign)
        first, second = outbox()
        given_up(first)
        told_of(second)
        listening.set_callback(by=OPERATOR, runtime="agents", callback_url=URL)
        assert [f.fresh(row).status for row in (first, second)] == ["given_up", "told"]

    def test_another_runtimes_news_stay_where_they_are(self, mia, agents, campaign):
        f.runtime(name="others", callback_url=URL)
        returned(mia, campaign)
        told_of(outbox()[0], "not_told", "It did not answer.")
        listening.set_callback(by=OPERATOR, runtime="others", callback_url="http://new.example")
        assert taken(outbox()[0]) is None


class TestToldAgain:
    def test_a_reviewer_has_it_told_again_and_the_log_says_so(self, mia, campaign):
        returned(mia, campaign)
        row = given_up(outbox()[0])
        with transaction.atomic():
            untold = selectors.untold_of(campaign.id)
        assert (untold.type, untold.why, untold.campaign_id) == (
            "campaign.returned",
            "It wants no more.",
            campaign.id,
        )
        decision, repeated = again(mia, campaign)
        assert not repeated
        assert (f.fresh(row).status, f.fresh(row).attempts) == ("waiting", 0)
        assert entries()[-1] == "tell_again"
        entry = f.fresh(decision)
        with transaction.atomic():
            evidence = contents_of([entry.payload_id])[entry.payload_id]
        assert evidence == {
            "campaign": campaign.name,
            "told": "campaign.returned",
            "answer": "It wants no more.",
        }
        with transaction.atomic():
            assert selectors.untold_of(campaign.id) is None
        assert told_of(row)

    def test_a_double_click_tells_it_once_and_somebody_else_comes_second(self, mia, rob, campaign):
        returned(mia, campaign)
        given_up(outbox()[0])
        shown = f.shown_campaign(campaign)
        first, _ = again(mia, campaign, shown)
        assert again(mia, campaign, shown) == (f.fresh(first), True)
        with pytest.raises(AlreadyDecided):
            again(rob, campaign, shown)
        assert entries().count("tell_again") == 1

    def test_where_nothing_was_given_up_there_is_nothing_to_tell_again(self, mia, campaign):
        with pytest.raises(Conflict, match="Nothing waits to be told again"):
            again(mia, campaign)
        returned(mia, campaign)
        with pytest.raises(Conflict, match="Nothing waits to be told again"):
            again(mia, campaign)
        given_up(outbox()[0])
        again(mia, campaign)
        told_of(outbox()[0])
        with pytest.raises(Conflict, match="Nothing waits to be told again"):
            again(mia, campaign)

    def test_old_news_are_not_told_after_newer_ones(self, mia, campaign):
        approve(mia, campaign)
        take_back(mia, campaign)
        first, second = outbox()
        given_up(first)
        with transaction.atomic():
            assert selectors.untold_of(campaign.id) is None
            assert selectors.untold(at_most=9) == []
        with pytest.raises(Conflict):
            again(mia, campaign)
        given_up(second)
        again(mia, campaign)
        assert [f.fresh(row).status for row in (first, second)] == ["given_up", "waiting"]

    def test_nobody_can_be_told_who_does_not_listen(self, mia, agents, campaign):
        returned(mia, campaign)
        given_up(outbox()[0])
        with transaction.atomic():
            Runtime.objects.filter(id=agents.id).update(callback_url="")
        with pytest.raises(Conflict, match="no callback address"):
            again(mia, campaign)

    def test_only_a_reviewer_may_and_only_about_what_is_there(self, ada, mia, campaign):
        returned(mia, campaign)
        given_up(outbox()[0])
        with pytest.raises(NotAllowed):
            again(ada, campaign)
        with pytest.raises(NotFound):
            again(mia, Campaign(id=uuid4()), f.shown_campaign(campaign))


def test_a_job_that_waits_is_no_callback(mia, campaign):
    approve(mia, campaign)
    assert callbacks.claim(callback_id=the_job().id) is None
    assert jobs.claim(job_id=outbox()[0].id, task_id="t") is None
