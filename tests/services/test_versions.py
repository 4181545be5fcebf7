"""A campaign that is proposed anew: its next version, whatever state it is in, and nobody hears of it twice."""

import pytest
from django.db import transaction

from approvals.db.binding import bind
from approvals.exceptions import Conflict, Stale
from approvals.models import Campaign, Job
from approvals.rules.proposals import Recipient
from approvals.services import decisions, jobs, sending, versions
from tests import factories as f
from tests.services import sends
from tests.services.proposed import (
    GUESTS,
    anew,
    deliveries,
    left_out,
    numbers,
    send_all,
    send_some,
    the_rest,
)
from tests.services.sends import approve, begun, entries, pause, reject, return_, stop, tab_of

pytestmark = pytest.mark.usefixtures("desk")


class TestWhateverState:
    def test_D12_one_that_waits_is_replaced(self, ada):
        campaign = f.campaign()
        assert anew(ada, campaign) == (campaign, True)
        assert (numbers(campaign), f.fresh(campaign).status, tab_of(campaign)) == (
            [1, 2],
            "pending",
            "decide",
        )
        assert deliveries(campaign, 1) == dict.fromkeys(GUESTS, "skipped")
        assert deliveries(campaign, 2) == dict.fromkeys(GUESTS, "planned")
        assert f.rows(Campaign.objects) == [campaign]

    def test_one_that_was_returned_waits_again_without_the_comment(self, mia, ada):
        campaign = f.campaign()
        return_(mia, campaign)
        anew(ada, campaign, name="Better")
        found = f.fresh(campaign)
        assert (found.status, found.comment, found.name, tab_of(campaign)) == (
            "pending",
            "",
            "Better",
            "decide",
        )

    def test_D01_the_approval_of_one_that_is_held_is_void(self, desk, mia, ada, as_superuser):
        as_superuser("update approvals_workspace set hold_s = 60 where id = %s", desk.id)
        campaign = f.campaign()
        approve(mia, campaign)
        anew(ada, campaign)
        [job] = f.rows(Job.objects)
        assert (job.status, job.outcome) == ("cancelled", "Version 2 took the place of this one.")
        assert f.fresh(campaign).status == "pending"

    def test_D01_a_worker_that_has_not_begun_yet_sends_nothing(self, mia, ada):
        campaign = f.campaign()
        approve(mia, campaign)
        held = jobs.claim(job_id=sends.the_job().id, task_id="t")
        anew(ada, campaign)
        assert sending.begin(held=held) is None
        assert (f.fresh(campaign).status, sends.the_job().status) == ("pending", "failed")
        assert "not the one that was approved any more" in sends.the_job().outcome
        assert deliveries(campaign, 1) == dict.fromkeys(GUESTS, "skipped")
        assert deliveries(campaign, 2) == dict.fromkeys(GUESTS, "planned")

    def test_D01_the_old_approval_does_not_count_for_the_new_content(self, mia, rob, ada):
        campaign = f.campaign()
        approve(mia, campaign)
        seen = f.shown_campaign(campaign)
        anew(ada, campaign)
        with pytest.raises(Stale):
            approve(rob, campaign, seen)
        assert f.fresh(campaign).status == "pending"

    def test_D06_a_worker_in_the_middle_settles_what_it_has_and_sends_no_more(self, mia, ada):
        campaign, held, sealed = begun(mia)
        send_some(held, sealed, "sent")
        under_way = sends.next_intent(held=held, sealed=sealed)
        the_rest(ada, campaign)
        assert sends.next_intent(held=held, sealed=sealed) is None
        assert sends.settle(held=held, intent=under_way, state="sent", reply="")
        assert sending.end_batch(held=held) == "done"
        assert deliveries(campaign, 1) == dict(zip(GUESTS, ["sent", "sent", "skipped"], strict=True))
        # Nobody knew yet what would become of the second; at its turn it is known.
        assert deliveries(campaign, 2) == {GUESTS[1]: "planned", GUESTS[2]: "planned"}
        assert send_all(mia, campaign) == [GUESTS[2]]
        assert deliveries(campaign, 2) == {GUESTS[1]: "skipped", GUESTS[2]: "sent"}
        assert f.fresh(campaign).status == "finished"

    def test_D06_one_that_was_asked_to_wait_is_left_to_the_new_version(self, mia, ada):
        campaign, held, sealed = begun(mia, to=1)
        under_way = sends.next_intent(held=held, sealed=sealed)
        the_rest(ada, campaign)
        assert sends.settle(held=held, intent=under_way, state="planned", reply="450 later")
        assert sending.end_batch(held=held) == "done"
        assert deliveries(campaign, 1) == {GUESTS[0]: "skipped"}
        assert send_all(mia, campaign) == [GUESTS[0]]

    def test_a_worker_that_is_lost_leaves_doubt_and_the_new_version_leaves_that_one_alone(
        self, mia, ada, lease_over
    ):
        campaign, held, sealed = begun(mia)
        sends.next_intent(held=held, sealed=sealed)
        the_rest(ada, campaign)
        lease_over(held.job_id)
        assert jobs.expire(job_id=held.job_id) == "queued"
        assert sending.begin(held=jobs.claim(job_id=held.job_id, task_id="t1")) is None
        assert deliveries(campaign, 1)[GUESTS[0]] == "in_doubt"
        assert send_all(mia, campaign) == GUESTS[1:]

    def test_D06_one_that_is_paused_is_replaced_for_the_rest(self, mia, ada):
        campaign, held, sealed = begun(mia)
        send_some(held, sealed, "sent")
        pause(mia, campaign)
        sending.end_batch(held=held)
        the_rest(ada, campaign)
        assert f.fresh(campaign).status == "pending"
        assert left_out(campaign, 2) == {GUESTS[0]: "already_sent"}
        assert send_all(mia, campaign) == GUESTS[1:]

    def test_one_that_was_stopped_goes_on_as_its_next_version(self, mia, ada):
        campaign, held, sealed = begun(mia)
        send_some(held, sealed, "in_doubt")
        stop(mia, campaign)
        sending.end_batch(held=held)
        the_rest(ada, campaign)
        assert (f.fresh(campaign).status, f.fresh(campaign).finished_at) == ("pending", None)
        assert left_out(campaign, 2) == {GUESTS[0]: "already_sent"}
        assert send_all(mia, campaign) == GUESTS[1:]

    def test_whoever_an_earlier_version_reached_is_not_reached_by_naming_them_again(self, mia, ada):
        campaign, held, sealed = begun(mia)
        send_some(held, sealed, "sent", "failed")
        stop(mia, campaign)
        sending.end_batch(held=held)
        new = [
            Recipient("new@example.com", {}),
            Recipient("GUEST1@example.com", {}),
            Recipient(GUESTS[1], {}),
        ]
        anew(ada, campaign, recipients=new)
        assert left_out(campaign, 2) == {"GUEST1@example.com": "already_sent"}
        assert send_all(mia, campaign) == ["new@example.com", GUESTS[1]]

    def test_a_third_version_knows_whom_the_first_reached(self, mia, ada):
        campaign, held, sealed = begun(mia)
        send_some(held, sealed, "sent")
        the_rest(ada, campaign)
        sending.end_batch(held=held)
        the_rest(ada, campaign, text="Third")
        assert left_out(campaign, 3) == {GUESTS[0]: "already_sent"}
        assert send_all(mia, campaign) == GUESTS[1:]

    def test_one_that_is_closed_takes_none(self, mia, ada):
        rejected, finished = f.campaign(), begun(mia, to=1)
        reject(mia, rejected)
        send_some(*finished[1:], "sent")
        sending.end_batch(held=finished[1])
        for campaign in (rejected, finished[0]):
            before = entries()
            for once_more in (anew, the_rest):
                with pytest.raises(Conflict) as refused:
                    once_more(ada, campaign)
                assert (refused.value.code, refused.value.status) == ("external_id_conflict", 409)
            assert (numbers(campaign), entries()) == ([1], before)


class TestWhatIsKnown:
    def test_the_same_body_again_changes_nothing(self, ada):
        campaign = f.campaign()
        anew(ada, campaign)
        before = entries()
        assert anew(ada, campaign) == (f.fresh(campaign), False)
        assert (numbers(campaign), entries()) == ([1, 2], before)

    def test_a_body_that_was_replaced_does_not_come_back_and_nobody_is_told_that_it_did(self, ada):
        campaign = f.campaign()
        anew(ada, campaign, text="Second")
        anew(ada, campaign, text="Third")
        with pytest.raises(Conflict) as refused:
            anew(ada, campaign, text="Second")
        assert (refused.value.code, refused.value.extra["version"]) == ("version_replaced", 3)
        assert numbers(campaign) == [1, 2, 3]

    def test_after_an_approval_too(self, mia, ada):
        campaign = f.campaign()
        anew(ada, campaign)
        approve(mia, campaign)
        assert anew(ada, campaign)[1] is False
        assert f.fresh(campaign).status == "approved"

    def test_a_double_click_on_the_page_is_one_version(self, ada):
        campaign = f.campaign()
        seen = f.shown_campaign(campaign)
        for _ in range(2):
            the_rest(ada, campaign, seen)
        assert numbers(campaign) == [1, 2]

    def test_D07_what_somebody_types_on_an_older_version_is_refused(self, ada, ben):
        campaign = f.campaign()
        seen = f.shown_campaign(campaign)
        the_rest(ada, campaign, seen)
        with pytest.raises(Stale) as refused:
            the_rest(ben, campaign, seen, text="Mine")
        assert "Version 2 of this campaign took the place" in refused.value.changed[0]
        assert numbers(campaign) == [1, 2]

    def test_it_is_in_the_log_with_what_it_replaced(self, mia, ada):
        campaign, held, sealed = begun(mia)
        send_some(held, sealed, "sent")
        the_rest(ada, campaign)
        entry = f.rows(decisions.Decision.objects.filter(kind="new_version"))[0]
        with transaction.atomic():
            told = decisions.evidence_of(entry)
        assert (told["version"], told["was"], told["skipped"]) == (2, "sending", 2)
        assert (entry.actor_name, entry.digest) == ("Ada", f.shown_campaign(campaign).digest)


class TestHalfWay:
    @pytest.mark.parametrize(
        ("room", "broken"),
        [(versions, "make"), (versions, "_fill"), (versions, "_seal"), (versions, "version_digest"),
         (decisions, "record")],
        ids=lambda it: getattr(it, "__name__", it),
    )  # fmt: skip
    def test_what_breaks_off_leaves_everything_as_it_was(self, mia, ada, monkeypatch, room, broken):
        def killed(*_, **__):
            raise SystemExit(9)

        campaign, held, sealed = begun(mia)
        send_some(held, sealed, "sent")
        before = f.fresh(campaign), deliveries(campaign, 1), sends.the_job(), entries()
        with monkeypatch.context() as patched, pytest.raises(SystemExit):
            patched.setattr(room, broken, killed)
            anew(ada, campaign)
        assert (f.fresh(campaign), deliveries(campaign, 1), sends.the_job(), entries()) == before
        assert f.fresh(campaign).status == "sending"
        send_some(held, sealed, "sent", "sent")
        assert sending.end_batch(held=held) == "done"


def test_a_workspace_knows_nothing_of_anothers_external_id(desk, ada):
    campaign = f.campaign(external_id="once")
    other = f.workspace("harbour-versions")
    with bind(other.id):
        made, created = anew(ada, campaign)
    assert (created, made.id == campaign.id, numbers(campaign)) == (True, False, [1])
