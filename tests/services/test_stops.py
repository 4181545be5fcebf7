"""Stopping a replay that a worker streams."""

import pytest

from approvals.exceptions import AlreadyDecided, Conflict, NotAllowed
from approvals.services import handover, jobs, stops
from tests import factories as f
from tests.services.starts import force, tab_of

pytestmark = pytest.mark.usefixtures("desk")


def going_on(ada, run):
    """A forced replay that its runtime took."""
    started = force(ada, run, ticked=[f"{run.id} {call}" for call in ("c1", "a1", "a2")])
    held = jobs.claim(job_id=started.job.id, task_id="t")
    assert handover.prepare(held=held)
    assert handover.settle(held=held, kind="accepted", detail="It is streamed.")
    return started


def stop(by, started, shown=None):
    return stops.stop_replay(by=by, job_id=started.job.id, shown=shown or f.shown_run(started.run))


@pytest.fixture
def streamed(ada):
    return going_on(ada, f.broken_off(of=f.adk_runtime()))


def test_it_ends_the_run_and_its_job_and_the_log_says_who_did(ada, streamed):
    decision, repeated = stop(ada, streamed)
    run, job = f.fresh(streamed.run), f.fresh(streamed.job)
    assert (run.status, run.interrupted_why, run.silent_after) == ("interrupted", "stopped", None)
    assert (job.status, job.outcome, job.lease_until) == ("failed", "Stopped by Ada.", None)
    assert job.finished_at
    assert (decision.kind, decision.target_id, repeated) == ("stop_replay", job.id, False)
    assert tab_of(run) == "decide"


def test_a_double_click_is_harmless_and_somebody_else_is_told(ada, ben, streamed):
    stop(ada, streamed)
    assert stop(ada, streamed)[1]
    with pytest.raises(AlreadyDecided, match="Ada already stopped this replay"):
        stop(ben, streamed)


def test_what_waits_or_is_over_is_not_stopped(ada):
    dead = f.broken_off(of=f.adk_runtime())
    started = force(ada, dead, ticked=[f"{dead.id} a1", f"{dead.id} a2"])
    with pytest.raises(Conflict, match="nothing to stop"):
        stop(ada, started)


def test_a_run_that_came_to_its_end_is_not_stopped(ada, streamed):
    f.observe(streamed.run, f.over())
    with pytest.raises(Conflict, match="nothing to stop"):
        stop(ada, streamed)


def test_another_runtime_runs_it_on_its_own(ada):
    with pytest.raises(Conflict, match="Stop it there"):
        stop(ada, going_on(ada, f.dead_run()))


def test_a_reviewer_stops_no_replay(mia, streamed):
    with pytest.raises(NotAllowed):
        stop(mia, streamed)
