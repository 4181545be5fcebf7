"""Returning a campaign with comments, pausing it, letting it go on, and what is still possible then."""

from __future__ import annotations

import pytest

from approvals.models import Campaign, Decision, Job
from tests.views import of_campaigns as c
from tests.views.forms import form_of, forms_of, offered, send
from tests.views.of_versions import half_sent, renewed
from tests.views.reading import Read
from tests.world import World, signed_in


def tab(world: World, name: str) -> Read:
    return Read(world.visit("reviewer").get(world.at(f"?tab={name}")))


class TestReturning:
    def test_its_proposer_is_waited_for_and_the_page_says_so(self, world: World) -> None:
        campaign = world.campaign()
        page = c.follow(world, c.decide(world, campaign, "return", comment=c.REASON))
        assert "Returned. Nothing is sent; whoever proposed it can read your comment" in page
        assert "It was returned with comments." in page and c.REASON in page
        assert c.status(world, campaign) == "returned" and c.decided(world) == ["return_campaign"]
        row = tab(world, "progress").row("Winter schedule")
        assert "Returned" in row and "Returned, and waits for another version" in row
        assert not any("Winter schedule" in row for row in tab(world, "decide").rows)

    def test_it_can_still_be_rejected_and_is_shown_as_it_was_reviewed(self, world: World) -> None:
        before = world.campaign("Autumn schedule")
        world.approved(before)
        campaign = world.campaign()
        c.decide(world, campaign, "return", comment=c.REASON)
        answered = world.visit("reviewer").get(c.path_of(world, campaign))
        assert offered(answered) == {"reject"}
        assert "What changed" in Read(answered) and "would get it as it is" in Read(answered)
        page = c.follow(world, c.decide(world, campaign, "reject", comment=c.REASON))
        assert "Rejected" in page and c.status(world, campaign) == "rejected"

    def test_the_comment_stands_first_and_the_way_to_answer_it_before_the_end_of_it_all(
        self, world: World
    ) -> None:
        campaign = world.campaign()
        c.decide(world, campaign, "return", comment="The date is wrong.\r\nThe place is right.")
        page = Read(world.visit("support").get(c.path_of(world, campaign)))
        desk = page.text[page.text.index("Decide It was returned with this comment:") :]
        assert desk.startswith(
            "Decide It was returned with this comment: The date is wrong. The place is right. It was returned"
        )
        assert "wrong.\nThe place" in page.html
        assert desk.index("New version") < desk.index("Reject it for good")
        assert page.text.count("New version") == 1
        assert '<details class="act">' in page.html

    def test_the_next_version_says_what_was_returned_before(self, world: World) -> None:
        campaign = world.campaign()
        c.decide(world, campaign, "return", comment=c.REASON)
        renewed(world, campaign, "ann@example.com")
        page = c.look(world, campaign)
        assert "Waits for approval" in page and "version 1, returned by Mia Berg" in page
        assert "returned by Mia Berg" in page.text[page.text.index("Versions") :]

    @pytest.mark.parametrize("comment", ["", "no", "x" * 3_000])
    def test_a_comment_that_is_not_right_comes_back_as_it_was_typed(self, world: World, comment: str) -> None:
        campaign = world.campaign()
        answered = c.decide(world, campaign, "return", comment=comment)
        assert answered.status_code == 422
        assert form_of(answered, "/return").texts["comment"] == comment
        assert form_of(answered, "/reject").texts["comment"] == "", "that is another form"
        assert c.decided(world) == []

    def test_a_double_click_is_a_harmless_success_and_the_second_person_is_told(self, world: World) -> None:
        campaign, late = world.campaign(), signed_in(world.person("reviewer"))
        client = world.visit("reviewer")
        form = form_of(client.get(c.path_of(world, campaign)), "/return")
        theirs = form_of(late.get(c.path_of(world, campaign)), "/return")
        send(client, form, comment=c.REASON)
        again = send(client, form, comment=c.REASON)
        assert "You already returned this campaign to its proposer. Nothing happened twice." in c.follow(
            world, again
        )
        refused = send(late, theirs, comment="I would have said so too.")
        assert refused.status_code == 409 and "Mia Berg was first" in Read(refused)
        assert c.decided(world) == ["return_campaign"]


class TestPausing:
    @pytest.fixture
    def sending(self, world: World) -> Campaign:
        return half_sent(world, "sent", "attempting")

    def test_it_says_what_happens_and_that_somebody_has_to_let_it_go_on(
        self, world: World, sending: Campaign
    ) -> None:
        assert offered(world.visit("reviewer").get(c.path_of(world, sending))) == {"pause", "stop"}
        page = c.follow(world, c.decide(world, sending, "pause"))
        assert "Paused. What is under way still ends; then it waits" in page
        assert (
            "1 of 4 sent so far. Paused: until somebody lets it go on, only what is sent again to one person goes out."
            in page
        )
        assert "What is under way still ends." in page
        row = tab(world, "decide").row("Winter schedule")
        assert "Paused" in row and "Sent to 1 of 4 people." in row and "4 recipients" in row
        log = Read(world.visit("manager").get(world.at("decisions/")))
        assert "Mia Berg" in log.row("Sending paused")

    @pytest.mark.parametrize("laid_down", [False, True], ids=["in a worker's hands", "laid down"])
    def test_one_button_lets_it_go_on_once(self, world: World, sending: Campaign, laid_down: bool) -> None:
        c.decide(world, sending, "pause")
        if laid_down:
            with world.bound():
                Job.objects.filter(campaign_id=sending.id).update(
                    status="paused", outcome="Paused by Mia Berg."
                )
        client = world.visit("reviewer")
        shown = client.get(c.path_of(world, sending))
        assert offered(shown) == {"go-on", "stop"}
        said = Read(shown).text
        assert said.index("The sending") < said.index("Let it go on") < said.index("Stop sending")
        assert "Decide" not in said
        assert [form.action.rsplit("/", 1)[-1] for form in forms_of(shown)].count("resume-send") == 0
        form = form_of(shown, "/go-on")
        page = c.follow(world, send(client, form))
        assert "Queued: the sending goes on." in page and c.status(world, sending) == "sending"
        assert "Nothing happened twice." in c.follow(world, send(client, form))
        resumed = world.read(lambda: Decision.objects.filter(kind="resume_send", item_id=sending.id).count())
        assert resumed == 1

    def test_what_trouble_paused_keeps_its_own_button_and_offers_no_pause(
        self, world: World, sending: Campaign
    ) -> None:
        with world.bound():
            Job.objects.filter(campaign_id=sending.id).update(
                status="paused", outcome="The sender is refused."
            )
        shown = world.visit("reviewer").get(c.path_of(world, sending))
        assert offered(shown) == {"resume-send", "stop"}
        said = Read(shown).text
        assert said.index("The sender is refused.") < said.index("Let it go on") < said.index("Stop sending")

    def test_it_can_be_stopped_as_it_is(self, world: World, sending: Campaign) -> None:
        c.decide(world, sending, "pause")
        page = c.follow(world, c.decide(world, sending, "stop", reason="The wrong list was used."))
        assert "Stopped. What had not left by then is skipped." in page
        assert c.states(world, sending) == ["sent", "attempting", "skipped", "skipped"]

    def test_another_version_while_it_is_paused_is_told_to_whoever_lets_it_go_on(
        self, world: World, sending: Campaign
    ) -> None:
        c.decide(world, sending, "pause")
        client = world.visit("reviewer")
        form = form_of(client.get(c.path_of(world, sending)), "/go-on")
        renewed(world, sending)
        answered = send(client, form)
        assert answered.status_code == 409
        assert c.decided(world) == ["approve", "pause_send", "new_version"]

    def test_what_is_not_being_sent_cannot_be_paused_and_the_attempt_is_in_the_log(
        self, world: World
    ) -> None:
        campaign = half_sent(world)
        client = world.visit("reviewer")
        form = form_of(client.get(c.path_of(world, campaign)), "/pause")
        c.decide(world, campaign, "stop", reason="The wrong list was used.")
        answered = send(client, form)
        assert answered.status_code == 409 and "there is nothing to pause" in Read(answered)
        entry = world.read(lambda: Decision.objects.filter(kind="refused").latest("seq"))
        page = Read(world.visit("manager").get(world.at(f"decisions/{entry.id}/")))
        assert "Mia Berg was refused the pause of Winter schedule" in page

    def test_the_fragment_swaps_the_buttons_as_it_moves_on(self, world: World, sending: Campaign) -> None:
        path = c.path_of(world, sending, "live")
        moving = Read(world.visit("reviewer").get(path, headers={"HX-Request": "true"}))
        assert "data-pausable" in moving.html and "data-stoppable" in moving.html
        c.decide(world, sending, "pause")
        paused = Read(world.visit("reviewer").get(path, headers={"HX-Request": "true"}))
        assert "data-pausable" not in paused.html and "data-stoppable" in paused.html
