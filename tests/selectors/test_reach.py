"""What concerns one customer or address."""

from approvals.models import Decision
from approvals.selectors.reach import reach_of, spelling_of
from tests.world import World, call, ended, said


def test_an_address_has_one_spelling_and_anything_else_keeps_its_own() -> None:
    assert spelling_of("Ann@EXAMPLE.com") == spelling_of("ann@example.com")
    assert spelling_of("Customer 17") == "customer 17"
    assert spelling_of("\u202e\n@") == "\u202e\n@"


def test_everything_of_a_customer_is_reached_and_nothing_else(world: World) -> None:
    run = world.run("", call("c1", "t"), subject="ann@example.com")
    world.run("", said("x"), subject="bob@example.com")
    to_her = world.campaign("To her", ["Ann@example.com", "bob@example.com"])
    for_her = world.campaign(
        "For her", ["zoe@example.com"], run=world.run("", ended(), subject="ann@example.com")
    )
    world.campaign("Neither", ["bob@example.com"])

    reach = world.read(lambda: reach_of("ann@example.com"))

    assert run.lineage_id in reach.lineages
    assert len(reach.lineages) == 2
    assert set(reach.campaigns) == {to_her.id, for_her.id}
    assert len(reach.deliveries) == 1


def test_decisions_on_deliveries_to_others_are_not_hers(world: World) -> None:
    campaign = world.campaign("To both", ["ann@example.com", "bob@example.com"])
    approval = world.approved(campaign)

    reach = world.read(lambda: reach_of("ann@example.com"))
    mine = world.read(lambda: list(Decision.objects.filter(reach.decisions)))

    assert [decision.id for decision in mine] == [approval.id]
