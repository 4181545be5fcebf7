"""What a restore held back, on its pages: why it waits, letting it go on, and taking it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db.models.functions import Now

from approvals.models import Job
from approvals.services import restoring
from tests.views import of_campaigns as c
from tests.views.forms import form_of, forms_of, offered, send
from tests.views.reading import Read
from tests.world import World, call, said, signed_in

SEEN = "The server lists no mail after noon."


def pause(world: World, job: Job) -> None:
    """As `manage.py restored` leaves it."""
    why = restoring.REPLAY if job.kind == "replay" else restoring.SEND
    with world.bound():
        Job.objects.filter(id=job.id).update(status="paused", outcome=why, due_at=Now())


def job_of(world: World, **which: Any) -> Job:
    return world.read(lambda: Job.objects.get(**which))


class TestAReplay:
    @pytest.fixture
    def started(self, world: World) -> Any:
        started = world.forced(world.run("refund-8841", call("c1", "send_email")))
        pause(world, started.job)
        return started

    def page(self, world: World, started: Any, role: str = "support") -> Any:
        return world.visit(role).get(world.at(f"runs/{started.run.replay_of_id}/"))

    def test_the_queue_and_the_page_say_that_it_waits_and_why(self, world: World, started: Any) -> None:
        row = Read(world.visit("support").get(world.at("?tab=decide"))).row("refund-8841")
        assert "Paused" in row and "A replay is paused since the database was restored." in row
        answered = self.page(world, started)
        assert "This replay may have been started since that was taken" in Read(answered)
        assert offered(answered) == {"resume", "cancel", "resolve-call"}
        assert "hx-trigger" not in answered.content.decode().split('class="job"')[1].split(">")[0]

    def test_somebody_lets_it_go_on_and_the_log_says_who(self, world: World, started: Any) -> None:
        client = world.visit("support")
        form = form_of(client.get(world.at(f"runs/{started.run.replay_of_id}/")), "/resume")
        answered = send(client, form)
        read = Read(client.get(answered.headers["Location"]))
        assert "Queued: the replay goes on." in read and "It waits for a worker." in read
        assert "Nothing happened twice." in c.follow(world, send(client, form))
        log = Read(world.visit("manager").get(world.at("decisions/")))
        assert "Sam Okafor" in log.row("Replay resumed")

    def test_who_comes_second_reads_who_was_first(self, world: World, started: Any) -> None:
        other = signed_in(world.person("support", name="Kim Second"))
        form = form_of(other.get(world.at(f"runs/{started.run.replay_of_id}/")), "/resume")
        client = world.visit("support")
        send(client, form_of(self.page(world, started), "/resume"))
        answered = send(other, form)
        assert answered.status_code == 409
        read = Read(answered)
        assert "Sam Okafor was first" in read and "resume the replay of it" in read

    def test_what_changed_meanwhile_is_shown_first(self, world: World, started: Any) -> None:
        client = world.visit("support")
        form = form_of(client.get(world.at(f"runs/{started.run.replay_of_id}/")), "/resume")
        world.report(
            world.read(lambda: type(started.run).objects.get(id=started.run.replay_of_id)), said("x")
        )
        answered = send(client, form)
        assert answered.status_code == 409 and "New events of attempt refund-8841 arrived" in Read(answered)

    def test_others_are_told_whose_it_is(self, world: World, started: Any) -> None:
        answered = self.page(world, started, role="reviewer")
        assert offered(answered) == set()
        assert "Only members with the role support may let a paused replay go on" in Read(answered)


class TestASending:
    def test_the_page_says_why_it_waits_and_what_can_be_done(self, world: World) -> None:
        campaign = world.campaign()
        world.approved(campaign)
        pause(world, job_of(world, campaign_id=campaign.id))
        read = c.look(world, campaign)
        assert "Paused: until somebody lets it go on, only what is sent again to one person goes out." in read
        assert "ask the mail server before you let it go on" in read
        answered = world.visit("reviewer").get(c.path_of(world, campaign))
        assert offered(answered) == {"resume-send", "take-back", "stop"}
        assert "data-cancellable" in answered.content.decode()
        row = Read(world.visit("reviewer").get(world.at("?tab=decide"))).row("Winter schedule")
        assert "Paused" in row and "May have gone out meanwhile" in row

    def test_it_goes_on(self, world: World) -> None:
        campaign = world.campaign()
        world.approved(campaign)
        job = job_of(world, campaign_id=campaign.id)
        pause(world, job)
        read = c.follow(world, c.decide(world, campaign, "resume-send"))
        assert "Queued: the sending goes on." in read
        assert job_of(world, id=job.id).status == "queued"

    def test_it_is_taken_back(self, world: World) -> None:
        campaign = world.campaign()
        world.approved(campaign)
        pause(world, job_of(world, campaign_id=campaign.id))
        c.follow(world, c.decide(world, campaign, "take-back"))
        assert c.status(world, campaign) == "pending"

    def test_a_message_that_was_to_go_once_more_goes_on_or_is_taken_back_by_itself(
        self, world: World
    ) -> None:
        campaign = world.campaign("Winter", ["ann@example.com"])
        world.approved(campaign)
        world.sent(campaign, "failed")
        page = world.visit("reviewer").get(c.path_of(world, campaign))
        form = next(form for form in forms_of(page) if "/deliveries/" in form.action)
        send(
            world.visit("reviewer"), form, delivery=form.ticks["delivery"], resolution="do_again", reason=SEEN
        )
        pause(world, job_of(world, delivery__isnull=False))
        assert "Sending once more to ann@example.com is paused" in c.look(world, campaign)
        read = c.follow(world, c.decide(world, campaign, "give-up"))
        assert "Taken back: it is not sent." in read
        assert c.states(world, campaign) == ["skipped"]


@pytest.mark.django_db(transaction=True)
def test_who_approves_what_was_proposed_before_a_restore_is_told_so(
    world: World, connect_as: Callable[[str], psycopg.Connection]
) -> None:
    campaign = world.campaign()
    told = "It may have been approved and sent after that was taken"
    assert told not in c.look(world, campaign)
    connect_as("superuser").execute("update approvals_place set restored_at = clock_timestamp()")
    assert told in c.look(world, campaign)
    assert told not in c.look(world, world.campaign("Spring schedule"))
