"""Versions, pauses and sending again at one instant: nobody is lost, nothing gets stuck, and nothing leaves unasked."""

import threading
import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction

from approvals.db.binding import bind
from approvals.exceptions import Conflict
from approvals.models import Delivery, Job
from approvals.rules.proposals import Recipient
from approvals.services import jobs, pauses, rounds, sending
from approvals.services.rounds import Ending
from approvals.services.trials import send_test
from approvals.tasks import batch, trials
from tests import factories as f
from tests.servers.smtp import Drop, Fault, Say
from tests.services import sends
from tests.services.conftest import as_superuser, database, desk, lease_over, mia, rob
from tests.tasks.office import office, sink
from tests.tasks.test_send_versions import anew

__all__ = ["as_superuser", "database", "desk", "lease_over", "mia", "office", "rob", "sink"]


def begun_again(campaign):
    """The claim of the newest version's own job, which a worker has begun."""
    [job] = f.rows(Job.objects.filter(campaign_id=campaign.id, delivery=None, status="queued"))
    held = jobs.claim(job_id=job.id, task_id="second")
    assert sending.begin(held=held) is not None
    return held


def all_but_one(mia, to):
    """(a campaign of which the first was refused and the rest is sent, the claim of whoever sent it, the one)."""
    campaign, held, sealed = sends.begun(mia, to=to)
    planned = rounds.upcoming(held=held, sealed=sealed, after=-1, at_most=to)
    rounds.turn(held=held, sealed=sealed, wanted=planned)
    kinds = ["failed", *["sent"] * (to - 1)]
    endings = [Ending(one.delivery_id, kind, "x") for one, kind in zip(planned, kinds, strict=True)]
    rounds.turn(held=held, sealed=sealed, endings=endings)
    [failed] = f.rows(Delivery.objects.filter(state="failed"))
    return campaign, held, failed


def sent_again_beside_version_2(mia, rob):
    """(a campaign whose version 2 waits, somebody of version 1 whom a person has sent to again)."""
    campaign, held, sealed = sends.begun(mia, to=3)
    lost = sends.next_intent(held=held, sealed=sealed)
    rounds.turn(held=held, sealed=sealed, endings=[Ending(lost.delivery_id, "failed", "550 no")])
    anew(campaign, rob, recipients=[Recipient(*person) for person in f.recipients(3)[1:]])
    assert sending.end_batch(held=held) == "done"
    [failed] = f.rows(Delivery.objects.filter(state="failed"))
    sends.resolve(mia, failed, "do_again")
    return campaign, failed


def woken_until_it_rests(office, most=10):
    """How often the job is begun before it rests, or is over."""
    for times in range(most):
        due = Job.objects.filter(status="queued").extra(where=["due_at <= clock_timestamp()"])
        if not f.rows(due):
            return times
        office.wake()
    return most


class TestGoingOn:
    def test_while_a_frozen_worker_still_holds_the_job_of_version_1(self, desk, mia, rob):
        campaign, _, _ = sends.begun(mia, to=3)
        anew(campaign, rob, to=3)
        sends.approve(mia, campaign)
        begun_again(campaign)
        sends.pause(mia, campaign)
        sends.go_on(mia, campaign)
        assert f.fresh(campaign).status == "sending"

    def test_what_is_left_of_version_1_is_not_paused_along(self, desk, mia, rob, lease_over):
        campaign, old, _ = sends.begun(mia, to=3)
        anew(campaign, rob, to=3)
        sends.approve(mia, campaign)
        begun_again(campaign)
        lease_over(old.job_id)
        assert jobs.expire(job_id=old.job_id) == "queued"
        sends.pause(mia, campaign)
        assert {job.status for job in f.rows(Job.objects)} == {"queued", "running"}
        sends.go_on(mia, campaign)
        assert f.fresh(campaign).status == "sending"

    def test_when_only_somebody_is_left_who_is_sent_to_again(self, desk, mia):
        campaign, held, failed = all_but_one(mia, 3)
        sends.resolve(mia, failed, "do_again")
        assert sending.end_batch(held=held) == "done"
        sends.pause(mia, campaign)
        sends.go_on(mia, campaign)
        assert f.fresh(campaign).status == "sending"

    def test_a_pause_is_not_undone_by_the_paused_job_of_an_older_version(self, desk, mia, rob, as_superuser):
        campaign, old, _ = sends.begun(mia, to=3)
        anew(campaign, rob, to=3)
        sends.approve(mia, campaign)
        sending.end_batch(held=begun_again(campaign))
        as_superuser(
            "update approvals_job set status = 'paused', lease_until = null where id = %s", old.job_id
        )
        sends.pause(mia, campaign)
        pauses.resume_send(by=mia, job_id=old.job_id, shown=f.shown_campaign(campaign))
        assert f.fresh(campaign).status == "paused"

    def test_a_campaign_whose_last_one_is_given_up_is_finished(self, office, sink):
        campaign, held, failed = all_but_one(office.by, 2)
        sends.resolve(office.by, failed, "do_again")
        assert sending.end_batch(held=held) == "done"
        sink.faults.append(Fault("mail", 1, Say(b"550 you may not send\r\n"), on=True))
        office.wake()
        [again] = f.rows(Job.objects.filter(delivery_id=failed.id))
        assert again.status == "paused"
        pauses.give_up(by=office.by, job_id=again.id, shown=f.shown_campaign(campaign))
        assert f.fresh(campaign).status == "finished"


class TestTakingBack:
    def test_of_version_2_leaves_whoever_is_sent_to_again_alone(self, office, sink, rob):
        campaign, failed = sent_again_beside_version_2(office.by, rob)
        sends.approve(office.by, campaign)
        sends.take_back(office.by, campaign)
        sends.approve(office.by, campaign)
        office.send_all()
        assert (f.fresh(campaign).status, failed.address in sink.recipients) == ("finished", True)
        assert f.rows(Delivery.objects.filter(state="planned")) == []

    def test_is_refused_once_a_worker_has_it_whoever_else_waits(self, office, sink, rob):
        campaign, _ = sent_again_beside_version_2(office.by, rob)
        sends.approve(office.by, campaign)
        [own] = f.rows(Job.objects.filter(campaign_id=campaign.id, delivery=None, status="queued"))
        held = jobs.claim(job_id=own.id, task_id="slow")
        with pytest.raises(Conflict) as refused:
            sends.take_back(office.by, campaign)
        assert refused.value.code == "too_late"
        assert sending.begin(held=held) is not None

    def test_and_approved_for_later_it_does_not_go_out_now(self, office, sink, rob):
        campaign, _ = sent_again_beside_version_2(office.by, rob)
        sends.approve(office.by, campaign)
        sends.take_back(office.by, campaign)
        sends.approve(office.by, campaign, at=datetime.now(UTC) + timedelta(days=2), zone="UTC")
        office.wake()
        assert (sink.recipients, f.fresh(campaign).status) == (["guest1@example.com"], "approved")


class TestNobodyIsLost:
    def test_no_row_of_version_1_stays_planned_when_version_3_is_sent(self, office, sink, rob, lease_over):
        campaign, held, sealed = sends.begun(office.by, to=3)
        asked_to_wait = sends.next_intent(held=held, sealed=sealed)
        anew(campaign, rob, to=3)
        rounds.turn(held=held, sealed=sealed, endings=[Ending(asked_to_wait.delivery_id, "planned", "451")])
        lease_over(held.job_id)  # its worker is killed before it ends its batch
        assert jobs.expire(job_id=held.job_id) == "queued"
        anew(campaign, rob, to=3, text="A third wording.\n")
        sends.approve(office.by, campaign)
        office.send_all()
        assert f.fresh(campaign).status == "finished"
        assert f.rows(Delivery.objects.filter(state="planned")) == []

    def test_somebody_who_is_sent_to_again_at_this_instant_costs_nobody_their_ending(
        self, office, sink, rob, monkeypatch, desk
    ):
        campaign, held, sealed = sends.begun(office.by, to=4)
        first = sends.next_intent(held=held, sealed=sealed)
        rounds.turn(held=held, sealed=sealed, endings=[Ending(first.delivery_id, "failed", "550 no")])
        anew(campaign, rob, recipients=[Recipient(*person) for person in reversed(f.recipients(4))])
        assert sending.end_batch(held=held) == "done"
        sends.approve(office.by, campaign)
        [failed] = f.rows(Delivery.objects.filter(state="failed"))
        sends.resolve(office.by, failed, "do_again")
        [again] = f.rows(Job.objects.filter(delivery_id=failed.id))
        other = jobs.claim(job_id=again.id, task_id="other")
        of_other = sending.begin(held=other)
        theirs = rounds.upcoming(held=other, sealed=of_other, after=-1, at_most=5)
        turn, begun = rounds.turn, []

        def at_once(**given):
            if any(one.address == failed.address for one in given.get("wanted", ())) and not begun:
                begun.append(opening(desk, lambda: rounds.settle_and_open(other, of_other, [], theirs)))
            return turn(**given)

        monkeypatch.setattr(rounds, "turn", at_once)
        office.wake()
        begun[0].join()
        of_them = Delivery.objects.filter(dedupe_key=failed.dedupe_key)
        assert Counter(row.state for row in f.rows(of_them)) == {"attempting": 1, "planned": 1}
        assert len(sink.recipients) == 3
        assert f.rows(Delivery.objects.filter(state="in_doubt")) == []

    def test_a_stop_while_a_round_skips_somebody_waits_its_turn(self, desk, mia, monkeypatch):
        campaign, held, sealed = sends.begun(mia, to=4)
        wanted = rounds.upcoming(held=held, sealed=sealed, after=-1, at_most=4)
        assert rounds.turn(held=held, sealed=sealed, wanted=wanted[:1]).opened
        skip, trouble = rounds._skip, []

        def stopping_meanwhile(*given):
            skip(*given)
            stops.start()
            time.sleep(0.3)  # so that it waits for the campaign, or would have it

        def stop():
            try:
                with bind(desk.id):
                    sends.stop(mia, campaign)
            except Exception as error:
                trouble.append(error)
            connection.close()

        stops = threading.Thread(target=stop)
        monkeypatch.setattr(rounds, "_skip", stopping_meanwhile)
        rounds.turn(
            held=held,
            sealed=sealed,
            endings=[Ending(wanted[0].delivery_id, "sent", "250 ok")],
            wanted=[replace(wanted[1], skip=rounds.UNSUBSCRIBED)],
        )
        stops.join()
        assert (trouble, f.fresh(campaign).status) == ([], "stopped")


def opening(desk, do):
    """Somebody else does this, and has it for a moment before they commit; returns once it is done."""
    done = threading.Event()

    def run():
        with bind(desk.id), transaction.atomic():
            do()
            done.set()
            time.sleep(0.7)
        connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    assert done.wait(5)
    return thread


class TestResting:
    def test_a_server_that_hangs_up_at_once_is_not_asked_again_at_once(self, office, sink):
        sink.faults += [Fault("mail", n, Drop()) for n in range(1, 200)]
        office.approved(3)
        assert woken_until_it_rests(office) == 1

    def test_a_newer_version_rests_while_an_older_ones_message_is_under_way(self, office, sink, rob):
        campaign, held, sealed = sends.begun(office.by, to=1)
        sends.next_intent(held=held, sealed=sealed)
        anew(campaign, rob, to=1)
        sends.approve(office.by, campaign)
        assert woken_until_it_rests(office) == 1

    def test_what_is_overdue_asks_also_after_its_worker_was_lost(
        self, office, sink, lease_over, as_superuser
    ):
        office.approved(2)
        as_superuser("update approvals_job set due_at = now() - interval '30 days'")
        held = jobs.claim(job_id=sends.the_job().id, task_id="t")
        lease_over(held.job_id)
        assert jobs.expire(job_id=held.job_id) == "queued"
        office.wake()
        assert (sends.the_job().status, sink.recipients) == ("paused", [])

    def test_a_test_that_cannot_be_written_ends(self, office, sink, monkeypatch, desk):
        reviewer = f.member("Zoe", "reviewer", of=desk)
        campaign = f.campaign(to=1)
        [delivery] = f.rows(Delivery.objects.all())
        send_test(by=reviewer, delivery_id=delivery.id, shown=f.shown_campaign(campaign))
        [job] = f.rows(Job.objects.filter(kind="test"))

        def fails(_envelope):
            raise RuntimeError("a fault of ours")

        monkeypatch.setattr(trials, "build", fails)
        trials.execute.apply(args=[str(job.id)], kwargs={"workspace": str(desk.id)}, throw=True)
        assert (f.fresh(job).status, f.fresh(job).outcome) == ("failed", batch.UNWRITABLE)
