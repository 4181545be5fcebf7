"""Deciding about a campaign on its page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.test import Client

from approvals.db.binding import bind
from approvals.models import Campaign, Decision, Job, Version
from approvals.services import campaigns
from dashboard.forms.shown import pack
from tests.views.forms import form_of, send
from tests.views.of_campaigns import (
    REASON,
    decide,
    decided,
    everything,
    follow,
    jobs,
    look,
    path_of,
    status,
)
from tests.views.reading import Read
from tests.world import World, signed_in

ACTS = {"approve": "", "reject": "comment", "take-back": "", "stop": "reason"}
UNTYPABLE = ["", "short one", "x" * 10_000, "a reason with \0 in it", "a reason with \x0b in it", "   " * 10]


def ready_for(world: World, act: str) -> Campaign:
    """A campaign on which this act is possible."""
    campaign = world.campaign(recipients=["ann@example.com", "bob@example.com"])
    if act in ("take-back", "stop"):
        world.approved(campaign)
    if act == "stop":
        begin(world, campaign)
    return campaign


def begin(world: World, campaign: Campaign) -> None:
    """A worker begins with it."""
    with world.bound():
        Job.objects.filter(campaign_id=campaign.id).update(status="queued")
        Job.objects.filter(campaign_id=campaign.id).update(
            status="running", fence=1, claimed_at=datetime.now(UTC)
        )
        Campaign.objects.filter(id=campaign.id).update(status="sending")


class TestApproving:
    def test_it_is_queued_bound_to_what_was_shown_and_said_to_be_no_more_than_that(
        self, world: World
    ) -> None:
        campaign = world.campaign()
        answer = decide(world, campaign, "approve")
        page = follow(world, answer)
        said = "Approved. Sending is queued: it starts as soon as a worker has it, and can be taken back until then."
        assert said in page
        assert "Approved, not started" in page
        assert "Decide" not in page, "what can be done stands with the sending"
        assert "sent." not in page.text.partition("Winter schedule")[0]
        assert (status(world, campaign), jobs(world)) == ("approved", ["queued"])
        entry = world.read(lambda: Decision.objects.get(kind="approve"))
        digest = world.read(lambda: Version.objects.get(campaign_id=campaign.id).digest)
        assert (entry.actor_name, entry.actor_roles, entry.digest) == ("Mia Berg", ["reviewer"], digest)
        assert entry.opened_at is not None
        assert "Mia Berg reviewer" in page.row("Approved")

    def test_within_the_hold_it_says_for_how_long_it_can_be_taken_back(self, db: None) -> None:
        world = World.create(hold_s=90)
        page = follow(world, decide(world, world.campaign(), "approve"))
        assert "Sending is queued: it starts in 1 min 30 s, and can be taken back until then." in page
        assert "Goes out in 1 min" in page

    def test_who_clicks_twice_is_told_that_nothing_happened_twice(self, world: World) -> None:
        campaign = world.campaign()
        client = world.visit("reviewer")
        form = form_of(client.get(path_of(world, campaign)), "/approve")
        for _ in range(3):
            page = follow(world, send(client, form))
        assert "You already approved this campaign. Nothing happened twice." in page
        assert (decided(world), jobs(world)) == (["approve"], ["queued"])

    def test_whoever_comes_second_sees_who_was_first_and_that_nothing_of_theirs_happened(
        self, world: World
    ) -> None:
        campaign = world.campaign()
        late = signed_in(world.person("reviewer", name="Rob Late"))
        form = form_of(late.get(path_of(world, campaign)), "/reject")
        world.approved(campaign)

        page = Read(send(late, form, comment=REASON))

        assert page.status == 409
        assert "Mia Berg was first" in page
        assert "Nothing of yours happened. You were about to reject it" in page
        assert REASON in page
        assert decided(world) == ["approve"]

    def test_another_content_than_the_one_shown_is_not_approved(self, world: World) -> None:
        campaign = world.campaign()
        shown = pack(target=campaign.id, user_id=str(world.people["reviewer"].pk), digest="0" * 64)
        page = Read(world.visit("reviewer").post(path_of(world, campaign, "approve"), {"shown": shown}))
        assert page.status == 409
        assert "It changed since you looked" in page
        assert "Version 1 of this campaign took the place of the one you looked at." in page
        assert decided(world) == []

    def test_a_page_that_was_opened_before_it_was_taken_back_approves_nothing(self, world: World) -> None:
        campaign = world.campaign()
        rob = signed_in(world.person("reviewer", name="Rob Late"))
        form = form_of(rob.get(path_of(world, campaign)), "/approve")
        world.approved(campaign)
        with bind(world.workspace.id):
            campaigns.take_back(
                by=world.actor("reviewer"), campaign_id=campaign.id, shown=world.shown(campaign)
            )
        page = Read(send(rob, form))
        assert page.status == 409
        assert "Mia Berg took this approval back after you opened this page." in page
        assert status(world, campaign) == "pending"

    def test_a_campaign_whose_time_is_over_is_not_approved_and_says_why(self, world: World) -> None:
        late = world.campaign(send_by=datetime.now(UTC) - timedelta(minutes=5))
        page = look(world, late)
        assert "send-by passed 5 min ago" in page
        assert "<button disabled>Approve for 2 people" in page.html
        assert "The time by which this campaign was to be sent is over. Return it" in page
        assert decide(world, late, "approve").status_code == 409
        assert decided(world) == []

    def test_an_approval_that_failed_says_why_it_waits_again(self, world: World) -> None:
        campaign = world.campaign()
        world.approved(campaign)
        job = world.read(lambda: Job.objects.get(campaign_id=campaign.id))
        world.settled(job, "failed", "The campaign is not the one that was approved any more.")
        with world.bound():
            Campaign.objects.filter(id=campaign.id).update(status="pending")
        page = look(world, campaign)
        assert "The campaign is not the one that was approved any more." in page
        assert "Approve for 2 people" in page

    def test_a_campaign_that_reaches_nobody_cannot_be_approved(self, world: World) -> None:
        answer = decide(world, world.campaign(recipients=["no address"]), "approve")
        assert answer.status_code == 409
        assert "there is nothing to approve" in Read(answer)


class TestRejecting:
    def test_the_comment_is_kept_for_its_proposer_and_stands_on_the_page(self, world: World) -> None:
        campaign = world.campaign()
        page = follow(world, decide(world, campaign, "reject", comment=f" {REASON}\r\nSee line 2. "))
        assert "Rejected. Nothing is sent, and whoever proposed it can read your comment." in page
        assert REASON in page.row("Rejected")
        assert "What would have been sent" in page
        kept = world.read(lambda: Campaign.objects.get(id=campaign.id).comment)
        assert kept == f"{REASON}\nSee line 2."
        assert jobs(world) == []

    def test_a_comment_that_tells_nothing_comes_back_with_what_was_typed(self, world: World) -> None:
        campaign = world.campaign()
        client = world.visit("reviewer")
        url = path_of(world, campaign, "?to=bob@example.com&back=agent%3Doutreach")
        answer = send(client, form_of(client.get(url), "/reject"), comment="<b>no</b>")
        page = Read(answer)
        assert page.status == 422
        assert "Give a reason of at least 10 characters" in page
        assert "&lt;b&gt;no&lt;/b&gt;</textarea>" in page.html
        assert "To bob@example.com" in page, "the recipient that was looked at is looked at still"
        assert page.links["← Queue"] == world.at("?agent=outreach")
        assert status(world, campaign) == "pending"
        # The page that came back decides like any other.
        page = follow(world, send(client, form_of(answer, "/reject"), comment=REASON))
        assert status(world, campaign) == "rejected"
        assert page.links["← Queue"] == world.at("?agent=outreach")


class TestTakingBackAndStopping:
    def test_an_approval_is_taken_back_and_the_campaign_waits_again(self, world: World) -> None:
        campaign = world.campaign()
        world.approved(campaign)
        page = follow(world, decide(world, campaign, "take-back"))
        assert "Taken back. Nothing was sent, and the campaign waits for a decision again." in page
        assert "Waits for approval" in page
        assert "Approve for 2 people" in page
        assert (status(world, campaign), jobs(world)) == ("pending", ["cancelled"])

    def test_once_a_worker_has_it_it_is_too_late_to_take_it_back(self, world: World) -> None:
        campaign = world.campaign()
        world.approved(campaign)
        client = world.visit("reviewer")
        form = form_of(client.get(path_of(world, campaign)), "/take-back")
        begin(world, campaign)
        page = Read(send(client, form))
        assert page.status == 409
        assert "It can be stopped while it is being sent." in page
        assert status(world, campaign) == "sending"

    def test_a_campaign_is_stopped_and_the_rest_is_skipped(self, world: World) -> None:
        campaign = ready_for(world, "stop")
        page = follow(world, decide(world, campaign, "stop", reason=REASON))
        assert "Stopped. What had not left by then is skipped." in page
        assert "0 of 2 sent, 2 skipped." in page
        assert "What was sent until it was stopped" in page
        assert REASON in page.row("Stopped")

    def test_a_reason_that_tells_nothing_stops_nothing(self, world: World) -> None:
        campaign = ready_for(world, "stop")
        page = Read(decide(world, campaign, "stop", reason="no"))
        assert page.status == 422
        assert "Give a reason of at least 10 characters" in page
        assert ">no</textarea>" in page.html
        assert status(world, campaign) == "sending"


@pytest.mark.parametrize("act", ACTS)
class TestEveryAct:
    def test_only_a_reviewer_may(self, world: World, act: str) -> None:
        campaign = ready_for(world, act)
        before = everything(world)
        for role in ("support", "manager", "admin"):
            page = Read(decide(world, campaign, act, role, reason=REASON, comment=REASON))
            assert page.status == 403
            assert "Only members with the role reviewer may" in page
        assert everything(world) == before

    def test_looking_at_its_address_decides_nothing(self, world: World, act: str) -> None:
        campaign = ready_for(world, act)
        before = everything(world)
        assert world.visit("reviewer").get(path_of(world, campaign, act)).status_code == 405
        assert everything(world) == before

    def test_what_was_shown_is_this_page_to_this_person_or_nothing(self, world: World, act: str) -> None:
        campaign, other = ready_for(world, act), world.campaign()
        rob, mia = world.person("reviewer", name="Rob"), str(world.people["reviewer"].pk)
        page = world.visit("reviewer").get(path_of(world, campaign))
        mine = form_of(page, f"/{act}").fields["shown"][0]
        before = everything(world)
        for shown in (
            None,
            "",
            "x",
            "x" * 10_000,
            "\0",
            "é:é:é",
            mine[:-1],
            pack(target=other.id, user_id=mia, digest=world.shown(campaign).digest),
            pack(target=campaign.id, user_id=str(rob.pk), digest=world.shown(campaign).digest),
        ):
            typed = {"comment": REASON, "reason": REASON} | ({} if shown is None else {"shown": shown})
            refused = Read(world.visit("reviewer").post(path_of(world, campaign, act), typed))
            assert refused.status == 422, shown
            assert "Reload the page and decide again." in refused
            assert REASON in refused
        assert everything(world) == before

    def test_another_workspaces_campaign_is_none(self, world: World, act: str) -> None:
        other = World.create("Harbour")
        theirs = ready_for(other, act)
        before = everything(other)
        shown = pack(
            target=theirs.id,
            user_id=str(world.people["reviewer"].pk),
            digest=other.shown(theirs).digest,
        )
        typed = {"shown": shown, "comment": REASON, "reason": REASON}
        there = world.visit("reviewer").post(world.at(f"campaigns/{theirs.id}/{act}"), typed)
        nowhere = world.visit("reviewer").post(world.at(f"campaigns/{uuid4()}/{act}"), typed)
        assert (there.status_code, nowhere.status_code) == (404, 404)
        assert everything(other) == before

    def test_nobody_decides_without_the_token_of_the_page(self, world: World, act: str) -> None:
        campaign = ready_for(world, act)
        client = Client(enforce_csrf_checks=True)
        client.force_login(world.people["reviewer"])
        form = form_of(client.get(path_of(world, campaign)), f"/{act}")
        assert send(client, form, reason=REASON, comment=REASON).status_code == 403

    @pytest.mark.parametrize(
        "next",
        ["https://evil.example/", "//evil.example", "/accounts/logout/", "/w/x\r\nX: y", "\0", "é" * 9_000],
    )
    def test_afterwards_it_leads_nowhere_else(self, world: World, act: str, next: str) -> None:
        campaign = ready_for(world, act)
        answer = decide(world, campaign, act, next=next, reason=REASON, comment=REASON)
        assert answer.status_code == 303
        assert answer.headers["Location"] == path_of(world, campaign)


@pytest.mark.parametrize("act", ["reject", "stop"])
@pytest.mark.parametrize("typed", [*UNTYPABLE, None], ids=lambda typed: repr(typed)[:20])
def test_a_text_that_cannot_be_kept_is_refused_at_its_field(
    world: World, act: str, typed: str | None
) -> None:
    campaign = ready_for(world, act)
    before = everything(world)
    fields = {} if typed is None else {ACTS[act]: typed}
    page = Read(decide(world, campaign, act, **fields))
    assert page.status == 422
    assert page.html.count('class="wrong"') == 1
    assert f'id="{act}-reason"' in page.html.partition("aria-invalid")[0][-200:]
    assert everything(world) == before


@pytest.mark.parametrize("act", ["reject", "stop"])
def test_half_a_character_is_no_text(world: World, act: str) -> None:
    campaign = ready_for(world, act)
    before = everything(world)
    client = world.visit("reviewer")
    form = form_of(client.get(path_of(world, campaign)), f"/{act}")
    body = f"shown={form.fields['shown'][0]}&{ACTS[act]}=half+a+character+%ED%A0%80+in+here"
    answer = client.post(form.action, body, content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 422
    assert "cannot be stored; type it again" in Read(answer)
    assert everything(world) == before
