"""The real browser of the tests: Debian's Chromium, or the one that Playwright brings."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserType, Error, sync_playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser for the module; the tests are skipped where there is none."""
    with sync_playwright() as playwright:
        browser = _launch(playwright.chromium)
        yield browser
        browser.close()


def _launch(kind: BrowserType) -> Browser:
    try:
        return kind.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-browser"), args=FLAGS
        )
    except Error:
        pytest.skip("There is no Chromium here: install Debian's package chromium to run the browser tests.")
