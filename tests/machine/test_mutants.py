"""The machine notices: each safeguard that is taken out breaks a law within a few examples."""

from collections.abc import Callable

import psycopg
import pytest
from hypothesis import Phase

from tests.machine import mutants
from tests.machine.mutants import MUTANTS, Mutant
from tests.machine.scene import Broken, Lab
from tests.machine.searching import search

pytestmark = [pytest.mark.faults, pytest.mark.django_db(databases=["default", "ingest"], transaction=True)]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.mutate.__name__)
def test_the_machine_catches_a_product_that(
    mutant: Mutant,
    lab: Lab,
    monkeypatch: pytest.MonkeyPatch,
    connect_as: Callable[[str], psycopg.Connection],
) -> None:
    lab.mutated = True
    mutant.mutate(mutants.Lab(monkeypatch, connect_as("owner")))
    with pytest.raises(Broken) as broken:
        # All are caught within 170 now; chance moves when the machine changes.
        search(lab, examples=1_000, derandomize=True, phases=[Phase.generate], report_multiple_bugs=False)
    print(f"\n{mutant.mutate.__name__}: {lab.caught}\n   {str(broken.value).splitlines()[0]}")
    assert str(broken.value).split(":")[0] in mutant.noticed_by
