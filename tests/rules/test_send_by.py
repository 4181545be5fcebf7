"""When a time to be sent by is over: for a machine a minute later, because clocks differ."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from approvals.exceptions import Invalid
from approvals.rules.proposals import CLOCKS_S, OVER, Proposal, refuse_over

NOW = datetime(2026, 5, 4, 13, 30, tzinfo=UTC)
PROPOSAL = Proposal(
    external_id="spring", name="Spring", purpose="", send_by=None, run_id=None, sender="a@example.com",
    reply_to="", subject="Hello", text="Hello", html="",
)  # fmt: skip


def by(**since: float) -> Proposal:
    return replace(PROPOSAL, send_by=NOW + timedelta(**since))


@pytest.mark.parametrize("clocks_s", [0, CLOCKS_S])
def test_a_time_to_come_or_none_is_never_refused(clocks_s: int) -> None:
    for proposal in (PROPOSAL, by(milliseconds=1), by(days=400)):
        refuse_over(proposal, NOW, clocks_s=clocks_s)


@pytest.mark.parametrize(
    ("proposal", "clocks_s", "over"),
    [
        (by(seconds=0), 0, True),
        (by(days=-400), 0, True),
        (by(seconds=0), CLOCKS_S, False),
        (by(seconds=-CLOCKS_S, milliseconds=1), CLOCKS_S, False),
        (by(seconds=-CLOCKS_S), CLOCKS_S, True),
        (by(days=-400), CLOCKS_S, True),
    ],
)
def test_one_that_is_over_is_refused_at_its_field_with_what_to_do(
    proposal: Proposal, clocks_s: int, over: bool
) -> None:
    if not over:
        refuse_over(proposal, NOW, clocks_s=clocks_s)
        return
    with pytest.raises(Invalid) as refused:
        refuse_over(proposal, NOW, clocks_s=clocks_s)
    assert (refused.value.field, refused.value.text) == ("send_by", OVER)
    assert "Choose a later one" in OVER


def test_what_counts_is_the_instant_and_not_how_it_is_written() -> None:
    elsewhere = NOW.astimezone(timezone(timedelta(hours=10))) + timedelta(seconds=1)
    refuse_over(replace(PROPOSAL, send_by=elsewhere), NOW)
