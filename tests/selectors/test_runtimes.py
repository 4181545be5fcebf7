"""The runtimes of a workspace: how the reading of each store stands, and which cannot be read for long."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db.models.functions import Now

from approvals.db.binding import bind
from approvals.models import Observation
from approvals.selectors import runtimes
from approvals.selectors.runtimes import RuntimeRow
from approvals.services import setup
from tests.house import OPERATOR
from tests.world import World

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def row(created_s: float = 3600, **read: Any) -> RuntimeRow:
    """A runtime that was added an hour ago, and how its store was read."""
    return RuntimeRow(
        id=UUID(int=1), name="desk", kind="adk", base_url="http://a.example", silence_s=300, writes_ahead=False,
        hides_calls=False, callback_url="", created_at=ago(created_s),
        observed=runtimes.Observed(**{"facts": {}, **read}),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("state", "what"),
    [
        ("waiting", row(created_s=5)),
        ("not_looked", row(created_s=61)),
        ("first_read", row(read_at=ago(2), pass_began_at=ago(50), pass_done=10, pass_total=20)),
        ("not_looked", row(read_at=ago(61), pass_began_at=ago(90), pass_done=10, pass_total=20)),
        ("up_to_date", row(read_at=ago(2), pass_ended_at=ago(900))),
        ("up_to_date", row(read_at=ago(2), pass_began_at=ago(5), pass_ended_at=ago(900))),
        ("not_looked", row(read_at=ago(61), pass_ended_at=ago(900))),
        ("unread", row(created_s=5, trouble="No.", troubled_since=ago(1))),
        ("unread", row(read_at=ago(900), pass_ended_at=ago(900), trouble="No.", troubled_since=ago(1))),
    ],
)
def test_how_the_reading_stands(state: str, what: RuntimeRow) -> None:
    assert what.state(NOW) == state


def test_sessions_that_came_during_a_pass_are_counted() -> None:
    read = runtimes.Observed(facts={}, pass_done=120, pass_total=100)
    assert read.sessions == 120
    assert runtimes.Observed(facts={}, pass_done=12, pass_total=100).sessions == 100


def added(world: World, *names: str) -> None:
    with bind(world.workspace.id):
        for name in names:
            setup.add_runtime(
                by=OPERATOR, name=name, kind="adk", base_url=f"http://{name}.example",
                database_url="postgresql://u:p@db.example/s",
            )  # fmt: skip


def troubled(world: World, name: str, ago_s: float) -> None:
    with world.bound():
        Observation.objects.filter(runtime__name=name).update(
            troubled_since=Now() - timedelta(seconds=ago_s), trouble=f"{name} does not answer."
        )


def test_they_come_by_name_and_only_those_that_are_read_with_a_reading(world: World) -> None:
    added(world, "zoo", "alpha")
    assert [
        (found.name, found.kind, found.observed is not None) for found in world.read(runtimes.all_runtimes)
    ] == [
        ("alpha", "adk", True),
        ("runtime", "http", False),
        ("zoo", "adk", True),
    ]
    [http] = [found for found in world.read(runtimes.all_runtimes) if found.kind == "http"]
    assert http.state(NOW) == "reports"


def test_a_store_that_cannot_be_read_is_everybodys_concern_after_five_minutes(world: World) -> None:
    added(world, "one", "two")
    troubled(world, "one", 299)
    assert world.read(lambda: runtimes.unread_stores(at_most=9)) == []
    troubled(world, "one", 301)
    troubled(world, "two", 999)
    found = world.read(lambda: runtimes.unread_stores(at_most=9))
    assert [(one.name, one.trouble) for one in found] == [
        ("two", "two does not answer."),
        ("one", "one does not answer."),
    ]
    assert len(world.read(lambda: runtimes.unread_stores(at_most=1))) == 1


def test_those_of_another_workspace_are_not_seen(world: World) -> None:
    other = World.create("Harbour")
    added(other, "theirs")
    troubled(other, "theirs", 999)
    assert world.read(lambda: runtimes.unread_stores(at_most=9)) == []
    assert "theirs" not in [found.name for found in world.read(runtimes.all_runtimes)]
