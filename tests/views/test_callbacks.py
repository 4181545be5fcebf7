"""What an agent could not be told: on its campaign's page, and on Setup, where it is said where it listens."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from approvals.db.binding import bind
from approvals.models import Callback, Campaign, Decision, Runtime
from approvals.services import callbacks, listening, secrets
from tests.house import OPERATOR
from tests.views.forms import form_of, send
from tests.views.of_campaigns import decide, decided, follow, look, path_of
from tests.views.reading import Read
from tests.views.test_setup import added
from tests.world import World

URL = "https://agents.example/told"
ANSWER = "It answered with an error (401 Unauthorized): “Who are <b>you</b>?”."


@pytest.fixture
def campaign(world: World) -> Campaign:
    """One that was rejected, of a runtime that listens."""
    set_to(world, URL)
    campaign = world.campaign("Winter schedule")
    world.rejected(campaign)
    return campaign


def set_to(world: World, url: str, runtime: str = "runtime") -> None:
    with bind(world.workspace.id):
        listening.set_callback(by=OPERATOR, runtime=runtime, callback_url=url)


def tried(world: World, kind: str = "gone") -> None:
    """A worker tries to tell the news."""
    with bind(world.workspace.id):
        held = callbacks.claim(callback_id=row(world).id)
        assert held is not None
        callbacks.settle(held=held, kind=kind, detail=ANSWER)


def again(world: World) -> None:
    """It is due."""
    with world.bound():
        Callback.objects.update(due_at=row(world).created_at)


def row(world: World) -> Callback:
    return world.read(Callback.objects.get)


def listens(world: World) -> str:
    return world.read(lambda: Runtime.objects.get(id=world.runtime.id).callback_url)


class TestTheCampaignsPage:
    def test_says_nothing_while_it_is_told_or_was(self, world: World, campaign: Campaign) -> None:
        assert "could not be told" not in look(world, campaign)
        tried(world, "not_told")
        assert "could not be told" not in look(world, campaign)
        with world.bound():
            Callback.objects.update(due_at=row(world).created_at)
        tried(world, "told")
        assert "could not be told" not in look(world, campaign)

    def test_says_when_it_is_tried_again_and_what_the_last_try_came_to(
        self, world: World, campaign: Campaign
    ) -> None:
        assert "has not been told yet" not in look(world, campaign)
        tried(world, "not_told")
        with world.bound():
            Callback.objects.update(
                attempts=6, due_at=Now() + timedelta(hours=4, minutes=30)
            )  # 8 h after the last
        for role in ("reviewer", "support", "manager", "admin"):
            page = look(world, campaign, role)
            assert (
                "The agent has not been told yet that it was rejected. It was tried 6 times, last 3 h ago, and the next"
                f" try is in 4 h. The last answer: {ANSWER}"
            ) in page
            assert "<b>you</b>" not in page.html

    def test_says_that_it_was_tried_once(self, world: World, campaign: Campaign) -> None:
        tried(world, "not_told")
        assert "It was tried once " in look(world, campaign)

    def test_says_so_while_it_is_being_tried_again(self, world: World, campaign: Campaign) -> None:
        with bind(world.workspace.id):
            assert callbacks.claim(callback_id=row(world).id) is not None
        assert "has not been told yet" not in look(world, campaign), "nothing failed so far"
        with world.bound():
            Callback.objects.update(lease_until=None, due_at=row(world).created_at, answer=ANSWER)
        with bind(world.workspace.id):
            assert callbacks.claim(callback_id=row(world).id) is not None
        page = look(world, campaign)
        assert f"It was tried once, and it is being tried again just now. The last answer: {ANSWER}" in page

    def test_says_no_answer_where_the_worker_was_lost_before_there_was_one(
        self, world: World, campaign: Campaign
    ) -> None:
        for _ in range(2):
            with bind(world.workspace.id):
                assert callbacks.claim(callback_id=row(world).id) is not None
            with world.bound():
                Callback.objects.update(lease_until=row(world).created_at)
        page = look(world, campaign)
        assert "It was tried once, and it is being tried again just now." in page
        assert "The last answer" not in page

    def test_says_how_much_else_waits_behind_it(self, world: World) -> None:
        set_to(world, URL)
        campaign = world.campaign("Winter schedule")
        world.approved(campaign)
        first = world.read(Callback.objects.get)
        with bind(world.workspace.id):
            held = callbacks.claim(callback_id=first.id)
            assert held is not None
            callbacks.settle(held=held, kind="not_told", detail=ANSWER)
        decide(world, campaign, "take-back")
        page = look(world, campaign)
        assert "has not been told yet that it was approved." in page
        assert "1 more piece of news waits until it is told this." in page

    def test_says_nothing_once_it_was_told_or_nobody_listens(self, world: World, campaign: Campaign) -> None:
        tried(world, "not_told")
        set_to(world, "")
        assert "has not been told yet" not in look(world, campaign)
        set_to(world, URL)
        again(world)
        tried(world, "told")
        assert "has not been told yet" not in look(world, campaign)

    def test_says_what_the_agent_does_not_know_and_why(self, world: World, campaign: Campaign) -> None:
        tried(world)
        for role in ("reviewer", "support", "manager", "admin"):
            page = look(world, campaign, role)
            assert f"The agent could not be told that it was rejected: {ANSWER}" in page
            assert "<b>you</b>" not in page.html

    def test_a_reviewer_has_it_told_again(self, world: World, campaign: Campaign) -> None:
        tried(world)
        page = follow(world, decide(world, campaign, "tell-again"))
        assert "It is told again within seconds." in page
        assert "could not be told" not in page
        assert row(world).status == "waiting"
        assert decided(world)[-1] == "tell_again"
        entry = world.read(lambda: Decision.objects.latest("seq"))
        log = Read(world.visit("manager").get(world.at(f"decisions/{entry.id}/")))
        assert "had the agent told again about Winter schedule" in log

    def test_a_second_click_says_that_nothing_happened_twice(self, world: World, campaign: Campaign) -> None:
        tried(world)
        client = world.visit("reviewer")
        form = form_of(client.get(path_of(world, campaign)), "/tell-again")
        send(client, form)
        assert "Nothing happened twice." in follow(world, send(client, form))
        assert decided(world).count("tell_again") == 1

    def test_the_button_is_off_for_whoever_may_not(self, world: World, campaign: Campaign) -> None:
        tried(world)
        page = look(world, campaign, "support")
        assert "Only members with the role reviewer may have an agent told again" in page

    def test_it_is_refused_where_there_is_nothing_to_tell(self, world: World, campaign: Campaign) -> None:
        tried(world)
        client = world.visit("reviewer")
        form = form_of(client.get(path_of(world, campaign)), "/tell-again")
        set_to(world, "")
        page = Read(send(client, form))
        assert page.status == 409 and "no callback address" in page
        assert "could not be told" not in look(world, campaign)


class TestSetup:
    def test_shows_where_each_runtime_is_told(self, world: World) -> None:
        assert "Told of its campaigns at Nowhere; it asks by itself" in Read(setup(world))
        set_to(world, URL)
        assert f"Told of its campaigns at {URL}" in Read(setup(world))

    def test_shows_what_could_not_be_told_with_the_way_to_its_campaign(
        self, world: World, campaign: Campaign
    ) -> None:
        assert "could not be told" not in Read(setup(world))
        tried(world)
        for page in (Read(setup(world)), Read(setup(world, f"setup/{world.runtime.id}/"))):
            assert "Its agents could not be told:" in page and ANSWER in page
            assert page.links["Winter schedule"] == path_of(world, campaign)

    def test_another_address_is_stored_and_tried_at_once(self, world: World, campaign: Campaign) -> None:
        del campaign
        tried(world)
        page = stored(world, "http://10.0.0.5:9000/told")
        assert "Stored: what could not be told before is tried at once." in page
        assert "whsec_" not in page.html
        assert (listens(world), row(world).status) == ("http://10.0.0.5:9000/told", "waiting")
        entry = world.read(lambda: Decision.objects.latest("seq"))
        words = "changed the runtime runtime"
        assert words in Read(world.visit("admin").get(world.at(f"decisions/{entry.id}/")))

    def test_an_empty_one_tells_nobody_any_more(self, world: World, campaign: Campaign) -> None:
        del campaign
        tried(world)
        assert "Stored: it can ask." in stored(world, "")
        assert listens(world) == ""
        assert "could not be told" not in Read(setup(world))

    @pytest.mark.parametrize(
        "typed", ["agents", "ftp://x.example", "http://a:b@x.example", "http://x.example/?a"]
    )
    def test_what_is_no_address_comes_back_with_the_mistake(self, world: World, typed: str) -> None:
        set_to(world, URL)
        path = world.at(f"setup/{world.runtime.id}/callback")
        answer = world.visit("admin").post(path, {"callback_url": typed})
        page = Read(answer)
        assert page.status == 422 and "The callback address" in page
        assert form_of(answer, "/callback").fields["callback_url"] == [typed]
        assert listens(world) == URL

    def test_one_that_is_read_gets_a_secret_which_is_shown_on_this_answer_alone(self, world: World) -> None:
        runtime = added(world)
        client = world.visit("admin")
        path = world.at(f"setup/{runtime.id}/")
        answer = send(client, form_of(client.get(path), "/callback"), callback_url=URL)
        assert answer.status_code == 200
        assert "no-store" in answer["Cache-Control"]
        page = Read(answer)
        assert "Its signing secret, shown only now" in page
        [shown] = re.findall(r"whsec_[A-Za-z0-9+/=]+", answer.content.decode())
        stored = world.read(lambda: Runtime.objects.get(id=runtime.id))
        assert secrets.unseal(stored.signing_secret) == shown
        assert "whsec_" not in client.get(path).content.decode()
        again = send(client, form_of(client.get(path), "/callback"), callback_url=f"{URL}/2")
        assert again.status_code == 303

    @pytest.mark.parametrize("role", ["support", "reviewer", "manager"])
    def test_is_for_an_admin(self, world: World, role: str) -> None:
        path = world.at(f"setup/{world.runtime.id}/callback")
        assert world.visit(role).post(path, {"callback_url": URL}).status_code == 403
        assert listens(world) == ""


def setup(world: World, path: str = "setup/") -> Any:
    return world.visit("admin").get(world.at(path))


def stored(world: World, url: str) -> Read:
    """An admin types this address in; the page that follows."""
    client = world.visit("admin")
    form = form_of(client.get(world.at(f"setup/{world.runtime.id}/")), "/callback")
    return follow(world, send(client, form, callback_url=url))
