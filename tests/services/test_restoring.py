"""After a restore: what is due is paused, what was under way is in doubt, and nothing starts again by the rule."""

from datetime import UTC, datetime

import pytest
from django.db import DatabaseError, connection, transaction

from approvals.models import Decision, Delivery, Job, Place, QueueItem
from approvals.selectors.lineages import judged
from approvals.selectors.place import stand
from approvals.services import decisions, guards, handover, jobs, pauses, restoring, trials
from tests import factories as f
from tests.house import OPERATOR
from tests.services import sends
from tests.services.starts import force, replay
from tests.services.test_erasure import verdict_on

TAKEN = datetime(2026, 5, 4, 13, 30, tzinfo=UTC)


@pytest.fixture
def restored(desk, as_owner):
    """What the command does, for this test's workspace alone; what was held back."""

    def restored(*, finish=True):
        with as_owner():
            since = restoring.begin()
            held = restoring.hold_back(by=OPERATOR, since=since, taken_at=TAKEN)
            if finish:
                restoring.finish()
        return held

    return restored


@pytest.fixture
def never_restored(as_superuser):
    """The module's database, as if nobody had restored it: other tests did."""
    as_superuser("update approvals_place set restored_at = null, restoring_since = null")


def status(job):
    return f.fresh(job).status


def logged():
    return [entry for entry in f.rows(Decision.objects.order_by("seq")) if entry.kind == "restored"]


def test_what_waited_is_paused_and_says_why(restored, ada, mia, desk, as_superuser):
    queued = replay(ada, f.clean_run()).job
    as_superuser("update approvals_workspace set hold_s = 60 where id = %s", desk.id)
    campaign = f.campaign()
    sends.approve(mia, campaign)
    [held] = f.rows(Job.objects.filter(kind="send"))
    assert held.status == "held"

    found = restored()

    assert (found.paused_replays, found.paused_sends) == (1, 1)
    assert (status(queued), status(held)) == ("paused", "paused")
    assert f.fresh(queued).outcome.startswith("The database was restored from a backup. This replay may have")
    assert f.fresh(held).outcome.startswith("The database was restored from a backup. Messages of this")
    assert {(row.tab, row.state) for row in f.rows(QueueItem.objects.defer("due"))} == {("decide", "paused")}
    [entry] = logged()
    assert (entry.actor_kind, entry.target_kind, entry.target_id) == ("operator", "workspace", desk.id)


def test_a_replay_in_a_workers_hands_is_paused_before_the_intent_and_in_doubt_after_it(restored, ada):
    before, after, taken = [replay(ada, f.clean_run()).job for _ in range(3)]
    for job in (before, after, taken):
        held = jobs.claim(job_id=job.id, task_id="t")
        if job is not before:
            assert handover.prepare(held=held)
        if job is taken:
            assert handover.settle(held=held, kind="accepted", detail="202")
    assert restored().replays_in_doubt == 1
    assert [status(job) for job in (before, after, taken)] == ["paused", "in_doubt", "running"]
    assert f.fresh(after).outcome == restoring.IN_DOUBT


def test_a_campaign_half_sent_is_paused_and_the_message_under_way_is_in_doubt(restored, mia):
    campaign, held, sealed = sends.begun(mia)
    first = sends.next_intent(held=held, sealed=sealed)
    sends.settle(held=held, intent=first, state="sent", reply="250")
    second = sends.next_intent(held=held, sealed=sealed)
    found = restored()
    assert (found.deliveries_in_doubt, found.paused_sends) == (1, 1)
    assert sends.states(campaign) == ["sent", "in_doubt", "planned"]
    assert not sends.settle(held=held, intent=second, state="sent", reply="250"), "its worker is nobody's"
    assert [(row.tab, row.state) for row in f.rows(QueueItem.objects.defer("due"))] == [("decide", "paused")]


def test_a_test_is_taken_back_or_in_doubt_and_nobody_has_to_decide_about_it(restored, desk):
    mia = f.member("Mia", "reviewer", of=desk)
    campaign = f.campaign()
    delivery = f.rows(Delivery.objects.filter(campaign_id=campaign.id))[0]

    def asked():
        decision, _ = trials.send_test(by=mia, delivery_id=delivery.id, shown=f.shown_campaign(campaign))
        return f.rows(Job.objects.filter(decision_id=decision.id))[0]

    waiting, before, after = asked(), asked(), asked()
    for job in (before, after):
        held = jobs.claim(job_id=job.id, task_id="t")
        assert trials.prepare(held=held)
        if job is after:
            assert trials.state_intent(held=held)
    found = restored()
    assert (found.tests_taken_back, found.tests_in_doubt, found.paused_sends) == (2, 1, 0)
    assert [status(job) for job in (waiting, before, after)] == ["cancelled", "cancelled", "in_doubt"]
    for job in (waiting, after):
        assert "look in your mailbox" in f.fresh(job).outcome
    assert [(row.tab, row.state) for row in f.rows(QueueItem.objects.defer("due"))] == [("decide", "pending")]


def test_cut_short_it_is_done_again_and_logged_once(restored, ada):
    job = replay(ada, f.clean_run()).job
    restored(finish=False)
    found = restored()
    assert not found and status(job) == "paused" and len(logged()) == 1
    restored()
    assert len(logged()) == 2, "another restore is another entry, also where nothing was due"


@pytest.mark.usefixtures("never_restored")
def test_no_run_from_before_starts_again_by_the_rule_until_a_person_started_it(restored, ada):
    run = f.clean_run()
    digest = f.shown_run(run).digest
    assert verdict_on(run).may_start_again
    restored()
    assert verdict_on(run).codes == ("restored",)
    assert f.shown_run(run).digest != digest, "who looked at it before the restore looks again"
    started = force(ada, run, ticked=[])
    assert handover.prepare(held=jobs.claim(job_id=started.job.id, task_id="t"))
    again = f.tell(f.fresh(started.run), f.ended("failed"))
    assert verdict_on(again).may_start_again
    assert verdict_on(f.clean_run()).may_start_again, "a run from after it knows nothing of it"


@pytest.mark.usefixtures("never_restored")
def test_a_resumed_replay_goes_out_as_it_was_decided(restored, ada):
    run = f.clean_run()
    started = replay(ada, run)
    restored()
    pauses.resume_replay(by=ada, job_id=started.job.id, shown=f.shown_run(run))
    assert handover.prepare(held=jobs.claim(job_id=started.job.id, task_id="t"))


def test_where_it_stands_is_written_down_and_a_copy_is_told_apart(restored, as_superuser):
    assert stand().known and not stand().moved
    as_superuser("update approvals_place set timeline = timeline + 1")
    try:
        assert stand().moved
        place = next(guard for guard in guards.examine(probe=False) if guard.guard == "place")
        assert place.detail == guards.MOVED and not place.holds
    finally:
        restored()
    assert not stand().moved
    [row] = Place.objects.all()
    assert row.restored_at and row.restoring_since is None


def test_cut_short_nothing_starts_even_where_the_files_were_put_back_in_place(restored, as_superuser):
    restored()
    assert not stand().unfinished
    as_superuser("update approvals_place set restoring_since = now()")
    assert stand().unfinished and not stand().moved
    [place] = [guard for guard in guards.examine(probe=False) if guard.guard == "place"]
    assert not place.holds and "cut short" in place.detail
    restored()
    assert not stand().unfinished


def test_only_the_owner_says_where_it_stands(desk):
    for statement in ("select adopt_place()", "update approvals_place set restored_at = null"):
        with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic():
            connection.cursor().execute(statement)


def test_the_entry_says_when_the_backup_was_taken(restored):
    restored()
    with transaction.atomic():
        evidence = decisions.evidence_of(Decision.objects.get(kind="restored"))
    assert evidence["taken_at"] == TAKEN.isoformat() and evidence["paused_replays"] == 0


def test_judging_asks_no_more_of_the_database_than_before(desk, django_assert_num_queries):
    run = f.clean_run()
    with transaction.atomic(), django_assert_num_queries(4):
        judged(run)
