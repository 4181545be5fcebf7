"""Telling an agent is killed and frozen at each step: in the end it is told, and knows what it heard before."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db.models.functions import Now

from approvals.db.binding import bind
from approvals.models import Callback, Campaign, Runtime
from approvals.services import campaigns
from dashboard.embedded.valkey import Valkey
from tests.faults.crew import Crew
from tests.faults.lab import ADA, SECRET, Lab, eventually
from tests.servers.agent import Agent
from tests.servers.http import Answer

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]
# How often a worker that stops there has spoken already, and whether that was written down.
POINTS = [("callback.claimed", 0, False), ("callback.called", 1, False), ("callback.settled", 1, True)]


@pytest.fixture
def agent() -> Iterator[Agent]:
    with Agent(SECRET) as server:
        yield server


@pytest.fixture
def lab(process_env: dict[str, str], agent: Agent) -> Lab:
    return listening(Lab(process_env), agent)


def listening(lab: Lab, agent: Agent) -> Lab:
    lab.read(lambda: Runtime.objects.update(callback_url=f"{agent.url}/told"))
    return lab


def rejected(lab: Lab) -> Campaign:
    """A campaign that Ada rejected."""
    campaign = lab.pending_campaign(1)
    with bind(lab.workspace_id):
        campaigns.reject(
            by=ADA, campaign_id=campaign.id, shown=lab.shown_campaign(), comment="The date is wrong."
        )
    return campaign


def words(lab: Lab) -> list[str]:
    """A worker for the one callback there is."""
    row = lab.read(Callback.objects.get)
    return ["-m", "tests.faults.worker", "callback", str(row.id), str(lab.workspace_id)]


def pass_lease(lab: Lab) -> None:
    lab.read(
        lambda: Callback.objects.filter(lease_until__isnull=False).update(lease_until="2020-01-01T00:00:00Z")
    )


@pytest.mark.parametrize(("point", "spoken", "written"), POINTS)
def test_killed_anywhere_it_is_told_in_the_end_and_heard_once(
    point: str, spoken: int, written: bool, lab: Lab, agent: Agent
) -> None:
    rejected(lab)
    worker = words(lab)
    assert lab._run(worker, FAULT_AT=point, LEASE_S="60") == -9
    assert len(agent.requests) == spoken
    assert (lab.read(Callback.objects.get).status == "told") == written
    assert lab._run(worker) == 0  # too early: the lease is not over
    assert len(agent.requests) == spoken
    pass_lease(lab)
    assert lab._run(worker) == 0
    assert lab.read(Callback.objects.get).status == "told"
    assert len(agent.requests) == spoken + (not written)  # what nobody wrote down is said once more
    assert len({request.headers["webhook-id"] for request in agent.requests}) == 1
    assert [news["type"] for news in agent.news] == ["campaign.rejected"]


@pytest.mark.parametrize(("point", "spoken", "written"), POINTS)
def test_frozen_past_its_lease_it_says_nothing_more_and_writes_nothing_down(
    point: str, spoken: int, written: bool, lab: Lab, agent: Agent
) -> None:
    rejected(lab)
    with lab._frozen(words(lab), point, LEASE_S="1") as worker:
        assert len(agent.requests) == spoken
        pass_lease(lab)
        assert lab._run(words(lab)) == 0
        told = lab.read(Callback.objects.values().get)
        assert told["status"] == "told"
        said = len(agent.requests)
        assert said == spoken + (not written)
        assert lab.wake(worker) == 0, lab.said
    assert lab.read(Callback.objects.values().get) == told
    assert len(agent.requests) == said


def test_killed_while_deciding_nobody_is_told(lab: Lab, agent: Agent) -> None:
    campaign = lab.pending_campaign(1)
    assert lab.decide_in_a_process(campaign, fault="decide.before_commit") == -9
    assert not lab.read(Callback.objects.exists)
    assert agent.connections == 0


class TestTheProcessesTogether:
    @pytest.fixture
    def lab(self, process_env: dict[str, str], agent: Agent, broker: Valkey) -> Lab:
        here = {"REDIS_URL": broker.url, "POLL_S": "0.5"}
        keys = {"SECRET_KEY": "k" * 50, "FIELD_KEY": settings.FIELD_KEY}
        return listening(Lab({**process_env, **here, **keys}), agent)

    @pytest.fixture
    def crew(self, lab: Lab, tmp_path: Path) -> Iterator[Crew]:
        crew = Crew(lab, tmp_path)
        yield crew
        crew.stop()

    def test_a_decision_reaches_its_agent_through_dispatcher_and_worker(
        self, lab: Lab, agent: Agent, crew: Crew
    ) -> None:
        crew.dispatcher()
        crew.worker("send")
        rejected(lab)
        agent.wait_for(1)
        eventually(lambda: lab.read(Callback.objects.get).status == "told", "it was told")
        assert [news["data"]["comment"] for news in agent.news] == ["The date is wrong."]

    def test_a_worker_that_is_killed_after_it_spoke_is_followed_by_one_that_says_the_same(
        self, lab: Lab, agent: Agent, crew: Crew
    ) -> None:
        crew.dispatcher()
        crew.worker("send", fault="callback.called")
        rejected(lab)
        agent.wait_for(1)
        crew.worker("send")
        agent.wait_for(2)
        eventually(lambda: lab.read(Callback.objects.get).status == "told", "it was told")
        first, second = agent.requests[:2]
        assert first.body == second.body
        assert first.headers["webhook-id"] == second.headers["webhook-id"]
        assert len(agent.news) == 1

    def test_what_was_not_taken_is_tried_again_when_it_is_due(
        self, lab: Lab, agent: Agent, crew: Crew
    ) -> None:
        agent._acts = [Answer(503)]
        crew.dispatcher()
        crew.worker("send")
        rejected(lab)
        agent.wait_for(1)
        eventually(lambda: lab.read(Callback.objects.get).answer, "it was written down")
        assert "503" in lab.read(Callback.objects.get).answer
        lab.read(lambda: Callback.objects.update(due_at=Now()))
        agent.wait_for(2)
        eventually(lambda: lab.read(Callback.objects.get).status == "told", "it was told")
