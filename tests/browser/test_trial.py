"""Sending oneself a test in a browser: a double click is one, and what becomes of it is seen without reloading."""

import pytest
from playwright.sync_api import expect

from approvals.db.binding import bind
from approvals.models import Job
from approvals.services import jobs, trials
from tests.browser.conftest import Visit
from tests.world import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
BUTTON = "Send a test to myself"


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_a_double_click_is_one_test_of_the_message_that_is_shown(
    world: World, visit: Visit, scripts: bool
) -> None:
    campaign = world.campaign()
    page = visit(scripts)
    page.goto(world.at(f"campaigns/{campaign.id}/"))
    page.locator("#to").select_option("bob@example.com")
    if not scripts:
        page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator(".trial")).to_contain_text("as bob@example.com gets it")

    page.get_by_role("button", name=BUTTON).dblclick()

    expect(page.locator("#messages")).to_contain_text("test")
    expect(page.locator(".tested")).to_contain_text("as bob@example.com gets it")
    expect(page.locator(".headers")).to_contain_text("bob@example.com")
    job = world.read(Job.objects.get)

    with bind(world.workspace.id):
        held = jobs.claim(job_id=job.id, task_id="t")
        assert held is not None and trials.state_intent(held=held)
        trials.settle(held=held, status="in_doubt", sentence="It may have arrived; look in your mailbox.")
    if not scripts:
        page.reload()
    expect(page.locator(".tested")).to_contain_text("look in your mailbox")
    expect(page.get_by_role("button", name=BUTTON)).to_be_enabled()
