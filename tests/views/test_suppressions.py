"""Who is not to be written to: by a member on a page, and by a recipient with the link of a message."""

from uuid import uuid4

import pytest
from django.test import Client

from approvals.models import Decision, Delivery, Suppression
from approvals.services import secrets, suppressions
from tests.views.reading import Read
from tests.world import World

BECAUSE = "She called and asked for it."


def entries(world: World) -> list[Suppression]:
    return world.read(lambda: list(Suppression.objects.order_by("at")))


def add(world: World, role: str = "reviewer", **form: str) -> Read:
    given = {"address": "ann@example.com", "scope": "", "reason": BECAUSE} | form
    return Read(world.visit(role).post(world.at("suppressions/add"), given))


def delivery_of(world: World, address: str = "Ann@example.com") -> Delivery:
    campaign = world.campaign("Winter", [address])
    return world.read(lambda: Delivery.objects.get(campaign_id=campaign.id))


class TestByAMember:
    @pytest.mark.parametrize("role", ["reviewer", "support"])
    def test_an_address_is_added_and_the_log_says_who_did_it(self, world: World, role: str) -> None:
        assert add(world, role, address="Ann <ANN@Example.com>").status == 303
        [entry] = entries(world)
        assert (entry.dedupe_key, entry.scope, entry.reason) == ("ann@example.com", "", "by_hand")
        decision = world.read(lambda: Decision.objects.get(kind="suppress"))
        assert (decision.target_id, decision.actor_roles) == (entry.id, [role])
        assert "put ann@example.com on the list" in Read(
            world.visit("manager").get(world.at(f"decisions/{decision.id}/"))
        )

    @pytest.mark.parametrize(
        ("form", "said"),
        [
            ({"address": "nobody"}, "The address has no @."),
            ({"address": "a@x.org, b@x.org"}, "more than one address"),
            ({"reason": "short"}, "at least 10 characters"),
            ({"scope": "a\x0bb"}, "U+000B"),
        ],
    )
    def test_what_is_wrong_is_said_beside_it(self, world: World, form: dict[str, str], said: str) -> None:
        page = add(world, **form)
        assert page.status == 422
        assert said in page
        assert entries(world) == []

    def test_once_is_enough(self, world: World) -> None:
        add(world)
        assert "on the list already" in add(world, address="ANN@example.com")
        assert len(entries(world)) == 1

    def test_an_address_is_released_and_may_be_added_anew(self, world: World) -> None:
        add(world)
        [entry] = entries(world)
        at = world.at(f"suppressions/{entry.id}/release")
        assert world.visit("reviewer").post(at, {"reason": "no"}).status_code == 422
        assert world.visit("reviewer").post(at, {"reason": BECAUSE}).status_code == 303
        assert world.visit("reviewer").post(at, {"reason": BECAUSE}).status_code == 409
        add(world)
        assert [one.released_at is None for one in entries(world)] == [False, True]
        assert world.read(lambda: Decision.objects.filter(kind="unsuppress").count()) == 1

    def test_somebody_is_looked_up_by_address_in_any_spelling(self, world: World) -> None:
        add(world)
        add(world, address="bob@example.com")
        page = Read(world.visit("manager").get(world.at("suppressions/?q=ANN@Example.com")))
        assert "ann@example.com" in page
        assert "bob@example.com" not in page


class TestByTheRecipient:
    def test_E07_a_get_shows_a_button_and_does_nothing(self, world: World) -> None:
        at = suppressions.link_for(delivery_of(world).id, "http://testserver/")
        answer = Client().get(at)
        assert answer.status_code == 200
        assert 'name="List-Unsubscribe" value="One-Click"' in answer.content.decode()
        assert entries(world) == []

    def test_E07_a_post_without_cookie_token_or_redirect_suppresses(self, world: World) -> None:
        delivery = delivery_of(world)
        browser = Client(enforce_csrf_checks=True)
        answer = browser.post(
            suppressions.link_for(delivery.id, "http://testserver"),
            "List-Unsubscribe=One-Click", content_type="application/x-www-form-urlencoded",
        )  # fmt: skip
        assert (answer.status_code, answer.cookies.output()) == (200, "")
        [entry] = entries(world)
        campaign = world.read(
            lambda: Delivery.objects.select_related("campaign").get(id=delivery.id)
        ).campaign
        assert (entry.dedupe_key, entry.scope, entry.reason) == (
            "ann@example.com",
            campaign.agent,
            "unsubscribed",
        )
        assert entry.source == f"delivery {delivery.id}"

    def test_E07_as_often_as_one_likes(self, world: World) -> None:
        at = suppressions.link_for(delivery_of(world).id, "http://testserver")
        for _ in range(2):
            assert Client().post(at, {"List-Unsubscribe": "One-Click"}).status_code == 200
        assert len(entries(world)) == 1

    def test_a_mail_program_may_send_a_multipart_form(self, world: World) -> None:
        Client().post(
            suppressions.link_for(delivery_of(world).id, "http://testserver"),
            {"List-Unsubscribe": "One-Click"},
        )
        assert len(entries(world)) == 1

    def test_a_post_that_does_not_say_so_only_asks(self, world: World) -> None:
        at = suppressions.link_for(delivery_of(world).id, "http://testserver")
        assert "Unsubscribe?" in Client().post(at, {}).content.decode()
        assert entries(world) == []

    def test_a_link_that_is_not_ours_does_nothing(self, world: World) -> None:
        token = secrets.unsubscribe_token(delivery_of(world).id)
        other = secrets.unsubscribe_token(uuid4())
        forged = ("A" if token[0] != "A" else "B") + token[1:]
        for wrong in (forged, token[:-4], "abc", "\u00e4", other):
            answer = Client().post(f"/u/{wrong}", {"List-Unsubscribe": "One-Click"})
            assert answer.status_code == 404, wrong
        assert entries(world) == []

    def test_it_is_of_its_own_workspace_alone(self, world: World) -> None:
        other = World.create("Harbour")
        Client().post(
            suppressions.link_for(delivery_of(world).id, "http://testserver"),
            {"List-Unsubscribe": "One-Click"},
        )
        assert (len(entries(world)), entries(other)) == (1, [])
