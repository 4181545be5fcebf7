"""A home for servers of one test, apart from the session's."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard.embedded.home import Home
from dashboard.embedded.processes import Processes
from tests.up import reachable_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody can enter."""
    with reachable_folder() as folder:
        yield folder


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
