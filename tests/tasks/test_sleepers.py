"""A worker that was only asleep, past the end of its lease, does nothing outside when it wakes up."""

from types import SimpleNamespace

import pytest
from django.conf import settings

from approvals.connectors import net
from approvals.connectors.smtp import lines
from approvals.models import Delivery
from approvals.services import handover, jobs, replays, rounds
from approvals.tasks import batch, replay, send
from tests import factories as f
from tests.servers.smtp import SmtpSink
from tests.services import sends
from tests.services.conftest import ada, as_superuser, database, desk, lease_over, mia
from tests.services.starts import replay as decide

__all__ = ["ada", "as_superuser", "database", "desk", "lease_over", "mia"]


class Clock:
    """A clock that a test puts forward."""

    def __init__(self):
        self.now = 1_000.0

    def sleep(self):
        self.now += settings.LEASE_S + 1


@pytest.fixture
def clock(monkeypatch):
    """The clock of both tasks."""
    made = Clock()
    for task in (replay, send, batch):
        monkeypatch.setattr(task, "time", SimpleNamespace(monotonic=lambda: made.now))
    # The connections know their deadlines by the same clock, and sleep by the machine's.
    monkeypatch.setattr(net, "time", SimpleNamespace(monotonic=lambda: made.now))
    monkeypatch.setattr(lines, "time", SimpleNamespace(monotonic=lambda: made.now))
    return made


def falls_asleep_after(monkeypatch, module, name, clock, then=lambda: None):
    """The worker sleeps as soon as it has done this step; `then` is what happens meanwhile."""
    step = getattr(module, name)

    def slow(**given):
        done = step(**given)
        clock.sleep()
        then()
        return done

    monkeypatch.setattr(module, name, slow)


@pytest.fixture
def asked(monkeypatch):
    """What the runtime was asked."""
    orders = []
    monkeypatch.setattr(replay, "start_replay", orders.append)
    return orders


def run_task(task, job, desk):
    task.execute.apply(args=[str(job.id)], kwargs={"workspace": str(desk.id)}, throw=True)


def test_a_replay_whose_worker_slept_is_not_asked_for_any_more(desk, ada, clock, asked, monkeypatch):
    old = f.clean_run()
    started = decide(ada, old)
    falls_asleep_after(monkeypatch, handover, "prepare", clock)
    run_task(replay, started.job, desk)
    job = f.fresh(started.job)
    assert asked == []
    assert (job.status, job.outcome, f.fresh(started.run).status) == ("failed", replay.TOO_LATE, "cancelled")
    assert replays.replay(by=ada, run_id=old.id, shown=f.shown_run(old)).job.id != started.job.id


def test_what_became_of_it_while_its_worker_slept_stays(desk, ada, clock, asked, lease_over, monkeypatch):
    started = decide(ada, f.clean_run())

    def sweep():
        lease_over(started.job.id)
        assert jobs.expire(job_id=started.job.id) == "in_doubt"

    falls_asleep_after(monkeypatch, handover, "prepare", clock, sweep)
    run_task(replay, started.job, desk)
    assert (asked, f.fresh(started.job).status) == ([], "in_doubt")


def test_a_message_whose_worker_slept_is_not_sent_any_more(desk, mia, clock, monkeypatch):
    campaign = f.campaign(to=2)
    sends.approve(mia, campaign)
    with SmtpSink() as sink:
        monkeypatch.setitem(settings.SMTP, "port", sink.port)
        falls_asleep_after(monkeypatch, rounds, "turn", clock)
        run_task(send, sends.the_job(), desk)
        assert (sink.recipients, sends.states(campaign)) == ([], ["planned", "planned"])
    assert f.rows(Delivery.objects.filter(state="in_doubt")) == []
