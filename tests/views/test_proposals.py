"""Proposing by a member: to a list or to typed addresses, and another version of a campaign that is there."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models.functions import Now

from approvals.db.binding import bind
from approvals.models import AudienceRow, Campaign, Dataset, Decision, Delivery, Job, Version
from approvals.selectors.payloads import contents_of
from approvals.services import campaigns
from approvals.tasks import imports
from dashboard.views import proposals
from tests.views.forms import form_of, offered, send
from tests.views.reading import Read
from tests.world import World

LIST = (
    "email,first_name,city\nann@example.com,Ann,Oslo\nbob@example.com,Bob,Bergen\n"
    "ANN@example.com,Again,Oslo\nnobody,X,Oslo\n"
)
TYPED = {
    "name": "Spring offers",
    "purpose": "They asked for news.",
    "sender": "Shop <news@shop.example.com>",
    "reply_to": "",
    "subject": "New in spring, {{ first_name }}",
    "text": "Dear {{ first_name }},\r\n\r\nspring is here.",
    "html": "",
    "send_by": "",
}


@pytest.fixture(autouse=True)
def files(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    return tmp_path


def a_list(world: World, text: str = LIST, *, ready: bool = True) -> Dataset:
    given = {"file": SimpleUploadedFile("list.csv", text.encode()), "whole": "1"}
    world.visit("support").post(world.at("datasets/upload"), given)
    dataset = world.read(lambda: Dataset.objects.latest("created_at"))
    if ready:
        with bind(world.workspace.id):
            imports.execute.run(str(dataset.id))
    return world.read(lambda: Dataset.objects.get(id=dataset.id))


def opened(world: World, query: str, role: str = "support") -> Any:
    client = world.visit(role)
    return client, form_of(client.get(world.at(f"campaigns/new/?{query}")), f"new/?{query}")


def proposed(world: World, query: str, role: str = "support", **typed: Any) -> Any:
    client, form = opened(world, query, role)
    return send(client, form, **{**TYPED, **typed})


def to_list(world: World, dataset: Dataset, **typed: Any) -> Any:
    return proposed(world, f"list={dataset.id}", **{"who": "all", "column": "", "value": "", **typed})


def by_hand(world: World, role: str = "support", **typed: Any) -> Any:
    return proposed(world, "typed=1", role, **{"recipients": "ann@example.com\r\nbob@example.com", **typed})


def the_campaign(world: World) -> Campaign:
    return world.read(Campaign.objects.get)


def versions(world: World) -> list[Version]:
    return world.read(lambda: list(Version.objects.order_by("number")))


def addresses(world: World, version: Version) -> list[str]:
    rows = AudienceRow.objects.filter(version_id=version.id, state="addressable").order_by("position")
    return world.read(lambda: list(rows.values_list("address", flat=True)))


def revising(world: World, campaign: Campaign, role: str = "support", **typed: Any) -> Any:
    """(a browser with the form of the next version, the form as it stands with what is typed)."""
    client = world.visit(role)
    page = client.get(world.at(f"campaigns/{campaign.id}/new-version"))
    form = form_of(page, "/new-version")
    return client, form, {**form.texts, "who": "rest", **typed}


def nothing_made(world: World) -> bool:
    return not world.read(
        lambda: Campaign.objects.exists() or Version.objects.exists() or Delivery.objects.exists()
    )


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
            "Refused, with the reasons 1",
            "{{ first_name }} {{ city }}",
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
        assert addresses(world, versions(world)[0]) == ["bob@example.com"]

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


class TestWhatIsTyped:
    @pytest.mark.parametrize("field", ["name", "sender", "reply_to", "subject"])
    @pytest.mark.parametrize(
        "bad", ["\r", "\n", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\0"]
    )
    def test_F01_nothing_that_could_begin_a_line_stands_in_a_header_or_name(
        self, world: World, field: str, bad: str
    ) -> None:
        for value in (f"a@example.com{bad}Bcc: eve@example.com", f"a@example.com{bad}"):
            page = Read(by_hand(world, **{field: value}))
            assert page.status == 422
            assert re.search(r"The character U\+\w{4} is a control character or line break", page.text)
        assert nothing_made(world)

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"name": ""}, "This is missing."),
            ({"name": "x" * 201}, "Keep this under 200 characters."),
            ({"purpose": "x" * 4_001}, "Keep this under 4,000 characters."),
            ({"purpose": "a\0b"}, "Null characters are not allowed."),
            ({"sender": "nobody"}, "The address has no @."),
            ({"sender": "a@example.com, b@example.com"}, "space"),
            ({"sender": "{{shop}}@example.com"}, "The address holds a merge field."),
            ({"sender": "{{ shop }} <news@example.com>"}, "The name holds a merge field."),
            ({"sender": "news@example.com" * 30}, "Keep this under 400 characters."),
            ({"reply_to": "{{shop}}@example.com"}, "The address holds a merge field."),
            ({"subject": "   "}, "This is missing."),
            ({"text": ""}, "This is missing."),
            ({"text": " \r\n "}, "This needs at least one character that is not a space."),
            ({"text": "a\0b"}, "Null characters are not allowed."),
            ({"html": "a\0b"}, "Null characters are not allowed."),
            ({"send_by": "tomorrow"}, "Write a day and a time"),
            ({"send_by": "2001-01-01T10:00"}, "This time is over."),
        ],
        ids=str,
    )
    def test_what_cannot_be_sent_is_one_sentence_at_its_field(
        self, world: World, change: dict[str, str], said: str
    ) -> None:
        answer = by_hand(world, **change)
        page = Read(answer)
        assert (page.status, said in page) == (422, True)
        assert page.html.count('role="alert"') == 1
        assert nothing_made(world)

    def test_html_of_5_mb_is_a_sentence_and_no_half_made_campaign(self, world: World) -> None:
        page = Read(by_hand(world, html="<p>" + "x" * 5_000_000))
        assert (page.status, "Keep this under 1,000,000 characters." in page) == (422, True)
        assert nothing_made(world)

    def test_nothing_that_was_typed_is_lost(self, world: World) -> None:
        typed = {
            "purpose": "A  B",
            "html": "\n<p>x</p>",
            "text": "\n\nTwo lines before",
            "subject": "{{ x }}",
        }
        answer = by_hand(world, sender="nobody", **typed)
        form = form_of(answer, "?typed=1")
        assert form.fields["subject"] == ["{{ x }}"]
        assert form.fields["sender"] == ["nobody"]
        # A browser takes away the one line end that follows the tag.
        kept = {
            name: unescape(text).removeprefix("\n").replace("\r\n", "\n") for name, text in form.texts.items()
        }
        assert [kept[name] for name in ("purpose", "text", "html")] == [
            typed[name] for name in ("purpose", "text", "html")
        ]
        assert kept["recipients"] == "ann@example.com\nbob@example.com"
        again = send(world.visit("support"), form, **{**kept, "sender": "news@example.com"})
        assert again.status_code == 303

    def test_nothing_in_the_form_cuts_off_what_is_pasted(self, world: World) -> None:
        for query in ("typed=1", f"list={a_list(world).id}"):
            page = world.visit("support").get(world.at(f"campaigns/new/?{query}")).content.decode()
            assert "maxlength" not in page

    def test_a_time_is_one_of_utc(self, world: World) -> None:
        by_hand(world, send_by="2999-05-04T13:30")
        assert the_campaign(world).send_by == datetime(2999, 5, 4, 13, 30, tzinfo=UTC)


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

    def test_a_double_click_makes_one(self, world: World) -> None:
        client, form, typed = revising(world, world.campaign())
        assert [send(client, form, **typed).status_code for _ in range(2)] == [303, 303]
        assert len(versions(world)) == 2

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
            ({"who": "all", "dataset": str(uuid4())}, "There is no such list, or it is not ready."),
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
            "sending": "Sending stops now: 2 have got version 1, 1 may have it and gets nothing more; 2 are left for"
            " version 2, which needs its own approval.",
        }
        page = Read(world.visit("support").get(world.at(f"campaigns/{campaign.id}/new-version")))
        assert said["approved"] in page
        going_on(world, campaign, "sent", "sent", "in_doubt")
        client, form, typed = revising(world, campaign)
        page = Read(client.get(world.at(f"campaigns/{campaign.id}/new-version")))
        assert said["sending"] in page
        assert "Everybody of this campaign who got nothing yet: 2 people" in page.options
        send(client, form, **typed)
        assert addresses(world, versions(world)[1]) == ["a3@example.com", "a4@example.com"]
        assert the_campaign(world).status == "pending"


def going_on(world: World, campaign: Campaign, *states: str) -> None:
    """A worker is at it, and these are the first it settled."""
    with world.bound():
        job = Job.objects.get(campaign_id=campaign.id)
        Job.objects.filter(id=job.id).update(
            status="running", claimed_at=Now(), fence=1, task_id="t", lease_until=Now() + timedelta(minutes=1)
        )
        Campaign.objects.filter(id=campaign.id).update(status="sending")
        deliveries = Delivery.objects.filter(campaign_id=campaign.id).order_by("position")
        for delivery, state in zip(deliveries, states, strict=False):
            mine = Delivery.objects.filter(id=delivery.id)
            mine.update(state="attempting", job=job, fence=1, attempt=1, attempted_at=Now())
            mine.update(state=state, settled_at=Now(), reply="250 kept")
