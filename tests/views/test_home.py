"""The start, and the frame around every page."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import Client

from approvals.models import Job, Run
from tests.views.reading import Read
from tests.world import World, call, said, signed_in, stranger


def test_whoever_belongs_to_one_workspace_lands_in_its_queue(world: World) -> None:
    response = world.visit("reviewer").get("/")

    assert (response.status_code, response.headers["Location"]) == (302, world.at())


def test_whoever_belongs_to_several_chooses_and_sees_what_waits(world: World) -> None:
    other = World.create("Harbour")
    other.member_of(world.people["reviewer"], "manager")
    world.run("refund-1", said("x"))
    world.campaign()

    page = Read(world.visit("reviewer").get("/"))

    assert page.links["Northwind"] == world.at()
    assert page.links["Harbour"] == other.at()
    assert "Northwind reviewer 2 wait for a decision" in page
    assert "Harbour manager Nothing waits" in page


@pytest.mark.django_db
def test_whoever_belongs_to_none_is_told_what_to_do() -> None:
    page = Read(signed_in(stranger()).get("/"))

    assert page.status == 200
    assert "You belong to no workspace yet" in page


def test_whoever_is_not_signed_in_signs_in_first(world: World) -> None:
    for path in ("/", world.at(), world.at("decisions/"), "/w/no-such-place/"):
        response = Client().get(path)
        assert response.status_code == 302
        assert response.headers["Location"].startswith("/accounts/login/?next=")


class TestFrame:
    def frame(self, world: World, role: str = "support") -> Read:
        return Read(world.visit(role).get(world.at()))

    def test_it_names_workspace_member_and_what_waits(self, world: World) -> None:
        world.run("refund-1", said("x"))

        page = self.frame(world)

        assert "Workspace: Northwind" in page
        assert "Sam Okafor" in page
        assert "support" in page
        assert page.links["Queue 1"] == world.at()
        assert page.links["Decisions"] == world.at("decisions/")
        assert "Alarm" not in page

    def test_it_leads_to_other_workspaces(self, world: World) -> None:
        other = World.create("Harbour")
        other.member_of(world.people["support"], "support")

        page = self.frame(world)

        assert page.links["Harbour"] == other.at()
        assert page.links["All workspaces"] == "/"

    def test_it_offers_caught_mail_only_where_mail_is_caught(self, world: World, settings: Any) -> None:
        assert "Mail" not in self.frame(world).links
        settings.MAIL_CATCHER_DIR = "/somewhere"
        assert self.frame(world).links["Mail"] == "/mail/"

    def test_approved_and_never_started_is_an_alarm_on_every_page(self, world: World) -> None:
        campaign = world.campaign("Winter schedule")
        world.approved(campaign)
        assert "Alarm" not in self.frame(world)
        with world.bound():
            Job.objects.update(due_at=Now() - timedelta(minutes=4))  # type: ignore[operator]

        for path in ("", "decisions/", "subjects/?name=x"):
            page = Read(world.visit("manager").get(world.at(path)))
            assert "Alarm: Approved 4 min ago and not started: Winter schedule." in page
        assert page.links[next(text for text in page.links if "Winter" in text)] == world.at(
            f"campaigns/{campaign.id}/"
        )

    def test_a_replay_gone_silent_is_an_alarm_until_it_is_dealt_with(self, world: World) -> None:
        run = world.run("refund-1", call("c1", "send_email"))
        started = world.forced(run)
        new_run = world.handed_over(started)
        assert "Alarm" not in self.frame(world)
        world.interrupt(new_run)
        world.settled(started.job, "failed", "The new run went silent; it waits for a decision itself.")

        page = self.frame(world)
        assert "Alarm: A replay went silent" in page
        assert world.at(f"runs/{new_run.id}/") in page.links.values()

        with world.bound():
            Run.objects.filter(id=new_run.id).update(dismissed_at=Now())
        assert "Alarm" not in self.frame(world)

    def test_an_original_gone_silent_is_no_alarm_but_the_queue(self, world: World) -> None:
        world.run("refund-1", said("x"))

        assert "Alarm" not in self.frame(world)

    def test_many_alarms_are_a_few_lines(self, world: World) -> None:
        for _ in range(6):
            world.approved(world.campaign())
        with world.bound():
            Job.objects.update(due_at=Now() - timedelta(minutes=4))  # type: ignore[operator]

        page = self.frame(world)

        assert page.text.count("Alarm:") == 4
        assert page.links["There are more like this; see what is in progress."] == world.at("?tab=progress")

    def test_alarms_of_another_workspace_are_not_ours(self, world: World) -> None:
        other = World.create("Harbour")
        other.approved(other.campaign())
        with other.bound():
            Job.objects.update(due_at=Now() - timedelta(minutes=4))  # type: ignore[operator]

        assert "Alarm" not in self.frame(world)


def test_no_page_of_somebody_signed_in_stays_in_the_browsers_store(world: World) -> None:
    assert "no-store" in world.visit("support").get(world.at("")).headers["Cache-Control"]
