"""One customer's page."""

import pytest

from approvals.models import Run
from tests.views.reading import Read
from tests.world import World, answer, call, ended, said

ANN = "ann@example.com"


def look(world: World, name: str = ANN, role: str = "support", **asked: str) -> Read:
    return Read(world.visit(role).get(world.at("subjects/"), {"name": name, **asked}))


def test_runs_deliveries_and_decisions_of_one_customer_stand_on_one_page(world: World) -> None:
    run = world.run("refund-1", call("c1", "send_email", to=ANN), answer("c1"))
    world.run("not-hers", said("x"), subject="bob@example.com")
    campaign = world.campaign("Winter schedule", [ANN, "zoe@example.com"])
    world.approved(campaign)
    world.sent(campaign, "failed", "sent")
    world.forced(run)

    page = look(world)

    assert "2 runs, 1 delivery and 2 decisions." in page
    assert "Called send_email, to ann@example.com." in page.row("Called tools")
    assert "Waiting to start" in page.row("refund-1#2"), "neither running nor over before it began"
    assert "not-hers" not in page
    mail = page.row("550 no such box")
    assert "Winter schedule" in mail
    assert "Failed" in mail
    assert "@northwind.example.com>" in mail
    assert "zoe@example.com" not in page
    assert "refund-1" in page.row("Forced replay")
    assert "Winter schedule" in page.row("Approved")
    assert page.links["refund-1"] == world.at(f"runs/{run.id}/")


def test_what_nobody_approved_is_not_called_planned(world: World) -> None:
    world.rejected(world.campaign("Rejected letter", [ANN]))
    world.campaign("Waiting letter", [ANN])

    page = look(world)

    assert "Rejected" in page.row("ann@example.com Rejected letter")
    assert "Waits for approval" in page.row("Waiting letter")
    assert "Planned" not in page


def test_an_address_is_one_customer_in_any_spelling(world: World) -> None:
    world.campaign("Winter schedule", ["Ann@Example.com"])

    assert "1 delivery" in look(world, "ann@example.COM")


def test_what_a_run_proposed_on_their_behalf_belongs_to_them(world: World) -> None:
    run = world.run("refund-1", ended(), subject="customer 17")
    world.campaign("A letter", ["elsewhere@example.com"], run=run)
    world.campaign("Not theirs", ["other@example.com"])

    page = look(world, "customer 17")

    assert "elsewhere@example.com" in page
    assert "Not theirs" not in page


def test_nobody_has_heard_of_them(world: World) -> None:
    page = look(world, "nobody@example.com")

    assert page.status == 200
    assert "Nothing is known of this customer in this workspace" in page
    assert "No agent has run on their behalf." in page


@pytest.mark.parametrize("name", ["", "   ", "\0", "x" * 10_000])
def test_an_address_that_names_nobody_is_refused_kindly(world: World, name: str) -> None:
    page = look(world, name)

    assert page.status == 400
    assert "This address names no customer that could be looked up." in page


@pytest.mark.parametrize(
    "asked", [{"runs": "x"}, {"sent": "1.2"}, {"before": "\0"}, {"runs": f"{10**30}.{'0' * 32}"}]
)
def test_a_broken_place_in_a_list_is_its_beginning(world: World, asked: dict[str, str]) -> None:
    world.run("refund-1", said("x"))

    assert "refund-1" in look(world, **asked)


def test_each_list_goes_on_by_itself(world: World) -> None:
    for number in range(23):
        world.run(f"run-{number:02}x", said("x"))
        world.campaign(f"letter-{number:02}x", [ANN])

    page = look(world)
    links = [part.split('"')[0].replace("&amp;", "&") for part in page.html.split('href="')]
    runs_url, sent_url = (next(url for url in links if f"&{key}=" in url) for key in ("runs", "sent"))

    runs_page, sent_page = (Read(world.visit("support").get(url)) for url in (runs_url, sent_url))

    assert all(f"run-{number:02}x" in page for number in range(3, 23))
    assert all(f"run-{number:02}x" in runs_page for number in range(3))
    assert "run-03x" not in runs_page
    assert all(f"letter-{number:02}x" in sent_page for number in range(3))
    assert "letter-03x" not in sent_page


def test_their_name_is_shown_and_never_obeyed(world: World) -> None:
    name = "<script>alert(1)</script>\u202e'\"&name=x"
    world.run("refund-1", said("x"), subject=name)

    page = look(world, name)

    assert page.status == 200
    assert "1 run" in page
    assert "<script>alert" not in page.html
    assert "\u202e" not in page.html
    queue = Read(world.visit("support").get(world.at()))
    url = next(href for href in queue.links.values() if "subjects/" in href)
    assert "1 run" in Read(world.visit("support").get(url))


def test_the_same_customer_of_another_workspace_is_somebody_else(world: World) -> None:
    other = World.create("Harbour")
    run = other.run("theirs", said("x"))
    other.campaign("Their letter", [ANN])

    page = look(world)

    assert "Nothing is known of this customer" in page
    assert str(run.id) not in page.html
    assert other.read(Run.objects.count) == 1
