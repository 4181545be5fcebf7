"""Whatever happens, in whatever order: no second effect without a person, nothing lost, nothing rewritten."""

import os

import pytest

from tests.machine.observed import ObservedMachine
from tests.machine.scene import Lab
from tests.machine.searching import search

pytestmark = [pytest.mark.faults, pytest.mark.django_db(databases=["default", "ingest"], transaction=True)]

# MACHINE_EXAMPLES=5000 looks for new ones, as long as you like; with --hypothesis-seed=N the same ones again.
ASKED = int(os.environ.get("MACHINE_EXAMPLES", "0"))


def test_the_laws_hold_whatever_happens(lab: Lab) -> None:
    search(lab, examples=ASKED or 40, derandomize=not ASKED)
    print(f"{lab.examples} examples, {lab.steps} steps")


def test_the_laws_hold_for_what_is_read_and_streamed(lab: Lab) -> None:
    search(lab, examples=ASKED or 12, derandomize=not ASKED, machine=ObservedMachine)
    print(f"{lab.examples} examples, {lab.steps} steps")
