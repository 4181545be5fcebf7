"""Reading a campaign's page and sending its forms, the way a browser does."""

from __future__ import annotations

from typing import Any

from approvals.models import Campaign, Decision, Delivery, Job
from tests.views.forms import form_of, send
from tests.views.reading import Read
from tests.world import World

REASON = "The second paragraph promises a refund."


def path_of(world: World, campaign: Campaign, rest: str = "") -> str:
    return world.at(f"campaigns/{campaign.id}/{rest}")


def look(world: World, campaign: Campaign, role: str = "reviewer", **asked: Any) -> Read:
    return Read(world.visit(role).get(path_of(world, campaign), asked))


def decide(world: World, campaign: Campaign, act: str, role: str = "reviewer", **typed: Any) -> Any:
    """Open the page, fill its form in, send it; the answer."""
    client = world.visit(role)
    return send(client, form_of(client.get(path_of(world, campaign)), f"/{act}"), **typed)


def follow(world: World, answer: Any, role: str = "reviewer") -> Read:
    """The page that an answer leads to; its messages are shown there and once."""
    assert answer.status_code == 303, answer.content.decode()
    return Read(answer.client.get(answer.headers["Location"]))


def decided(world: World) -> list[str]:
    """The kinds of every decision about campaigns, in order. Who was refused stands in the log too."""
    about = Decision.objects.filter(target_kind__in=["campaign", "delivery"])
    rows = about.exclude(kind="refused").order_by("seq")
    return world.read(lambda: list(rows.values_list("kind", flat=True)))


def jobs(world: World) -> list[str]:
    return world.read(lambda: list(Job.objects.order_by("created_at").values_list("status", flat=True)))


def states(world: World, campaign: Campaign) -> list[str]:
    rows = Delivery.objects.filter(campaign_id=campaign.id).order_by("position")
    return world.read(lambda: list(rows.values_list("state", flat=True)))


def status(world: World, campaign: Campaign) -> str:
    return world.read(lambda: Campaign.objects.get(id=campaign.id).status)


def everything(world: World) -> tuple[Any, ...]:
    """Everything that a decision about a campaign could have changed; that somebody was refused changes nothing."""
    return world.read(
        lambda: (
            list(Decision.objects.exclude(kind="refused").order_by("seq").values_list("id", flat=True)),
            list(Job.objects.order_by("id").values_list("id", "status")),
            list(Campaign.objects.order_by("id").values_list("id", "status", "comment")),
            list(Delivery.objects.order_by("id").values_list("id", "state", "resolved_at")),
        )
    )
