"""Reading a store is killed and frozen at each step: what is there is written down once, and nothing is lost."""

from collections.abc import Iterator

import pytest

from approvals.models import Event, Observation, Run, StoredRow, ToolCall
from approvals.services import setup
from tests import factories
from tests.cluster import TestServers
from tests.connectors.adk.database import AdkDatabase, adk_database
from tests.faults.lab import Lab

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]
POINTS = [
    ("observe.claimed", 0),
    ("observe.taken", 1),
    ("observe.read", 1),
]


@pytest.fixture
def store(servers: TestServers) -> Iterator[AdkDatabase]:
    with adk_database(servers, "adk_faults") as made:
        made.lay_out()
        made.add("crash_plain")
        yield made


@pytest.fixture
def lab(process_env: dict[str, str], store: AdkDatabase) -> Lab:
    lab = Lab(process_env)
    lab.read(
        lambda: setup.add_runtime(
            by=factories.actor("Olga", "admin"), name="adk", kind="adk", base_url=lab.base_url,
            database_url=store.url,
        )
    )  # fmt: skip
    return lab


def words(lab: Lab) -> list[str]:
    runtime_id = lab.read(lambda: Observation.objects.values_list("runtime_id", flat=True).get())
    return ["-m", "tests.faults.worker", "observe", str(runtime_id), str(lab.workspace_id)]


def written(lab: Lab) -> tuple[int, int, int, dict[str, str]]:
    return lab.read(
        lambda: (
            Run.objects.count(),
            StoredRow.objects.count(),
            Event.objects.count(),
            dict(ToolCall.objects.values_list("name", "state")),
        )
    )


@pytest.fixture
def expected(store: AdkDatabase) -> tuple[int, int, int, dict[str, str]]:
    """What one undisturbed reading of the sample writes: one run, its rows, their lines and what hides calls."""
    return 1, 4, 5, {"lookup_customer": "answered", "send_email": "open"}


@pytest.mark.parametrize("point", [name for name, _ in POINTS])
def test_killed_anywhere_it_reads_on_and_writes_nothing_twice(
    point: str, lab: Lab, expected: tuple[int, int, int, dict[str, str]]
) -> None:
    assert lab._run(words(lab), FAULT_AT=point) == -9
    assert written(lab)[0] in (0, 1)
    lab.pass_lease()
    for _ in range(2):
        assert lab._run(words(lab)) == 0
    assert written(lab) == expected


@pytest.mark.parametrize("point", [name for name, _ in POINTS])
def test_frozen_past_its_lease_it_changes_nothing_that_others_read(
    point: str, lab: Lab, expected: tuple[int, int, int, dict[str, str]]
) -> None:
    with lab._frozen(words(lab), point, LEASE_S="2") as reader:
        lab.pass_lease()
        assert lab._run(words(lab)) == 0
        before = lab.read(lambda: list(Observation.objects.values("fence", "lease_until", "trouble")))
        assert written(lab) == expected
        assert lab.wake(reader) == 0, lab.said
    assert written(lab) == expected
    after = lab.read(lambda: list(Observation.objects.values("fence", "lease_until", "trouble")))
    assert after == before
