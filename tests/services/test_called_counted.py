"""Which call of its tool a call is: by that a replay proposes another version, and no other campaign."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from approvals.models import (
    Campaign,
    Event,
    Payload,
)
from approvals.rules.observed import Line
from approvals.services import called, campaign_tools
from tests.api.world import AT, with_subject
from tests.services.shop import ADA, ARGS, TOOL, Owner, Shop, a_call, reject


@pytest.fixture
def shop(database: str) -> Shop:
    del database
    return Shop()


BAD: dict[str, Any] = ARGS | {"subject": ""}


def named(name: str, **more: Any) -> dict[str, Any]:
    return ARGS | {"name": name} | more


def partial(call_id: str) -> Line:
    return replace(whole(call_id), content={"args": {}, "partial": True})


def replaced(call_id: str) -> Line:
    return replace(whole(call_id), type="tool_result", outcome="replaced", content=None)


def whole(call_id: str, args: dict[str, Any] = ARGS) -> Line:
    return Line(type="tool_call", at=datetime.now(UTC), call_id=call_id, name=TOOL, content={"args": args})


def test_the_second_call_of_a_run_is_another_campaign_and_that_of_its_replay_the_same_one(shop: Shop) -> None:
    run = shop.run()
    shop.call(run, 1, args=ARGS | {"name": "First"})
    shop.call(run, 2, args=ARGS | {"name": "Second"})
    assert shop.campaigns() == [("First", 1), ("Second", 1)]
    shop.end(run, 3)
    again = shop.replay(run)
    shop.call(again, 1, args=ARGS | {"name": "First"})
    shop.call(again, 2, args=ARGS | {"name": "Second, better"})
    assert shop.campaigns() == [("First", 1), ("Second, better", 2)]


def test_D12_a_call_that_could_not_be_used_counts_so_the_next_is_not_taken_for_another_campaigns_version(
    shop: Shop,
) -> None:
    run = shop.run()
    shop.call(run, 1, args=named("First"))
    shop.call(run, 2, args=named("Second"))
    shop.end(run, 3)
    again = shop.replay(run)
    shop.call(again, 1, args=named("First", subject=""))
    shop.call(again, 2, args=named("Second, better"))
    assert shop.campaigns() == [("First", 1), ("Second, better", 2)]
    assert shop.ordinals(again) == [("refused", 1), ("proposed", 2)]


def test_D12_and_where_there_was_only_one_it_is_a_campaign_of_its_own(shop: Shop) -> None:
    run = shop.run()
    shop.call(run, 1, args=named("First"))
    shop.end(run, 2)
    again = shop.replay(run)
    shop.call(again, 1, args=BAD)
    shop.call(again, 2, args=named("Another"))
    assert shop.campaigns() == [("First", 1), ("Another", 1)]


def test_D12_a_replay_that_can_use_what_its_run_could_not_proposes_it_beside_the_others(shop: Shop) -> None:
    run = shop.run()
    shop.call(run, 1, args=BAD)
    shop.call(run, 2, args=named("Second"))
    shop.end(run, 3)
    again = shop.replay(run)
    shop.call(again, 1, args=named("First"))
    shop.call(again, 2, args=named("Second, better"))
    assert shop.campaigns() == [("Second, better", 2), ("First", 1)]


def test_D12_whoever_corrects_a_call_says_which_campaign_it_is_by_an_external_id(shop: Shop) -> None:
    run = shop.run()
    shop.call(run, 1, args=BAD | {"external_id": "spring"})
    shop.call(run, 2, args=ARGS | {"external_id": "spring"})
    shop.end(run, 3)
    again = shop.replay(run)
    shop.call(again, 1, args=ARGS | {"external_id": "spring", "text": "at once"})
    assert shop.campaigns() == [("Hello {{ name }}", 2)]


@pytest.mark.parametrize("why", ["unusable", "erased", "altered", "of one customer", "closed", "unexpected"])
def test_every_call_counts_whyever_it_proposed_nothing(
    shop: Shop, why: str, as_owner: Owner, as_superuser: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    customer = "customer-17"
    run = shop.run(subject=customer)
    if why == "closed":
        shop.call(run, args=ARGS | {"external_id": "spring"})
        reject(shop)
        run = shop.run(subject=customer)
    whose = with_subject(shop.caller, customer) if why == "of one customer" else shop.caller
    bad = {"unusable": BAD, "closed": ARGS | {"external_id": "spring", "text": "once more"}}.get(why, ARGS)
    whose.report(run, a_call(1, args=bad))
    if why == "erased":
        with as_owner():
            shop.read(lambda: Payload.objects.filter(id__in=Event.objects.values("payload_id")).delete())
    if why == "altered":
        as_superuser("update approvals_payload set body = '{\"args\": {}}'")
    with monkeypatch.context() as broken:
        if why == "unexpected":
            broken.setattr(called.proposals, "propose", lambda **_: 1 // 0)
        shop.work(run)
    shop.call(run, 2, args=named("Next"))
    assert shop.ordinals(run) == [("refused", 1), ("proposed", 2)]


def test_a_call_that_nothing_came_back_of_is_a_call(shop: Shop) -> None:
    run = shop.run()
    shop.call(run, 1, args=named("First"))
    shop.end(run, 2)
    again = shop.replay(run)
    shop.call(again, 1, args=named("First, again"))
    shop.caller.report(
        again,
        {"type": "tool_result", "seq": 2, "at": AT, "call_id": "c1", "result": "proposed"},
    )
    shop.call(again, 3, args=named("Second"))
    assert shop.campaigns() == [("First, again", 2), ("Second", 1)]


def test_calls_from_before_the_tool_was_declared_count_since_a_replay_makes_them_again(shop: Shop) -> None:
    tool = {"name": "write_to_all"}
    run = shop.run()
    shop.call(run, 1, args=named("First"), **tool)
    shop.read(lambda: campaign_tools.declare(by=ADA, runtime="shop", tool="write_to_all"))
    shop.call(run, 2, args=named("Second"), **tool)
    assert shop.campaigns() == [("Second", 1)]
    shop.end(run, 3)
    again = shop.replay(run)
    shop.call(again, 1, args=named("First"), **tool)
    shop.call(again, 2, args=named("Second, better"), **tool)
    assert shop.campaigns() == [("Second, better", 2), ("First", 1)]


def test_a_replay_in_place_goes_on_behind_calls_that_proposed_nothing_or_wait(shop: Shop) -> None:
    run = shop.run()
    shop.call(run, 1, args=BAD)
    shop.end(run, 3)
    shop.caller.report(run, a_call(2, args=named("Second")))  # late, and nobody has seen to it yet
    goes_on = shop.replay(run, kind="answer_calls")
    shop.call(goes_on, 1, args=named("Third"))
    assert shop.ordinals(goes_on) == [("proposed", 3)]
    shop.work(run)
    assert shop.ordinals(run) == [("refused", 1), ("proposed", 2)]
    assert shop.campaigns() == [("Third", 1), ("Second", 1)]


@pytest.mark.parametrize(
    ("kind", "other"), [("answer_calls", True), ("replay", False), ("force_replay", False)]
)
def test_a_replay_in_place_goes_on_counting_and_a_fresh_one_begins_anew(
    shop: Shop, kind: str, other: bool
) -> None:
    run = shop.run()
    shop.call(run, args=ARGS | {"name": "First"})
    shop.end(run, 2)
    goes_on = shop.replay(run, kind=kind)
    shop.call(goes_on, args=ARGS | {"name": "Next"})
    assert shop.campaigns() == ([("First", 1), ("Next", 1)] if other else [("Next", 2)])


def test_a_call_that_was_still_being_written_proposes_nothing_and_does_not_count(shop: Shop) -> None:
    run = shop.run()
    shop.hear(run, partial("p1"), replaced("p1"), whole("c1"))
    shop.work(run)
    assert shop.became(run)[1].why == called.UNFINISHED
    assert shop.became(run)[3].version == 1
    assert shop.ordinals(run) == [("refused", None), ("proposed", 1)]
    assert shop.read(Campaign.objects.get).external_id == f"{run}/{TOOL}/1"


@pytest.mark.parametrize("kind", ["answer_calls", ""])
def test_a_call_that_was_never_finished_counts_in_no_attempt(shop: Shop, kind: str) -> None:
    run = shop.run()
    shop.hear(run, partial("p1"))
    shop.work(run)
    shop.end(run, 2)
    again = shop.replay(run, kind=kind)
    shop.call(again, args=named("First"))
    assert shop.ordinals(again) == [("proposed", 1)]
    shop.end(again, 2)
    third = shop.replay(again)
    shop.hear(third, partial("p2"), whole("c1", named("First, better")))
    shop.work(third)
    assert shop.campaigns() == [("First, better", 2)]


def test_of_a_tool_that_was_not_declared_yet_only_whole_calls_count(shop: Shop) -> None:
    run = shop.run()
    shop.hear(run, *(replace(line, name="late") for line in (partial("p1"), replaced("p1"), whole("c1"))))
    shop.read(lambda: campaign_tools.declare(by=ADA, runtime="shop", tool="late"))
    shop.call(run, 4, name="late")
    assert shop.ordinals(run) == [("proposed", 2)]
