"""Saying who gets a campaign, in a browser: one thing after the other, and all at once where nothing can be asked."""

import pytest
from playwright.sync_api import Page, expect

from approvals.models import Campaign
from tests.browser.conftest import Visit
from tests.views.conftest import files
from tests.views.of_proposals import TYPED, a_list, addresses, the_campaign, to_list, versions
from tests.world import World

__all__ = ["files"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("files")]


@pytest.fixture
def campaign(world: World) -> Campaign:
    """One to the whole list that somebody of support proposed."""
    to_list(world, a_list(world))
    return the_campaign(world)


def test_what_is_asked_follows_what_was_chosen(world: World, visit: Visit, campaign: Campaign) -> None:
    page = visit(True)
    page.goto(world.at(f"campaigns/{campaign.id}/new-version"))
    dataset, column, value = (page.locator(f"#id_{name}") for name in ("dataset", "column", "value"))
    for field in (dataset, column, value):
        expect(field).to_have_count(0)
    page.get_by_label("Text", exact=True).fill("Other words.")

    page.get_by_label("Who gets it").select_option("some")
    expect(dataset).to_be_visible()
    expect(column).to_have_count(0)
    dataset.select_option(index=1)
    expect(column).to_be_visible()
    assert offered(page, "column") == ["first_name", "city"]
    column.fill("city")
    column.press("Tab")
    expect(page.get_by_text("This column holds Bergen and Oslo.")).to_be_visible()
    expect(value).to_be_focused()
    assert offered(page, "value") == ["Bergen", "Oslo"]
    value.fill("Bergen")

    expect(page.get_by_label("Text", exact=True)).to_have_value("Other words.")
    page.get_by_role("button", name="Propose version 2").click()
    expect(page.locator("#messages")).to_contain_text("Version 2 is proposed, to 1 person.")
    assert addresses(world, versions(world)[-1]) == ["bob@example.com"]


def test_it_can_be_taken_back_to_whoever_got_nothing_yet(
    world: World, visit: Visit, campaign: Campaign
) -> None:
    page = visit(True)
    page.goto(world.at(f"campaigns/{campaign.id}/new-version"))
    page.get_by_label("Who gets it").select_option("some")
    page.locator("#id_dataset").select_option(index=1)
    page.get_by_label("Who gets it").select_option("rest")
    expect(page.locator("#id_dataset")).to_have_count(0)
    page.get_by_label("Text", exact=True).fill("Other words.")
    page.get_by_role("button", name="Propose version 2").click()
    expect(page.locator("#messages")).to_contain_text("Version 2 is proposed, to 2 people.")


def test_without_javascript_everything_is_asked_at_once(
    world: World, visit: Visit, campaign: Campaign
) -> None:
    page = visit(False)
    page.goto(world.at(f"campaigns/{campaign.id}/new-version"))
    page.get_by_label("Who gets it").select_option("some")
    page.locator("#id_dataset").select_option(index=1)
    page.locator("#id_column").fill("city")
    page.locator("#id_value").fill("Oslo")
    page.get_by_label("Text", exact=True).fill(TYPED["text"])
    page.get_by_role("button", name="Propose version 2").click()
    expect(page.locator("#messages")).to_contain_text("Version 2 is proposed, to 1 person.")
    assert addresses(world, versions(world)[-1]) == ["ann@example.com"]


def test_an_id_is_copied_with_one_click(world: World, visit: Visit) -> None:
    campaign = world.campaign()
    page = visit(True)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(world.at(f"campaigns/{campaign.id}/"))
    page.get_by_role("button", name="Copy Campaign id").click()
    expect(page.locator("#said")).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()") == str(campaign.id)


def test_without_javascript_an_id_has_no_button_that_does_nothing(world: World, visit: Visit) -> None:
    page = visit(False)
    page.goto(world.at(f"campaigns/{world.campaign().id}/"))
    expect(page.locator("dt", has_text="Campaign id")).to_be_visible()
    expect(page.locator("[data-copy]").first).to_be_hidden()


def offered(page: Page, name: str) -> list[str]:
    """What a field suggests."""
    options = page.locator(f"#suggested-{name} option")
    return [option.get_attribute("value") or "" for option in options.all()]
