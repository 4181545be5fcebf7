"""The queue's page."""

import re
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.views.reading import Read
from tests.world import Told, World, answer, call, ended, failure, said


def look(world: World, role: str = "support", path: str = "", **asked: str) -> Read:
    return Read(world.visit(role).get(world.at(path), asked))


def test_an_interrupted_run_waits_for_a_decision_and_says_what_it_did(world: World) -> None:
    world.run("refund-1", call("c1", "look_up"), answer("c1"), call("c2", "send_email", to="ann@example.com"))

    row = look(world).row("refund-1")

    assert "Interrupted" in row
    assert "Called look_up and send_email, to ann@example.com; send_email has no answer." in row
    assert "Called tools" in row
    assert "refunds" in row
    assert "for ann@example.com" in row


def test_a_failed_run_without_a_call_says_why_it_ended(world: World) -> None:
    world.run("refund-1", said("hello"), ended("failed", "the quota is used up"))

    row = look(world).row("refund-1")

    assert "No tool ran before it failed. It ended with an error: the quota is used up" in row
    assert "No tool ran" in row


def test_a_run_with_a_gap_is_unknown(world: World) -> None:
    run = world.run("refund-1", said("hello"), interrupted=False)
    world.report(run, said("back again"), missing=3)
    world.interrupt(run)

    row = look(world).row("refund-1")

    assert "Events are missing, so what it did cannot be known." in row
    assert "Record unknown" in row


def test_many_calls_are_counted_and_failed_ones_named(world: World) -> None:
    calls: list[Told] = []
    for number in range(3):
        calls += [
            call(f"c{number}", "charge", recipient=f"p{number}@example.com"),
            failure(f"c{number}", "no"),
        ]
    world.run("refund-1", *calls)

    row = look(world).row("refund-1")

    assert (
        "Called charge \u00d73, to p0@example.com, p1@example.com and p2@example.com; charge failed." in row
    )


def test_arguments_that_are_no_addresses_are_no_recipients(world: World) -> None:
    world.run(
        "refund-1", call("c1", "send_email", to={"list": 7}, email=["a@example.com", 5, ""], recipient=None)
    )

    assert "Called send_email, to a@example.com; send_email has no answer." in look(world).row("refund-1")


def test_what_stands_where(world: World) -> None:
    world.run("broke-off", said("hello"))
    world.run("goes-on", said("hello"), interrupted=False)
    world.run("came-to-its-end", ended())
    world.campaign("Winter schedule")

    decide, progress, history = (look(world, tab=tab) for tab in ("decide", "progress", "history"))

    assert [len(page.rows) for page in (decide, progress, history)] == [2, 1, 4]
    assert "Needs a decision 2" in decide
    assert "In progress 1" in decide
    assert "History 4" in decide
    assert "goes-on" in progress
    assert "came-to-its-end" in history


def test_the_soonest_to_be_sent_comes_first_then_the_oldest(world: World) -> None:
    now = datetime.now(UTC)
    world.run("older-run", said("hello"))
    world.run("newer-run", said("hello"))
    world.campaign("No hurry")
    world.campaign("In two days", send_by=now + timedelta(days=2))
    world.campaign("In half an hour", send_by=now + timedelta(minutes=30))

    rows = look(world).rows

    order = ["In half an hour", "In two days", "older-run", "newer-run", "No hurry"]
    assert [next(name for name in order if name in row) for row in rows] == order
    assert "send by: in 29 min" in rows[0]


def test_a_campaign_says_what_it_would_send_and_how_far_it_reaches(world: World) -> None:
    world.campaign("Winter schedule")

    row = look(world).row("Winter schedule")

    assert "Waits for approval" in row
    assert "Would send a mail titled “Hello {{ name }}” to 2 people; 1 cannot be addressed." in row
    assert "2 recipients" in row


def test_a_campaign_with_doubtful_deliveries_waits_for_a_decision_again(world: World) -> None:
    campaign = world.campaign("Winter schedule", ["a@example.com", "b@example.com", "c@example.com"])
    world.approved(campaign)
    world.sent(campaign, "sent", "in_doubt", "failed")

    row = look(world).row("Winter schedule")

    assert "In doubt" in row
    assert "Sent to 1 of 3 people; 1 in doubt, 1 failed." in row
    assert "May have been sent" in row


def test_a_queued_replay_is_in_progress_and_a_failed_one_waits(world: World) -> None:
    run = world.run("refund-1", call("c1", "send_email"))
    started = world.forced(run)
    assert "A replay waits for a worker. Called send_email" in look(world, tab="progress").row("refund-1")

    world.settled(started.job, "failed", "The runtime refused it: no such agent.")
    with world.bound():
        type(run).objects.filter(id=started.run.id).update(status="cancelled")

    row = look(world).row("refund-1")
    assert "Replay failed" in row
    assert "The replay failed: The runtime refused it: no such agent." in row
    assert "2 attempts" in row


def test_filters_narrow_the_rows_and_the_counts(world: World) -> None:
    world.run("refund-1", call("c1", "send_email"), agent="refunds", subject="ann")
    world.run("booking-1", call("c1", "book"), agent="bookings", subject="bob")
    world.campaign("Winter schedule")
    names = ("refund-1", "booking-1", "Winter schedule")

    def found(**asked: str) -> list[str]:
        page = look(world, **asked)
        assert f"Needs a decision {len(page.rows)}" in page
        return [name for name in names if any(name in row for row in page.rows)]

    assert found(kind="run") == ["refund-1", "booking-1"]
    assert found(kind="campaign") == ["Winter schedule"]
    assert found(agent="bookings") == ["booking-1"]
    assert found(tool="send_email") == ["refund-1"]
    assert found(subject="bob") == ["booking-1"]
    assert found(agent="bookings", tool="send_email") == []


def test_words_are_found_in_ids_customers_recipients_and_message_ids(world: World) -> None:
    world.run("refund-77", said("hello"), subject="anna.lind@example.com")
    campaign = world.campaign("Winter schedule", ["zoe@example.com"])
    world.approved(campaign)
    delivery = world.sent(campaign, "in_doubt")[0]

    assert look(world, q="REFUND-77").rows
    assert "refund-77" in look(world, q="lind@exa").rows[0]
    assert "Winter schedule" in look(world, q="zoe@example").rows[0]
    assert "Winter schedule" in look(world, q=delivery.message_id).rows[0]
    nothing = look(world, q="100%_nothing")
    assert not nothing.rows
    assert "Nothing matches" in nothing


def test_the_filter_offers_what_there_is_and_keeps_what_was_asked(world: World) -> None:
    world.run("refund-1", call("c1", "send_email"), agent="refunds")
    world.run("goes-on", call("c1", "book"), agent="bookings", interrupted=False)

    page = look(world, agent="refunds", q="refund")

    assert {"refunds", "bookings", "send_email", "book", "Runs", "Campaigns"} <= set(page.options)
    assert 'value="refund"' in page.html
    assert '<option value="refunds" selected>' in page.html
    assert page.links["Remove the filter Agent: refunds ✕"] == world.at("?q=refund")
    assert page.links["Clear all"] == world.at()
    assert page.links["In progress 0"] == world.at("?tab=progress&agent=refunds&q=refund")


@pytest.mark.parametrize("tab", ["decide", "history"])
def test_pages_follow_each_other_without_a_gap_or_a_repetition(world: World, tab: str) -> None:
    for number in range(103):
        world.run(f"run-{number:03}x", agent="refunds" if number % 2 else "bookings")
    seen: list[str] = []
    path = world.at(f"?tab={tab}&agent=refunds")
    for expected in (50, 1):
        page = Read(world.visit("support").get(path))
        assert len(page.rows) == expected
        seen += [row.split("run-")[1][:4] for row in page.rows]
        path = page.links.get("More →", "")
        assert ("agent=refunds" in path) == (expected == 50)
    assert sorted(seen) == [f"{number:03}x" for number in range(1, 103, 2)]
    assert seen == sorted(seen, reverse=tab == "history")
    assert page.links["⇤ Back to the first page"] == world.at(
        "?agent=refunds" if tab == "decide" else "?tab=history&agent=refunds"
    )


def test_a_row_leads_to_its_page_and_knows_the_way_back(world: World) -> None:
    run = world.run("refund-1", said("hello"))
    campaign = world.campaign("Winter schedule")

    page = look(world, kind="", agent="")

    assert page.links["refund-1"] == world.at(f"runs/{run.id}/")
    assert page.links["Winter schedule"] == world.at(f"campaigns/{campaign.id}/")
    assert look(world, agent="refunds").links["refund-1"] == world.at(
        f"runs/{run.id}/?{urlencode({'back': 'agent=refunds'})}"
    )
    assert page.links["ann@example.com"] == world.at("subjects/?name=ann%40example.com")


NONSENSE = [
    {"tab": "nonsense"},
    {"tab": "\0"},
    {"kind": "\0run"},
    {"kind": "weird"},
    {"agent": "\0"},
    {"agent": "x" * 10_000},
    {"tool": "\U0001f600" * 300},
    {"subject": "a\0b"},
    {"q": "\0"},
    {"q": "x" * 10_000},
    {"q": "%00' or 1=1 --"},
    {"after": "x"},
    {"after": "1.2"},
    {"after": "-.-.-"},
    {"after": "-.0.00000000000000000000000000000000x"},
    {"after": f"{10**30}.0.{'0' * 32}"},
    {"after": f"-.{'9' * 150}.{'0' * 32}"},
    {"after": "\0"},
    {"made": "yesterday"},
    {"made": str(10**40)},
    {"unheard": "of"},
]


@pytest.mark.parametrize("asked", NONSENSE, ids=lambda asked: str(asked)[:40])
@pytest.mark.parametrize("path", ["", "live/"])
def test_nonsense_in_the_address_breaks_nothing(world: World, asked: dict[str, str], path: str) -> None:
    world.run("refund-1", said("hello"))

    page = look(world, path=path, **asked)

    assert page.status == 200
    if not path and asked.keys() - {"unheard"} and "or 1=1" not in str(asked):
        assert "Left out, because it could not be read:" in page


def test_a_place_in_the_list_that_has_moved_on_is_said_kindly(world: World) -> None:
    page = look(world, after=f"-.{2**50}.{'0' * 32}")

    assert "Nothing further" in page


def test_an_empty_queue_says_what_will_be_there(world: World) -> None:
    page = look(world)

    assert "Nothing waits for a decision" in page
    assert "See the history" in page.links


def test_text_of_others_is_shown_and_never_obeyed(world: World) -> None:
    world.run(
        "<script>alert(1)</script>\u202e",
        call("c1", "pay\u200b", to="<b>ann</b>"),
        agent="agent\u202e<i>",
        subject="\u2066bob<script>",
    )

    html = re.sub('value="[^"]*"', "", look(world).html)  # which has to come back as it is

    assert "<script>alert" not in html
    assert "<b>ann</b>" not in html
    assert "\u202e" not in html
    assert "\u200b" not in html
    assert "\u2066" not in html
    assert "right-to-left override" in html


def test_another_workspace_is_never_seen(world: World) -> None:
    other = World.create("Harbour")
    run = other.run("theirs", call("c1", "their_tool"), subject="their-customer", agent="their-agent")

    everything, found, live = look(world, tab="history"), look(world, q="heir"), look(world, path="live/")

    assert not everything.rows
    assert not found.rows
    assert "their" not in everything.html
    assert str(run.id) not in everything.html
    assert "History 0" in live


def queries(world: World, path: str) -> int:
    client = world.visit("support")
    client.get(world.at(path))
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get(world.at(path)).status_code == 200
    return len([query for query in captured if "SAVEPOINT" not in query["sql"]])


@pytest.mark.parametrize("path", ["?tab=history", "?tab=history&q=e", "live/"])
def test_a_page_asks_the_database_the_same_few_questions_however_long_it_is(world: World, path: str) -> None:
    world.run("refund-1", call("c1", "send_email", to="ann@example.com"))
    world.campaign()
    few = queries(world, path)
    for _ in range(20):
        world.run("", call("c1", "send_email", to="ann@example.com"), ended("failed", "broken"))
        world.campaign()

    assert queries(world, path) == few
    assert few <= 16


class TestLive:
    def test_it_tells_of_what_came_after_the_page_was_made_and_shows_no_row(self, world: World) -> None:
        world.run("before", said("hello"))
        page = world.visit("support").get(world.at())
        url = page.content.decode().split('hx-get="')[1].split('"')[0].replace("&amp;", "&")
        assert "new" not in Read(world.visit("support").get(url)).text
        world.run("after", said("hello"))

        live = Read(world.visit("support").get(url))

        assert "1 new — reload" in live
        assert "Needs a decision 2" in live
        assert not live.rows
        assert "after" not in live
        assert live.links["1 new — reload"] == world.at()

    def test_it_stays_with_the_tab_and_the_filters(self, world: World) -> None:
        world.run("refund-1", said("hello"), agent="refunds")
        live = look(world, path="live/", tab="decide", agent="bookings", made="0")
        assert "Needs a decision 0" in live
        assert "new" not in live
        assert look(world, path="live/", agent="refunds", made="0").links["1 new — reload"] == world.at(
            "?agent=refunds"
        )

    def test_somebody_who_is_signed_out_is_sent_to_sign_in_and_back_to_the_page(
        self, world: World, client
    ) -> None:  # type: ignore[no-untyped-def]
        response = client.get(
            world.at("live/"),
            headers={"HX-Request": "true", "HX-Current-URL": f"http://testserver{world.at('?tab=history')}"},
        )
        assert (
            response.headers["HX-Redirect"]
            == f"/accounts/login/?{urlencode({'next': world.at('?tab=history')})}"
        )
