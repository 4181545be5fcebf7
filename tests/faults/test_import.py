"""Importing a list is killed and frozen at each step: in the end every row is there once, and nothing else ever was."""

from pathlib import Path
from typing import Any

import pytest

from approvals.models import Dataset, DatasetRow
from approvals.services import datasets
from tests.faults.lab import ADA, Lab

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]
# Whether there are rows already when a worker stops there.
POINTS = [("import.claimed", False), ("import.counted", False), ("import.stored", True)]
LINES = 12_000  # more than two batches


@pytest.fixture
def lab(process_env: dict[str, str], tmp_path: Path, settings: Any) -> Lab:
    settings.MEDIA_ROOT = tmp_path / "files"
    return Lab({**process_env, "SECONDLOOK_DATA": str(tmp_path)})


@pytest.fixture
def words(lab: Lab) -> list[str]:
    text = "email\n" + "".join(f"a{n % 11_000}@example.com\n" for n in range(LINES))

    def receive() -> str:
        upload = datasets.Upload(name="list.csv", pieces=[text.encode()])
        return str(datasets.receive(by=ADA, upload=upload)[0].id)

    return ["-m", "tests.faults.worker", "import", lab.read(receive), str(lab.workspace_id)]


def pass_lease(lab: Lab) -> None:
    lab.read(
        lambda: Dataset.objects.filter(lease_until__isnull=False).update(lease_until="2020-01-01T00:00:00Z")
    )


def assert_whole(lab: Lab) -> None:
    dataset = lab.read(Dataset.objects.get)
    assert dataset.ready
    assert (dataset.total, dataset.addressable, dataset.duplicate) == (LINES, 11_000, 1_000)
    positions = lab.read(
        lambda: list(DatasetRow.objects.order_by("position").values_list("position", flat=True))
    )
    assert positions == list(range(2, LINES + 2))


@pytest.mark.parametrize(("point", "begun"), POINTS)
def test_A16_killed_anywhere_it_goes_on_and_stores_each_row_once(
    point: str, begun: bool, lab: Lab, words: list[str]
) -> None:
    assert lab._run(words, FAULT_AT=point, LEASE_S="60") == -9
    assert lab.read(DatasetRow.objects.exists) == begun
    assert not lab.read(Dataset.objects.get).ready
    assert lab._run(words) == 0  # too early: the lease is not over
    assert not lab.read(Dataset.objects.get).ready
    pass_lease(lab)
    assert lab._run(words) == 0
    assert_whole(lab)


@pytest.mark.parametrize("point", [point for point, _ in POINTS])
def test_frozen_past_its_lease_it_stores_nothing_more(point: str, lab: Lab, words: list[str]) -> None:
    with lab._frozen(words, point, LEASE_S="2") as worker:
        pass_lease(lab)
        assert lab._run(words) == 0
        assert_whole(lab)
        assert lab.wake(worker) == 0, lab.said
    assert_whole(lab)
