"""The review page of what nobody would write: it answers, within seconds, and the message is still shown as it is."""

from __future__ import annotations

from time import perf_counter
from uuid import uuid4

import pytest

from approvals.db.binding import bind
from approvals.models import Campaign, Delivery
from approvals.rules.proposals import Proposal, Recipient
from approvals.services import proposals
from tests.views.reading import Read
from tests.world import World

SECONDS = 10  # on a machine that does much else; each takes a second or two
DEEP = 10_000
ABSURD = {
    "5 MB of text": "<p>" + "x " * 2_500_000,
    "5 MB of tags": "<b>x</b>" * 600_000,
    "10,000 deep": "<div>" * DEEP + "x" + "</div>" * DEEP,
    "10,000 open": "<table><tr><td>" * DEEP,
    "half a tag, often": "<a " * 300_000,
    "a comment without an end": "<!--" * 300_000,
    "10,000 links": '<a href="https://example.com/{{ first_name }}">here</a>' * DEEP,
    "only slots": "{{ first_name }}" * 60_000,
}


def a_campaign(world: World, html: str) -> Campaign:
    """As an agent's would be that came in before there was a limit: the service knows none."""
    people = [Recipient(f"guest{n}@example.com", {"first_name": "Ann"}) for n in range(2)]
    proposal = Proposal(
        external_id=str(uuid4()), name="Absurd", purpose="", send_by=None, run_id=None, sender="a@example.com",
        reply_to="", subject="Hello", text="Hello", html=html, recipients=people,
    )  # fmt: skip
    with bind(world.workspace.id):
        return proposals.propose(by=world.actor("support"), proposal=proposal)[0]


@pytest.mark.parametrize("html", ABSURD.values(), ids=ABSURD)
def test_its_page_answers_and_can_be_decided_on(world: World, html: str) -> None:
    campaign = a_campaign(world, html)
    client = world.visit("reviewer")
    began = perf_counter()
    page = Read(client.get(world.at(f"campaigns/{campaign.id}/")))
    took = perf_counter() - began
    assert page.status == 200
    assert "Approve for 2 people" in page
    assert took < SECONDS, f"{took:.1f} s"
    assert len(page.html) < 1_500_000


@pytest.mark.parametrize("html", [ABSURD["10,000 deep"], ABSURD["5 MB of text"]], ids=["deep", "long"])
def test_its_frame_and_its_next_version_answer_too(world: World, html: str) -> None:
    campaign = a_campaign(world, html)
    delivery = world.read(lambda: Delivery.objects.order_by("position")[0])
    client = world.visit("reviewer")
    began = perf_counter()
    frame = client.get(world.at(f"campaigns/{campaign.id}/message/{delivery.id}"))
    form = client.get(world.at(f"campaigns/{campaign.id}/new-version"))
    assert (frame.status_code, form.status_code) == (200, 200)
    assert html.encode() in frame.content
    assert perf_counter() - began < SECONDS
