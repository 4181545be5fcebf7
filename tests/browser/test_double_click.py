"""A double click on Approve, with and without scripts: one decision, one job, and a page that says so."""

import re

import pytest
from playwright.sync_api import expect

from approvals.models import Campaign, Decision, Job
from tests.browser.conftest import Visit
from tests.world import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("javascript", [True, False], ids=["with scripts", "without scripts"])
def test_a_double_click_on_approve_is_one_decision(world: World, visit: Visit, javascript: bool) -> None:
    campaign = world.campaign()
    page = visit(javascript)
    posts: list[str] = []
    page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
    page.goto(world.at(f"campaigns/{campaign.id}/"))

    page.get_by_role("button", name="Approve for 2 people").dblclick()

    expect(page.locator("#messages")).to_contain_text("pprove")
    expect(page).to_have_url(re.compile(f"{campaign.id}/$"))
    expect(page.locator("#state")).to_contain_text("Approved, not started")
    assert 1 <= len(posts) <= (1 if javascript else 2)
    assert world.read(lambda: list(Decision.objects.filter(kind="approve").values_list("target_id"))) == [
        (campaign.id,)
    ]
    assert world.read(Job.objects.count) == 1
    assert world.read(lambda: Campaign.objects.get(id=campaign.id).status) == "approved"


def test_a_second_window_of_the_same_person_is_told_that_nothing_happened_twice(
    world: World, visit: Visit
) -> None:
    campaign = world.campaign()
    windows = [visit(True), visit(False)]
    for window in windows:
        window.goto(world.at(f"campaigns/{campaign.id}/"))
    for window, said in zip(windows, ("Approved. Sending is queued", "Nothing happened twice."), strict=True):
        window.get_by_role("button", name="Approve for 2 people").click()
        expect(window.locator("#messages")).to_contain_text(said)
    assert world.read(Job.objects.count) == 1
