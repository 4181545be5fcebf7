"""The queue's selectors: order, keys, and counts that stop counting."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from approvals.selectors import queue
from approvals.selectors.queue import Wanted
from tests.world import World, call, ended, said


def walk(world: World, wanted: Wanted, size: int) -> list[str]:
    """Every title of a tab, page by page."""
    titles: list[str] = []
    after = None
    while True:
        items, more = world.read(lambda after=after: queue.page_of(wanted, None, after=after, size=size))  # type: ignore[misc]
        titles += [item.title for item in items]
        if not more:
            return titles
        after = items[-1].position


@pytest.mark.parametrize("size", [1, 2, 50])
def test_pages_of_any_size_make_up_the_same_list(world: World, size: int) -> None:
    now = datetime.now(UTC)
    world.run("first", said("x"))
    world.campaign("unhurried")
    world.campaign("tomorrow", send_by=now + timedelta(days=1))
    world.campaign("next year", send_by=now + timedelta(days=365))
    world.run("last", said("x"))

    assert walk(world, Wanted(), size) == ["tomorrow", "next year", "first", "unhurried", "last"]
    assert walk(world, Wanted("history"), size) == ["last", "next year", "tomorrow", "unhurried", "first"]


def test_two_that_are_due_at_the_same_moment_both_come(world: World) -> None:
    at = datetime.now(UTC) + timedelta(days=1)
    for name in ("a", "b", "c"):
        world.campaign(name, send_by=at)

    assert sorted(walk(world, Wanted(), 1)) == ["a", "b", "c"]


def test_a_place_stays_valid_when_its_row_has_gone(world: World) -> None:
    runs = [world.run(name, said("x")) for name in ("first", "second", "third")]
    items, _ = world.read(lambda: queue.page_of(Wanted(), None, size=2))
    world.forced(runs[1])

    rest, more = world.read(lambda: queue.page_of(Wanted(), None, after=items[-1].position))

    assert ([item.title for item in rest], more) == (["third"], False)


def test_counts_stop_counting(world: World, monkeypatch: Any) -> None:
    monkeypatch.setattr(queue, "COUNTED", 3)
    for _ in range(5):
        world.run("", said("x"))

    counts = world.read(lambda: queue.counts(Wanted(), None, made=datetime(2020, 1, 1, tzinfo=UTC)))

    assert (dict(counts.tabs), counts.new) == ({"decide": 3, "progress": 0, "history": 3}, 3)


def test_new_is_what_came_after(world: World) -> None:
    world.run("before", said("x"))
    made = world.read(lambda: queue.counts(Wanted(), None)).at
    world.run("after", said("x"))
    world.run("elsewhere", ended())

    assert world.read(lambda: queue.counts(Wanted(), None, made=made)).new == 1
    assert world.read(lambda: queue.counts(Wanted("history"), None, made=made)).new == 2
    assert world.read(lambda: queue.counts(Wanted("progress"), None, made=made)).new == 0


def test_choices_are_each_once_in_order_and_not_endless(world: World, monkeypatch: Any) -> None:
    for agent, tool in (("zeta", "b"), ("alpha", "c"), ("zeta", "a"), ("mu", "a")):
        world.run("", call("c1", tool), agent=agent)
    world.run("", call("c1", "d"), ended(), agent="alpha")
    world.run("", agent="only-running", interrupted=False)

    found = world.read(queue.choices)
    assert found.agents == ("alpha", "mu", "only-running", "zeta")
    assert found.tools == ("a", "b", "c", "d")

    monkeypatch.setattr(queue, "CHOICES", 2)
    assert world.read(queue.choices).tools == ("a", "b")


def test_a_search_brings_only_so_many(world: World, monkeypatch: Any) -> None:
    monkeypatch.setattr(queue, "FOUND", 2)
    for number in range(4):
        world.run(f"needle-{number}", said("x"))

    found = world.read(lambda: queue.search("needle"))
    assert found is not None
    assert (len(found.ids), found.whole) == (2, False)
    assert world.read(lambda: queue.search("")) is None
    assert world.read(lambda: queue.search("nothing of the kind")) == queue.Found([], whole=True)


def test_a_lineage_is_one_item_at_its_last_attempt(world: World) -> None:
    run = world.run("refund-1", call("c1", "send_email"))
    new_run = world.handed_over(world.forced(run))
    world.interrupt(new_run)

    item = world.read(lambda: queue.item_of(run.lineage_id))

    assert item is not None
    assert (item.title, item.run_id, item.target_id, item.due) == ("refund-1", new_run.id, new_run.id, None)
    assert world.read(lambda: queue.item_of(new_run.id)) is None
