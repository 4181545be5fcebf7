"""What a benchmark makes of its samples."""

import pytest

from dashboard.bench.figures import Goal, answer, p95


def test_the_p95_is_the_value_that_95_of_100_do_not_exceed():
    assert p95([float(n) for n in range(100, 0, -1)]) == 95
    assert p95([7.0]) == 7


@pytest.mark.parametrize(
    ("sense", "figure", "met"),
    [("at_most", 25, True), ("at_most", 25.1, False), ("at_least", 25, True), ("at_least", 24.9, False)],
)
def test_a_goal_says_whether_it_was_met(sense, figure, met):
    found = answer("queue", 1, {"p95_ms": figure}, {"p95_ms": Goal(sense, 25)})
    assert found["goals"] == {"p95_ms": {sense: 25, "met": met}}


def test_no_goal_is_judged_on_less_data_than_it_was_set_for():
    found = answer("queue", 0.01, {"p95_ms": 1}, {"p95_ms": Goal("at_most", 25)})
    assert found["scale"] == 0.01
    assert found["goals"]["p95_ms"]["met"] is None
