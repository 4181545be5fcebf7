"""An agent that listens, and the worker that tells it: over HTTP, signed, and under the same id each time."""

import time
from uuid import uuid4

import pytest

from approvals.models import Callback
from approvals.rules import webhooks
from approvals.services import campaigns, secrets
from approvals.tasks import callbacks
from tests import factories as f
from tests.servers.agent import Agent
from tests.servers.http import Answer, Hang, ResetAfterRequest
from tests.services.conftest import as_superuser, database, desk, mia
from tests.services.sends import REASON, approve, reject, take_back

__all__ = ["as_superuser", "database", "desk", "mia"]

SECRET = webhooks.new_secret()


@pytest.fixture
def agent():
    with Agent(SECRET) as server:
        yield server


@pytest.fixture
def campaign(desk, agent):
    del desk
    runtime = f.runtime(name="agents", callback_url=f"{agent.url}/told", signing_secret=secrets.seal(SECRET))
    return f.campaign(to=2, runtime=runtime, external_id="spring")


@pytest.fixture
def due(as_superuser):
    return lambda: as_superuser("update approvals_callback set due_at = now() where status = 'waiting'")


def outbox():
    return f.rows(Callback.objects.order_by("number"))


def wake(desk, *rows):
    for row in rows:
        callbacks.execute.apply(args=[str(row.id)], kwargs={"workspace": str(desk.id)}, throw=True)


def test_an_agent_hears_that_its_campaign_was_returned_and_why(desk, mia, campaign, agent):
    campaigns.return_(by=mia, campaign_id=campaign.id, shown=f.shown_campaign(campaign), comment=REASON)
    [row] = outbox()
    wake(desk, row)
    [request] = agent.requests
    assert (request.method, request.target) == ("POST", "/told")
    [news] = agent.news
    assert (news["type"], news["data"]["status"], news["data"]["comment"]) == (
        "campaign.returned",
        "returned",
        REASON,
    )
    assert news["data"]["external_id"] == "spring"
    assert request.headers["webhook-id"] == str(row.id)
    assert f.fresh(row).status == "told"


def test_what_was_not_taken_is_told_again_with_the_same_id_and_bytes(desk, mia, campaign, agent, due):
    agent._acts = [Answer(500), ResetAfterRequest(), Answer(200)]
    reject(mia, campaign)
    [row] = outbox()
    for _ in range(3):
        wake(desk, row)
        due()
    wake(desk, row)
    assert [request.headers["webhook-id"] for request in agent.requests] == [str(row.id)] * 3
    assert len({request.body for request in agent.requests}) == 1
    assert len(agent.news) == 1
    assert (f.fresh(row).status, f.fresh(row).attempts) == ("told", 3)


def test_news_arrive_in_their_order_whatever_is_woken_first(desk, mia, campaign, agent, due):
    agent._acts = [Answer(503)]
    approve(mia, campaign)
    take_back(mia, campaign)
    reject(mia, campaign)
    rows = outbox()
    for _ in range(4):
        wake(desk, *reversed(rows))
        due()
    assert [news["type"] for news in agent.news] == [
        "campaign.approved",
        "campaign.taken_back",
        "campaign.rejected",
    ]


def test_one_that_wants_no_more_is_left_alone(desk, mia, campaign, agent, due):
    agent._acts = [Answer(410, b'{"detail": "This agent was retired"}')]
    reject(mia, campaign)
    wake(desk, *outbox())
    due()
    wake(desk, *outbox())
    [row] = outbox()
    assert len(agent.requests) == 1
    assert (row.status, row.answer) == (
        "given_up",
        "It answered that it wants no more callbacks (410 Gone): “This agent was retired”.",
    )


def test_one_that_says_nothing_keeps_its_worker_no_longer_than_it_may(
    desk, mia, campaign, agent, monkeypatch
):
    monkeypatch.setattr(callbacks, "TELL_S", 0.3)
    agent._acts = [Hang()]
    reject(mia, campaign)
    began = time.monotonic()
    wake(desk, *outbox())
    assert time.monotonic() - began < 2
    assert (outbox()[0].status, outbox()[0].answer) == ("waiting", "It did not answer within 0.3 seconds.")


def test_a_worker_that_was_held_up_says_nothing(desk, mia, campaign, agent, settings):
    settings.LEASE_S = 0
    reject(mia, campaign)
    wake(desk, *outbox())
    assert agent.connections == 0
    assert (outbox()[0].status, outbox()[0].answer) == ("waiting", "")


def test_a_wake_up_for_nothing_does_nothing(desk, mia, campaign, agent):
    wake(desk, Callback(id=uuid4()))
    assert agent.connections == 0
    reject(mia, campaign)
    wake(desk, *outbox(), *outbox())
    assert len(agent.requests) == 1
