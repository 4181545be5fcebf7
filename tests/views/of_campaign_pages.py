"""Campaigns that tests of their page look at, and what they are asked there."""

from approvals.models import Decision, Delivery

COMMENT = "The second paragraph promises a refund."


def page(world, campaign, role="reviewer", **asked):
    return world.visit(role).get(world.at(f"campaigns/{campaign.id}/"), asked)


def deliveries(world, campaign):
    found = Delivery.objects.filter(campaign_id=campaign.id).order_by("position")
    return world.read(lambda: list(found))


def kinds(world):
    """What was decided, in order; what came of it and who was refused stand in the log too."""
    entries = Decision.objects.filter(actor_kind="member").exclude(kind="refused").order_by("seq")
    return world.read(lambda: [entry.kind for entry in entries])


def troubled(world, *states):
    """A campaign that was sent, with these outcomes in order."""
    names = [f"guest{number}@example.com" for number, _ in enumerate(states, 1)]
    campaign = world.campaign(recipients=names)
    world.approved(campaign)
    return campaign, world.sent(campaign, *states)


def without_date(raw):
    return b"\r\n".join(line for line in raw.split(b"\r\n") if not line.startswith(b"Date: "))
