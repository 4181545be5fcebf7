"""Who of an audience was written to already by the same agent, or waits in another campaign."""

from approvals.db.binding import bind
from approvals.models import Campaign, Version
from approvals.selectors.contacts import contacts_by_delivery, contacts_of
from approvals.services import campaigns
from tests.views.of_campaign_pages import deliveries
from tests.views.of_versions import renewed
from tests.world import World

PEOPLE = ["ann@example.com", "bob@example.com", "cem@example.com"]


def contacts(world, campaign):
    with world.bound():
        version = Version.objects.get(campaign_id=campaign.id)
        return contacts_of(version.id, campaign_id=campaign.id, agent=campaign.agent)


def sent(world, people, *states, **more):
    campaign = world.campaign(recipients=people, **more)
    world.approved(campaign)
    world.sent(campaign, *states)
    return campaign


def test_nobody_was_written_to_before_the_first_campaign(world):
    found = contacts(world, world.campaign(recipients=PEOPLE))
    assert (found.written, found.waiting) == (0, 0)


def test_whoever_got_it_or_may_have_got_it_counts_and_whoever_did_not_does_not(world):
    sent(world, PEOPLE, "sent", "in_doubt", "failed")
    found = contacts(world, world.campaign(recipients=["Ann@Example.com", *PEOPLE[1:]]))
    assert (found.written, found.first_written) == (2, ["Ann@example.com", "bob@example.com"])
    assert found.waiting == 0


def test_somebody_counts_once_however_often_they_were_written_to(world):
    for _ in range(3):
        sent(world, PEOPLE[:1], "sent")
    assert contacts(world, world.campaign(recipients=PEOPLE)).written == 1


def test_what_another_agent_sent_does_not_count_but_what_waits_does(world):
    sent(world, PEOPLE[:1], "sent", agent="billing")
    world.campaign(recipients=PEOPLE[1:], agent="billing")
    found = contacts(world, world.campaign(recipients=PEOPLE))
    assert (found.written, found.waiting) == (0, 2)
    assert found.first_waiting == PEOPLE[1:]


def test_what_was_rejected_waits_no_more(world):
    world.rejected(world.campaign(recipients=PEOPLE))
    assert contacts(world, world.campaign(recipients=PEOPLE)).waiting == 0


def test_what_was_returned_waits_and_of_its_versions_only_the_newest(world):
    waiting = world.campaign(recipients=PEOPLE)
    with bind(world.workspace.id):
        shown, by = world.shown(waiting), world.actor("reviewer")
        campaigns.return_(by=by, campaign_id=waiting.id, shown=shown, comment="Two of them moved.")
    asking = world.campaign(recipients=[*PEOPLE, "dan@example.com"])
    assert contacts(world, asking).waiting == 3
    renewed(world, waiting, PEOPLE[0])
    assert contacts(world, asking).first_waiting == PEOPLE[:1]


def test_the_campaigns_in_which_they_wait_are_named_those_with_most_of_them_first(world):
    for name, people in (("Autumn", PEOPLE[:1]), ("Winter", PEOPLE), ("Spring", PEOPLE[1:2])):
        world.campaign(name, recipients=people)
    world.campaign("Elsewhere", recipients=["dan@example.com"])
    sent(world, PEOPLE, "sent", "sent", "sent")
    found = contacts(world, world.campaign("Summer", recipients=PEOPLE))
    assert [(one.name, one.shared) for one in found.elsewhere] == [
        ("Winter", 3),
        ("Autumn", 1),
        ("Spring", 1),
    ]
    assert found.campaigns == 3


def test_of_many_campaigns_the_first_are_named_and_the_others_counted(world):
    for number in range(7):
        world.campaign(f"Spring {number}", recipients=PEOPLE[:1])
    found = contacts(world, world.campaign(recipients=PEOPLE))
    assert [one.name for one in found.elsewhere] == [f"Spring {number}" for number in range(5)]
    assert (found.campaigns, found.waiting) == (7, 1)


def test_the_campaign_itself_does_not_count(world):
    campaign = sent(world, PEOPLE, "sent", "sent", "failed")
    assert contacts(world, campaign).written == 0


def test_the_first_of_many_are_named_in_the_order_of_the_list(world):
    people = [f"guest{number}@example.com" for number in (5, 1, 4, 2, 3)]
    sent(world, sorted(people), *["sent"] * 5)
    found = contacts(world, world.campaign(recipients=people))
    assert (found.written, found.first_written) == (5, people[:3])


def test_another_workspace_is_none_of_our_business(world):
    theirs = World.create("Southwind")
    sent(theirs, PEOPLE, "sent", "sent", "sent")
    theirs.campaign(recipients=PEOPLE)
    found = contacts(world, world.campaign(recipients=PEOPLE))
    assert (found.written, found.waiting) == (0, 0)


def test_of_single_deliveries_it_is_known_when(world):
    sent(world, PEOPLE[:1], "sent")
    campaign = world.campaign(recipients=PEOPLE)
    world.campaign(recipients=PEOPLE[1:2])
    ann, bob, cem = deliveries(world, campaign)
    with world.bound():
        ids = [ann.id, bob.id, cem.id]
        found = contacts_by_delivery(ids, campaign_id=campaign.id, agent=campaign.agent)
        assert Campaign.objects.count() == 3
    assert found[ann.id].written_at and not found[ann.id].waits
    assert found[bob.id].waits and not found[bob.id].written_at
    assert cem.id not in found
