"""A home for servers of one test, apart from the session's."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard.embedded.home import Home
from dashboard.embedded.processes import Processes


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="secondlook-embedded-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def home(folder: Path) -> Home:
    return Home.open(folder / "data")


@pytest.fixture
def processes(home: Home) -> Iterator[Processes]:
    """Children that do not outlive the test."""
    logs = home.data / "log"
    logs.mkdir()
    processes = Processes(logs)
    yield processes
    processes.stop_all()
