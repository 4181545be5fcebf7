"""Looking for a story that breaks a law."""

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis.errors import FlakyStrategyDefinition
from hypothesis.stateful import run_state_machine_as_test

from tests.machine.machine import Machine
from tests.machine.scene import Lab, Scene

STEPS = 40
TRIES = 4


def search(
    lab: Lab, *, examples: int, derandomize: bool, machine: Callable[[Lab], Scene] = Machine, **more: Any
) -> None:
    """Tell so many stories; Broken with the first that breaks a law.

    What can happen next depends on what happened, and workers are threads on a real database: now and then the same
    choices lead elsewhere, and Hypothesis gives up. That says nothing about the product, so the search begins anew,
    by chance this time.
    """
    for tries_left in reversed(range(TRIES)):
        try:
            run_state_machine_as_test(
                lambda: machine(lab),
                settings=settings(
                    max_examples=examples,
                    derandomize=derandomize,
                    stateful_step_count=STEPS,
                    database=None,
                    deadline=None,
                    suppress_health_check=list(HealthCheck),
                    **more,
                ),
            )
            return
        except FlakyStrategyDefinition:
            if not tries_left:
                raise
            print("The same choices led elsewhere; searching anew.")
            derandomize = False
