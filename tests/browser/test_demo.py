"""What the README promises: `up`, a forced replay, an approved campaign, every message once, both in the log."""

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.up import Up

pytestmark = [pytest.mark.browser, pytest.mark.real]

DEAD = "refund-4711"
CAMPAIGN = "Autumn newsletter of the kitchen club"


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    data = tmp_path_factory.mktemp("demo") / "data"
    running = Up(data, "--port", "0")
    try:
        running.wait_for_pages()
        yield running
    finally:
        running.stop()


@pytest.fixture
def sign_in(up: Up, chromium: Browser) -> Iterator[Callable[[str], Page]]:
    """sign_in("support") -> a page of the demo workspace, as this member."""
    contexts = []

    def signed_in(role: str) -> Page:
        email = f"{role}@example.com"
        password = re.search(rf"{email}\s+(\S+)", up.said)[1]
        context = chromium.new_context(base_url=up.wait_for_pages())
        contexts.append(context)
        page = context.new_page()
        page.goto("/")
        page.get_by_label("Email").fill(email)
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("navigation", name="Queue")).to_be_visible()
        return page

    yield signed_in
    for context in contexts:
        context.close()


def eventually(holds: Callable[[], bool], what: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.2)


def open_from_queue(page: Page, title: str) -> None:
    """Wait until the item waits for a decision, and open it."""

    def waits() -> bool:
        page.goto("/")
        return page.get_by_role("link", name=title).count() > 0

    eventually(waits, f"{title} waits for a decision")
    page.get_by_role("link", name=title).first.click()


def caught(up: Up, sender: str) -> Counter[str]:
    """How many messages of this sender each recipient got."""
    envelopes = [json.loads(file.read_text()) for file in Path(up.data / "mail").rglob("*.json")]
    ours = [envelope for envelope in envelopes if envelope["sender"] == sender]
    return Counter(address for envelope in ours for address in envelope["recipients"])


def test_support_forces_the_dead_run_and_it_really_runs_again(up: Up, sign_in: Callable[[str], Page]) -> None:
    page = sign_in("support")
    open_from_queue(page, DEAD)
    expect(page.get_by_text("send_email").first).to_be_visible()
    for tick in page.locator("#force input[type=checkbox]").all():
        tick.check()
    page.locator("#force-reason").fill("Mara did not get her confirmation, and the mail log shows nothing.")
    page.get_by_role("button", name="Force the replay").click()
    expect(page.get_by_role("status").first).to_contain_text("ueued")
    expect(page.locator('.job[data-say^="Done"]')).to_be_visible(timeout=60_000)
    # The lost run's mail, and the replay's: what the form warned of.
    assert caught(up, "refunds@shop.example")["mara.lindqvist@mail.example"] == 2


def test_the_reviewer_approves_the_campaign_and_everybody_gets_it_once(
    up: Up, sign_in: Callable[[str], Page]
) -> None:
    page = sign_in("reviewer")
    open_from_queue(page, CAMPAIGN)
    page.get_by_role("button", name=re.compile("Approve")).click()
    eventually(lambda: caught(up, "news@shop.example").total() >= 37, "37 messages were caught")
    time.sleep(2)
    got = caught(up, "news@shop.example")
    assert got.total() == 37
    assert set(got.values()) == {1}
    expect(page.locator("body")).to_contain_text("37")


def test_both_decisions_are_in_the_log_with_what_was_seen(sign_in: Callable[[str], Page]) -> None:
    page = sign_in("manager")
    page.get_by_role("link", name="Decisions").first.click()
    expect(page.locator("main")).to_contain_text("Sam Support")
    expect(page.locator("main")).to_contain_text("Robin Reviewer")
    page.locator("main").get_by_role("link", name=re.compile("Forced replay")).first.click()
    expect(page.locator("main")).to_contain_text("send_email")
    expect(page.locator("main")).to_contain_text("Mara did not get her confirmation")
