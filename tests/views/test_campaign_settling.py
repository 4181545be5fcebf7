"""Deliveries in doubt or failed on the campaign's page: somebody says what became of them."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from approvals.db.binding import bind
from approvals.models import Campaign, Delivery
from approvals.services import deliveries
from dashboard.forms.campaigns import MOST_DELIVERIES
from dashboard.forms.shown import pack
from tests.views.forms import form_of, send
from tests.views.of_campaigns import (
    REASON,
    decided,
    everything,
    follow,
    jobs,
    look,
    path_of,
    states,
)
from tests.views.reading import Read
from tests.world import World


@pytest.fixture
def troubled(world: World) -> Campaign:
    """Finished: one was sent, two are in doubt, two failed."""
    campaign = world.campaign(recipients=[f"p{n}@example.com" for n in range(5)])
    world.approved(campaign)
    world.sent(campaign, "sent", "in_doubt", "in_doubt", "failed", "failed")
    return campaign


def ids(world: World, campaign: Campaign, state: str) -> list[str]:
    rows = Delivery.objects.filter(campaign_id=campaign.id, state=state).order_by("position")
    return [str(id) for id in world.read(lambda: list(rows.values_list("id", flat=True)))]


def settle(world: World, campaign: Campaign, state: str, role: str = "reviewer", **typed: Any) -> Any:
    client = world.visit(role)
    page = client.get(path_of(world, campaign))
    form = form_of(page, f"deliveries/{ids(world, campaign, state)[0]}/resolve")
    return send(client, form, **{"reason": REASON, "resolution": "leave", **typed})


class TestSettling:
    def test_in_doubt_and_failed_are_asked_about_apart(self, world: World, troubled: Campaign) -> None:
        page = look(world, troubled)
        assert "2 deliveries in doubt" in page
        assert "2 failed deliveries" in page
        assert "550 no such box" in page
        assert page.html.count('value="happened"') == 1, "what a server refused did not happen"

    def test_each_that_was_ticked_is_a_decision_of_its_own(self, world: World, troubled: Campaign) -> None:
        first, second = ids(world, troubled, "in_doubt")
        answer = settle(world, troubled, "in_doubt", delivery=[first, second], resolution="happened")
        page = follow(world, answer)
        assert "Settled: 2 deliveries. They count as sent." in page
        assert decided(world) == ["approve", "resolve_delivery", "resolve_delivery"]
        assert states(world, troubled) == ["sent", "sent", "sent", "failed", "failed"]
        assert "p1@example.com" in "".join(page.rows)
        assert "in doubt" not in page.text.partition("Decisions so far")[0].partition("Who gets it")[2]

    def test_sending_again_is_one_job_each_and_followed_on_the_page(
        self, world: World, troubled: Campaign
    ) -> None:
        answer = settle(
            world, troubled, "failed", delivery=ids(world, troubled, "failed"), resolution="do_again"
        )
        page = follow(world, answer)
        assert "Settled: 2 deliveries. Sending them once more is queued." in page
        assert jobs(world) == ["done", "queued", "queued"]
        assert "Sending again 1 of 5 sent, 2 in doubt. 2 on the way once more." in page
        assert "every 1s" in page.html
        assert decided(world)[1:] == ["send_again", "send_again"]

    def test_what_is_left_stays_in_its_state_and_asks_no_more(self, world: World, troubled: Campaign) -> None:
        for state in ("in_doubt", "failed"):
            page = follow(
                world,
                settle(world, troubled, state, delivery=ids(world, troubled, state), resolution="leave"),
            )
        assert "Settled: 2 deliveries. Nothing is sent again." in page
        assert "Which ones?" not in page
        assert "Finished with problems 1 of 5 sent, 2 in doubt, 2 failed." in page
        assert "somebody has to say" not in page
        assert "There is nothing left to decide about it." in page

    def test_settling_twice_is_harmless(self, world: World, troubled: Campaign) -> None:
        client = world.visit("reviewer")
        [first, _] = ids(world, troubled, "failed")
        form = form_of(client.get(path_of(world, troubled)), f"{first}/resolve")
        typed = {"delivery": first, "resolution": "do_again", "reason": REASON}
        send(client, form, **typed)
        page = follow(world, send(client, form, **typed))
        assert "Nothing happened twice." in page
        assert jobs(world) == ["done", "queued"]

    def test_where_somebody_was_first_with_one_of_them_nothing_of_mine_happens(
        self, world: World, troubled: Campaign
    ) -> None:
        first, second = ids(world, troubled, "in_doubt")
        client = world.visit("reviewer")
        form = form_of(client.get(path_of(world, troubled)), f"{first}/resolve")
        rob = world.person("reviewer", name="Rob First")
        actor = world.actor("reviewer")
        by = type(actor)("member", str(rob.pk), "Rob First", ("reviewer",))
        with bind(world.workspace.id):
            deliveries.resolve(
                by=by, delivery_id=world.read(lambda: Delivery.objects.get(id=second).id),
                shown=world.shown(troubled), resolution="happened", reason=REASON,
            )  # fmt: skip
        before = everything(world)

        typed = {"delivery": [first, second], "resolution": "leave", "reason": REASON}
        page = Read(send(client, form, **typed))

        assert page.status == 409
        assert "Rob First was first" in page
        assert REASON in page
        assert everything(world) == before

    def test_a_form_that_is_gone_meanwhile_does_not_swallow_what_was_typed(
        self, world: World, troubled: Campaign
    ) -> None:
        both = ids(world, troubled, "failed")
        client = world.visit("reviewer")
        form = form_of(client.get(path_of(world, troubled)), f"{both[0]}/resolve")
        settle(world, troubled, "failed", delivery=both, resolution="leave")
        page = Read(send(client, form, reason=REASON, resolution="leave"))
        assert page.status == 422
        assert "Tick at least one." in page
        assert REASON in page

    @pytest.mark.parametrize(
        ("typed", "said"),
        [
            ({"delivery": []}, "Tick at least one."),
            ({"delivery": "x"}, "One of them could not be read"),
            ({"delivery": "\0"}, "One of them could not be read"),
            ({"delivery": "x" * 10_000}, "One of them could not be read"),
            (
                {"delivery": [str(UUID(int=n)) for n in range(MOST_DELIVERIES + 1)]},
                "Settle at most 200 at once.",
            ),
            ({"resolution": ""}, "Say whether it happened"),
            ({"resolution": "did_not_happen"}, "Say whether it happened"),
            ({"resolution": "x" * 10_000}, "Say whether it happened"),
            ({"resolution": "leave\0"}, "Say whether it happened"),
            ({"reason": "no"}, "Give a reason of at least 10 characters"),
            ({"reason": "x" * 10_000}, "Keep the reason under 2000 characters."),
            ({"reason": "a reason with \0 in it"}, "cannot be stored; type it again"),
        ],
        ids=str,
    )
    def test_what_is_missing_or_wrong_is_said_and_what_was_typed_is_kept(
        self, world: World, troubled: Campaign, typed: dict[str, Any], said: str
    ) -> None:
        first = ids(world, troubled, "in_doubt")[0]
        before = everything(world)
        page = Read(settle(world, troubled, "in_doubt", **{"delivery": first, **typed}))
        assert page.status == 422
        assert said in page
        assert page.html.count('class="wrong"') == 1
        assert ("checked" in page.html) == (len(typed.keys() & {"delivery", "resolution"}) < 2)
        if "delivery" not in typed:
            assert f'name="delivery" value="{first}" checked' in page.html
        if "resolution" not in typed:
            assert 'value="leave" required checked' in page.html
        if "reason" not in typed:
            assert f">{REASON}</textarea>" in page.html
        assert everything(world) == before

    def test_a_delivery_of_another_campaign_or_workspace_is_none(
        self, world: World, troubled: Campaign
    ) -> None:
        other = world.campaign()
        world.approved(other)
        mine, harbour = world.sent(other, "failed", "failed")[0], World.create("Harbour")
        theirs = harbour.campaign()
        harbour.approved(theirs)
        foreign = harbour.sent(theirs, "failed", "failed")[0]
        before = everything(world), everything(harbour)
        good = ids(world, troubled, "failed")[0]
        for one in (mine.id, foreign.id, uuid4()):
            assert settle(world, troubled, "failed", delivery=[good, str(one)]).status_code == 404
        user = str(world.people["reviewer"].pk)
        shown = pack(target=foreign.id, user_id=user, digest=harbour.shown(theirs).digest)
        typed = {"shown": shown, "delivery": str(foreign.id), "resolution": "leave", "reason": REASON}
        assert (
            world.visit("reviewer").post(world.at(f"deliveries/{foreign.id}/resolve"), typed).status_code
            == 404
        )
        assert (everything(world), everything(harbour)) == before

    @pytest.mark.parametrize("role", ["support", "manager", "admin"])
    def test_only_a_reviewer_may(self, world: World, troubled: Campaign, role: str) -> None:
        before = everything(world)
        answer = settle(world, troubled, "failed", role, delivery=ids(world, troubled, "failed"))
        assert answer.status_code == 403
        assert "Only members with the role reviewer may resolve" in look(world, troubled, role)
        assert everything(world) == before

    def test_many_of_them_have_pages_and_the_rest_is_shown_once_those_are_settled(self, world: World) -> None:
        campaign = world.campaign(recipients=[f"p{n}@example.com" for n in range(60)])
        world.approved(campaign)
        world.sent(campaign, *["failed"] * 60)
        client = world.visit("reviewer")
        page = Read(client.get(path_of(world, campaign)))
        assert "60 failed deliveries" in page
        assert page.html.count('name="delivery"') == 50
        more = client.get(page.links["Show more of them"])
        assert Read(more).html.count('name="delivery"') == 10
        last = ids(world, campaign, "failed")[50:]
        form = form_of(more, f"{last[0]}/resolve")
        page = follow(world, send(client, form, delivery=last, resolution="leave", reason=REASON))
        assert "50 failed deliveries" in page
        assert page.html.count('name="delivery"') == 50
