"""Every step between two states is either in the table or refused; nothing is left to chance."""

from itertools import product

import pytest

from approvals.rules import states
from approvals.rules.states import CAMPAIGN, DELIVERY, JOB, MACHINES, RUN, IllegalTransition, check, diagram

ALLOWED = {
    "run": """
        running -> completed failed interrupted cancelled
        interrupted -> completed failed cancelled
        completed ->
        failed ->
        cancelled ->
    """,
    "job": """
        held -> queued cancelled paused
        queued -> running cancelled paused
        running -> done failed in_doubt queued paused
        in_doubt -> running failed
        paused -> queued cancelled running
        done ->
        failed ->
        cancelled ->
    """,
    "campaign": """
        pending -> approved rejected returned
        returned -> pending rejected
        approved -> pending sending
        sending -> finished stopped paused pending
        paused -> sending finished stopped pending
        stopped -> pending
        finished ->
        rejected ->
    """,
    "delivery": """
        planned -> attempting skipped
        attempting -> sent failed in_doubt planned
        in_doubt -> sent planned
        failed -> planned
        sent ->
        skipped ->
    """,
    "callback": """
        waiting -> told given_up
        given_up -> waiting
        told ->
    """,
}


def allowed_steps(name):
    for line in ALLOWED[name].strip().splitlines():
        old, _, new = line.strip().partition(" ->")
        yield old, set(new.split())


EVERY_STEP = [
    pytest.param(machine, old, new, new in may, id=f"{machine.name}: {old} to {new}")
    for machine in MACHINES
    for old, may in allowed_steps(machine.name)
    for new in [state for state, _ in allowed_steps(machine.name)]
]


@pytest.mark.parametrize(("machine", "old", "new", "may"), EVERY_STEP)
def test_each_status_takes_exactly_the_steps_that_are_listed(machine, old, new, may):
    if may:
        check(machine, old, new)
    else:
        with pytest.raises(IllegalTransition):
            check(machine, old, new)


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_the_list_above_knows_every_state(machine):
    assert set(machine.states) == {state for state, _ in allowed_steps(machine.name)}


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_every_state_can_be_reached_from_the_initial_one(machine):
    reached = {machine.initial}
    for _ in machine.states:
        reached |= {new for old, new in machine.transitions if old in reached}
    assert reached == set(machine.states)


@pytest.mark.parametrize(
    ("machine", "terminal"),
    [
        (RUN, {"completed", "failed", "cancelled"}),
        (JOB, {"done", "failed", "cancelled"}),
        (CAMPAIGN, {"rejected", "finished"}),
        (DELIVERY, {"sent", "skipped"}),
        (states.CALLBACK, {"told"}),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_terminal_states_are_those_nothing_leads_out_of(machine, terminal):
    assert machine.terminal == terminal


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_what_is_in_doubt_is_never_a_dead_end(machine):
    assert "in_doubt" not in machine.terminal


def test_a_state_nobody_knows_is_refused_like_any_other_step():
    for old, new in product(["running", "lost"], ["lost"]):
        with pytest.raises(IllegalTransition):
            check(RUN, old, new)


def test_a_refused_step_is_a_conflict_that_says_what_is_and_what_to_do():
    with pytest.raises(IllegalTransition) as refused:
        check(JOB, "in_doubt", "held")
    problem = refused.value.as_problem()
    assert (problem["status"], problem["code"]) == (409, "illegal_transition")
    assert problem["detail"] == (
        "This job is in doubt and cannot become held. Reload the page to see what can be done with it now."
    )


def test_a_table_cannot_be_changed_at_run_time():
    with pytest.raises(TypeError):
        RUN.steps["completed", "running"] = "no"
    with pytest.raises(AttributeError):
        RUN.initial = "completed"


def test_the_diagram_shows_every_machine_with_every_step_once():
    blocks = diagram().split("```mermaid\nstateDiagram-v2\n")[1:]
    assert len(blocks) == len(MACHINES)
    for machine, block in zip(MACHINES, blocks, strict=True):
        lines = [line.strip() for line in block.partition("```")[0].splitlines()]
        assert f"[*] --> {machine.initial}" in lines
        assert {line for line in lines if line.endswith("--> [*]")} == {
            f"{state} --> [*]" for state in machine.terminal
        }
        steps = [line.partition(":")[0] for line in lines if ":" in line]
        assert sorted(steps) == sorted(f"{old} --> {new}" for old, new in machine.transitions)


def test_the_diagram_is_the_same_text_every_time():
    assert states.diagram() == states.diagram()
