"""What the cases of sending start from: somebody who approves, a worker that is woken, and a server that fails."""

import pytest
from django.conf import settings
from django.db import transaction

from approvals.models import Delivery, Job
from approvals.tasks import send
from tests import factories as f
from tests.faults.ledger import assert_accounted_for
from tests.servers.smtp import SmtpSink
from tests.services import sends
from tests.services.conftest import as_superuser, database, desk, lease_over, mia

__all__ = ["as_superuser", "database", "desk", "lease_over", "mia"]

PIPELINING = ["SIZE 10000000", "PIPELINING"]


@pytest.fixture(params=[1, 4], ids=["one connection", "four connections"])
def connections(request, monkeypatch):
    monkeypatch.setattr(settings, "SEND_CONNECTIONS", request.param)
    return request.param


@pytest.fixture(params=[PIPELINING, PIPELINING[:1]], ids=["pipelining", "step by step"])
def sink(request, monkeypatch):
    with SmtpSink(extensions=request.param) as server:
        monkeypatch.setitem(settings.SMTP, "port", server.port)
        monkeypatch.setitem(settings.SMTP, "host", "127.0.0.1")
        yield server


class Office:
    """Somebody who approves, a worker that is woken, and a clock that waits for nobody."""

    def __init__(self, desk, by, as_superuser):
        self.desk, self.by, self._sql = desk, by, as_superuser

    def approved(self, to, **more):
        campaign = f.campaign(to=to, **more)
        sends.approve(self.by, campaign)
        return campaign

    def wake(self, campaign=None):
        """Each job that is queued does one batch."""
        waiting = Job.objects.filter(kind="send", status="queued")
        for job in f.rows(waiting.filter(campaign_id=campaign.id) if campaign else waiting):
            send.execute.apply(args=[str(job.id)], kwargs={"workspace": str(self.desk.id)}, throw=True)

    def later(self, what="1 hour"):
        """Everybody who was asked to wait has waited."""
        self._sql(
            f"update approvals_delivery set settled_at = settled_at - interval '{what}' where workspace_id = %s",
            self.desk.id,
        )
        self._sql("update approvals_job set due_at = now() where workspace_id = %s", self.desk.id)

    def send_all(self, rounds=30):
        for _ in range(rounds):
            self.wake()
            if not f.rows(Job.objects.filter(status="queued")):
                return
            self.later()
        raise AssertionError("it never ends")


@pytest.fixture
def office(desk, mia, as_superuser):
    return Office(desk, mia, as_superuser)


@transaction.atomic
def accounted(sink, **more):
    return assert_accounted_for(sink, **more)


def row(address):
    return f.rows(Delivery.objects.filter(address=address))[0]
