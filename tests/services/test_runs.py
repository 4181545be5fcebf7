"""What people and the sweep do to a run without starting it again; and what holds for all of it."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.db.models.functions import Now

from approvals.exceptions import AlreadyDecided, Conflict, Invalid, NotAllowed, Stale
from approvals.models import Decision, Job, Run
from approvals.rules.decisions import call_key
from approvals.services import decisions, handover, jobs, replays, runs
from tests import factories as f
from tests.services.starts import (
    REASON,
    declare,
    dismiss,
    reopen,
    replay_in_doubt,
    resolve_call,
    resolve_job,
    tab_of,
)

pytestmark = pytest.mark.usefixtures("desk")

# The sweep.


@pytest.mark.parametrize(("why", "timer"), [("silent", "silent_after"), ("overlong", "overlong_after")])
def test_the_sweep_interrupts_a_run_whose_time_is_over_and_no_other(why, timer):
    alive, gone = f.run(), f.run()
    with transaction.atomic():
        Run.objects.filter(id=gone.id).update(**{timer: Now() - timedelta(seconds=1)})
    assert not runs.interrupt(run_id=alive.id, why=why)
    assert runs.interrupt(run_id=gone.id, why=why)
    assert not runs.interrupt(run_id=gone.id, why=why)
    after = f.fresh(gone)
    assert (after.status, after.interrupted_why, after.silent_after, after.overlong_after) == (
        "interrupted",
        why,
        None,
        None,
    )
    assert (tab_of(gone), tab_of(alive)) == ("decide", "progress")


# Declaring it interrupted.


def test_a_run_that_looks_alive_is_declared_interrupted_with_a_reason(ada):
    alive = f.run()
    shown = f.shown_run(alive)
    decision, repeated = declare(ada, alive, shown)
    assert not repeated
    assert (f.fresh(alive).status, f.fresh(alive).interrupted_why) == ("interrupted", "declared")
    assert (decision.digest, decision.opened_at) == (shown.digest, shown.opened_at)
    assert f.rows(Job.objects) == []


def test_declaring_it_twice_is_harmless_and_the_second_person_sees_who_was_first(ada, ben):
    alive = f.run()
    shown = f.shown_run(alive)
    declare(ada, alive, shown)
    assert declare(ada, alive, shown)[1]
    with pytest.raises(AlreadyDecided, match=f"Ada already declared.*{REASON}"):
        declare(ben, alive, shown)
    assert len(f.rows(Decision.objects)) == 1


def test_a_run_that_spoke_meanwhile_is_not_declared_dead(ada):
    alive = f.run()
    shown = f.shown_run(alive)
    f.tell(alive, f.said("Still at it."))
    with pytest.raises(Stale, match="changed after you opened it"):
        declare(ada, alive, shown)
    assert f.fresh(alive).status == "running"


def test_a_heartbeat_alone_does_not_stand_in_the_way(ada):
    alive = f.run()
    shown = f.shown_run(alive)
    f.tell(alive, {"type": "heartbeat"})
    assert not declare(ada, alive, shown)[1]


def test_a_run_that_ended_is_not_declared_interrupted(ada):
    with pytest.raises(Conflict, match="not running any more"):
        declare(ada, f.clean_run())


def test_a_replay_that_no_worker_handed_over_yet_is_taken_back_instead(ada):
    old = f.clean_run()
    started = replays.replay(by=ada, run_id=old.id, shown=f.shown_run(old))
    with pytest.raises(Conflict, match="not been taken up yet"):
        declare(ada, started.run)
    jobs.claim(job_id=started.job.id, task_id="t")
    with pytest.raises(Conflict, match="not been taken up yet"):
        declare(ada, f.fresh(started.run))


def test_a_replay_in_doubt_is_resolved_instead(ada):
    _, job = replay_in_doubt(ada)
    with pytest.raises(Conflict, match="resolve it if it is in doubt"):
        declare(ada, f.fresh(job).run)


def test_a_replay_that_its_runtime_took_can_be_declared_interrupted(ada):
    old = f.clean_run()
    started = replays.replay(by=ada, run_id=old.id, shown=f.shown_run(old))
    held = jobs.claim(job_id=started.job.id, task_id="t")
    handover.prepare(held=held)
    handover.settle(held=held, kind="accepted", detail="202")
    assert not declare(ada, f.fresh(started.run))[1]
    assert jobs.follow(job_id=started.job.id) == "failed"


# Dismissing and reopening.


def test_a_dismissed_run_leaves_the_queue_and_comes_back_when_it_is_reopened(ada, ben):
    dead = f.dead_run()
    shown = f.shown_run(dead)
    decision, _ = dismiss(ada, dead, shown)
    assert (tab_of(dead), decision.opened_at) == ("history", shown.opened_at)
    reopen(ben, dead, shown)
    assert tab_of(dead) == "decide"
    assert [entry.kind for entry in f.rows(Decision.objects.order_by("seq"))] == ["dismiss", "reopen"]


def test_dismissing_twice_is_harmless_and_the_second_person_sees_who_was_first(ada, ben):
    dead = f.dead_run()
    shown = f.shown_run(dead)
    dismiss(ada, dead, shown)
    assert dismiss(ada, dead, shown)[1]
    with pytest.raises(AlreadyDecided, match="Ada already dismissed"):
        dismiss(ben, dead, shown)
    assert len(f.rows(Decision.objects)) == 1


def test_reopening_twice_is_harmless_and_the_second_person_sees_who_was_first(ada, ben):
    dead = f.dead_run()
    shown = f.shown_run(dead)
    dismiss(ada, dead, shown)
    reopen(ada, dead, shown)
    assert reopen(ada, dead, shown)[1]
    with pytest.raises(AlreadyDecided, match="Ada already reopened"):
        reopen(ben, dead, shown)


def test_a_run_that_was_started_again_meanwhile_is_not_dismissed(ada, ben):
    dead = f.clean_run()
    shown = f.shown_run(dead)
    replays.replay(by=ben, run_id=dead.id, shown=shown)
    with pytest.raises(AlreadyDecided, match="Ben already let this run start again"):
        dismiss(ada, dead, shown)
    assert f.fresh(dead).dismissed_at is None


def test_an_older_attempt_is_neither_dismissed_nor_reopened(ada):
    first = f.clean_run()
    second = replays.replay(by=ada, run_id=first.id, shown=f.shown_run(first)).run
    f.tell(second, f.ended("failed"))
    with pytest.raises(Conflict, match="later attempt"):
        dismiss(ada, f.fresh(first))


def test_what_changed_is_looked_at_before_it_is_dismissed(ada):
    dead = f.dead_run()
    shown = f.shown_run(dead)
    f.tell(dead, f.answered("c1"))
    with pytest.raises(Stale):
        dismiss(ada, dead, shown)


@pytest.mark.parametrize("make", [f.run, lambda: f.tell(f.run(), f.ended("completed"))])
def test_only_what_waits_can_be_dismissed(ada, make):
    with pytest.raises(Conflict, match="nothing to dismiss"):
        dismiss(ada, make())


def test_only_what_was_dismissed_can_be_reopened(ada):
    with pytest.raises(Conflict, match="not dismissed"):
        reopen(ada, f.dead_run())


# What holds for all of them.

CASES = {
    "declare_interrupted": (f.run, declare),
    "dismiss": (f.dead_run, dismiss),
    "resolve_run": (f.dead_run, resolve_call),
}


@pytest.mark.parametrize(("make", "decide"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("role", ["reviewer", "manager", "admin"])
def test_only_support_decides_about_runs(make, decide, role):
    run = make()
    with pytest.raises(NotAllowed, match="role support"):
        decide(f.actor("Rita", role), run)
    assert f.rows(Decision.objects) == []


@pytest.mark.parametrize(("make", "decide"), CASES.values(), ids=CASES)
def test_a_decision_needs_a_reason(ada, make, decide):
    run = make()
    with pytest.raises(Invalid) as refused:
        decide(ada, run, reason="because")
    assert refused.value.field == "reason"
    assert f.rows(Decision.objects) == []


@pytest.mark.parametrize(("make", "decide"), CASES.values(), ids=CASES)
def test_nothing_is_saved_when_the_entry_cannot_be_written(ada, monkeypatch, make, decide):
    run = make()
    shown = f.shown_run(run)
    monkeypatch.setattr(decisions, "record", lambda **_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        decide(ada, run, shown=shown)
    after = f.fresh(run)
    assert (after.status, after.dismissed_at) == (run.status, run.dismissed_at)


@pytest.mark.parametrize("answer", ["happened", "do_again", "leave"])
def test_no_answer_about_a_replay_is_saved_without_its_entry(ada, monkeypatch, answer):
    _, job = replay_in_doubt(ada)
    shown = f.shown_run(f.fresh(job).run)
    monkeypatch.setattr(decisions, "record", lambda **_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        resolve_job(ada, job, answer, shown=shown)
    assert (f.fresh(job).status, f.fresh(job).run.status, len(f.rows(Job.objects))) == (
        "in_doubt",
        "running",
        1,
    )


def test_a_forced_replay_of_a_resolved_call_still_has_to_acknowledge_it(ada):
    dead = f.dead_run()
    resolve_call(ada, dead, "did_not_happen")
    with pytest.raises(Invalid, match="send_email"):
        replays.force(
            by=ada, run_id=dead.id, shown=f.shown_run(dead), reason=REASON, ticked=[], unknown_ticked=False
        )
    replays.force(
        by=ada,
        run_id=dead.id,
        shown=f.shown_run(dead),
        reason=REASON,
        ticked=[call_key(str(dead.id), "c1")],
        unknown_ticked=False,
    )
