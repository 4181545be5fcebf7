"""Many people at once: real threads, each with its own connection to the test's database."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connections

from tests import shared
from tests.shared import as_superuser, database
from tests.world import World

__all__ = ["as_superuser", "database"]


@pytest.fixture
def world(database: str) -> Iterator[World]:
    """A workspace of its own in the module's database: what is written here is really committed."""
    del database
    yield World.create(f"desk{shared.slug().rpartition('-')[2]}x")


@pytest.fixture
def at_once() -> Callable[[Sequence[Callable[[], Any]]], list[Any]]:
    """Run these at the same moment; what each returned, or the exception that it raised."""

    def run(acts: Sequence[Callable[[], Any]]) -> list[Any]:
        gate = Barrier(len(acts), timeout=60)

        def one(act: Callable[[], Any]) -> Any:
            try:
                connections["default"].ensure_connection()
                gate.wait()
                return act()
            except Exception as error:
                return error
            finally:
                connections.close_all()

        with ThreadPoolExecutor(len(acts)) as pool:
            return list(pool.map(one, acts))

    return run
