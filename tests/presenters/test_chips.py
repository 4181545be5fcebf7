"""Every state has words on the page, and a state that nobody listed does not break it."""

from collections.abc import Callable

import pytest

from approvals.exceptions import DECIDED
from approvals.rules.states import CAMPAIGN, DELIVERY, JOB, RUN, Machine
from dashboard.presenters import chips
from dashboard.presenters.chips import Chip


@pytest.mark.parametrize(
    ("machine", "words", "table"),
    [
        (RUN, chips.run_state, chips._RUN),
        (JOB, chips.job_state, chips._JOB),
        (CAMPAIGN, chips.campaign_state, chips._CAMPAIGN),
        (DELIVERY, chips.delivery_state, chips._DELIVERY),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_every_state_of_every_machine_has_its_words(
    machine: Machine, words: Callable[[str], Chip], table: dict[str, Chip]
) -> None:
    assert set(table) == set(machine.states)
    assert all(words(state).label for state in machine.states)


def test_every_kind_of_decision_has_its_words() -> None:
    assert set(chips._DECISION) == {
        *DECIDED, "new_version", "refused", "outcome", "log_verified", "erased", "restored",
    }  # fmt: skip
    assert set(chips._TRIED) == {
        *DECIDED,
        "propose",
        "new_version",
        "runtime_added",
        "runtime_changed",
        "workspace_held",
        "dataset_imported",
    }


def test_the_queue_speaks_of_lineages_in_their_own_words() -> None:
    assert chips.queue_state("run", "replay_failed").label == "Replay failed"
    assert chips.queue_state("run", "interrupted") == chips.run_state("interrupted")
    assert chips.queue_state("campaign", "pending") == chips.campaign_state("pending")


def test_a_state_that_nobody_listed_is_shown_in_its_own_words() -> None:
    assert chips.decision_kind("member_add").label == "Member add"
    assert chips.run_state("").label == "Not known"
    assert str(chips.run_state("<b>")) == '<span class="chip quiet">&lt;b&gt;</span>'


def test_a_chip_explains_itself_in_its_title() -> None:
    assert str(Chip("In doubt", "warn", 'a "title"')) == (
        '<span class="chip warn" title="a &quot;title&quot;">In doubt</span>'
    )
