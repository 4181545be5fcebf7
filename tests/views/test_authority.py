"""The page *Who allowed this?*, and the ways to it."""

from __future__ import annotations

import pytest

from approvals.models import Delivery
from tests.views.reading import Read
from tests.world import World, call, said

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World.create()


def ask(world: World, query: str | None = None, role: str = "manager") -> Read:
    return Read(world.visit(role).get(world.at("authority"), {} if query is None else {"q": query}))


def sent(world: World, state: str = "sent") -> Delivery:
    campaign = world.campaign(recipients=["ann@example.com"])
    world.approved(campaign)
    return world.sent(campaign, state)[0]


def test_a_message_is_answered_in_a_sentence_with_its_entry_and_its_campaign(world: World) -> None:
    delivery = sent(world)
    page = ask(world, delivery.message_id)
    assert page.status == 200
    [row] = page.rows
    assert row.startswith("Mail to ann@example.com Mia Berg (reviewer) approved this campaign on ")
    assert "Sent" in row and delivery.message_id in row
    assert page.links["ann@example.com"] == world.at(f"campaigns/{delivery.campaign_id}/?to={delivery.id}")
    assert page.links["Winter schedule"] == world.at(f"campaigns/{delivery.campaign_id}/")
    entry = next(url for text, url in page.links.items() if text.endswith(": Approved"))
    assert Read(world.visit("manager").get(entry)).status == 200


def test_a_run_and_its_calls_lead_to_their_places(world: World) -> None:
    run = world.run("refund-1", said("x"), call("c1", "send_email"))
    page = ask(world, "refund-1")
    assert "2 things go by this." in page
    assert page.row("Run refund-1").count("Nobody: the runtime started this run by itself.") == 1
    assert page.links["send_email"] == world.at(f"runs/{run.id}/#call-2")


def test_nothing_was_asked_and_nothing_goes_by_it(world: World) -> None:
    assert ask(world).rows == [] and "Nothing here goes by that" not in ask(world)
    assert "Nothing here goes by that" in ask(world, "refund-99")


@pytest.mark.parametrize("query", ["x" * 5_000, "a null \0", "\u202e", "<b>", "'; drop table"])
def test_whatever_stands_in_the_address_is_answered(world: World, query: str) -> None:
    page = ask(world, query)
    assert page.status == 200
    assert "<b>" not in page.html


def test_what_agents_wrote_is_shown_as_text(world: World) -> None:
    world.run("<script>alert(1)</script>\u202e", said("x"), subject="ann")
    page = ask(world, "ann")
    assert "<script>alert" not in page.html
    assert "\u202e" not in page.html


def test_the_ways_to_it_stand_beside_each_call_and_each_message(world: World) -> None:
    run = world.run("refund-1", call("c 1", "send_email"))
    there = Read(world.visit("support").get(world.at(f"runs/{run.id}/")))
    link = next(url for text, url in there.links.items() if text.startswith("Who allowed this? send_email"))
    [row] = Read(world.visit("support").get(link)).rows
    assert row.startswith("Call of send_email")

    delivery = sent(world, "failed")
    for path in (f"campaigns/{delivery.campaign_id}/", "subjects/?name=ann@example.com"):
        page = Read(world.visit("reviewer").get(world.at(path)))
        link = next(url for text, url in page.links.items() if text == "Who allowed this? ann@example.com")
        [row] = Read(world.visit("reviewer").get(link)).rows
        assert row.startswith("Mail to ann@example.com")
