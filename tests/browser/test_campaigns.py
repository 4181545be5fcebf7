"""The campaign page in a browser: what is typed stays, and what moves is followed."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from approvals.models import Job
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


@pytest.mark.parametrize("javascript", [True, False])
def test_a_time_is_explained_before_it_is_approved(world: World, visit: Visit, javascript: bool) -> None:
    campaign = world.campaign()
    page = visit(javascript)
    page.goto(world.at(f"campaigns/{campaign.id}/"))
    page.locator("#return-comment").fill("I am still typing this")
    page.get_by_text("Approve for a later time").click()
    day = datetime.now(UTC) + timedelta(days=3)
    page.locator("#later-date").fill(f"{day:%Y-%m-%d}")
    page.locator("#later-time").fill("09:00")
    page.locator("#later-zone").fill("Asia/Kathmandu")

    page.get_by_role("button", name="Say what that means").click()

    expect(page.locator(".meant")).to_contain_text("09:00 (Kathmandu, UTC+5:45) is 03:15 UTC, in ")
    if javascript:
        expect(page.locator("#return-comment")).to_have_value("I am still typing this")
    page.get_by_role("button", name=re.compile("Approve for .*Kathmandu")).click()
    expect(page.locator(".job")).to_contain_text("09:00 (Kathmandu, UTC+5:45), in 2 days")
    expect(page.get_by_role("button", name="Take the approval back")).to_be_visible()
    job = world.read(Job.objects.get)
    assert (job.status, f"{job.due_at:%d %H:%M}") == ("held", f"{day:%d} 03:15")
