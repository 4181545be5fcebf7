"""The decision log by words: who, the agent, the customer, and what was written, until that is erased."""

from typing import Any

import pytest
from django.db import transaction

from approvals.access.actors import operator
from approvals.db.binding import bind
from approvals.models import Decision, Run
from approvals.selectors import decisions as selectors
from approvals.selectors.decisions import Wanted
from approvals.services import decisions
from tests.world import World, said


def decided(world: World, run: Run, reason: Any, **more: Any) -> Decision:
    """An entry of the log about a run."""
    with bind(world.workspace.id), transaction.atomic():
        return decisions.record(
            by=world.actor("support"), kind="dismiss", target_kind="run", target_id=run.id, item_id=run.lineage_id,
            agent=run.agent, subject=run.subject, evidence={"run": run.external_id, "reason": reason, **more},
        )  # fmt: skip


def found(world: World, text: str) -> list[int]:
    """The numbers of the entries that a search shows, newest first."""
    return [entry.seq for entry in world.read(lambda: selectors.page_of(Wanted(text=text)))[0]]


def test_entries_are_found_by_who_whom_and_what_was_written(world: World) -> None:
    refund = world.run("refund-1", said("x"), agent="refunds", subject="Ann.Lee@example.com")
    booking = world.run("C-17", said("x"), agent="bookings", subject="bob")
    first = decided(world, refund, 'The bank (Köln) says: "nothing" was booked; see T-99.').seq
    second = decided(world, booking, "Asked twice. 返金済み").seq
    rejected = world.rejected(world.campaign("Winter schedule"), comment="The second date is wrong.").seq

    expected = {
        "bank": [first], "KÖLN": [first], "nothing booked": [first], "99": [first], "t-99.": [first], "ank": [],
        "ann": [first], "lee@": [first], "example.com": [first], "refunds": [first], "refund-1": [first],
        "twice C-17": [second], "返金": [second], "済": [second], "sam": [second, first], "okafor twice": [second],
        "winter date": [rejected], "mia": [rejected], "the": [rejected, first], "bank twice": [], "'": [],
    }  # fmt: skip
    assert {text: [seq for seq in found(world, text) if seq >= first] for text in expected} == expected


def test_the_newest_come_and_that_there_are_more_is_known(world: World, monkeypatch: Any) -> None:
    monkeypatch.setattr(selectors, "FOUND", 2)
    run = world.run("refund-1", said("x"))
    seqs = [decided(world, run, "asked twice").seq for _ in range(3)]

    assert found(world, "twice") == [seqs[2], seqs[1]]
    assert not world.read(lambda: selectors.search("twice")).whole  # type: ignore[union-attr]
    assert world.read(lambda: selectors.search("thrice")) == selectors.Found([])
    assert world.read(lambda: selectors.search("")) is None


def test_words_and_the_other_filters_hold_together(world: World) -> None:
    run = world.run("refund-1", said("x"), agent="refunds")
    seq = decided(world, run, "asked twice").seq

    def seen(**wanted: Any) -> list[int]:
        return [
            entry.seq for entry in world.read(lambda: selectors.page_of(Wanted(text="twice", **wanted)))[0]
        ]

    assert seen(agent="refunds", kind="dismiss", decisions_only=True) == [seq]
    assert seen(agent="bookings") == seen(kind="reopen") == seen(person="rule") == []


@pytest.mark.parametrize(
    "reason", ["", "x" * 20_000, "x " * 10_000, "'\\\"%_", 7, None, ["a"], {"a": "b"}], ids=repr
)
def test_whatever_is_written_is_recorded(world: World, reason: Any) -> None:
    run = world.run("refund-1", said("x"))
    seq = decided(world, run, reason).seq
    assert seq in found(world, "refund-1")


def test_an_operators_setup_is_found_by_name(world: World) -> None:
    with bind(world.workspace.id), transaction.atomic():
        seq = decisions.record(
            by=operator("root"), kind="runtime_added", target_kind="runtime", target_id=world.runtime.id,
            evidence={"name": "Desk two"},
        ).seq  # fmt: skip
    assert found(world, "desk two root") == [seq]
