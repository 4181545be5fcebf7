"""The same asked again in one session, and what failed runs said, as page and API are told of them."""

import pytest

from approvals.api.schemas.runs import RunOut
from approvals.db.binding import bind
from approvals.models import Run, Runtime
from approvals.rules.observed import Line
from approvals.selectors.asked_again import NOT_AGAIN, Again, asked_again
from approvals.selectors.errors import error_in
from approvals.selectors.runs import told
from tests import factories as f
from tests.views.of_adk import LISTS, adk, observed
from tests.world import World

SAME = {"session_id": "s-1", "body_digest": "d" * 64}
SENT = f.made("send_email", "a1")


@pytest.fixture
def of(world: World) -> Runtime:
    return adk(world)


def again(world: World, run: Run) -> Again:
    return world.read(lambda: asked_again([run.id])).get(run.id, NOT_AGAIN)


def names(found: Again) -> tuple[list[str], list[str]]:
    return [one.external_id for one in found.earlier], [one.external_id for one in found.later]


def test_a_run_that_broke_off_after_a_call_and_the_next_one_like_it_tell_of_each_other(
    world: World, of: Runtime
) -> None:
    first = observed(world, of, SENT, interrupted=True, **SAME)
    second = observed(world, of, f.spoke("Hello", 60), f.over(), **SAME)
    assert names(again(world, first)) == ([], [second.external_id])
    assert names(again(world, second)) == ([first.external_id], [])
    assert (again(world, second).earlier[0].called, again(world, first).later[0].status) == (
        ("send_email",),
        "completed",
    )


@pytest.mark.parametrize(
    "other",
    [
        {"session_id": "s-2"},
        {"agent": "refunds"},
        {"subject": "u2"},
        {"body_digest": "e" * 64},
    ],
    ids=lambda other: next(iter(other)),
)
def test_what_differs_in_anything_was_not_asked_again(
    world: World, of: Runtime, other: dict[str, str]
) -> None:
    first = observed(world, of, SENT, interrupted=True, **SAME)
    observed(world, of, f.spoke("Hello", 60), f.over(), **(SAME | other))
    assert not again(world, first)


def test_another_runtime_is_another_session(world: World, of: Runtime) -> None:
    first = observed(world, of, SENT, interrupted=True, **SAME)
    observed(world, adk(world, name="adk-two"), f.over(), **SAME)
    assert not again(world, first)


@pytest.mark.parametrize(
    ("lines", "interrupted"),
    [([SENT, f.over()], False), ([f.spoke("Hello")], True), ([SENT, f.asks("a1")], True)],
    ids=["completed", "called nothing", "only asked to call"],
)
def test_only_a_run_that_broke_off_after_a_call_counts(
    world: World, of: Runtime, lines: list[Line], interrupted: bool
) -> None:
    first = observed(world, of, *lines, interrupted=interrupted, **SAME)
    second = observed(world, of, f.spoke("Hello", 60), f.over(), **SAME)
    assert not again(world, first) and not again(world, second)


def test_runs_that_were_found_at_once_stand_in_the_order_in_which_they_began(
    world: World, of: Runtime
) -> None:
    second = observed(world, of, f.spoke("Hello", 60), f.over(), **SAME)
    first = observed(world, of, SENT, interrupted=True, **SAME)
    assert names(again(world, second)) == ([first.external_id], [])


def test_a_run_without_a_digest_of_its_input_is_like_no_other(world: World, of: Runtime) -> None:
    first = observed(world, of, SENT, interrupted=True, session_id="s-1")
    observed(world, of, f.over(), session_id="s-1")
    assert not again(world, first)


# What the machine API tells.


def of_api(world: World, run: Run) -> RunOut:
    return RunOut.model_validate(world.read(lambda: told([Run.objects.get(id=run.id)]))[0])


def test_the_api_tells_both_sides(world: World, of: Runtime) -> None:
    first = observed(world, of, SENT, interrupted=True, **SAME)
    second = observed(world, of, f.made("send_email", "b1", 60), f.over(), **SAME)
    assert [other.run_id for other in of_api(world, first).asked_again.later] == [second.id]
    [earlier] = of_api(world, second).asked_again.earlier
    assert (earlier.external_id, earlier.status, earlier.called) == (
        first.external_id,
        "interrupted",
        ["send_email"],
    )
    assert of_api(world, first).error is None


def test_an_error_that_was_handed_on_is_told_with_its_calls(world: World, of: Runtime) -> None:
    failed = observed(world, of, SENT, f.came("a1"), f.over("failed", error=LISTS))
    error = of_api(world, failed).error
    assert error and (error.code, error.completed, error.open) == ("rate_limited", ["send_email"], [])
    assert error.text == LISTS["message"]


def test_after_a_call_the_words_of_others_are_not_told(world: World, of: Runtime) -> None:
    wrong = {"code": 429, "message": "Please retry in 3 s."}
    lines = [SENT, f.came("a1"), f.made("refund", "a2"), f.over("failed", origin="inferred", error=wrong)]
    error = of_api(world, observed(world, of, *lines)).error
    assert error and (error.code, error.completed, error.open) == ("429", ["send_email"], ["refund"])
    assert "retry" not in error.text and "send_email, refund" in error.text


def test_before_any_call_the_error_is_told_as_it_is(world: World, of: Runtime) -> None:
    error = of_api(world, observed(world, of, f.over("failed", error="no such model"))).error
    assert error and (error.code, error.text, error.completed) == (None, "no such model", [])


def test_a_run_that_failed_without_a_word_has_no_error(world: World, of: Runtime) -> None:
    assert of_api(world, observed(world, of, f.over("failed"))).error is None


@pytest.mark.parametrize("content", [None, [], {}, {"error": None}])
def test_no_error_is_found_where_none_is(content: object) -> None:
    assert error_in(content) is None


def test_names_of_calls_are_read_alone_or_within_what_else_is_known() -> None:
    error = error_in({"error": {"message": "x", "completed": ["a", {"name": "b"}, 5], "open": "no list"}})
    assert error and (error.completed, error.open) == (("a", "b", "a tool"), None)


def test_many_runs_take_as_many_queries_as_one(world: World, of: Runtime) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    runs = [observed(world, of, SENT, interrupted=True, **SAME) for _ in range(3)]
    counts = []
    for some in (runs[:1], runs):
        with bind(world.workspace.id), world.bound(), CaptureQueriesContext(connection) as captured:
            told(Run.objects.filter(id__in=[run.id for run in some]))
        counts.append(len(captured))
    assert counts[0] == counts[1]
