"""The browser for these tests, and a small world that it can visit."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from tests.browsers import chromium
from tests.world import World

__all__ = ["chromium"]

Visit = Callable[[bool], Page]


@pytest.fixture
def world(transactional_db: None) -> World:
    return World.create()


@pytest.fixture
def visit(world: World, live_server: LiveServer, chromium: Browser) -> Iterator[Visit]:
    """visit(with scripts) -> a page on which the reviewer is signed in."""
    contexts = []
    session = world.visit("reviewer").cookies["sessionid"].value

    def opened(javascript: bool) -> Page:
        context = chromium.new_context(base_url=live_server.url, java_script_enabled=javascript)
        contexts.append(context)
        context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        return context.new_page()

    yield opened
    for context in contexts:
        context.close()
