"""Whatever happens, in whatever order: no second effect without a person, nothing lost, nothing rewritten."""

import os

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.machine.machine import Machine
from tests.machine.scene import Lab

pytestmark = [pytest.mark.faults, pytest.mark.django_db(databases=["default", "ingest"], transaction=True)]

# MACHINE_EXAMPLES=5000 looks for new ones, as long as you like; with --hypothesis-seed=N the same ones again.
ASKED = int(os.environ.get("MACHINE_EXAMPLES", "0"))
STEPS = 40


def test_the_laws_hold_whatever_happens(lab: Lab) -> None:
    run_state_machine_as_test(
        lambda: Machine(lab),
        settings=settings(
            max_examples=ASKED or 40,
            derandomize=not ASKED,
            stateful_step_count=STEPS,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    print(f"{lab.examples} examples, {lab.steps} steps")
