"""The list of everybody in a campaign: to look through, to search, to keep (H01)."""

import csv
import io
from uuid import uuid4

import pytest

from tests.views.of_campaign_pages import deliveries
from tests.views.reading import Read
from tests.world import World

PEOPLE = ["ann@example.com", "=cmd|'/c calc'!A1", "bob@example.com"]


@pytest.fixture
def finished(world):
    campaign = world.campaign(recipients=PEOPLE)
    world.approved(campaign)
    world.sent(campaign, "sent", "failed")
    return campaign


def look(world, campaign, role="reviewer", **asked):
    return Read(world.visit(role).get(world.at(f"campaigns/{campaign.id}/recipients"), asked))


def export(world, campaign, role="reviewer", **asked):
    return world.visit(role).get(world.at(f"campaigns/{campaign.id}/recipients.csv"), asked)


def test_each_recipient_stands_with_state_answer_and_reason(world, finished):
    read = look(world, finished)
    for words in (
        "ann@example.com",
        "Sent",
        "250 kept",
        "Failed",
        "550 no such box",
        "Cannot be addressed",
        "row 2",
    ):
        assert words in read


def test_from_a_row_it_goes_to_the_message_and_to_who_allowed_it(world, finished):
    ann, _ = deliveries(world, finished)
    read = look(world, finished)
    assert read.links["ann@example.com – see the message"].endswith(f"?to={ann.id}")
    assert read.links["Who allowed this? ann@example.com"].endswith(f"authority?q={ann.id}")


def test_the_filter_stays_in_the_address_of_the_next_page_and_of_the_export(world, finished, monkeypatch):
    monkeypatch.setattr("dashboard.views.recipients.SIZE", 1)
    read = look(world, finished, q="@example")
    assert "ann@example.com" in read and "bob@example.com" not in read.text
    assert "q=%40example" in read.links["More →"]
    more = Read(world.visit("reviewer").get(read.links["More →"]))
    assert "bob@example.com" in more and "⇤ Back to the first page" in more.links
    assert (
        "after" not in more.links["Export these as CSV"]
        and "q=%40example" in more.links["Export these as CSV"]
    )


def test_nobody_found_is_said_kindly(world, finished):
    read = look(world, finished, q="nobody")
    assert "Nobody like that" in read and "Show everybody" in read.links


@pytest.mark.parametrize(
    "asked",
    [{"show": "x"}, {"after": "-1"}, {"after": "9" * 40}, {"q": "\0"}, {"q": "x" * 999}, {"show": "\ud800"}],
)
def test_nonsense_in_the_address_breaks_nothing(world, finished, asked):
    path = world.at(f"campaigns/{finished.id}/recipients")
    for address in (path, f"{path}.csv"):
        answered = world.visit("reviewer").get(
            address, {k: v.encode("utf-8", "surrogatepass") for k, v in asked.items()}
        )
        assert answered.status_code == 200


def test_the_export_holds_everyone_and_no_formula(world, finished):
    answered = export(world, finished)
    assert (
        answered["Content-Type"] == "text/csv; charset=utf-8"
        and "attachment" in answered["Content-Disposition"]
    )
    rows = list(csv.DictReader(io.StringIO(b"".join(answered.streaming_content).decode("utf-8-sig"))))
    assert [row["state"] for row in rows] == ["sent", "refused", "failed"]
    assert rows[1]["given"].startswith("'=") and rows[1]["reason"]
    assert rows[2]["answer"] == "550 no such box" and rows[2]["at"].endswith("Z")


def test_a_list_of_another_workspace_is_not_there(world, finished):
    theirs = World.create("Southwind").campaign()
    for id in (theirs.id, uuid4()):
        for end in ("", ".csv"):
            assert world.visit("reviewer").get(world.at(f"campaigns/{id}/recipients{end}")).status_code == 404
