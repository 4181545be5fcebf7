"""What an agent is told though nobody decided it: a worker that does not begin, and another version by a member."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import transaction

from approvals.access.actors import Actor, CallingRun, TokenBearer
from approvals.exceptions import Conflict, Stale
from approvals.models import Callback, Job, Member
from approvals.rules import callbacks as rules
from approvals.rules import webhooks
from approvals.services import campaigns, jobs, pauses, proposals, secrets, sending
from tests import factories as f
from tests.services import sends
from tests.services.proposed import a_proposal, anew, the_rest
from tests.services.sends import approve, begun, entries, reject, return_, take_back, the_job

pytestmark = pytest.mark.usefixtures("desk")


@pytest.fixture
def agents(desk):
    """A runtime that listens."""
    secret = secrets.seal(webhooks.new_secret())
    return f.runtime(name="agents", callback_url="https://agents.example/told", signing_secret=secret)


@pytest.fixture
def campaign(agents):
    return f.campaign(runtime=agents, external_id="spring")


def news():
    """(type, status, version, why) of everything that is to be told, in its order."""
    rows = f.rows(Callback.objects.order_by("number"))
    told = [(row.type, json.loads(row.body)["data"]) for row in rows]
    return [(type, data["status"], data["version"], data.get("reason", "")) for type, data in told]


def claimed():
    return jobs.claim(job_id=the_job().id, task_id="t")


def overdue(as_superuser, seconds=settings.START_OVERDUE_S + 60):
    as_superuser("update approvals_job set due_at = now() - %s * interval '1 second'", seconds)


class TestAWorkerThatDoesNotBegin:
    def test_because_its_time_to_be_sent_by_is_over(self, mia, agents, as_superuser):
        campaign = f.campaign(runtime=agents, send_by=datetime.now(UTC) + timedelta(hours=1))
        approve(mia, campaign)
        as_superuser("update approvals_campaign set send_by = now() - interval '1 s'")
        assert sending.begin(held=claimed()) is None
        assert news() == [
            ("campaign.approved", "approved", 1, ""),
            ("campaign.not_begun", "pending", 1, rules.SEND_BY_OVER),
        ]

    def test_because_whoever_approved_it_lost_the_role_and_nobody_is_named(self, desk, campaign):
        user = f.person("Mo", "reviewer", of=desk)
        approve(Actor("member", str(user.pk), "Mo", ("reviewer",), "password"), campaign)
        with transaction.atomic():
            Member.objects.filter(user=user).update(roles=["support"])
        assert sending.begin(held=claimed()) is None
        assert news()[1:] == [("campaign.not_begun", "pending", 1, rules.APPROVER_LEFT)]
        assert "Mo" not in json.dumps(news()[1])

    def test_because_it_is_not_what_was_approved(self, mia, campaign, as_superuser):
        approve(mia, campaign)
        as_superuser("update approvals_version set digest = 'x' where campaign_id = %s", campaign.id)
        assert sending.begin(held=claimed()) is None
        assert news()[1:] == [("campaign.not_begun", "pending", 1, rules.NOT_THE_APPROVED)]

    def test_because_it_is_long_overdue_so_that_it_stays_approved_until_somebody_lets_it_go_on(
        self, mia, campaign, as_superuser
    ):
        approve(mia, campaign)
        overdue(as_superuser)
        assert sending.begin(held=claimed()) is None
        told = [("campaign.not_begun", "approved", 1, rules.OVERDUE)]
        assert news()[1:] == told
        pauses.resume_send(by=mia, job_id=the_job().id, shown=f.shown_campaign(campaign))
        assert sending.begin(held=claimed()) is not None
        assert news()[1:] == told

    def test_because_links_would_lead_nowhere_so_that_it_stays_approved_until_somebody_lets_it_go_on(
        self, mia, campaign, settings
    ):
        settings.BASE_URL = "http://desk.example"
        approve(mia, campaign)
        assert sending.begin(held=claimed()) is None
        told = [("campaign.not_begun", "approved", 1, rules.LINKS_LEAD_NOWHERE)]
        assert news()[1:] == told
        settings.BASE_URL = "https://desk.example"
        pauses.resume_send(by=mia, job_id=the_job().id, shown=f.shown_campaign(campaign))
        assert sending.begin(held=claimed()) is not None
        settings.BASE_URL = "http://desk.example"  # it has begun by then, so that is no news
        assert sending.begin(held=sends.claimed(the_job())) is None
        assert news()[1:] == told

    def test_is_told_again_when_it_happens_again(self, mia, campaign, as_superuser):
        for _ in range(2):
            approve(mia, campaign)
            overdue(as_superuser)
            sending.begin(
                held=jobs.claim(job_id=f.rows(Job.objects.filter(status="queued"))[0].id, task_id="t")
            )
            take_back(mia, campaign)
        assert [type for type, *_ in news()] == [
            "campaign.approved",
            "campaign.not_begun",
            "campaign.taken_back",
        ] * 2

    @pytest.mark.parametrize("late", [True, False])
    def test_is_told_by_whoever_holds_the_job_alone(self, mia, agents, as_superuser, late):
        campaign = f.campaign(runtime=agents, send_by=datetime.now(UTC) + timedelta(hours=1))
        approve(mia, campaign)
        if late:
            as_superuser("update approvals_campaign set send_by = now() - interval '1 s'")
        else:
            overdue(as_superuser)
        held = claimed()
        assert sending.begin(held=replace(held, fence=held.fence - 1)) is None
        assert len(news()) == 1
        sending.begin(held=held)
        sending.begin(held=held)
        assert len(news()) == 2

    def test_whose_campaign_a_person_paused_or_stopped_says_nothing_more(self, mia, agents):
        campaign, held, _ = begun(mia, runtime=agents)
        sending.end_batch(held=held)
        campaigns.pause(by=mia, campaign_id=campaign.id, shown=f.shown_campaign(campaign))
        assert [type for type, *_ in news()] == ["campaign.approved", "campaign.paused"]

    def test_leaves_nothing_to_tell_where_nobody_listens(self, mia, as_superuser):
        approve(mia, f.campaign(runtime=f.runtime(name="deaf")))
        overdue(as_superuser)
        assert sending.begin(held=claimed()) is None
        assert news() == []


class TestAnotherVersionByAMember:
    def test_is_told_with_its_number_and_that_it_waits(self, ada, campaign):
        the_rest(ada, campaign)
        assert news() == [("campaign.revised", "pending", 2, "")]
        [row] = f.rows(Callback.objects)
        assert entries() == ["new_version"]
        assert row.decision_id is not None
        data = json.loads(row.body)["data"]
        assert (data["external_id"], data["comment"], data["counts"]["planned"]) == ("spring", "", 3)

    def test_is_told_whatever_became_of_the_one_before(self, mia, ada, campaign):
        return_(mia, campaign)
        the_rest(ada, campaign, text="Once more")
        approve(mia, campaign)
        the_rest(ada, campaign, text="And once more")
        assert news() == [
            ("campaign.returned", "returned", 1, ""),
            ("campaign.revised", "pending", 2, ""),
            ("campaign.approved", "approved", 2, ""),
            ("campaign.revised", "pending", 3, ""),
        ]

    def test_is_told_once_however_often_it_is_clicked_and_never_where_it_was_refused(
        self, mia, ada, campaign
    ):
        shown = f.shown_campaign(campaign)
        the_rest(ada, campaign, shown)
        the_rest(ada, campaign, shown)
        with pytest.raises(Stale):
            the_rest(ada, campaign, shown, text="Other")
        reject(mia, campaign)
        with pytest.raises(Conflict):
            the_rest(ada, campaign, text="Other")
        assert [type for type, *_ in news()] == ["campaign.revised", "campaign.rejected"]

    def test_but_an_agent_knows_of_the_versions_that_it_proposes_itself(self, agents, campaign):
        token = TokenBearer(campaign.workspace_id, uuid4(), agents.id, None, "sl_abc")
        run = f.run(runtime=agents)
        calling = CallingRun(agents.id, run.id, run.external_id, run.agent)
        for by, text in ((token, "By token"), (calling, "By a call")):
            proposals.propose(by=by, proposal=a_proposal(campaign, text=text))
        assert entries() == ["new_version"] * 2
        assert news() == []

    def test_and_nobody_is_told_of_a_members_own_campaign(self, ada):
        campaign = f.campaign()
        anew(ada, campaign)
        assert news() == []
