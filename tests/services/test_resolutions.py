"""What became of an open call, and of a replay in doubt."""

import pytest
from django.db import transaction

from approvals.exceptions import AlreadyDecided, Conflict, Invalid, NotFound, Stale
from approvals.models import Decision, Job
from approvals.selectors.payloads import contents_of
from approvals.selectors.resolutions import resolutions_of
from approvals.services import handover, jobs
from tests import factories as f
from tests.services.starts import (
    REASON,
    reopen,
    replay_in_doubt,
    resolve_call,
    resolve_job,
    seen_later,
    tab_of,
)

pytestmark = pytest.mark.usefixtures("desk")

# An open call.


def test_somebody_who_found_out_writes_down_what_became_of_a_call(ada):
    dead = f.dead_run()
    decision, _ = resolve_call(ada, dead)
    with transaction.atomic():
        known = resolutions_of(dead.id)["c1"]
        evidence = contents_of([decision.payload_id])[decision.payload_id]
    assert (known.resolution, known.reason, known.decision.actor_name) == ("happened", REASON, "Ada")
    assert (evidence["name"], evidence["meaning"]) == ("send_email", "it happened")
    assert evidence["verdict"]["reasons"]
    assert f.rows(Job.objects) == []


def test_the_same_answer_twice_is_harmless(ada):
    dead = f.dead_run()
    shown = f.shown_run(dead)
    resolve_call(ada, dead, shown=shown)
    assert resolve_call(ada, dead, shown=shown)[1]
    assert len(f.rows(Decision.objects)) == 1


@pytest.mark.parametrize("answer", ["happened", "did_not_happen"])
def test_whoever_did_not_see_the_first_answer_is_shown_it(ada, ben, answer):
    dead = f.dead_run()
    shown = f.shown_run(dead)
    resolve_call(ada, dead, "happened", shown=shown)
    with pytest.raises(AlreadyDecided, match="Ada already resolved"):
        resolve_call(ben, dead, answer, shown=shown)


def test_whoever_saw_the_first_answer_may_know_better(ada, ben):
    dead = f.dead_run()
    shown = f.shown_run(dead)
    resolve_call(ada, dead, "leave", shown=shown)
    assert not resolve_call(ben, dead, "did_not_happen", shown=seen_later(shown))[1]
    with transaction.atomic():
        assert resolutions_of(dead.id)["c1"].resolution == "did_not_happen"


def test_two_calls_are_answered_from_one_page(ada):
    run = f.interrupted(f.tell(f.run(), f.called("a", "c1"), f.called("b", "c2")))
    shown = f.shown_run(run)
    resolve_call(ada, run, call_id="c1", shown=shown)
    assert not resolve_call(ada, run, call_id="c2", shown=shown)[1]
    with transaction.atomic():
        assert set(resolutions_of(run.id)) == {"c1", "c2"}


def test_a_call_whose_answer_came_meanwhile_needs_no_person(ada):
    dead = f.dead_run()
    shown = f.shown_run(dead)
    f.tell(dead, f.answered("c1"))
    with pytest.raises(Conflict, match="known meanwhile"):
        resolve_call(ada, dead, shown=shown)


@pytest.mark.parametrize("call_id", ["c9", "", "c\0", "x" * 10_000])
def test_a_call_that_does_not_exist_is_not_found(ada, call_id):
    with pytest.raises(NotFound):
        resolve_call(ada, f.dead_run(), call_id=call_id)


@pytest.mark.parametrize("answer", ["", "do_again", "maybe", "x" * 10_000, "happened\0"])
def test_an_answer_that_nobody_offered_is_refused_at_its_field(ada, answer):
    with pytest.raises(Invalid) as refused:
        resolve_call(ada, f.dead_run(), answer)
    assert refused.value.field == "resolution"


# A replay in doubt.


def test_it_happened_lets_the_new_runs_own_silence_be_watched(ada, ben):
    old, job = replay_in_doubt(ada)
    assert tab_of(old) == "decide"
    resolve_job(ben, job, "happened")
    after = f.fresh(job)
    assert (after.status, after.outcome, after.finished_at) == ("running", "Ben: it happened.", None)
    assert after.accepted_at and f.fresh(after.run).silent_after
    assert tab_of(old) == "progress"
    f.tell(after.run, f.ended("completed"))
    assert jobs.follow(job_id=job.id) == "done"


def test_it_did_not_happen_releases_exactly_one_job_more(ada, ben):
    old, job = replay_in_doubt(ada)
    shown = f.shown_run(f.fresh(job).run)
    decision, _ = resolve_job(ben, job, "do_again", shown=shown)
    assert (f.fresh(job).status, f.fresh(job).outcome) == ("failed", "Ben: it did not happen.")
    [again] = f.rows(Job.objects.exclude(id=job.id))
    assert (again.status, again.decision_id, decision.kind) == ("queued", decision.id, "replay_again")
    assert (decision.target_kind, decision.target_id, decision.opened_at) == ("job", job.id, shown.opened_at)
    never = f.fresh(job).run
    assert (never.status, never.started_at) == ("cancelled", None)
    held = jobs.claim(job_id=again.id, task_id="t2")
    assert handover.prepare(held=held).payload["replay_of"] == str(old.id)


def test_a_second_doubt_can_be_resolved_like_the_first(ada):
    _, job = replay_in_doubt(ada)
    resolve_job(ada, job, "do_again")
    [again] = f.rows(Job.objects.exclude(id=job.id))
    held = jobs.claim(job_id=again.id, task_id="t2")
    handover.prepare(held=held)
    handover.settle(held=held, kind="in_doubt", detail="reset")
    assert not resolve_job(ada, again, "leave")[1]


def test_leaving_it_takes_the_run_out_of_the_queue_with_an_unknown_record(ada):
    old, job = replay_in_doubt(ada)
    resolve_job(ada, job, "leave")
    left = f.fresh(job).run
    assert (f.fresh(job).status, left.status, tab_of(old)) == ("failed", "interrupted", "history")
    reopen(ada, left)
    assert tab_of(old) == "decide"


@pytest.mark.parametrize("answer", ["happened", "do_again", "leave"])
def test_resolving_twice_is_harmless_and_the_second_person_sees_who_was_first(ada, ben, answer):
    _, job = replay_in_doubt(ada)
    shown = f.shown_run(f.fresh(job).run)
    resolve_job(ada, job, answer, shown=shown)
    before = len(f.rows(Job.objects))
    assert resolve_job(ada, job, answer, shown=shown)[1]
    with pytest.raises(AlreadyDecided, match="Ada already"):
        resolve_job(ben, job, answer, shown=shown)
    assert len(f.rows(Job.objects)) == before


def test_another_answer_after_the_first_is_no_repetition(ada):
    _, job = replay_in_doubt(ada)
    shown = f.shown_run(f.fresh(job).run)
    resolve_job(ada, job, "happened", shown=shown)
    for answer in ("leave", "do_again"):
        with pytest.raises(AlreadyDecided):
            resolve_job(ada, job, answer, shown=shown)


def test_the_first_event_settles_the_doubt_before_any_person(ada):
    _, job = replay_in_doubt(ada)
    shown = f.shown_run(f.fresh(job).run)
    f.tell(f.fresh(job).run, f.said("Here I am."))
    with pytest.raises(Conflict, match="so it did begin"):
        resolve_job(ada, job, "do_again", shown=shown)
    assert jobs.follow(job_id=job.id) == "running"
    with pytest.raises(Conflict, match="not in doubt any more"):
        resolve_job(ada, job, "leave", shown=shown)


def test_doing_it_again_is_bound_to_what_was_shown(ada):
    old, job = replay_in_doubt(ada)
    shown = f.shown_run(f.fresh(job).run)
    f.tell(old, f.called("send_email", "late"))
    with pytest.raises(Stale):
        resolve_job(ada, job, "do_again", shown=shown)
    assert f.fresh(job).status == "in_doubt"
