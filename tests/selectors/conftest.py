"""The small world that the tests of the selectors live in."""

import pytest

from tests.world import World


@pytest.fixture
def world(db: None) -> World:
    """A workspace with a member for each role."""
    return World.create()
