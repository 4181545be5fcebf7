"""Every page in a real browser, wide and narrow, light and dark: readable, reachable, and still under its reader.

LOOKS=<folder> keeps a picture of each.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route, expect

from tests.templates.gallery import FRAGMENTS, PAGES, render

pytestmark = pytest.mark.browser
Look = Callable[..., Page]
TOUCHED = "button, summary, select, textarea, input:not([type=hidden]):not([type=checkbox]):not([type=radio])"
TARGETS = f"{TOUCHED}, a.button, .top a, .trail a, .tabs a, .applied a, label.tick"


def keep(page: Page, name: str) -> None:
    if folder := os.environ.get("LOOKS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def with_frames(page: Page) -> None:
    """Load the frames that are out of sight too: axe speaks to each, and one that is not loaded has no origin."""
    page.locator("iframe").evaluate_all("frames => frames.forEach(frame => { frame.loading = 'eager' })")
    page.wait_for_load_state("networkidle")


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
def test_a_page_is_accessible_and_never_wider_than_its_window(
    look: Look, name: str, width: int, scheme: str
) -> None:
    page = look(width, scheme)
    page.goto(f"/{name}")
    with_frames(page)
    keep(page, f"{name}-{width}-{scheme}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page, options={"resultTypes": ["violations"]})
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_other_two_of_four_are_accessible_on_the_fullest_pages(look: Look, scheme: str) -> None:
    page = look(1280 if scheme == "dark" else 375, scheme)
    for name in (
        "queue",
        "run-errors",
        "campaign-sending",
        "entry-campaign",
        "decided",
        "login-wrong",
        "setup",
    ):
        page.goto(f"/{name}")
        with_frames(page)
        keep(page, f"{name}-{page.viewport_size['width']}-{scheme}")  # type: ignore[index]
        assert Axe().run(page).violations_count == 0, name


@pytest.mark.parametrize(
    "name", ["queue-filtered", "run-errors", "run-queued", "campaign-sending", "log", "login", "setup-wrong"]
)
def test_a_finger_can_hit_every_control(look: Look, name: str) -> None:
    page = look(375)
    page.goto(f"/{name}")
    small = page.locator(TARGETS).evaluate_all(
        "all => all.filter(one => one.checkVisibility() && one.offsetHeight < 40).map(one => one.outerHTML)"
    )
    assert small == []


def test_the_keyboard_reaches_the_content_first_and_always_shows_where_it_is(look: Look) -> None:
    page = look()
    page.goto("/run")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the content")).to_be_focused()
    expect(page.get_by_text("Skip to the content")).to_be_in_viewport()
    for _ in range(12):
        page.keyboard.press("Tab")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_a_menu_closes_on_escape_and_gives_the_focus_back(look: Look) -> None:
    page = look()
    page.goto("/queue")
    page.get_by_text("Sam Okafor").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Sign out")).to_be_hidden()
    expect(page.locator(".me summary")).to_be_focused()


def test_a_double_click_sends_one_post(look: Look) -> None:
    page = look(noisy=True)
    posts: list[str] = []
    page.route("**/decide/", lambda route: posts.append(route.request.post_data or ""))
    page.goto("/run-clean")
    box = page.get_by_role("button", name="Start it again").bounding_box()
    assert box
    for _ in range(2):
        page.mouse.click(box["x"] + 20, box["y"] + 20)
        page.wait_for_timeout(200)  # the answer to the first is still on its way
    assert len(posts) == 1
    assert "shown=signed.token" in posts[0]


def test_a_forced_replay_is_not_sent_before_every_call_is_ticked_and_a_reason_given(look: Look) -> None:
    page = look(noisy=True)
    posts: list[str] = []
    page.on(
        "request", lambda request: posts.append(request.post_data or "") if request.method == "POST" else None
    )
    page.goto("/run")
    force = page.locator("#force")
    for box in force.get_by_role("checkbox").all():
        force.get_by_role("button").click()
        assert posts == []
        box.check()
    reason = force.get_by_label("Why should it start again?")
    reason.press_sequentially("too short")
    force.get_by_role("button").click()
    assert posts == []
    reason.press_sequentially(", no longer")
    with page.expect_request("**/decide/") as sent:
        force.get_by_role("button").click(no_wait_after=True)
    assert (sent.value.post_data or "").count("ack=") == 3


def test_the_queue_counts_up_but_its_rows_stay_where_they_are(look: Look) -> None:
    page = look()
    page.clock.install()
    page.goto("/queue-empty")
    expect(page.locator("#news")).to_have_count(0)
    page.clock.run_for(10_500)
    expect(page.locator("#news")).to_have_text("3 new — reload")
    expect(page.locator("#said")).to_have_text("3 new")
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    expect(page.locator("#trouble")).to_be_hidden()


@pytest.mark.parametrize("trouble", ["gone", "error", "signed out"])
def test_a_page_that_cannot_refresh_itself_says_so(look: Look, gallery: str, trouble: str) -> None:
    page = look(noisy=True)
    page.clock.install()

    def answer(route: Route) -> None:
        if trouble == "gone":
            route.abort()
        elif trouble == "error":
            route.fulfill(status=503, body="no")
        else:
            route.continue_(url=f"{gallery}/signed-out/")

    page.goto("/queue-empty")
    page.route("**/live/", answer)
    before = page.locator(".live").inner_html()
    page.clock.run_for(10_500)
    expect(page.locator("#trouble")).to_be_visible()
    assert page.locator(".live").inner_html() == before
    page.unroute("**/live/")
    page.clock.run_for(10_500)
    expect(page.locator("#trouble")).to_be_hidden()
    expect(page.locator("#news")).to_be_visible()


def test_the_reading_of_a_store_goes_on_while_somebody_fills_in_the_form(look: Look) -> None:
    page = look()
    page.clock.install()
    page.goto("/setup")
    page.get_by_label("Name").fill("half typed")
    further = render(*FRAGMENTS["setup-reading"]).replace("12,400", "99,000").replace("12400", "99000")
    page.route("**/live*", lambda route: route.fulfill(body=further, content_type="text/html; charset=utf-8"))
    page.clock.run_for(2_500)
    expect(page.get_by_text("99,000 of 100,000 sessions read").first).to_be_visible()
    expect(page.get_by_role("progressbar").first).to_have_attribute("value", "99000")
    expect(page.locator("#said")).to_have_text("First read")
    expect(page.get_by_label("Name")).to_have_value("half typed")
    expect(page.locator("#trouble")).to_be_hidden()


def test_the_form_that_takes_back_goes_away_once_it_is_too_late(look: Look) -> None:
    page = look()
    page.clock.install()
    page.goto("/run-queued")
    expect(page.get_by_role("button", name="Take it back")).to_be_visible()
    done = render(*PAGES["run-doubt"])
    fragment = done[done.index('<div class="job"') :].partition("</aside>")[0].partition("<form")[0]
    page.route(
        "**/jobs/1/", lambda route: route.fulfill(body=fragment, content_type="text/html; charset=utf-8")
    )
    page.clock.run_for(3_500)
    expect(page.locator(".job")).to_contain_text("Nobody knows whether the runtime started it.")
    expect(page.locator("#said")).to_have_text("In doubt: Nobody knows whether the runtime started it.")
    expect(page.get_by_role("button", name="Take it back")).to_be_hidden()


def test_what_somebody_decided_last_covers_neither_the_desk_nor_its_answers(look: Look) -> None:
    page = look(1280, "light")
    page.goto("/campaign-sending")
    bottom = "element => element.getBoundingClientRect().bottom"
    bar = page.locator(".mine").evaluate("element => element.getBoundingClientRect().top")
    page.evaluate("scrollTo(0, 500)")
    assert page.locator(".desk").evaluate(bottom) < bar
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    assert page.locator("main > :last-child").evaluate(bottom) < bar


def test_choosing_another_recipient_shows_their_message_in_place(look: Look) -> None:
    page = look()
    page.goto("/campaign")
    with page.expect_request(lambda request: "to=b" in request.url and "hx-request" in request.headers):
        page.get_by_label("As it reaches").select_option("b")
    expect(page).to_have_url(re.compile(r"/w/northwind/campaigns/1/\?back=agent%3Doutreach&to=b$"))
    expect(page.get_by_role("heading", name="Who gets it")).to_be_visible()
    expect(page.get_by_text("Dear Anna").first).to_be_visible()


def test_without_javascript_every_part_is_there(look: Look) -> None:
    page = look(javascript=False)
    page.goto("/run-errors")
    page.locator(".me summary").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    expect(page.locator("#force").get_by_role("button")).to_be_enabled()
    expect(page.get_by_role("button", name="Dismiss it")).to_be_visible()
