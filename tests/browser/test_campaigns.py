"""The campaign page in a browser: what is typed stays, and what moves is followed."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.world import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_another_recipient_is_chosen_without_leaving_the_page_and_the_way_back_leads_back(
    world: World, visit: Visit
) -> None:
    campaign = world.campaign()
    page = visit(True)
    page.goto(world.at(f"campaigns/{campaign.id}/"))
    page.locator("#return-comment").fill("I am still typing this")

    page.locator("#to").select_option("bob@example.com")

    expect(page.locator(".headers")).to_contain_text("bob@example.com")
    expect(page.locator("#return-comment")).to_have_value("I am still typing this")
    assert "?to=" in page.url
    page.get_by_label("Previous recipient").click()
    expect(page.locator(".headers")).to_contain_text("ann@example.com")
    expect(page.locator("#return-comment")).to_have_value("I am still typing this")
    page.go_back()
    expect(page.locator(".headers")).to_contain_text("bob@example.com")
    expect(page.get_by_role("heading", level=1)).to_have_text("Winter schedule")


def test_the_page_follows_the_sending_until_its_end(world: World, visit: Visit) -> None:
    campaign = world.campaign()
    page = visit(True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/live") else None)
    page.goto(world.at(f"campaigns/{campaign.id}/"))
    page.get_by_role("button", name="Approve for 2 people").click()
    expect(page.get_by_role("button", name="Take the approval back")).to_be_visible()
    expect(page.get_by_role("button", name="Stop sending")).to_be_hidden()

    world.sent(campaign, "sent", "failed")

    expect(page.locator("#state")).to_have_text("Finished with problems", timeout=10_000)
    expect(page.locator(".job")).to_contain_text("1 of 2 sent, 1 failed.")
    expect(page.get_by_role("button", name="Take the approval back")).to_be_hidden()
    seen = len(asked)
    page.wait_for_timeout(4_000)
    assert len(asked) == seen, "what has ended is asked for no more"
    page.get_by_role("link", name="Reload the page to settle them.").click()
    expect(page.get_by_role("heading", name="1 failed delivery")).to_be_visible()
