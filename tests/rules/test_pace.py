"""So many a minute, and never more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.rules.pace import pace


@given(
    per_minute=st.integers(1, 6_000),
    steps=st.lists(st.tuples(st.floats(0, 20), st.integers(1, 8)), min_size=1, max_size=200),
)
def test_in_no_minute_leave_more_than_are_allowed(per_minute, steps):
    now, mark, left = 0.0, None, []
    for pause, wanted in steps:
        now += pause
        found = pace(per_minute=per_minute, mark_s=None if mark is None else mark - now, wanted=wanted)
        mark = now + found.mark_s
        left += [now] * found.count
    for start in left:
        assert sum(start <= at < start + 59.9 for at in left) <= per_minute


@given(per_minute=st.integers(1, 6_000), mark_s=st.floats(-100, 100), wanted=st.integers(1, 8))
def test_after_the_wait_that_it_tells_the_next_may_leave(per_minute, mark_s, wanted):
    found = pace(per_minute=per_minute, mark_s=mark_s, wanted=wanted)
    assert 0 <= found.count <= wanted
    assert (found.wait_s > 0) or found.count == wanted or found.mark_s <= 0
    later = pace(per_minute=per_minute, mark_s=found.mark_s - found.wait_s - 0.001, wanted=1)
    assert found.count == wanted or later.count == 1


@pytest.mark.parametrize(("per_minute", "expected"), [(1, 1), (61, 2), (600, 4)])
def test_the_first_leave_at_once(per_minute, expected):
    assert pace(per_minute=per_minute, mark_s=None, wanted=4).count == expected
