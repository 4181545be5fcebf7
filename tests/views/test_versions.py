"""A campaign with several versions: beside each other on its page, and each on a page of its own."""

from __future__ import annotations

from uuid import uuid4

import pytest

from approvals.models import Campaign, Decision, Delivery, Job, Version
from approvals.rules.decisions import OWN_PROPOSAL
from tests.views import of_campaigns as c
from tests.views.forms import form_of, forms_of, offered, send
from tests.views.of_versions import began, half_sent, of_version, renewed
from tests.views.reading import Read
from tests.world import World

KNOWN = "The server's own log has it under this id."


def version(world: World, campaign: Campaign, number: int, role: str = "reviewer", **asked: str) -> Read:
    return Read(world.visit(role).get(c.path_of(world, campaign, f"versions/{number}/"), asked))


@pytest.fixture
def renewed_half_way(world: World) -> Campaign:
    """Of four guests two got version 1, one is in doubt; version 2 is for the one who is left."""
    campaign = half_sent(world, "sent", "sent", "in_doubt")
    renewed(world, campaign)
    return campaign


class TestTheList:
    def test_one_version_is_no_list(self, world: World) -> None:
        assert "Versions" not in c.look(world, world.campaign())

    def test_every_version_says_who_proposed_it_what_was_decided_and_how_far_it_got(
        self, world: World, renewed_half_way: Campaign
    ) -> None:
        page = c.look(world, renewed_half_way)
        listed = page.text[page.text.index("Versions") :]
        assert "Version 2 shown here proposed by token ab12… just now; waits for a decision" in listed
        assert "Version 1 1 to settle of Version 1" in listed
        assert "approved by Mia Berg" in listed
        assert "2 sent 1 in doubt 1 skipped" in listed

    def test_whoever_decides_is_told_who_got_an_earlier_one_and_for_how_many_this_one_is(
        self, world: World, renewed_half_way: Campaign
    ) -> None:
        page = c.look(world, renewed_half_way)
        assert "Approve for 1 person" in page
        assert (
            "Version 1 before it: 2 sent, 1 in doubt. Whoever got that, or may have, gets nothing more; this version is"
            " for 1 other." in page
        )

    def test_once_it_is_sent_the_page_says_how_many_got_any_version(
        self, world: World, renewed_half_way: Campaign
    ) -> None:
        c.decide(world, renewed_half_way, "approve")
        world.sent(renewed_half_way, "sent")
        page = c.look(world, renewed_half_way)
        assert "1 of 1 sent." in page
        assert "Together with this one it was sent to 3 people." in page
        assert "Finished with problems" in page, "somebody of version 1 is in doubt"

    def test_finished_is_said_plainly_once_nobody_is_in_doubt(
        self, world: World, renewed_half_way: Campaign
    ) -> None:
        c.decide(world, renewed_half_way, "approve")
        world.sent(renewed_half_way, "sent")
        doubtful = of_version(world, renewed_half_way, 1, state="in_doubt")
        answer = c.decide(
            world,
            renewed_half_way,
            "resolve",
            delivery=[str(doubtful[0].id)],
            resolution="happened",
            reason=KNOWN,
        )
        page = c.follow(world, answer)
        assert "Finished" in page and "Finished with problems" not in page
        assert "it was sent to 4 people" in page


class TestAnOlderOne:
    def test_it_shows_its_own_message_list_and_end_and_decides_nothing(
        self, world: World, renewed_half_way: Campaign
    ) -> None:
        page = version(world, renewed_half_way, 1)
        assert page.status == 200
        assert "Version 2 took its place, and nothing more of this one goes out by itself." in page
        assert "your departure moved." in page and "Corrected." not in page
        assert "4 could be reached" in page
        kept = world.visit("reviewer").get(c.path_of(world, renewed_half_way, "versions/1/"))
        assert offered(kept) == {"resolve"}

    def test_every_link_of_it_stays_with_it(self, world: World, renewed_half_way: Campaign) -> None:
        page = version(world, renewed_half_way, 1)
        here = c.path_of(world, renewed_half_way, "versions/1/")
        assert page.links["See every recipient"] == f"{here}recipients"
        assert page.links["Next recipient" if "Next recipient" in page.links else "→"].startswith(
            f"{here}?to="
        )
        everybody = Read(world.visit("reviewer").get(f"{here}recipients"))
        assert len(everybody.rows) == 4 and "Recipients of Winter schedule, version 1" in everybody
        assert everybody.links["Export these as CSV"] == f"{here}recipients.csv"
        assert everybody.links["guest1@example.com – see the message"].startswith(f"{here}?to=")
        whole = b"".join(world.visit("manager").get(f"{here}recipients.csv").streaming_content).decode()  # type: ignore[arg-type]
        assert whole.count("@example.com") >= 4 and "guest4@example.com" in whole

    def test_the_frame_and_the_source_of_its_messages_are_what_it_sent(
        self, world: World, renewed_half_way: Campaign
    ) -> None:
        first = of_version(world, renewed_half_way, 1)[0]
        client = world.visit("reviewer")
        framed = client.get(c.path_of(world, renewed_half_way, f"message/{first.id}"))
        assert "Hello <b>Ann</b>" in framed.content.decode()
        source = client.get(c.path_of(world, renewed_half_way, f"message/{first.id}/source"))
        assert b"your departure moved." in source.content

    def test_a_link_to_one_of_its_messages_leads_there_from_the_campaign(
        self, world: World, renewed_half_way: Campaign
    ) -> None:
        first = of_version(world, renewed_half_way, 1)[0]
        answered = world.visit("reviewer").get(c.path_of(world, renewed_half_way), {"to": str(first.id)})
        there = c.path_of(world, renewed_half_way, f"versions/1/?to={first.id}")
        assert (answered.status_code, answered.headers["Location"]) == (302, there)

    def test_htmx_gets_the_preview_alone(self, world: World, renewed_half_way: Campaign) -> None:
        second = of_version(world, renewed_half_way, 1)[1]
        answered = world.visit("reviewer").get(
            c.path_of(world, renewed_half_way, "versions/1/"), {"to": str(second.id)},
            headers={"HX-Request": "true", "HX-Target": "preview"},
        )  # fmt: skip
        html = answered.content.decode()
        assert "guest2@example.com" in html and "<html" not in html

    @pytest.mark.parametrize("number", ["0", "3", "99999999999999999999"])
    def test_a_number_that_it_has_not_is_not_found(
        self, world: World, renewed_half_way: Campaign, number: str
    ) -> None:
        for rest in ("", "recipients", "recipients.csv"):
            path = c.path_of(world, renewed_half_way, f"versions/{number}/{rest}")
            assert world.visit("reviewer").get(path).status_code == 404

    def test_the_newest_one_has_a_page_too_which_says_where_it_is_decided_on(
        self, world: World, renewed_half_way: Campaign
    ) -> None:
        assert "This is the version that counts." in version(world, renewed_half_way, 2)

    def test_what_it_said_is_compared_with_what_the_newest_says(
        self, world: World, renewed_half_way: Campaign
    ) -> None:
        page = c.look(world, renewed_half_way)
        against = page.text[page.text.index("What changed") :]
        assert "version 1, approved by Mia Berg" in against
        link = next(href for words, href in page.links.items() if words.startswith("version 1, approved"))
        assert link == c.path_of(world, renewed_half_way, "versions/1/")


class TestWhatItLeftOpen:
    """H02: every state that waits for somebody has a button."""

    def test_it_stands_on_the_campaigns_page_and_in_the_queue(
        self, world: World, renewed_half_way: Campaign
    ) -> None:
        page = c.look(world, renewed_half_way)
        assert "1 delivery in doubt, of version 1" in page
        row = Read(world.visit("reviewer").get(world.at("?tab=decide"))).row("Winter schedule")
        assert "Version 2: Would send a mail titled" in row and "Before that: 2 sent, 1 in doubt." in row

    def test_it_is_sent_again_with_what_its_own_version_says(
        self, world: World, renewed_half_way: Campaign
    ) -> None:
        [doubtful] = of_version(world, renewed_half_way, 1, state="in_doubt")
        answer = c.decide(
            world,
            renewed_half_way,
            "resolve",
            delivery=[str(doubtful.id)],
            resolution="do_again",
            reason=KNOWN,
        )
        assert "Sending them once more is queued." in c.follow(world, answer)
        again = world.read(lambda: Job.objects.select_related("decision").get(delivery_id=doubtful.id))
        first = world.read(lambda: Version.objects.get(campaign_id=renewed_half_way.id, number=1))
        assert again.decision.digest == first.digest

    def test_a_form_that_is_not_right_comes_back_on_its_versions_page(
        self, world: World, renewed_half_way: Campaign
    ) -> None:
        [doubtful] = of_version(world, renewed_half_way, 1, state="in_doubt")
        answer = c.decide(
            world, renewed_half_way, "resolve", delivery=[str(doubtful.id)], resolution="leave", reason="no"
        )
        assert answer.status_code == 422
        assert "Version 1 of" in Read(answer) and "Give a reason of at least 10 characters" in Read(answer)
        form = form_of(answer, "/resolve")
        assert form.texts["reason"] == "no" and form.fields["delivery"] == [str(doubtful.id)]
        assert send(answer.client, form, reason=KNOWN).status_code == 303

    def test_the_forms_of_two_versions_do_not_get_mixed_up(self, world: World) -> None:
        campaign = half_sent(world, "failed", "sent", of=3)
        renewed(world, campaign)
        c.decide(world, campaign, "approve")
        began(world, campaign, "failed", "failed")
        shown = world.visit("reviewer").get(c.path_of(world, campaign))
        forms = [form for form in forms_of(shown) if form.action.endswith("/resolve")]
        mine = [str(row.id) for row in of_version(world, campaign, 2, state="failed")]
        theirs = [str(row.id) for row in of_version(world, campaign, 1, state="failed")]
        assert [form.ticks["delivery"] for form in forms] == [mine, theirs]
        answer = send(world.visit("reviewer"), forms[0], delivery=mine[:1], resolution="leave", reason="no")
        wrong = [form.texts["reason"] for form in forms_of(answer) if form.action.endswith("/resolve")]
        assert (answer.status_code, wrong) == (422, ["no", ""])


def test_whoever_proposed_a_version_is_told_that_somebody_else_approves_it(world: World) -> None:
    """D13."""
    campaign = world.campaign()
    renewed(world, campaign, "ann@example.com", by=world.actor("reviewer"))
    answered = world.visit("reviewer").get(c.path_of(world, campaign))
    assert OWN_PROPOSAL in Read(answered)
    assert offered(answered) == {"return", "reject"}
    refused = send(world.visit("reviewer"), form_of(answered, "/approve"))
    assert refused.status_code == 409 and OWN_PROPOSAL in Read(refused)


def test_whoever_looked_at_the_version_before_decides_nothing(world: World) -> None:
    campaign, client = world.campaign(), world.visit("reviewer")
    form = form_of(client.get(c.path_of(world, campaign)), "/approve")
    renewed(world, campaign, "ann@example.com")
    answered = send(client, form)
    assert answered.status_code == 409
    assert "Version 2 of this campaign took the place of the one you looked at." in Read(answered)


def test_those_whom_an_earlier_version_reached_stand_in_the_list_with_that_reason(
    world: World, renewed_half_way: Campaign
) -> None:
    everybody = Read(
        world.visit("reviewer").get(
            c.path_of(world, renewed_half_way, "recipients"), {"show": "already_sent"}
        )
    )
    assert len(everybody.rows) == 3
    assert all("Reached before" in row and "An earlier version" in row for row in everybody.rows)
    assert "Reached by an earlier version" in everybody.options


def test_the_log_says_that_another_version_was_proposed_and_what_was_so_before(
    world: World, renewed_half_way: Campaign
) -> None:
    entry = world.read(lambda: Decision.objects.get(kind="new_version"))
    page = Read(world.visit("manager").get(world.at(f"decisions/{entry.id}/")))
    assert "token ab12… proposed another version of Winter schedule" in page
    assert "The campaign before sending" in page and "It takes the place of the version before" in page
    log = Read(world.visit("manager").get(world.at("decisions/"), {"kind": "new_version"}))
    assert "New version" in log.row("Winter schedule")
    decisions = Read(world.visit("manager").get(world.at("decisions/")))
    assert all("New version" not in row for row in decisions.rows)


def test_each_decision_says_which_version_it_is_about_once_there_are_several(world: World) -> None:
    campaign = world.campaign()
    c.decide(world, campaign, "return", comment=c.REASON)
    alone = c.look(world, campaign).text.partition("Decisions so far")[2]
    assert "Returned" in alone and "Version 1" not in alone
    renewed(world, campaign, "ann@example.com")
    c.decide(world, campaign, "approve")
    c.decide(world, campaign, "take-back")
    so_far = c.look(world, campaign).text.partition("Decisions so far")[2]
    said = [
        "Version 2: approval taken back",
        "Version 2 approved",
        "Version 2 proposed",
        "Version 1 returned",
    ]
    assert sorted(said, key=so_far.index) == said


def test_another_workspaces_versions_are_not_found(world: World, renewed_half_way: Campaign) -> None:
    other = World.create("Southwind")
    for id in (renewed_half_way.id, uuid4()):
        assert other.visit("reviewer").get(other.at(f"campaigns/{id}/versions/1/")).status_code == 404


def test_a_message_of_an_older_version_is_sent_once_more_while_the_page_follows_it(
    world: World, renewed_half_way: Campaign
) -> None:
    c.decide(world, renewed_half_way, "approve")
    world.sent(renewed_half_way, "sent")
    [doubtful] = of_version(world, renewed_half_way, 1, state="in_doubt")
    answer = c.decide(
        world, renewed_half_way, "resolve", delivery=[str(doubtful.id)], resolution="do_again", reason=KNOWN
    )
    page = c.follow(world, answer)
    assert "Sending again" in page and "1 on the way once more." in page and "hx-get" in page.html
    assert world.read(lambda: Delivery.objects.get(id=doubtful.id).state) == "planned"
