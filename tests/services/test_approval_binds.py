"""An approval is of what was shown: its content, its recipients, by somebody else who still may."""

from datetime import UTC, datetime

import pytest
from django.db import transaction

from approvals.access.actors import Actor
from approvals.exceptions import Conflict, NotAllowed, Stale
from approvals.models import AudienceRow, Job, Member
from approvals.rules.decisions import OWN_PROPOSAL
from approvals.rules.proposals import Recipient
from approvals.rules.shown import Shown
from approvals.services import jobs, sending
from tests import factories as f
from tests.services import sends
from tests.services.proposed import (
    GUESTS,
    anew,
    deliveries,
    numbers,
    send_all,
    send_some,
    the_rest,
)
from tests.services.sends import approve, begun

pytestmark = pytest.mark.usefixtures("desk")


class TestWhoMay:
    def test_D13_whoever_proposed_a_version_does_not_approve_it(self, mia, rob):
        campaign = f.campaign()
        anew(mia, campaign)
        with pytest.raises(Conflict, match=OWN_PROPOSAL) as refused:
            approve(mia, campaign)
        assert (refused.value.code, f.fresh(campaign).status) == ("own_proposal", "pending")
        approve(rob, campaign)
        assert f.fresh(campaign).status == "approved"

    def test_D13_but_the_version_of_somebody_else(self, mia, ada):
        campaign = f.campaign()
        anew(mia, campaign)
        anew(ada, campaign, text="By Ada")
        approve(mia, campaign)
        assert f.fresh(campaign).status == "approved"

    def test_D13_a_role_that_was_taken_away_before_the_start_stops_it(self, desk):
        user = f.person("Mo", "reviewer", of=desk)
        mo = Actor(kind="member", id=str(user.pk), name="Mo", roles=("reviewer",), sign_in="password")
        campaign = f.campaign()
        approve(mo, campaign)
        with transaction.atomic():
            Member.objects.filter(user=user).update(roles=["support"])
        held = jobs.claim(job_id=sends.the_job().id, task_id="t")
        assert sending.begin(held=held) is None
        assert (sends.the_job().status, f.fresh(campaign).status) == ("failed", "pending")
        assert "Mo, who approved this, may not approve campaigns any more" in sends.the_job().outcome
        assert deliveries(campaign, 1) == dict.fromkeys(GUESTS, "planned")

    @pytest.mark.parametrize("role", ["manager", "admin"])
    def test_nobody_without_the_right_proposes(self, role):
        campaign = f.campaign()
        for once_more in (anew, the_rest):
            with pytest.raises(NotAllowed, match="support or reviewer"):
                once_more(f.actor("Max", role), campaign)
        assert numbers(campaign) == [1]


class TestTheApprovedAudience:
    def test_D03_people_who_are_added_after_the_approval_get_nothing_of_it(self, mia, ada):
        campaign = f.campaign(to=10)
        approve(mia, campaign)
        everybody = [Recipient(email, values) for email, values in f.recipients(13)]
        anew(ada, campaign, recipients=everybody)
        assert f.fresh(campaign).status == "pending"
        assert not f.rows(Job.objects.filter(status__in=["held", "queued", "running"]))
        assert len(send_all(mia, campaign)) == 13

    def test_D03_a_worker_sends_to_the_ten_that_were_shown(self, mia):
        campaign, held, sealed = begun(mia, to=10)
        with pytest.raises(Exception, match="sealed"), transaction.atomic():
            AudienceRow.objects.create(
                workspace_id=campaign.workspace_id, version_id=sealed.version_id, position=11,
                email="late@example.com", address="late@example.com", state="addressable",
            )  # fmt: skip
        send_some(held, sealed, *["sent"] * 10)
        assert sends.next_intent(held=held, sealed=sealed) is None

    def test_D08_the_same_subject_with_anything_else_different_is_another_digest(self, ada):
        campaign = f.campaign()
        anew(ada, campaign)
        changes = [
            {"text": "Other"}, {"html": "<p>Other</p>"}, {"reply_to": "other@example.com"},
            {"sender": "Other <hello@northwind.example.com>"}, {"name": "Other"}, {"purpose": "Other"},
            {"send_by": datetime(2999, 1, 1, tzinfo=UTC)}, {"recipients": [Recipient("other@example.com", {})]},
            {"recipients": [Recipient(GUESTS[0], {"name": "Other"})]},
        ]  # fmt: skip
        seen = {f.shown_campaign(campaign).digest}
        for change in changes:
            anew(ada, campaign, **change)
            seen.add(f.shown_campaign(campaign).digest)
        assert len(seen) == len(changes) + 1

    def test_D07_an_approval_of_what_was_not_shown_is_refused(self, mia, ada):
        campaign = f.campaign()
        anew(ada, campaign)
        with pytest.raises(Stale):
            approve(mia, campaign, Shown(digest="f" * 64, opened_at=datetime.now(UTC)))
        assert f.fresh(campaign).status == "pending"
