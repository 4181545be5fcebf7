"""Refusals as pages."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client

from approvals.exceptions import (
    AlreadyDecided,
    Conflict,
    Invalid,
    NotAllowed,
    NotFound,
    Refusal,
    Stale,
    Unavailable,
)
from approvals.models import Run
from approvals.rules.permissions import why_not
from dashboard.forms.shown import pack
from tests.views import refusing_urls
from tests.views.reading import Read
from tests.world import World, call, said, signed_in, stranger

TYPED = "I called the customer; <b>she</b> never got it.\u202e"


@pytest.fixture(autouse=True)
def refusing(settings: Any) -> Iterator[None]:
    settings.ROOT_URLCONF = "tests.views.refusing_urls"
    yield
    refusing_urls.refusal = RuntimeError("no test has asked for a refusal")


def decide(
    world: World, refusal: Refusal, path: str, *, role: str = "support", method: str = "post", **form: str
) -> Read:
    refusing_urls.refusal = refusal
    client = world.visit(role)
    return Read(getattr(client, method)(world.at(path), form))


def dead(world: World) -> Run:
    return world.run("refund-1", call("c1", "send_email"))


FIRST = datetime(2025, 11, 29, 17, 25, tzinfo=UTC)


class TestSomebodyWasFirst:
    def test_who_did_what_when_and_why_and_that_nothing_of_yours_happened(self, world: World) -> None:
        run = dead(world)
        refusal = AlreadyDecided("Mia Berg", "force_replay", FIRST, "The bank <i>said</i> so.")

        page = decide(world, refusal, f"runs/{run.id}/force", reason=TYPED)

        assert page.status == 409
        assert "Mia Berg was first" in page
        assert "Mia Berg forced this run to start again" in page
        assert "29 Nov 2025, 17:25:00 UTC" in page
        assert "The bank <i>said</i> so." in page
        assert "Nothing of yours happened. You were about to force a replay of it" in page
        assert "Where it stands now: interrupted." in page
        assert page.links["refund-1"] == world.at(f"runs/{run.id}/")
        assert world.at() in page.links.values()

    def test_what_was_typed_is_kept_to_copy(self, world: World) -> None:
        refusal = AlreadyDecided("Mia Berg", "approve", FIRST)
        campaign = world.campaign("Winter schedule")

        page = decide(world, refusal, f"campaigns/{campaign.id}/reject", role="reviewer", comment=TYPED)

        assert "I called the customer; <b>she</b> never got it." in page
        assert "<b>she</b>" not in page.html
        assert "You were about to reject it" in page

    def test_it_leads_on_to_the_next_that_waits(self, world: World) -> None:
        run = dead(world)
        other = world.run("refund-2", said("x"))

        page = decide(world, AlreadyDecided("Mia", "dismiss", FIRST), f"runs/{run.id}/dismiss")

        assert page.links["Next in the queue: refund-2"] == world.at(f"runs/{other.id}/")

    def test_the_item_of_a_job_and_of_a_delivery_is_found(self, world: World) -> None:
        started = world.forced(dead(world))
        page = decide(world, AlreadyDecided("Mia", "cancel_replay", FIRST), f"jobs/{started.job.id}/cancel")
        assert "refund-1" in page
        assert "take back the replay of it" in page

        campaign = world.campaign("Winter schedule", ["a@example.com"])
        world.approved(campaign)
        delivery = world.sent(campaign, "in_doubt")[0]
        page = decide(
            world,
            AlreadyDecided("Mia", "resolve_delivery", FIRST),
            f"deliveries/{delivery.id}/resolve",
            role="reviewer",
        )
        assert page.links["Winter schedule"] == world.at(f"campaigns/{campaign.id}/")


def test_what_changed_is_named_and_the_page_can_be_loaded_again(world: World) -> None:
    run = dead(world)
    shown = pack(target=run.id, user_id=str(world.people["support"].pk), digest="d")

    page = decide(
        world, Stale(["A new attempt <x> appeared."]), f"runs/{run.id}/force", reason=TYPED, shown=shown
    )

    assert page.status == 409
    assert "It changed since you looked" in page
    assert "Nothing happened. You were about to force a replay of refund-1" in page
    assert "when you opened it just now" in page
    assert "A new attempt <x> appeared." in page
    assert "I called the customer" in page
    assert page.links["Load it again to review"] == world.at(f"runs/{run.id}/")


def test_a_role_that_may_not_is_told_which_role_may(world: World) -> None:
    run = dead(world)

    page = decide(
        world, NotAllowed(why_not("force_replay")), f"runs/{run.id}/force", role="manager", reason=TYPED
    )

    assert page.status == 403
    assert "This is not yours to do" in page
    assert "Only members with the role support may force a run to start again" in page
    assert "Your roles manager" in page
    assert "I called the customer" in page


@pytest.mark.parametrize(
    ("refusal", "status", "title"),
    [
        (Conflict("A worker has it.", code="too_late"), 409, "Not possible now"),
        (Invalid("reason", "Say more."), 422, "Something is missing or not right"),
        (Invalid("name", "Who?", status=400), 400, "We could not read that request"),
        (Unavailable("Ask again later."), 503, "Not available right now"),
        (Refusal("No.", status=418), 418, "That was refused"),
    ],
)
def test_any_other_refusal_says_its_sentence_and_keeps_the_text(
    world: World, refusal: Refusal, status: int, title: str
) -> None:
    page = decide(world, refusal, f"runs/{dead(world).id}/dismiss", reason=TYPED)

    assert page.status == status
    assert title in page
    assert refusal.text in page
    assert refusal.code in page
    assert "I called the customer" in page


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("noun", ["runs", "jobs", "campaigns", "deliveries", "weird"])
def test_a_refusal_about_what_is_not_there_is_still_a_page(world: World, noun: str, method: str) -> None:
    for refusal in (AlreadyDecided("Mia", "odd", FIRST), Stale([]), Conflict("No.")):
        page = decide(world, refusal, f"{noun}/{uuid4()}/resolve", method=method)
        assert page.status == 409
        assert world.at() in page.links.values()


def test_a_refusal_on_a_page_has_its_frame_although_the_page_is_rolled_back(world: World) -> None:
    page = decide(world, Conflict("No."), f"runs/{dead(world).id}/x", method="get")

    assert page.links["Queue 1"] == world.at()


def test_another_workspaces_item_is_not_named_in_a_refusal(world: World) -> None:
    other = World.create("Harbour")
    run = other.run("their-run", said("x"))

    page = decide(world, Conflict("No."), f"runs/{run.id}/force")

    assert "their-run" not in page
    assert str(run.id) not in page.html


def test_what_is_not_there_and_what_one_may_not_know_of_look_the_same(world: World) -> None:
    other = World.create("Harbour")
    client = world.visit("support")
    pages = {
        re.sub('value="[^"]*"', "", client.get(path).content.decode())
        for path in ("/nowhere", "/w/nowhere/", other.at(), other.at("decisions/"), other.at("nowhere"))
    }
    assert len(pages) == 1
    assert "Nothing here" in pages.pop()
    assert "Nothing here" in decide(world, NotFound(), f"runs/{uuid4()}/force")


class TestSignedOut:
    def test_a_page_comes_back_after_signing_in(self, world: World) -> None:
        response = Client().get(world.at("?agent=refunds"))
        assert response.headers["Location"] == "/accounts/login/?next=" + world.at("%3Fagent%3Drefunds")

    def test_a_decision_is_not_made_and_its_text_is_kept(self, world: World) -> None:
        run_id = UUID(int=1)
        page = Read(Client().post(world.at(f"runs/{run_id}/force"), {"reason": TYPED}))

        assert page.status == 403
        assert "You are signed out" in page
        assert "Nothing was done." in page
        assert "I called the customer" in page
        assert page.links["Sign in"].endswith(f"runs%2F{run_id}%2F")

    def test_a_fragment_sends_the_whole_page_to_sign_in(self, world: World) -> None:
        response = Client().get(world.at("live/"), headers={"HX-Request": "true"})
        assert response.headers["HX-Redirect"] == "/accounts/login/?next=%2F"

    def test_an_address_elsewhere_is_never_the_way_back(self, world: World) -> None:
        response = Client().get(
            world.at("live/"), headers={"HX-Request": "true", "HX-Current-URL": "https://evil.example/x"}
        )
        assert "evil" not in response.headers["HX-Redirect"]

    def test_a_stranger_sees_that_there_is_nothing(self, world: World) -> None:
        assert signed_in(stranger()).post(world.at(f"runs/{uuid4()}/force")).status_code == 404


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_mistake_of_ours_is_a_page_too_and_tells_nothing(world: World, method: str) -> None:
    refusing_urls.refusal = RuntimeError("the secret is 5")
    client = world.visit("support")
    client.raise_request_exception = False

    page = Read(getattr(client, method)(world.at(f"runs/{uuid4()}/force"), {"reason": TYPED}))

    assert page.status == 500
    assert "Something broke on our side" in page
    assert "secret" not in page.html


def test_a_form_that_is_no_form_of_ours_is_refused(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.people["support"])

    page = Read(client.post(world.at(f"runs/{uuid4()}/force"), {"reason": TYPED}))

    assert page.status == 403
    assert "The form was no longer valid" in page
    assert "Nothing was done." in page


def test_more_than_we_read_is_refused(world: World) -> None:
    refusing_urls.refusal = Conflict("No.")
    client = world.visit("support")

    many = client.post(world.at(f"runs/{uuid4()}/force"), {f"f{number}": "x" for number in range(26_000)})
    much = client.post(
        world.at(f"runs/{uuid4()}/force"),
        "reason=" + "x" * 6_000_000,
        content_type="application/x-www-form-urlencoded",
    )

    assert (many.status_code, much.status_code) == (400, 400)
    assert "We could not read that request" in Read(many)
