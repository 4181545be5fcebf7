"""The machine notices: each safeguard that is taken out breaks a law within a few examples."""

from collections.abc import Callable
from functools import partial

import psycopg
import pytest
from hypothesis import Phase

from tests.machine import mutants
from tests.machine.laws import LAWS
from tests.machine.mutants import MUTANTS, Mutant
from tests.machine.observed import ObservedMachine
from tests.machine.observed_laws import OBSERVED_LAWS
from tests.machine.observed_mutants import OBSERVED_MUTANTS, Observed
from tests.machine.scene import Broken, Lab, Scene
from tests.machine.searching import search
from tests.machine.version_mutants import VERSION_MUTANTS

pytestmark = [pytest.mark.faults, pytest.mark.django_db(databases=["default", "ingest"], transaction=True)]
OF_THE_MACHINE = (*MUTANTS, *VERSION_MUTANTS)


def called(mutant: Mutant) -> str:
    """How a test of it is named."""
    return f"{mutant.mutate.__name__}{'-' + mutant.noticed_by[0] if mutant.alone else ''}"


def only_what_it_is_about(mutant: Mutant, machine: Callable[[Lab], Scene], lab: Lab) -> Scene:
    """The machine; where the mutant has to be noticed by one law alone, with that law."""
    scene = machine(lab)
    if mutant.alone:
        scene.laws = tuple(law for law in scene.laws if law.__name__ in mutant.noticed_by)
    return scene


@pytest.fixture
def caught(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, connect_as: Callable[[str], psycopg.Connection]
) -> Callable[[Mutant, Callable[[Lab], Scene]], None]:
    """Take the safeguard out, and see a law broken that has to be."""

    def look(mutant: Mutant, machine: Callable[[Lab], Scene]) -> None:
        lab.mutated = True
        mutant.mutate(mutants.Lab(monkeypatch, connect_as("owner")))
        with pytest.raises(Broken) as broken:
            # All are caught within 170 now; chance moves when the machine changes.
            search(
                lab, examples=1_000, derandomize=True, machine=partial(only_what_it_is_about, mutant, machine),
                phases=[Phase.generate], report_multiple_bugs=False,
            )  # fmt: skip
        print(f"\n{mutant.mutate.__name__}: {lab.caught}\n   {str(broken.value).splitlines()[0]}")
        assert str(broken.value).split(":")[0] in mutant.noticed_by

    return look


@pytest.mark.parametrize("mutant", OF_THE_MACHINE, ids=called)
def test_the_machine_catches_a_product_that(
    mutant: Mutant, caught: Callable[[Mutant, Callable[[Lab], Scene]], None]
) -> None:
    caught(mutant, mutant.machine)


@pytest.mark.parametrize("mutant", OBSERVED_MUTANTS, ids=called)
def test_the_machine_that_reads_and_streams_catches_a_product_that(
    mutant: Observed, caught: Callable[[Mutant, Callable[[Lab], Scene]], None]
) -> None:
    caught(mutant, partial(ObservedMachine, focus=mutant.focus))


def test_no_law_is_empty_each_is_the_only_one_that_some_mutant_breaks() -> None:
    alone = {mutant.noticed_by for mutant in (*OF_THE_MACHINE, *OBSERVED_MUTANTS)}
    assert [law.__name__ for law in (*LAWS, *OBSERVED_LAWS) if (law.__name__,) not in alone] == []
