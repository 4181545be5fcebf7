"""Lists of recipients on the pages: sending one, following it, looking through its rows, and being told the first."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from approvals.db.binding import bind
from approvals.models import Dataset, Decision
from approvals.tasks import imports
from tests.views.reading import Read
from tests.world import World

LIST = "email,first_name,note\nann@example.com,Ann,=1+1\nANN@example.com,Again,\nnobody,X,\n"


@pytest.fixture(autouse=True)
def files(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    return tmp_path


def send(
    world: World, text: str | bytes = LIST, role: str = "reviewer", name: str = "list.csv", **form: str
) -> Any:
    data = text.encode() if isinstance(text, str) else text
    given = {"file": SimpleUploadedFile(name, data), "whole": "1"} | form
    return world.visit(role).post(world.at("datasets/upload"), given)


def imported(world: World, text: str = LIST) -> Dataset:
    send(world, text)
    dataset = world.read(lambda: Dataset.objects.latest("created_at"))
    with bind(world.workspace.id):
        imports.execute.run(str(dataset.id))
    return world.read(lambda: Dataset.objects.get(id=dataset.id))


def look(world: World, path: str = "datasets/", role: str = "reviewer") -> Read:
    return Read(world.visit(role).get(world.at(path)))


class TestSending:
    def test_a_list_is_sent_and_followed_on_its_page(self, world: World) -> None:
        answer = send(world)
        dataset = world.read(Dataset.objects.get)
        assert (answer.status_code, answer["Location"]) == (303, world.at(f"datasets/{dataset.id}/"))
        page = world.visit("reviewer").get(answer["Location"]).content.decode()
        assert "A worker reads it in a moment." in page
        assert f'hx-get="{world.at(f"datasets/{dataset.id}/live")}"' in page

    def test_who_sent_it_is_in_the_log(self, world: World) -> None:
        send(world)
        entry = world.read(lambda: Decision.objects.get(kind="dataset_imported"))
        assert (entry.actor_name, entry.digest) == ("Mia Berg", world.read(Dataset.objects.get).sha256)
        assert "imported the list list.csv" in look(world, f"decisions/{entry.id}/")

    def test_S13_the_same_file_again_leads_to_the_first_import(self, world: World) -> None:
        first = imported(world)
        answer = send(world, name="again.csv")
        assert answer["Location"] == world.at(f"datasets/{first.id}/?known=1")
        assert "This file was imported before" in Read(world.visit("reviewer").get(answer["Location"]))
        assert world.read(Dataset.objects.count) == 1

    @pytest.mark.parametrize(
        ("file", "said"),
        [
            (b"PK\x03\x04rest", "a zip archive"),
            (b"\0\1\2", "does not begin like a text"),
            (b"first,last\nAnn,B\n", "Say which column holds the addresses"),
            (b"email,a\x0bb\na@x.org,x\n", "Row 1, column 2: The character U+000B"),
            (b"", "The file is empty."),
        ],
    )
    def test_what_is_no_list_is_refused_with_a_sentence(
        self, world: World, files: Path, file: bytes, said: str
    ) -> None:
        answer = send(world, file)
        assert answer.status_code == 422
        assert said in Read(answer)
        assert not world.read(Dataset.objects.exists)
        assert list(files.iterdir()) == []

    def test_where_the_address_stands_can_be_said(self, world: World) -> None:
        assert (
            send(world, "first,contact\nAnn,ann@example.com\n", address_column="contact").status_code == 303
        )

    @pytest.mark.parametrize("more", [1, 300 * 1024])
    def test_a_file_of_300_mb_is_refused_and_not_kept(
        self, world: World, settings: Any, files: Path, more: int
    ) -> None:
        settings.IMPORT_MOST_MB = 1
        answer = send(world, b"email\n" + b"x" * (1024 * 1024 + more))
        assert answer.status_code == 413
        assert "larger than 1 MB" in Read(answer)
        assert list(files.iterdir()) == []

    def test_a_form_that_lies_about_its_length_is_stopped_at_the_limit(
        self, world: World, settings: Any, files: Path
    ) -> None:
        settings.IMPORT_MOST_MB = 1
        body = encode_multipart(BOUNDARY, {"file": SimpleUploadedFile("x.csv", b"x" * 1024 * 1024 + b"y")})
        answer = world.visit("reviewer").generic(
            "POST", world.at("datasets/upload"), body, content_type=MULTIPART_CONTENT
        )
        assert answer.status_code == 413
        assert list(files.iterdir()) == []

    def test_a_form_that_did_not_come_in_whole_is_no_list(self, world: World) -> None:
        given = {"file": SimpleUploadedFile("list.csv", LIST.encode())}
        answer = world.visit("reviewer").post(world.at("datasets/upload"), given)
        assert "did not come in whole" in Read(answer)
        assert not world.read(Dataset.objects.exists)

    @pytest.mark.parametrize("role", ["manager", "admin", ""])
    def test_nobody_else_can_make_the_server_keep_a_file(
        self, world: World, files: Path, role: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        kept: list[int] = []
        monkeypatch.setattr(
            "django.core.files.uploadhandler.TemporaryFileUploadHandler.receive_data_chunk",
            lambda *given: kept.append(1),
        )
        given = {"file": SimpleUploadedFile("list.csv", LIST.encode()), "whole": "1"}
        client = world.visit(role) if role else Client()
        assert client.post(world.at("datasets/upload"), given).status_code == 403
        assert (kept, list(files.iterdir())) == ([], [])

    def test_no_other_page_takes_a_file(self, world: World, files: Path) -> None:
        given = {"file": SimpleUploadedFile("list.csv", LIST.encode())}
        world.visit("reviewer").post(world.at("suppressions/add"), given)
        assert list(files.iterdir()) == []


class TestTheList:
    def test_counts_and_reasons_are_there_for_every_row(self, world: World) -> None:
        page = look(world, f"datasets/{imported(world).id}/")
        for said in (
            "3 rows: 1 addressable, 1 duplicate, 1 refused.",
            "The same address as row 2, which stands for both.",
            "Column \u201cemail\u201d: The address has no @.",
            "looks like a formula",
            "comma",
        ):
            assert said in page

    def test_rows_are_found_by_state_and_by_address(self, world: World) -> None:
        at = f"datasets/{imported(world).id}/"
        assert "nobody" not in look(world, f"{at}?q=ANN@")
        assert "Again" in look(world, f"{at}?q=ann")
        assert "nobody" in look(world, f"{at}?state=refused")
        assert "There is no such row" in look(world, f"{at}?q=zoe")

    def test_D04_a_state_that_is_none_is_said_and_not_shown_as_if_it_were_one(self, world: World) -> None:
        assert "Left out, because it could not be read: State" in look(
            world, f"datasets/{imported(world).id}/?state=everybody"
        )

    def test_it_goes_on_where_the_page_ends(self, world: World) -> None:
        dataset = imported(world, "email\n" + "".join(f"a{n:03}@example.com\n" for n in range(60)))
        page = look(world, f"datasets/{dataset.id}/")
        assert "a049@example.com" in page
        assert "a050@example.com" not in page
        assert "a050@example.com" in Read(world.visit("reviewer").get(page.links["Further rows \u2192"]))

    def test_how_far_it_is_is_told_while_it_goes_on(self, world: World) -> None:
        send(world)
        with world.bound():
            Dataset.objects.update(total=3, addressable=1, lease_until="2999-01-01T00:00:00Z")
        dataset = world.read(Dataset.objects.get)
        answered = world.visit("support").get(world.at(f"datasets/{dataset.id}/live"))
        part = answered.content.decode()
        assert "HX-Refresh" not in answered
        assert "1 of 3 rows" in part
        assert re.search(r'<progress max="3" value="1"', part)

    @pytest.mark.parametrize(
        "text", ["email\nann@example.com\n", 'email\n"never closed\n'], ids=["ready", "failed"]
    )
    def test_once_it_is_over_the_page_with_its_rows_is_asked_for_anew(self, world: World, text: str) -> None:
        dataset = imported(world, text)
        answered = world.visit("support").get(world.at(f"datasets/{dataset.id}/live"))
        assert answered["HX-Refresh"] == "true"

    def test_one_that_could_not_be_read_says_why(self, world: World) -> None:
        dataset = imported(world, 'email\n"never closed\n')
        assert "Row 2: a quote is opened and never closed." in look(world, f"datasets/{dataset.id}/")
        assert "Nothing of it was kept" in look(world)

    def test_what_stands_in_a_file_is_shown_and_never_run(self, world: World) -> None:
        dataset = imported(world, "email,x\n<script>alert(1)</script>,\u202eabc\n")
        page = world.visit("reviewer").get(world.at(f"datasets/{dataset.id}/")).content.decode()
        assert "<script>alert" not in page
