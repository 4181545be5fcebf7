"""Proposing by a member: to a list, or to addresses that are typed; once, and approved by somebody else."""

from __future__ import annotations

from uuid import uuid4

import pytest

from approvals.db.binding import bind
from approvals.models import AudienceRow, Campaign, Decision
from approvals.selectors.payloads import contents_of
from approvals.tasks import imports
from dashboard.views import proposals
from tests.views.forms import form_of, offered, send
from tests.views.of_proposals import (
    TYPED,
    a_list,
    addresses,
    by_hand,
    nothing_made,
    opened,
    the_campaign,
    to_list,
    versions,
)
from tests.views.reading import Read
from tests.world import World

pytestmark = pytest.mark.usefixtures("files")


class TestChoosing:
    def test_the_way_is_from_the_queue_to_a_list_that_is_ready(self, world: World) -> None:
        dataset = a_list(world)
        queue = Read(world.visit("support").get(world.at()))
        page = Read(world.visit("support").get(queue.links["New campaign"]))
        assert "4 rows: 2 addressable, 1 duplicate, 1 refused." in page
        assert page.links["Write to this list list.csv"] == world.at(f"campaigns/new/?list={dataset.id}")

    def test_a_list_leads_on_once_it_is_ready(self, world: World) -> None:
        waiting = a_list(world, ready=False)
        at = world.at(f"datasets/{waiting.id}/")
        assert "Write to this list" not in Read(world.visit("support").get(at))
        early = world.visit("support").get(world.at(f"campaigns/new/?list={waiting.id}"))
        assert (early.status_code, early["Location"]) == (302, at)
        with bind(world.workspace.id):
            imports.execute.run(str(waiting.id))
        assert "Write to this list" in Read(world.visit("support").get(f"{at}live"))

    def test_whoever_may_not_propose_is_not_led_there(self, world: World) -> None:
        assert "New campaign" not in Read(world.visit("manager").get(world.at()))

    @pytest.mark.parametrize("query", ["list=nonsense", f"list={uuid4()}"])
    def test_a_list_that_is_not_there(self, world: World, query: str) -> None:
        assert world.visit("support").get(world.at(f"campaigns/new/?{query}")).status_code == 404


class TestToAList:
    def test_the_form_says_who_can_be_reached_and_which_fields_there_are(self, world: World) -> None:
        dataset = a_list(world)
        page = Read(world.visit("support").get(world.at(f"campaigns/new/?list={dataset.id}")))
        for said in (
            "Can be reached 2",
            "Refused, and why 1",
            "{{ first_name }}, {{ city }}",
            "somebody else looks at it and approves it",
        ):
            assert said in page
        assert f"/datasets/{dataset.id}/?state=refused" in page.html

    def test_it_waits_for_somebody_else_with_exactly_what_was_typed(self, world: World) -> None:
        answer = to_list(world, a_list(world))
        campaign = the_campaign(world)
        assert (answer.status_code, answer["Location"]) == (303, world.at(f"campaigns/{campaign.id}/"))
        [version] = versions(world)
        assert (campaign.status, campaign.agent, campaign.name) == ("pending", "Sam Okafor", "Spring offers")
        assert version.text == "Dear {{ first_name }},\n\nspring is here."
        assert addresses(world, version) == ["ann@example.com", "bob@example.com"]

    def test_a_filter_picks_rows(self, world: World) -> None:
        dataset = a_list(world)
        city = str(dataset.columns.index("city") + 1)
        to_list(world, dataset, who="some", column=city, value="Bergen")
        [version] = versions(world)
        assert addresses(world, version) == ["bob@example.com"]
        page = Read(world.visit("reviewer").get(world.at(f"campaigns/{version.campaign_id}/")))
        assert "From the list list.csv of" in page and "those whose city is Bergen." in page

    @pytest.mark.parametrize(
        ("audience", "said"),
        [
            ({"who": ""}, "Say who gets it."),
            ({"who": "everybody"}, "Select a valid choice"),
            ({"who": "some"}, "Say which column it is."),
            ({"who": "some", "column": "3"}, "Say which value is meant."),
            ({"who": "some", "column": "3", "value": "   "}, "Say which value is meant."),
            ({"who": "some", "column": "9", "value": "Oslo"}, "The list has no such column to filter by."),
            ({"who": "some", "column": "1", "value": "a@b.c"}, "The list has no such column to filter by."),
            ({"who": "some", "column": "city", "value": "Oslo"}, "The list has no such column to filter by."),
            ({"who": "some", "column": "3", "value": "Paris"}, "No row of the list has these values"),
            ({"who": "all", "column": "3"}, "You chose everybody and named a filter too."),
            ({"who": "all", "value": "Oslo"}, "You chose everybody and named a filter too."),
        ],
        ids=str,
    )
    def test_D04_a_filter_that_is_empty_or_unknown_is_refused_and_never_everybody(
        self, world: World, audience: dict[str, str], said: str
    ) -> None:
        page = Read(to_list(world, a_list(world), **audience))
        assert (page.status, said in page) == (422, True)
        assert nothing_made(world)

    def test_D04_a_form_that_lost_who_gets_it_reaches_nobody(self, world: World) -> None:
        client, form = opened(world, f"list={a_list(world).id}")
        form.fields = {name: form.fields[name] for name in ("external_id", "shown")}
        assert send(client, form, **TYPED).status_code == 422
        assert nothing_made(world)

    def test_without_a_list_that_is_ready_it_is_chosen_first(self, world: World) -> None:
        waiting = a_list(world, ready=False)
        for query in ("", f"?list={waiting.id}"):
            page = Read(world.visit("support").post(world.at(f"campaigns/new/{query}"), TYPED))
            assert (page.status, proposals.CHOOSE_FIRST in page) == (422, True)
        assert nothing_made(world)


class TestByHand:
    def test_each_line_is_one_address(self, world: World) -> None:
        by_hand(world, recipients="ann@example.com\r\n\r\n Bob <bob@example.com> \r\nANN@example.com")
        [version] = versions(world)
        assert addresses(world, version) == ["ann@example.com", "bob@example.com"]
        rows = world.read(lambda: list(AudienceRow.objects.order_by("position").values_list("state")))
        assert rows == [("addressable",), ("addressable",), ("duplicate",)]

    @pytest.mark.parametrize(
        ("recipients", "said"),
        [
            ("", "This is missing."),
            ("\r\n \r\n", "This is missing."),
            ("ann@example.com\r\nnobody", "Line 2: The address has no @."),
            ("ann@example.com, bob@example.com", "Line 1: There is more than one address here."),
            ("{{email}}@example.com", "Line 1: The address holds a merge field."),
            ("ann@example.com\x0bBcc: eve@example.com", "Line 1: "),
            ("\r\n".join(f"a{n}@example.com" for n in range(201)), "These are 201 addresses."),
        ],
    )
    def test_a_line_that_cannot_be_written_to_is_named(
        self, world: World, recipients: str, said: str
    ) -> None:
        page = Read(by_hand(world, recipients=recipients))
        assert (page.status, said in page) == (422, True)
        assert nothing_made(world)


class TestOnce:
    def test_a_double_click_proposes_once(self, world: World) -> None:
        client, form = opened(world, "typed=1")
        typed = {**TYPED, "recipients": "ann@example.com"}
        first, second = send(client, form, **typed), send(client, form, **typed)
        assert first["Location"] == second["Location"]
        assert "You already proposed this. Nothing happened twice." in Read(client.get(second["Location"]))
        assert len(versions(world)) == 1

    def test_two_forms_propose_two(self, world: World) -> None:
        by_hand(world)
        by_hand(world)
        assert world.read(Campaign.objects.count) == 2

    def test_going_back_and_correcting_makes_a_version_of_the_same_campaign(self, world: World) -> None:
        client, form = opened(world, "typed=1")
        send(client, form, **TYPED, recipients="ann@example.com")
        answer = send(client, form, **{**TYPED, "subject": "Other"}, recipients="ann@example.com")
        assert [version.subject_line for version in versions(world)] == [TYPED["subject"], "Other"]
        assert "Version 2 is proposed, to 1 person." in Read(client.get(answer["Location"]))

    def test_a_form_whose_campaign_was_rejected_meanwhile_proposes_one_of_its_own(self, world: World) -> None:
        client, form = opened(world, "typed=1")
        typed = {**TYPED, "recipients": "ann@example.com"}
        send(client, form, **typed)
        world.rejected(the_campaign(world))
        answer = send(client, form, **{**typed, "subject": "Other"})
        assert (answer.status_code, proposals.USED in Read(answer)) == (409, True)
        again = send(client, form_of(answer, "?typed=1"), **{**typed, "subject": "Other"})
        assert again.status_code == 303
        assert world.read(Campaign.objects.count) == 2
        [entry] = world.read(lambda: list(Decision.objects.filter(kind="refused")))
        assert world.read(lambda: contents_of([entry.payload_id]))[entry.payload_id]["tried"] == "propose"

    @pytest.mark.parametrize(
        "forged", [{"shown": "made up"}, {"external_id": str(uuid4())}, {"external_id": ""}]
    )
    def test_a_form_that_was_not_made_for_this_member_proposes_nothing_and_loses_nothing(
        self, world: World, forged: dict[str, str]
    ) -> None:
        page = by_hand(world, **forged)
        assert (page.status_code, "does not belong to the page you see" in Read(page)) == (422, True)
        assert nothing_made(world)
        again = send(world.visit("support"), form_of(page, "?typed=1"), **TYPED, recipients="ann@example.com")
        assert again.status_code == 303

    def test_the_form_of_one_member_is_not_anothers(self, world: World) -> None:
        _, form = opened(world, "typed=1")
        assert send(world.visit("reviewer"), form, **TYPED, recipients="a@example.com").status_code == 422


class TestWhoApproves:
    def test_D13_whoever_proposed_it_is_told_that_somebody_else_approves(self, world: World) -> None:
        by_hand(world, role="reviewer")
        campaign = the_campaign(world)
        own = world.visit("reviewer").get(world.at(f"campaigns/{campaign.id}/"))
        assert "You proposed this version yourself, so somebody else has to approve it." in Read(own)
        assert "approve" not in offered(own)
        answer = send(world.visit("reviewer"), form_of(own, "/approve"))
        assert answer.status_code == 409
        assert the_campaign(world).status == "pending"

    def test_another_reviewer_approves_it(self, world: World) -> None:
        by_hand(world, role="support")
        page = world.visit("reviewer").get(world.at(f"campaigns/{the_campaign(world).id}/"))
        assert send(world.visit("reviewer"), form_of(page, "/approve")).status_code == 303
