"""The queue's selectors: order, keys, and counts that stop counting."""

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from approvals.models import Delivery
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


def titles_of(world: World, words: str) -> list[str]:
    """The titles on the history that a search brings."""
    found = world.read(lambda: queue.search(words))
    return sorted(item.title for item in world.read(lambda: queue.page_of(Wanted("history"), found))[0])


# What is known: (title, customer), and what people type to find it.
KNOWN = {
    "C-17": "p12@example.com",
    "C-170": "Mia Berg",
    "order/2025/NW_99": "Straße 5, Köln",
    "東京タワー": "İSTANBUL şubesi",
    "party 🎉": "ann@müller.example",
    "O'Neil \\ 100%": "(none)",
}
TYPED = {
    "C-17": ["C-17", "C-170"], "c-17": ["C-17", "C-170"], "17": ["C-17", "C-170"], "C-170": ["C-170"],
    "p12@example.com": ["C-17"], "P12@Example.COM": ["C-17"], "<p12@example.com>,": ["C-17"], "p12": ["C-17"],
    "example.com": ["C-17"], "xample": [], "12@example.com": [], "com": [],
    "berg": ["C-170"], "Berg, Mia": ["C-170"], "mia berg": ["C-170"], '"Mia Berg"': ["C-170"], "mia bergs": [],
    "mia c-170": ["C-170"], "mia c-17": ["C-170"], "mia c-171": [], "M": ["C-170", "party 🎉"],
    "nw_99": ["order/2025/NW_99"], "NW": ["order/2025/NW_99"], "2025/nw": ["order/2025/NW_99"],
    "99": ["order/2025/NW_99"],
    "STRASSE": [], "straße": ["order/2025/NW_99"], "STRAßE köln": ["order/2025/NW_99"],
    "Ko\u0308ln": ["order/2025/NW_99"], "ＫＯＥＬＮ": [], "ｃ-１７": ["C-17", "C-170"],
    "istanbul": ["東京タワー"], "İstanbul": ["東京タワー"], "ŞUBESİ": ["東京タワー"],
    "東京": ["東京タワー"], "タワー": ["東京タワー"], "京": ["東京タワー"], "大阪": [],
    "🎉": ["party 🎉"], "🎊": [], "müller.example": ["party 🎉"],
    "O'Neil": ["O'Neil \\ 100%"], "neil": ["O'Neil \\ 100%"], "100%": ["O'Neil \\ 100%"], "100": ["O'Neil \\ 100%"],
    "none": ["O'Neil \\ 100%"],
}  # fmt: skip


def test_people_find_what_they_type(world: World) -> None:
    for title, subject in KNOWN.items():
        world.run(title, said("x"), subject=subject)

    assert {typed: titles_of(world, typed) for typed in TYPED} == {
        typed: sorted(titles) for typed, titles in TYPED.items()
    }


@pytest.mark.parametrize(
    "typed",
    [
        "'", "''", '"', "\\", "\\'", ":*", "a:*", "!", "a & !b | (c", "<->", "%", "_", "*", "()", "{}", "$1", "%s",
        "--", "/*", ";", "\t", "\n", "\u200b", "\u202e", "\ufeff", "\U0010ffff", "a\U0010ffff", "\ud7ff", "x" * 10_000,
        "x " * 5_000, "." * 10_000, "あ" * 3_000, "@", "@@", "a@", "@b.c", "\x01", "𝕏" * 100, "e\u0301" * 2_000,
    ],
    ids=lambda typed: ascii(typed)[:20],
)  # fmt: skip
def test_nothing_that_is_typed_is_an_error(world: World, typed: str) -> None:
    world.run("refund-1", said("x"))
    world.run(typed[:200] or "-", said("x"), subject=typed[:200])
    found = world.read(lambda: queue.search(typed))
    assert found is not None
    assert found.whole


def test_a_replay_is_found_by_its_own_id_and_is_the_same_item(world: World) -> None:
    run = world.run("run-1", call("c1", "send_email"), subject="ann")
    new_run = world.handed_over(world.forced(run))

    for typed in ("run-1", new_run.external_id, "ann", f"ann {new_run.external_id}"):
        found = world.read(lambda typed=typed: queue.search(typed))  # type: ignore[misc]
        assert found == queue.Found([run.lineage_id]), typed


def test_a_campaign_is_found_by_its_recipients_and_messages(world: World) -> None:
    spring = world.campaign("Spring news", ["ann@example.com", "bob@example.com"])
    world.campaign("Winter news", ["bob@example.com"])
    message_id = world.read(lambda: Delivery.objects.filter(campaign_id=spring.id)[0].message_id)
    expected = {
        "ann@example.com": ["Spring news"], "Ann@Example": ["Spring news"], "bob@": ["Spring news", "Winter news"],
        "winter bob@example.com": ["Winter news"], "winter ann@example.com": [], "news": ["Spring news", "Winter news"],
        message_id: ["Spring news"], message_id.strip("<>").upper(): ["Spring news"], message_id[:20]: ["Spring news"],
        message_id[:5]: [],
    }  # fmt: skip

    assert {typed: titles_of(world, typed) for typed in expected} == expected


def test_exactly_the_word_comes_before_longer_ones_and_the_newest_before_older(
    world: World, monkeypatch: Any
) -> None:
    exact = [world.run("", said("x"), subject="ann") for _ in range(2)]
    longer = world.run("", said("x"), subject="annabel")

    def found(at_most: int) -> Any:
        monkeypatch.setattr(queue, "FOUND", at_most)
        return world.read(lambda: queue.search("ann"))

    assert found(2) == queue.Found([exact[1].id, exact[0].id], whole=False)
    assert found(3) == queue.Found([exact[1].id, exact[0].id, longer.id])


def test_each_filter_pages_and_counts_as_without_an_index(world: World) -> None:
    """Every pair of filters against a plain reading of everything."""
    world.run("a", call("c1", "pay"), agent="x", subject="ann")
    world.run("b", call("c1", "pay"), call("c2", "mail"), agent="y", subject="ann")
    world.run("c", call("c1", "mail"), ended(), agent="x", subject="bob")
    world.handed_over(world.forced(world.run("d", call("c1", "mail"), agent="x", subject="bob")))
    world.campaign("e", ["ann@example.com"])
    facts = {
        "a": ("decide", "run", "x", {"pay"}, "ann"), "b": ("decide", "run", "y", {"pay", "mail"}, "ann"),
        "c": ("history", "run", "x", {"mail"}, "bob"), "d": ("progress", "run", "x", {"mail"}, "bob"),
        "e": ("decide", "campaign", "campaigns", set(), ""),
    }  # fmt: skip
    agent_of_campaign = world.read(lambda: queue.page_of(Wanted(kind="campaign"), None))[0][0].agent
    facts["e"] = ("decide", "campaign", agent_of_campaign, set(), "")
    for tab, kind, agent, tool, subject in itertools.product(
        queue.TABS, ["", "run", "campaign"], ["", "x", agent_of_campaign], ["", "pay", "mail"], ["", "ann"]
    ):
        wanted = Wanted(tab, kind, agent, tool, subject)
        fitting = sorted(
            title
            for title, (on, is_a, by, called, whom) in facts.items()
            if tab in ("history", on) and kind in ("", is_a) and agent in ("", by) and subject in ("", whom)
            and (not tool or tool in called)
        )  # fmt: skip
        assert sorted(walk(world, wanted, 2)) == fitting, wanted
        assert world.read(lambda wanted=wanted: queue.counts(wanted, None)).tabs[tab] == len(fitting), wanted  # type: ignore[misc]
