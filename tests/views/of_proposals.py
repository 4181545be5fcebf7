"""What the tests of proposing on the pages start from: lists, forms as they stand, and what came of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models.functions import Now

from approvals.db.binding import bind
from approvals.models import AudienceRow, Campaign, Dataset, Delivery, Job, Version
from approvals.tasks import imports
from tests.views.forms import form_of, send
from tests.world import World

LIST = (
    "email,first_name,city\nann@example.com,Ann,Oslo\nbob@example.com,Bob,Bergen\n"
    "ANN@example.com,Again,Oslo\nnobody,X,Oslo\n"
)
TYPED = {
    "name": "Spring offers",
    "purpose": "They asked for news.",
    "sender": "Shop <news@shop.example.com>",
    "reply_to": "",
    "subject": "New in spring, {{ first_name }}",
    "text": "Dear {{ first_name }},\r\n\r\nspring is here.",
    "html": "",
    "send_by": "",
}


def a_list(world: World, text: str = LIST, *, ready: bool = True) -> Dataset:
    given = {"file": SimpleUploadedFile("list.csv", text.encode()), "whole": "1"}
    world.visit("support").post(world.at("datasets/upload"), given)
    dataset = world.read(lambda: Dataset.objects.latest("created_at"))
    if ready:
        with bind(world.workspace.id):
            imports.execute.run(str(dataset.id))
    return world.read(lambda: Dataset.objects.get(id=dataset.id))


def opened(world: World, query: str, role: str = "support") -> Any:
    client = world.visit(role)
    return client, form_of(client.get(world.at(f"campaigns/new/?{query}")), f"new/?{query}")


def proposed(world: World, query: str, role: str = "support", **typed: Any) -> Any:
    client, form = opened(world, query, role)
    return send(client, form, **{**TYPED, **typed})


def to_list(world: World, dataset: Dataset, **typed: Any) -> Any:
    return proposed(world, f"list={dataset.id}", **{"who": "all", "column": "", "value": "", **typed})


def by_hand(world: World, role: str = "support", **typed: Any) -> Any:
    return proposed(world, "typed=1", role, **{"recipients": "ann@example.com\r\nbob@example.com", **typed})


def the_campaign(world: World) -> Campaign:
    return world.read(Campaign.objects.get)


def versions(world: World) -> list[Version]:
    return world.read(lambda: list(Version.objects.order_by("number")))


def addresses(world: World, version: Version) -> list[str]:
    rows = AudienceRow.objects.filter(version_id=version.id, state="addressable").order_by("position")
    return world.read(lambda: list(rows.values_list("address", flat=True)))


def revising(world: World, campaign: Campaign, role: str = "support", **typed: Any) -> Any:
    """(a browser with the form of the next version, the form as it stands with what is typed)."""
    client = world.visit(role)
    page = client.get(world.at(f"campaigns/{campaign.id}/new-version"))
    form = form_of(page, "/new-version")
    return client, form, {**form.texts, "who": "rest", **typed}


def nothing_made(world: World) -> bool:
    return not world.read(
        lambda: Campaign.objects.exists() or Version.objects.exists() or Delivery.objects.exists()
    )


def going_on(world: World, campaign: Campaign, *states: str) -> None:
    """A worker is at it, and these are the first it settled."""
    with world.bound():
        job = Job.objects.get(campaign_id=campaign.id)
        Job.objects.filter(id=job.id).update(
            status="running", claimed_at=Now(), fence=1, task_id="t", lease_until=Now() + timedelta(minutes=1)
        )
        Campaign.objects.filter(id=campaign.id).update(status="sending")
        deliveries = Delivery.objects.filter(campaign_id=campaign.id).order_by("position")
        for delivery, state in zip(deliveries, states, strict=False):
            mine = Delivery.objects.filter(id=delivery.id)
            mine.update(state="attempting", job=job, fence=1, attempt=1, attempted_at=Now())
            mine.update(state=state, settled_at=Now(), reply="250 kept")
