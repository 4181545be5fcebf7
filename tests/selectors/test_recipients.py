"""Everybody in the list of a campaign, with what became of them (H01: a reason for everyone who got nothing)."""

import csv
import io

import pytest

from approvals.models import Version
from approvals.selectors.recipients import COLUMNS, SHOWS, Of, Wanted, csv_lines, page_of
from tests.world import World

PEOPLE = ["ann@example.com", "no address", "bob@example.com", "cem@example.com"]


def of(world, campaign):
    version = world.read(lambda: Version.objects.get(campaign_id=campaign.id))
    return Of(campaign.id, version.id, campaign.agent)


def listed(world, campaign, show="", text="", *, after=0, size=50, fields=()):
    rows, more = world.read(
        lambda: page_of(of(world, campaign), Wanted(show, text, fields), after=after, size=size)
    )
    return rows, more


def addresses(world, campaign, show="", text="", **more):
    return [row.address or row.given for row in listed(world, campaign, show, text, **more)[0]]


def exported(world, campaign, **wanted):
    text = "".join(csv_lines(world.workspace.id, of(world, campaign), Wanted(**wanted)))
    assert text.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(text[1:])))


@pytest.fixture
def finished(world):
    campaign = world.campaign(recipients=PEOPLE)
    world.approved(campaign)
    world.sent(campaign, "sent", "failed", "in_doubt")
    return campaign


def test_everybody_of_the_list_stands_in_it_in_its_order(world, finished):
    rows, more = listed(world, finished)
    assert [row.position for row in rows] == [1, 2, 3, 4] and not more
    assert [row.state for row in rows] == ["sent", "refused", "failed", "in_doubt"]


def test_everyone_who_got_nothing_has_a_reason_and_everyone_else_the_servers_answer(world, finished):
    rows, _ = listed(world, finished)
    sent, refused, failed, _ = rows
    assert sent.answer == "250 kept" and sent.at and sent.message_id
    assert failed.answer == "550 no such box"
    assert refused.reason and not refused.delivery_id and not refused.at


@pytest.mark.parametrize(
    ("show", "expected"),
    [
        ("sent", ["ann@example.com"]),
        ("failed", ["bob@example.com"]),
        ("in_doubt", ["cem@example.com"]),
        ("refused", ["no address"]),
        ("duplicate", []),
        ("planned", []),
        ("contacted", []),
    ],
)
def test_each_state_can_be_listed_alone(world, finished, show, expected):
    assert addresses(world, finished, show) == expected
    assert [row["address"] or row["given"] for row in exported(world, finished, show=show)] == expected


def test_the_states_add_up_to_the_list(world, finished):
    each = [name for name in SHOWS if name not in ("lacking", "linked", "contacted")]
    assert sum(len(addresses(world, finished, show)) for show in each) == len(PEOPLE)


def test_those_without_a_value_are_listed(world):
    """F05: the rows in which a merge field stays empty."""
    campaign = world.campaign(recipients=PEOPLE)
    assert addresses(world, campaign, "lacking", fields=["name"]) == []
    assert len(addresses(world, campaign, "lacking", fields=["name", "seat"])) == 3


def test_those_who_were_written_to_before_are_listed(world, finished):
    again = world.campaign(recipients=["dan@example.com", *PEOPLE])
    assert addresses(world, again, "contacted") == ["ann@example.com", "cem@example.com"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("BOB", ["bob@example.com"]),
        ("@example", ["ann@example.com", "bob@example.com", "cem@example.com"]),
        ("no add", ["no address"]),
        ("%", []),
        ("_", []),
        ("\\", []),
        ("'; drop table x; --", []),
    ],
)
def test_a_part_of_an_address_is_looked_for_and_stands_for_itself(world, finished, text, expected):
    assert addresses(world, finished, text=text) == expected


def test_pages_follow_each_other_without_a_gap(world, finished):
    seen, after = [], 0
    while True:
        rows, more = listed(world, finished, after=after, size=1)
        seen += [row.position for row in rows]
        after = rows[-1].position
        if not more:
            break
    assert seen == [1, 2, 3, 4]


def test_the_export_is_the_list_and_no_cell_of_it_is_a_formula(world):
    """H01 and the formula cells of the bad input."""
    names = ["=cmd|'/c calc'!A1", "+1@example.com", "ann@example.com", "@sum(a1)", "a;=1+1"]
    campaign = world.campaign(recipients=names)
    rows = exported(world, campaign)
    assert list(rows[0]) == list(COLUMNS) and len(rows) == len(names)
    assert [row["given"] for row in rows] == [
        "'=cmd|'/c calc'!A1", "'+1@example.com", "ann@example.com", "'@sum(a1)", "a;'=1+1",
    ]  # fmt: skip


def test_an_export_of_many_comes_in_batches_and_whole(world, monkeypatch):
    monkeypatch.setattr("approvals.selectors.recipients.BATCH", 7)
    people = [f"guest{number}@example.com" for number in range(23)]
    campaign = world.campaign(recipients=people)
    assert [row["address"] for row in exported(world, campaign)] == people
    pieces = list(csv_lines(world.workspace.id, of(world, campaign), Wanted()))
    assert len(pieces) == 4


def test_another_campaign_and_another_workspace_stay_out(world, finished):
    world.campaign(recipients=["eve@example.com"])
    assert "eve@example.com" not in addresses(world, finished)
    theirs = World.create("Southwind")
    asked = of(theirs, theirs.campaign(recipients=["eve@example.com"]))
    assert world.read(lambda: page_of(asked, Wanted(), size=50)) == ([], False)
