"""What a campaign is compared with: the version that was reviewed before, or the nearest that was approved."""

from uuid import uuid4

import pytest
from django.db.models.functions import Now

from approvals.db.binding import bind
from approvals.models import Campaign, Delivery, Version
from approvals.rules.content import Content
from approvals.selectors.compared import approved_before, lists_changed, nearest, reviewed_before
from approvals.services import campaigns
from tests.world import World


def nearest_to(world, campaign):
    with world.bound():
        version = Version.objects.get(campaign_id=campaign.id)
        content = Content(version.from_address, "", version.subject_line, version.text, version.html)
        return nearest(content, approved_before(campaign.id, campaign.agent))


def test_without_an_approval_there_is_nothing_to_compare_with(world):
    world.rejected(world.campaign())
    world.campaign()
    assert nearest_to(world, world.campaign()) is None


def test_the_campaign_of_this_agent_that_was_approved_is_found_with_who_approved_it(world):
    before = world.campaign("Autumn schedule")
    world.approved(before)
    found = nearest_to(world, world.campaign())
    assert (found.campaign_id, found.name, found.by) == (before.id, "Autumn schedule", "Mia Berg")
    assert not found.same_campaign and found.at


def test_another_agent_and_another_workspace_do_not_count(world):
    world.approved(world.campaign(agent="billing"))
    theirs = World.create("Southwind")
    theirs.approved(theirs.campaign())
    assert nearest_to(world, world.campaign()) is None


def test_an_approval_that_was_taken_back_does_not_count(world):
    before = world.campaign()
    world.approved(before)
    with bind(world.workspace.id):
        campaigns.take_back(by=world.actor("reviewer"), campaign_id=before.id, shown=world.shown(before))
    assert nearest_to(world, world.campaign()) is None


def test_the_most_similar_text_wins_and_among_equals_the_newest():
    def version(subject, text, id):
        made = Version(id=id, subject_line=subject, text=text)
        made.beginning = text
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("approvals.selectors.compared._earlier", lambda found, decision, **_: decision)
        pairs = [
            (version("Invoice", "your invoice is due", 1), "invoice"),
            (version("Departure", "your departure moved to nine", 2), "newest"),
            (version("Departure", "your departure moved to nine", 3), "older"),
        ]
        mine = Content("a@x.example.com", "", "Departure", "your departure moved to ten", "")
        assert nearest(mine, pairs) == "newest"
        assert nearest(Content("a@x.example.com", "", "Zzz", "qqq", ""), pairs) is None


def test_the_version_that_was_decided_on_comes_before_the_one_that_nobody_looked_at(world):
    campaign = world.campaign()
    assert world.read(lambda: reviewed_before(campaign.id, 1)) is None
    with bind(world.workspace.id):
        campaigns.return_(
            by=world.actor("reviewer"),
            campaign_id=campaign.id,
            shown=world.shown(campaign),
            comment="Too long by half.",
        )
        with world.bound():
            Campaign.objects.filter(id=campaign.id).update(status="pending")
    _second(world, campaign, 2)
    _second(world, campaign, 3)
    found = world.read(lambda: reviewed_before(campaign.id, 3))
    assert (found.version, found.kind, found.by) == (1, "return_campaign", "Mia Berg")
    assert found.same_campaign


def test_where_nobody_decided_the_version_before_is_compared(world):
    campaign = world.campaign()
    _second(world, campaign, 2)
    found = world.read(lambda: reviewed_before(campaign.id, 2))
    assert (found.version, found.kind) == (1, "")


def _second(world, campaign, number):
    with world.bound():
        Version.objects.create(
            workspace_id=world.workspace.id, campaign_id=campaign.id, number=number, text="x",
            from_address="a@x.example.com", subject_line="x", digest=uuid4().hex, sealed_at=Now(),
        )  # fmt: skip


def test_who_came_and_who_went_is_counted_and_named(world):
    old = world.campaign(recipients=["ann@example.com", "bob@example.com"])
    new = world.campaign(recipients=["BOB@example.com", "cem@example.com", "dan@example.com"])
    with world.bound():
        ids = {c.id: Version.objects.get(campaign_id=c.id).id for c in (old, new)}
        found = lists_changed(ids[new.id], ids[old.id])
        assert Delivery.objects.count() == 5 and Campaign.objects.count() == 2
    assert (found.came, found.first_came) == (2, ["cem@example.com", "dan@example.com"])
    assert (found.gone, found.first_gone) == (1, ["ann@example.com"])
