"""A campaign from its list to the last message, in a browser: a list with faults, a stop half way, another version."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_demo import caught, eventually, sign_in, up
from tests.up import Up

pytestmark = [pytest.mark.browser, pytest.mark.real]
__all__ = ["sign_in", "up"]

NAME = "Departures of the winter schedule"
SENDER = "hello@northwind.example.com"
GOOD = 9_990
FAULTS = [
    "GUEST1@example.com,Again,09:40",  # the first one in another spelling
    "guest2@example.com,Again,09:40",
    "nobody,No address,09:40",
    "a@localhost,No domain,09:40",
    '"x@example.com, y@example.com",Two in one cell,09:40',
    "{{name}}@example.com,A merge field,09:40",
    ",Nothing,09:40",
    f"{'l' * 65}@example.com,Too long,09:40",
    "b@example..com,Two dots,09:40",
    "c d@example.com,A space,09:40",
]
A_MINUTE = 60_000  # messages: about ten seconds for all of them, so that somebody can stop half way


@pytest.fixture
def the_list(tmp_path: Path) -> Path:
    rows = [f'guest{n}@example.com,"Guest\n{n}",09:40' for n in range(1, GOOD + 1)]
    file = tmp_path / "winter.csv"
    file.write_bytes(("\ufeffemail,name,time\r\n" + "\r\n".join([*rows, *FAULTS]) + "\r\n").encode())
    return file


def choose(page: Page, label: str, option: str) -> None:
    choices = page.get_by_label(label).locator("option").all_inner_texts()
    page.get_by_label(label).select_option(label=next(text for text in choices if text.startswith(option)))


def test_uploaded_reviewed_taken_back_stopped_half_way_and_the_rest_sent_as_another_version(
    up: Up, sign_in: Callable[[str], Page], the_list: Path
) -> None:
    admin, support, reviewer = sign_in("admin"), sign_in("support"), sign_in("reviewer")
    admin.goto("/w/demo/setup/")
    admin.get_by_label("Messages a minute at most").fill(str(A_MINUTE))
    admin.get_by_role("button", name="Store how it sends").click()

    propose(support, the_list)
    campaign = support.url.partition("?")[0]
    reviewer.goto(campaign)
    expect(reviewer.get_by_text(f"{GOOD:,}").first).to_be_visible()
    approve(reviewer)
    reviewer.get_by_role("button", name="Take the approval back").click()
    expect(reviewer.get_by_role("button", name=re.compile("^Approve for"))).to_be_visible()
    approve(reviewer)

    eventually(lambda: caught(up, SENDER).total() > GOOD // 4, "a quarter is sent")
    reviewer.goto(campaign)
    reviewer.locator("#stop-reason").fill("The departure times have changed once more.")
    reviewer.get_by_role("button", name="Stop").click()
    expect(reviewer.get_by_text("Stopped").first).to_be_visible()
    settled(reviewer, campaign)
    first = caught(up, SENDER)
    assert 0 < len(first) < GOOD, "it was stopped on its way"

    another_version(support, campaign)
    reviewer.goto(campaign)
    expect(reviewer.get_by_text("Version 2").first).to_be_visible()
    approve(reviewer)
    eventually(lambda: len(caught(up, SENDER)) == GOOD, "everybody has it", seconds=120)
    settled(reviewer, campaign)
    copies = Counter(caught(up, SENDER).values())
    assert copies == {1: GOOD}, "each exactly once"

    trace(reviewer, next(address for address in first), "1")
    trace(reviewer, next(address for address in caught(up, SENDER) if address not in first), "2")


def propose(page: Page, the_list: Path) -> None:
    """Upload the list, wait for it, write to it."""
    page.goto("/")
    page.get_by_role("link", name="New campaign").click()
    page.get_by_label("CSV file").set_input_files(the_list)
    page.get_by_role("button", name="Import the list").click()
    write = page.get_by_role("link", name=re.compile("Write to this list"))
    expect(write.first).to_be_visible(timeout=120_000)  # the page looks for itself how far it is
    for counted in (f"{GOOD:,}", "duplicate", "refused"):
        expect(page.get_by_text(counted).first).to_be_visible()
    write.first.click()
    page.get_by_label("Name of the campaign").fill(NAME)
    choose(page, "Who gets it", "Everybody on the list")
    page.get_by_label("From").fill(f"Northwind <{SENDER}>")
    page.get_by_label("Subject").fill("Your departure moved")
    page.get_by_label("Text", exact=True).fill("Dear guest,\n\nyou leave at {{ time }}.\n")
    page.get_by_role("button", name=re.compile("^Propose")).click()
    expect(page.get_by_role("heading", name=NAME)).to_be_visible()


def approve(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^Approve for [0-9]")).click()
    expect(page.get_by_role("button", name="Take the approval back")).to_be_visible()


def another_version(page: Page, campaign: str) -> None:
    """Other words, for whoever got nothing yet."""
    page.goto(campaign)
    page.get_by_role("link", name="New version").first.click()
    choose(page, "Who gets it", "Whoever got nothing yet")
    page.get_by_label("Text", exact=True).fill("Dear guest,\n\nyou leave at {{ time }}, from platform 2.\n")
    page.get_by_role("button", name=re.compile("^Propose")).click()
    expect(page.get_by_text("Version 2").first).to_be_visible()


def settled(page: Page, campaign: str) -> None:
    """Nothing of it is under way any more."""

    def rests() -> bool:
        page.goto(f"{campaign}recipients?show=attempting")
        return page.locator("tbody tr").count() == 0

    eventually(rests, "nothing is under way")


def trace(page: Page, address: str, version: str) -> None:
    """From an address to the decision that let the message go."""
    page.goto("/w/demo/authority")
    page.get_by_label("Message-ID, address, delivery, run or call").fill(address)
    page.get_by_role("button", name="Look it up").click()
    state = page.locator(".risk", has_text=re.compile(r"^\s*Sent\s*$"))
    sent = page.locator("li.row").filter(has=state)  # what another version was to send is a row of its own
    expect(sent).to_have_count(1)
    expect(sent).to_contain_text("Robin Reviewer")
    sent.get_by_role("link", name=address).click()
    expect(page.get_by_role("heading", name=re.compile("Departures"))).to_be_visible()
    assert (f"/versions/{version}/" in page.url) == (version == "1"), "an older version has a page of its own"
