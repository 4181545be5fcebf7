"""Another version of a campaign by a member: bound to the one that was shown, and to whoever got nothing yet."""

from __future__ import annotations

from datetime import UTC, datetime
from html import unescape
from uuid import UUID

import pytest

from approvals.db.binding import bind
from approvals.models import Campaign, Decision, VersionAttachment
from approvals.rules.attachments import Wanted
from approvals.rules.proposals import Proposal, Recipient
from approvals.selectors.payloads import contents_of
from approvals.services import attachments, campaigns
from approvals.services import proposals as services
from tests.views.forms import form_of, send
from tests.views.of_proposals import (
    a_list,
    addresses,
    by_hand,
    going_on,
    revising,
    the_campaign,
    versions,
)
from tests.views.reading import Read
from tests.world import World

pytestmark = pytest.mark.usefixtures("files")


def by_hand_with(world: World, filename: str) -> Campaign:
    """A campaign that has a file attached."""
    by = world.actor("support")
    with bind(world.workspace.id):
        kept, _ = attachments.keep(by=by, pieces=[b"%PDF-1.7 offers"], content_type="application/pdf")
        wanted = Wanted(sha256=kept.sha256, filename=filename, content_type="application/pdf")
        proposal = Proposal(
            external_id="spring", name="Spring", purpose="", send_by=None, run_id=None, sender="a@example.com",
            reply_to="", subject="Hello", text="Hello", html="", recipients=[Recipient("ann@example.com", {})],
            attachments=[wanted],
        )  # fmt: skip
        return services.propose(by=by, proposal=proposal)[0]


class TestAnotherVersion:
    def test_the_form_holds_what_the_newest_version_says(self, world: World) -> None:
        campaign = world.campaign(send_by=datetime(2999, 1, 2, 3, 4, tzinfo=UTC))
        page = world.visit("support").get(world.at(f"campaigns/{campaign.id}/new-version"))
        form = form_of(page, "/new-version")
        assert unescape(form.texts["text"]).strip() == "Dear {{ name }},\n\nyour departure moved."
        assert form.fields["send_by"] == ["2999-01-02T03:04"]
        assert form.fields["subject"] == ["Hello {{ name }}"]
        assert "Version 2 takes the place of version 1, which nobody approved." in Read(page)

    def test_a_campaign_of_an_agent_gets_one_by_a_person_and_the_log_has_it(self, world: World) -> None:
        campaign = world.campaign()
        page = Read(world.visit("support").get(world.at(f"campaigns/{campaign.id}/")))
        assert page.links["New version"].endswith("/new-version")
        client, form, typed = revising(world, campaign, subject="Corrected")
        answer = send(client, form, **typed)
        assert answer["Location"] == world.at(f"campaigns/{campaign.id}/")
        assert "Version 2 is proposed, to 2 people." in Read(client.get(answer["Location"]))
        first, second = versions(world)
        assert (first.subject_line, second.subject_line) == ("Hello {{ name }}", "Corrected")
        assert addresses(world, second) == ["ann@example.com", "bob@example.com"]
        entry = world.read(lambda: Decision.objects.get(kind="new_version"))
        assert (entry.actor_name, entry.item_id, entry.digest) == ("Sam Okafor", campaign.id, second.digest)
        assert "proposed another version of Winter schedule" in Read(
            client.get(world.at(f"decisions/{entry.id}/"))
        )

    def test_the_time_of_the_version_before_may_be_over_and_is_to_be_changed(self, world: World) -> None:
        campaign = world.campaign(send_by=datetime(2001, 1, 2, 3, 4, tzinfo=UTC))
        client, form, typed = revising(world, campaign)
        answer = send(client, form, **typed)
        page = Read(answer)
        assert (page.status, "This time is over. Choose a later one, or leave it empty." in page) == (
            422,
            True,
        )
        assert page.html.count('role="alert"') == 1
        assert len(versions(world)) == 1
        assert send(client, form, **{**typed, "send_by": ""}).status_code == 303
        assert [version.number for version in versions(world)] == [1, 2]

    def test_a_double_click_makes_one(self, world: World) -> None:
        client, form, typed = revising(world, world.campaign())
        assert [send(client, form, **typed).status_code for _ in range(2)] == [303, 303]
        assert len(versions(world)) == 2

    @pytest.mark.parametrize(("ticked", "kept"), [(True, ["offers.pdf"]), (False, [])])
    def test_what_is_attached_stays_unless_somebody_takes_it_off(
        self, world: World, ticked: bool, kept: list[str]
    ) -> None:
        campaign = by_hand_with(world, "offers.pdf")
        client, form, typed = revising(world, campaign)
        there = form.fields.pop("attach")
        send(client, form, **typed, attach=there if ticked else [])
        newest = versions(world)[1]
        files = VersionAttachment.objects.filter(version_id=newest.id).values_list("filename", flat=True)
        assert world.read(lambda: list(files)) == kept

    def test_another_list_can_take_the_place(self, world: World) -> None:
        dataset = a_list(world)
        client, form, typed = revising(world, world.campaign(recipients=["zoe@example.com"]))
        chosen = {"who": "some", "dataset": str(dataset.id), "column": "city", "value": "Bergen"}
        assert send(client, form, **{**typed, **chosen}).status_code == 303
        assert addresses(world, versions(world)[1]) == ["bob@example.com"]

    @pytest.mark.parametrize(
        ("audience", "said"),
        [
            ({"who": ""}, "Say who gets it."),
            ({"who": "everyone"}, "Select a valid choice"),
            ({"who": "rest", "dataset": "LIST"}, "You chose who got nothing yet and a list too."),
            ({"who": "rest", "column": "city"}, "You chose who got nothing yet and a list too."),
            ({"who": "all"}, "Choose the list."),
            ({"who": "all", "dataset": str(UUID(int=1))}, "There is no such list, or it is not ready."),
            (
                {"who": "all", "dataset": "LIST", "value": "Oslo"},
                "You chose everybody and named a filter too.",
            ),
            ({"who": "some", "dataset": "LIST"}, "Say which column it is."),
            ({"who": "some", "dataset": "LIST", "column": "city"}, "Say which value is meant."),
            ({"who": "some", "dataset": "LIST", "column": "town", "value": "Oslo"}, "has no column “town”"),
            ({"who": "some", "dataset": "LIST", "column": "city", "value": "Paris"}, "No row of the list"),
        ],
        ids=str,
    )
    def test_D04_an_audience_that_is_not_whole_is_refused_and_never_everybody(
        self, world: World, audience: dict[str, str], said: str
    ) -> None:
        dataset = a_list(world)
        client, form, typed = revising(world, world.campaign())
        named = {name: value.replace("LIST", str(dataset.id)) for name, value in audience.items()}
        page = Read(send(client, form, **{**typed, **named}))
        assert (page.status, said in page) == (422, True)
        assert len(versions(world)) == 1

    def test_D07_what_is_typed_on_an_older_version_is_kept_and_nothing_is_made(self, world: World) -> None:
        campaign = world.campaign()
        client, form, typed = revising(world, campaign, subject="Mine")
        send(client, form, **{**typed, "subject": "Theirs"})
        answer = send(client, form, **typed)
        page = Read(answer)
        assert page.status == 409
        assert "Version 2 took the place of the one you looked at, so nothing was proposed." in page
        assert [version.subject_line for version in versions(world)] == ["Hello {{ name }}", "Theirs"]
        kept = form_of(answer, "/new-version")
        assert kept.fields["subject"] == ["Mine"]
        assert send(client, kept, **{**typed, "subject": "Mine"}).status_code == 303
        assert versions(world)[-1].subject_line == "Mine"
        [entry] = world.read(lambda: list(Decision.objects.filter(kind="refused")))
        given = world.read(lambda: contents_of([entry.payload_id]))[entry.payload_id]
        assert (given["tried"], given["code"], entry.item_id) == ("new_version", "stale", campaign.id)

    def test_a_closed_campaign_gets_none_and_what_was_typed_is_still_there(self, world: World) -> None:
        campaign = world.campaign()
        client, form, typed = revising(world, campaign, subject="Mine")
        world.rejected(campaign)
        answer = send(client, form, **typed)
        assert (answer.status_code, "it gets no other version" in Read(answer)) == (409, True)
        assert form_of(answer, "/new-version").fields["subject"] == ["Mine"]
        assert form_of(answer, "/new-version").off
        assert "New version" not in Read(client.get(world.at(f"campaigns/{campaign.id}/"))).links

    def test_who_proposed_it_is_no_agent(self, world: World) -> None:
        by_hand(world)
        campaign = the_campaign(world)
        page = Read(world.visit("reviewer").get(world.at(f"campaigns/{campaign.id}/")))
        assert "Proposed by " in page and "Agent " not in page.text.partition("Decide")[0]

    def test_a_returned_one_shows_its_comment(self, world: World) -> None:
        campaign = world.campaign()
        with bind(world.workspace.id):
            campaigns.return_(
                by=world.actor("reviewer"), campaign_id=campaign.id, shown=world.shown(campaign),
                comment="The date is wrong.",
            )  # fmt: skip
        page = Read(world.visit("support").get(world.at(f"campaigns/{campaign.id}/new-version")))
        assert "It was returned with this comment: The date is wrong." in page

    def test_D06_while_it_is_sent_the_page_says_who_has_it_and_who_is_left(self, world: World) -> None:
        campaign = world.campaign(recipients=[f"a{n}@example.com" for n in range(5)])
        world.approved(campaign)
        said = {
            "approved": "The approval of version 1 is void once you propose this",
            "sending": "If you propose this, the sending stops at once. So far 2 have got version 1, 1 may have it and"
            " gets nothing more; 2 are left for version 2, which needs an approval of its own.",
        }
        page = Read(world.visit("support").get(world.at(f"campaigns/{campaign.id}/new-version")))
        assert said["approved"] in page
        assert "Propose version 2" in page
        assert "Stop the sending" not in page
        going_on(world, campaign, "sent", "sent", "in_doubt")
        client, form, typed = revising(world, campaign)
        page = Read(client.get(world.at(f"campaigns/{campaign.id}/new-version")))
        assert said["sending"] in page
        assert "Stop the sending and propose version 2" in page
        assert "Whoever got nothing yet: 2 people" in page.options
        send(client, form, **typed)
        assert addresses(world, versions(world)[1]) == ["a3@example.com", "a4@example.com"]
        assert the_campaign(world).status == "pending"
