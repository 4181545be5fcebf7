"""Importing a dataset: every row ends as something, the first of two wins, and nothing is ever half there."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction

from approvals.access.actors import TokenBearer
from approvals.db.binding import bind
from approvals.exceptions import Invalid, NotAllowed, Refusal
from approvals.models import Dataset, DatasetRow, Suppression
from approvals.services import datasets, importing
from approvals.services.datasets import Upload
from approvals.tasks import imports
from tests.world import World

pytestmark = pytest.mark.django_db

LIST = """email,first_name,note
ann@example.com,Ann,
Bob <BOB@example.com>,Bob,=1+1
ann@EXAMPLE.com,Again,
gone@example.com,Gone,
not an address,Nobody,
Ann@example.com,Third,
"""


@pytest.fixture(autouse=True)
def files(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    return tmp_path


@pytest.fixture
def world() -> Iterator[World]:
    world = World.create()
    with bind(world.workspace.id):
        yield world


def received(world: World, text: str | bytes, **asked: str) -> tuple[Dataset, bool]:
    data = text.encode() if isinstance(text, str) else text
    upload = Upload(name="list.csv", pieces=[data[:10], data[10:]], **asked)
    return datasets.receive(by=world.actor("reviewer"), upload=upload)


def imported(world: World, text: str, **asked: str) -> Dataset:
    dataset, _ = received(world, text, **asked)
    imports.execute.run(str(dataset.id))
    return world.read(lambda: Dataset.objects.get(id=dataset.id))


def rows(world: World, dataset: Dataset) -> list[DatasetRow]:
    return world.read(lambda: list(DatasetRow.objects.filter(dataset_id=dataset.id).order_by("position")))


def suppress(world: World, key: str, scope: str = "") -> None:
    with world.bound():
        Suppression.objects.create(
            workspace_id=world.workspace.id, dedupe_key=key, scope=scope, reason="unsubscribed"
        )


def test_a_file_that_was_lost_before_its_import_is_put_back_by_sending_it_again(world: World) -> None:
    dataset, _ = received(world, LIST)
    name = datasets.name_in_storage(world.workspace.id, dataset.sha256)
    default_storage.delete(name)
    assert received(world, LIST)[0].id == dataset.id
    imports.execute.run(str(dataset.id))
    assert world.read(lambda: Dataset.objects.get(id=dataset.id)).ready


class TestImporting:
    def test_every_row_ends_as_something_and_says_why(self, world: World) -> None:
        suppress(world, "gone@example.com")
        dataset = imported(world, LIST)
        assert [(row.position, row.state, row.address) for row in rows(world, dataset)] == [
            (2, "addressable", "ann@example.com"),
            (3, "addressable", "BOB@example.com"),
            (4, "duplicate", "ann@example.com"),
            (5, "suppressed", "gone@example.com"),
            (6, "refused", ""),
            (7, "duplicate", "Ann@example.com"),
        ]
        assert [row.reason for row in rows(world, dataset)][2:] == [
            "The same address as row 2, which stands for both.",
            importing.ON_THE_LIST,
            "Column \u201cemail\u201d: The address has a space in it.",
            "The same address as row 2, which stands for both.",
        ]
        assert dataset.ready
        assert (dataset.total, dataset.addressable, dataset.duplicate, dataset.suppressed, dataset.refused) == (
            6, 2, 2, 1, 1,
        )  # fmt: skip
        assert dataset.formulas == 1

    def test_C08_C09_the_first_wins_across_batches_too(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(imports, "BATCH", 2)
        dataset = imported(world, LIST)
        assert [row.state for row in rows(world, dataset)] == [
            "addressable", "addressable", "duplicate", "addressable", "refused", "duplicate",
        ]  # fmt: skip

    def test_E02_E09_who_is_suppressed_stays_so_in_whatever_spelling(self, world: World) -> None:
        suppress(world, "ann@example.com")
        dataset = imported(world, "email\nANN@Example.com\nann@example.com\n")
        assert [row.state for row in rows(world, dataset)] == ["suppressed", "duplicate"]
        assert world.read(lambda: Suppression.objects.filter(released_at=None).count()) == 1

    def test_who_is_suppressed_for_one_agent_may_still_hear_from_others(self, world: World) -> None:
        suppress(world, "ann@example.com", scope="newsletter")
        assert [row.state for row in rows(world, imported(world, "email\nann@example.com\n"))] == [
            "addressable"
        ]

    def test_a_file_that_breaks_off_leaves_nothing_behind(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(imports, "BATCH", 1)
        dataset = imported(world, 'email,note\nann@example.com,a\nbob@example.com,"never closed\n')
        assert dataset.trouble == "Row 3: a quote is opened and never closed."
        assert (dataset.ready, dataset.stored, rows(world, dataset)) == (False, 0, [])

    def test_a_worker_that_was_killed_between_two_batches_is_gone_on_from_there(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(imports, "BATCH", 2)
        dataset, _ = received(world, LIST)
        held = importing.claim(dataset_id=dataset.id)
        store = importing.store

        def killed(*given: Any) -> bool:
            store(*given)
            raise KeyboardInterrupt

        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(importing, "store", killed)
            assert held
            imports.import_all(held)
        assert world.read(lambda: Dataset.objects.get(id=dataset.id)).stored == 2
        with world.bound():
            Dataset.objects.update(lease_until="2020-01-01T00:00:00Z")
        imports.execute.run(str(dataset.id))
        assert [row.position for row in rows(world, dataset)] == [2, 3, 4, 5, 6, 7]
        assert world.read(lambda: Dataset.objects.get(id=dataset.id)).ready

    def test_a_worker_that_lost_its_lease_writes_nothing_more(self, world: World) -> None:
        dataset, _ = received(world, LIST)
        slow = importing.claim(dataset_id=dataset.id)
        with world.bound():
            Dataset.objects.update(lease_until="2020-01-01T00:00:00Z")
        quick = importing.claim(dataset_id=dataset.id)
        assert slow
        assert quick
        assert imports.import_all(slow) is False
        assert importing.finish(slow) is False
        assert rows(world, dataset) == []
        assert imports.import_all(quick) is True

    def test_a_dataset_is_claimed_once(self, world: World) -> None:
        dataset, _ = received(world, LIST)
        assert importing.claim(dataset_id=dataset.id)
        assert importing.claim(dataset_id=dataset.id) is None
        imports.execute.run(str(dataset.id))
        assert rows(world, dataset) == []

    def test_a_storage_that_is_away_is_asked_again(self, world: World) -> None:
        dataset, _ = received(world, LIST)
        default_storage.delete(datasets.name_in_storage(world.workspace.id, dataset.sha256))
        imports.execute.run(str(dataset.id))
        waiting = world.read(lambda: Dataset.objects.get(id=dataset.id))
        assert (waiting.notice, waiting.ended_at, waiting.lease_until) == (imports.NOT_THERE, None, None)

    def test_what_is_over_never_changes(self, world: World) -> None:
        dataset = imported(world, LIST)
        with pytest.raises(IntegrityError, match="is over"), world.bound():
            Dataset.objects.filter(id=dataset.id).update(addressable=7)
        with pytest.raises(IntegrityError, match="takes no rows"), world.bound():
            DatasetRow.objects.create(
                workspace_id=world.workspace.id, dataset_id=dataset.id, position=99, email="", vars="{}",
                state="refused", reason="x", formula=False,
            )  # fmt: skip

    def test_nothing_ends_that_does_not_add_up(self, world: World) -> None:
        dataset, _ = received(world, LIST)
        held = importing.claim(dataset_id=dataset.id)
        assert held
        importing.counted(held, total=6)
        with pytest.raises(IntegrityError, match="dataset_adds_up"):
            importing.finish(held)
        with world.bound():
            Dataset.objects.update(refused=6)
        with pytest.raises(IntegrityError, match="other rows than it says"):
            importing.finish(held)


class TestReceiving:
    def test_the_file_is_kept_under_its_digest_and_its_layout_is_known_at_once(self, world: World) -> None:
        dataset, created = received(world, LIST)
        assert created
        assert (dataset.columns, dataset.address_column, dataset.delimiter, dataset.size) == (
            ["email", "first_name", "note"], "email", ",", len(LIST),
        )  # fmt: skip
        with default_storage.open(datasets.name_in_storage(world.workspace.id, dataset.sha256)) as kept:
            assert kept.read().decode() == LIST

    def test_S13_the_same_file_again_is_the_first_import(self, world: World) -> None:
        first = imported(world, LIST)
        again, created = received(world, LIST)
        assert (again.id, created) == (first.id, False)
        other, created = received(world, LIST, address_column="first_name")
        assert (other.id != first.id, created) == (True, True)

    def test_a_file_that_could_not_be_imported_may_be_sent_again(self, world: World) -> None:
        broken = 'email\n"ann@example.com\n'
        first = imported(world, broken)
        again, created = received(world, broken)
        assert first.trouble
        assert (created, again.id != first.id) == (True, True)

    def test_a_file_beyond_the_limit_is_refused_while_it_comes_in(
        self, world: World, settings: Any, files: Path
    ) -> None:
        settings.IMPORT_MOST_MB = 1
        read = []

        def endless() -> Iterator[bytes]:
            while True:
                read.append(1)
                yield b"x" * 100_000

        with pytest.raises(Refusal, match="larger than 1 MB") as caught:
            datasets.receive(by=world.actor("reviewer"), upload=Upload(name="x", pieces=endless()))
        assert (caught.value.status, len(read)) == (413, 11)
        assert list(files.iterdir()) == []

    @pytest.mark.parametrize("file", [b"", b"PK\x03\x04", b"\0\1\2", b"name\nAnn\n"])
    def test_of_what_is_no_list_nothing_is_kept(self, world: World, files: Path, file: bytes) -> None:
        with pytest.raises(Invalid):
            received(world, file)
        assert list(files.iterdir()) == []
        assert not world.read(Dataset.objects.exists)

    @pytest.mark.parametrize("name", ["", " ", "a\x0bb", "x" * 201])
    def test_F01_a_name_that_is_none(self, world: World, name: str) -> None:
        with pytest.raises(Invalid) as caught:
            datasets.receive(by=world.actor("reviewer"), upload=Upload(name=name, pieces=[LIST.encode()]))
        assert caught.value.field == "name"

    @pytest.mark.parametrize("role", ["manager", "admin"])
    def test_only_whoever_proposes_imports(self, world: World, role: str) -> None:
        with pytest.raises(NotAllowed):
            datasets.receive(by=world.actor(role), upload=Upload(name="x", pieces=[LIST.encode()]))

    def test_a_token_of_one_customer_imports_nothing(self, world: World) -> None:
        bound = TokenBearer(world.workspace.id, world.runtime.id, world.runtime.id, "customer-1", "sl_")
        with pytest.raises(NotAllowed):
            datasets.receive(by=bound, upload=Upload(name="x", pieces=[LIST.encode()]))

    def test_two_workspaces_know_nothing_of_each_others_files(self, world: World) -> None:
        first = imported(world, LIST)
        other = World.create("Harbour")
        with bind(other.workspace.id):
            second, created = received(other, LIST)
            assert (created, second.id != first.id) == (True, True)
            assert importing.claim(dataset_id=first.id) is None


def test_variables_are_kept_as_the_rules_say(world: World) -> None:
    [ann, bob, *_] = rows(world, imported(world, LIST))
    assert (json.loads(ann.vars), ann.formula) == ({"first_name": "Ann"}, False)
    assert (json.loads(bob.vars), bob.email, bob.formula) == (
        {"first_name": "Bob", "note": "=1+1"}, "Bob <BOB@example.com>", True,
    )  # fmt: skip


def test_a_failed_store_is_rolled_back_as_a_whole(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset, _ = received(world, LIST)
    monkeypatch.setattr(importing, "_OTHERS", "select 1 / 0")
    with pytest.raises(Exception, match=r"division|parameters|placeholders"), transaction.atomic():
        imports.execute.run(str(dataset.id))
    assert rows(world, dataset) == []
