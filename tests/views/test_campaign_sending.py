"""How the sending of a campaign goes, on its page and in the fragment that follows it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from approvals.db.binding import bind
from approvals.models import Campaign, Delivery, Job
from approvals.services import campaigns
from tests.views.of_campaigns import (
    look,
    path_of,
)
from tests.views.reading import Read
from tests.world import World


def ask(world: World, campaign: Campaign, role: str = "reviewer") -> Read:
    """The fragment, as a page asks for it."""
    answer = world.visit(role).get(path_of(world, campaign, "live"), headers={"HX-Request": "true"})
    assert answer.status_code == 200
    return Read(answer)


def begin(world: World, campaign: Campaign, *deliveries: str, **job: Any) -> None:
    """A worker has it and got its first deliveries into these states; `job` is how it left its job, if it did."""
    with world.bound():
        ours = Job.objects.filter(campaign_id=campaign.id)
        ours.update(status="running", fence=1, claimed_at=Now(), task_id="task-1")
        Campaign.objects.filter(id=campaign.id).update(status="sending")
        rows = Delivery.objects.filter(campaign_id=campaign.id).order_by("position")
        for row, state in zip(rows, deliveries, strict=False):
            mine = Delivery.objects.filter(id=row.id)
            mine.update(state="attempting", job=ours.get(), fence=1, attempt=1, attempted_at=Now())
            if state != "attempting":
                mine.update(state=state, settled_at=Now())
        if job:
            ours.update(**job)


class TestItsProgress:
    def test_while_it_is_held_it_counts_down_and_can_be_taken_back(self, db: None) -> None:
        world = World.create(hold_s=60)
        campaign = world.campaign()
        world.approved(campaign)
        fragment = ask(world, campaign)
        assert "Approved, not started Goes out in" in fragment
        assert "it can be taken back until then." in fragment
        assert "data-cancellable" in fragment.html
        assert "data-stoppable" not in fragment.html
        assert "every 1s" in fragment.html

    def test_while_it_waits_for_a_worker_it_can_be_taken_back(self, world: World) -> None:
        campaign = world.campaign()
        world.approved(campaign)
        fragment = ask(world, campaign)
        assert "Waits for a worker; it can be taken back until one begins with it." in fragment
        assert "data-cancellable" in fragment.html

    def test_while_it_is_being_sent_it_counts_and_can_be_stopped(self, world: World) -> None:
        campaign = world.campaign(recipients=[f"p{n}@example.com" for n in range(4)])
        world.approved(campaign)
        begin(world, campaign, "sent", "in_doubt", "attempting")
        for page in (ask(world, campaign), look(world, campaign)):
            assert "Sending 1 of 4 sent so far." in page
            assert "1 sent 1 in doubt 1 being sent 1 to go" in page
            assert "Task task-1" in page
            assert "data-stoppable" in page.html
            assert "data-cancellable" not in page.html
            assert 'width="25.00"' in page.html
        assert "The sending" in look(world, campaign)

    def test_a_server_that_is_not_there_is_said_and_when_it_goes_on(self, world: World) -> None:
        campaign = world.campaign()
        world.approved(campaign)
        why = "The mail server asked to wait, or was not there: refused\u202e."
        later = datetime.now(UTC) + timedelta(seconds=28)
        begin(world, campaign, "sent", status="queued", outcome=why, due_at=later)
        fragment = ask(world, campaign)
        assert (
            "1 of 2 sent so far. The mail server asked to wait, or was not there: refused<U+202E>" in fragment
        )
        assert "It goes on in 2" in fragment

    def test_everybody_got_it(self, world: World) -> None:
        campaign = world.campaign()
        world.approved(campaign)
        world.sent(campaign, "sent", "sent")
        fragment = ask(world, campaign)
        assert "Finished 2 of 2 sent." in fragment
        assert "every" not in fragment.html
        assert fragment.links["Reload the page for its result."] == path_of(world, campaign)
        page = look(world, campaign)
        assert "There is nothing left to decide about it." in page
        assert "Reload the page" not in page
        assert "1 of 2, sent" in page

    def test_finished_is_not_all_it_says_when_not_everybody_got_it(self, world: World) -> None:
        campaign = world.campaign(recipients=[f"p{n}@example.com" for n in range(4)])
        world.approved(campaign)
        world.sent(campaign, "sent", "in_doubt", "failed", "failed")
        for page in (ask(world, campaign), look(world, campaign)):
            assert "Finished with problems" in page
            assert "1 of 4 sent, 1 in doubt, 2 failed." in page
            assert "For 3 of them somebody has to say what became of the message." in page
        assert "Reload the page to settle them." in ask(world, campaign)
        assert look(world, campaign).links["Settle it"] == "#settle"

    def test_an_approval_that_was_taken_back_meanwhile_is_said(self, world: World) -> None:
        campaign = world.campaign()
        world.approved(campaign)
        with bind(world.workspace.id):
            campaigns.take_back(
                by=world.actor("reviewer"), campaign_id=campaign.id, shown=world.shown(campaign)
            )
        fragment = ask(world, campaign)
        assert "The approval was taken back. Nothing was sent." in fragment
        assert "Reload the page to decide again." in fragment
        assert '<span id="state" hx-swap-oob="true">' in fragment.html
        assert "every" not in fragment.html

    def test_nobody_took_it_up_is_an_alarm(self, world: World, settings: Any) -> None:
        settings.OVERDUE_S = 60
        campaign = world.campaign()
        world.approved(campaign)
        with world.bound():
            Job.objects.update(due_at=datetime.now(UTC) - timedelta(minutes=5))
        assert "No worker has taken it for 5 min" in ask(world, campaign)
        assert "Tell whoever runs this desk." in look(world, campaign)

    def test_it_never_brings_what_a_reviewer_reads(self, world: World) -> None:
        fragment = ask(world, world.campaign(), "manager")
        assert "Dear" not in fragment
        assert "<form" not in fragment.html

    def test_somebody_who_is_signed_out_is_led_away_without_a_redirect(
        self, world: World, client: Any
    ) -> None:
        path = path_of(world, world.campaign(), "live")
        answer = client.get(path, headers={"HX-Request": "true"})
        assert answer.status_code == 200
        assert answer.headers["HX-Redirect"].startswith("/accounts/login/")

    @pytest.mark.parametrize("role", ["support", "manager", "admin"])
    def test_whoever_may_not_interfere_reads_whose_it_is(self, world: World, role: str) -> None:
        campaign = world.campaign()
        world.approved(campaign)
        page = look(world, campaign, role)
        assert "Only members with the role reviewer may take an approval back" in page
        assert "Only members with the role reviewer may stop a campaign" in page
