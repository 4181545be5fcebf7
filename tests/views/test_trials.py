"""Sending oneself a test, on the page of a campaign."""

from __future__ import annotations

from typing import Any

import pytest

from approvals.models import Campaign, Decision, Job
from approvals.selectors.payloads import contents_of
from approvals.services import jobs, trials
from tests.views.forms import forms_of, send
from tests.views.of_campaign_pages import deliveries, page
from tests.views.of_campaigns import follow, path_of
from tests.views.reading import Read
from tests.world import World

BUTTON = "Send a test to myself"
PEOPLE = ["ann@example.com", "bob@example.com"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(world: World) -> Campaign:
    return world.campaign("Spring", PEOPLE)


def form_on(answer: Any) -> Any:
    [form] = [form for form in forms_of(answer) if form.action.endswith("/test")]
    return form


def mail_of(world: World) -> str:
    return world.people["reviewer"].email


def ended(world: World, status: str, sentence: str) -> None:
    """What became of the newest test."""
    with world.bound():
        job = Job.objects.filter(kind="test").latest("created_at")
    with world.bound():
        held = jobs.claim(job_id=job.id, task_id="t")
        assert held is not None
        trials.state_intent(held=held)
        trials.settle(held=held, status=status, sentence=sentence)


def test_the_button_says_where_it_goes_and_whose_message_it_is(world: World, campaign: Campaign) -> None:
    _, bob = deliveries(world, campaign)
    shown = Read(page(world, campaign, to=str(bob.id)))
    assert BUTTON in shown
    assert f"To {mail_of(world)}, as bob@example.com gets it." in shown
    assert form_on(page(world, campaign, to=str(bob.id))).action == world.at(f"deliveries/{bob.id}/test")


def test_asked_for_it_is_queued_and_followed_beside_the_message(world: World, campaign: Campaign) -> None:
    client = world.visit("reviewer")
    ann, _ = deliveries(world, campaign)
    answer = send(client, form_on(client.get(path_of(world, campaign))))
    shown = follow(world, answer)
    assert f"Queued: the test to {mail_of(world)}." in shown
    assert "Your last test, just now, as ann@example.com gets it." in shown
    assert "It waits for a worker." in shown
    assert f'hx-get="{path_of(world, campaign, "test")}"' in shown.html
    decision = world.read(lambda: Decision.objects.get(kind="send_test"))
    assert (decision.target_id, decision.actor_name) == (ann.id, "Mia Berg")


def test_the_address_is_never_taken_from_the_form(world: World, campaign: Campaign) -> None:
    client = world.visit("reviewer")
    form = form_on(client.get(path_of(world, campaign)))
    send(client, form, to="eve@example.com", email="eve@example.com", recipient="eve@example.com")
    decision = world.read(lambda: Decision.objects.get(kind="send_test"))
    given = world.read(lambda: contents_of([decision.payload_id])[decision.payload_id])
    assert given["to"] == mail_of(world)


def test_two_clicks_on_one_page_are_one_test(world: World, campaign: Campaign) -> None:
    client = world.visit("reviewer")
    form = form_on(client.get(path_of(world, campaign)))
    send(client, form)
    again = follow(world, send(client, form))
    assert "You already asked for a test of this message. Nothing happened twice." in again
    assert world.read(Job.objects.filter(kind="test").count) == 1
    send(client, form_on(client.get(path_of(world, campaign))))
    assert world.read(Job.objects.filter(kind="test").count) == 2


@pytest.mark.parametrize(
    ("status", "words"),
    [("done", "The mail server took it"), ("failed", "550 no"), ("in_doubt", "look in your mailbox")],
)
def test_the_fragment_says_what_came_of_it_and_stops_asking(
    world: World, campaign: Campaign, status: str, words: str
) -> None:
    client = world.visit("reviewer")
    send(client, form_on(client.get(path_of(world, campaign))))
    moving = Read(client.get(path_of(world, campaign, "test")))
    assert "hx-get" in moving.html and BUTTON not in moving
    ended(world, status, words)
    over = Read(client.get(path_of(world, campaign, "test")))
    assert words in over and "hx-get" not in over.html
    assert words in Read(client.get(path_of(world, campaign)))


def test_a_test_is_the_business_of_whoever_asked_for_it(world: World, campaign: Campaign) -> None:
    client = world.visit("reviewer")
    send(client, form_on(client.get(path_of(world, campaign))))
    assert "Your last test" not in Read(page(world, campaign, role="manager"))
    assert Read(world.visit("manager").get(path_of(world, campaign, "test"))).text == ""


def test_whoever_may_not_sees_why(world: World, campaign: Campaign) -> None:
    answer = page(world, campaign, role="support")
    assert form_on(answer).off
    assert "Only members with the role reviewer may send themselves a test of a message" in Read(answer)


def test_where_their_address_may_not_be_written_to_they_see_why(
    world: World, campaign: Campaign, settings: Any
) -> None:
    settings.ALLOWED_RECIPIENT_DOMAINS = ["elsewhere.example"]
    client = world.visit("reviewer")
    answer = client.get(path_of(world, campaign))
    assert form_on(answer).off and "Only recipients at elsewhere.example are written to here" in Read(answer)
    refused = send(client, form_on(answer))
    assert refused.status_code == 409
    entry = world.read(lambda: Decision.objects.get(kind="refused"))
    given = world.read(lambda: contents_of([entry.payload_id])[entry.payload_id])
    assert (given["tried"], given["code"], given["recipient"]) == ("send_test", "address", "ann@example.com")


def test_a_campaign_that_nobody_gets_has_none(world: World) -> None:
    nobody = world.campaign("Empty", ["nonsense"])
    assert BUTTON not in Read(page(world, nobody))


@pytest.mark.parametrize("moved", ["approved", "rejected"])
def test_it_can_be_asked_for_whatever_became_of_the_campaign(
    world: World, campaign: Campaign, moved: str
) -> None:
    getattr(world, moved)(campaign)
    client = world.visit("reviewer")
    assert send(client, form_on(client.get(path_of(world, campaign)))).status_code == 303


def test_the_log_and_the_packet_name_it(world: World, campaign: Campaign) -> None:
    client = world.visit("reviewer")
    send(client, form_on(client.get(path_of(world, campaign))))
    ended(world, "in_doubt", "The test may have arrived.")
    decision = world.read(lambda: Decision.objects.get(kind="send_test"))
    assert "Test to oneself" in Read(client.get(world.at("decisions/")))
    entry = Read(client.get(world.at(f"decisions/{decision.id}/")))
    assert "Mia Berg asked for a test of ann@example.com, Spring" in entry
    assert f"Goes to {mail_of(world)}" in entry and "The test may have arrived." in entry
    packet = Read(client.get(world.at(f"decisions/{decision.id}/packet")))
    assert "Mia Berg asked for a test of ann@example.com, Spring" in packet
    assert "The test may have arrived." in packet
