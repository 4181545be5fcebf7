"""What I decided last stays in reach, and says whether it can still be taken back."""

import pytest

from approvals.selectors.my_decisions import last_of
from tests.world import World, call


def mine(world, role="reviewer", at_most=3):
    return world.read(lambda: last_of(str(world.people[role].pk), at_most=at_most))


def test_it_holds_my_decisions_newest_first_and_no_more_than_asked_for(world):
    for name in ("one", "two", "three"):
        world.rejected(world.campaign(name))
    assert [one.title for one in mine(world, at_most=2)] == ["three", "two"]


@pytest.mark.usefixtures("db")
def test_an_approval_can_be_taken_back_until_a_worker_has_it():
    world = World.create(hold_s=60)
    campaign = world.campaign()
    world.approved(campaign)
    (one,) = mine(world)
    assert (one.kind, one.item_kind, one.item_id, one.cancellable) == (
        "approve",
        "campaign",
        campaign.id,
        True,
    )
    world.sent(campaign, "sent", "sent")
    (one,) = mine(world)
    assert not one.cancellable


def test_a_replay_leads_to_the_run_that_counts(world):
    run = world.run("refund-1", call("c1", "send_email"))
    started = world.forced(run)
    (one,) = mine(world, "support")
    assert (one.kind, one.item_kind, one.item_id, one.cancellable) == ("force_replay", "run", run.id, True)
    world.handed_over(started)
    (one,) = mine(world, "support")
    assert (one.item_id, one.cancellable) == (started.run.id, False)


def test_what_others_decided_and_what_was_refused_are_not_mine(world):
    world.rejected(world.campaign())
    assert mine(world, "support") == []
    theirs = World.create("Southwind")
    assert mine(theirs) == []


def test_only_the_last_hour_counts(world, monkeypatch):
    world.rejected(world.campaign())
    monkeypatch.setattr("approvals.selectors.my_decisions.WITHIN_S", -1)
    assert mine(world) == []
