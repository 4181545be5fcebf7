"""The small world that the tests of the pages live in."""

from pathlib import Path
from typing import Any

import pytest

from tests.world import World


@pytest.fixture
def world(db: None) -> World:
    """A workspace with a member for each role."""
    return World.create()


@pytest.fixture
def files(settings: Any, tmp_path: Path) -> Path:
    """A folder of the test's own, in which everything that is uploaded ends."""
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    return tmp_path
