"""POST /attachments, and a campaign that names files: what is kept, what is sealed, and what is refused."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from approvals.access.actors import Actor
from approvals.db.binding import bind
from approvals.models import Attachment, Version, VersionAttachment
from approvals.rules import attachments as rules
from approvals.services import attachments
from tests.api.world import Answer, Caller, a_caller, a_campaign, a_runtime, stored

pytestmark = pytest.mark.usefixtures("database")

PDF = b"%PDF-1.7\nTerms of use."
SHA256 = hashlib.sha256(PDF).hexdigest()


@pytest.fixture(autouse=True)
def files(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    return tmp_path


def send(
    caller: Caller, body: bytes = PDF, kind: str = "application/pdf", query: str = "", **more: Any
) -> Answer:
    response = Client(
        enforce_csrf_checks=True,
        raise_request_exception=False,
        headers={"Authorization": f"Bearer {caller.token}"},
    ).generic("POST", f"/api/v1/attachments{query}", body, content_type=kind, CONTENT_TYPE=kind, **more)
    return Answer(response.status_code, json.loads(response.content), response.headers)


def named(
    sha256: str = SHA256, filename: str = "terms.pdf", content_type: str = "application/pdf"
) -> dict[str, str]:
    return {"sha256": sha256, "filename": filename, "content_type": content_type}


def propose(caller: Caller, *files: dict[str, Any], **more: Any) -> Answer:
    return caller.post("/campaigns", a_campaign(attachments=list(files), **more))


def kept(files: Path) -> list[bytes]:
    return [path.read_bytes() for path in files.rglob("*") if path.is_file()]


class TestSending:
    def test_a_file_is_kept_under_its_sha256(self, caller: Caller, files: Path) -> None:
        answer = send(caller)
        assert (answer.status, answer.json) == (
            201, {"sha256": SHA256, "size": len(PDF), "content_type": "application/pdf"},
        )  # fmt: skip
        assert (files / "files" / "attachments" / str(caller.workspace_id) / SHA256).read_bytes() == PDF

    def test_the_same_bytes_again_are_kept_once_and_told_as_they_were(
        self, caller: Caller, files: Path
    ) -> None:
        first = send(caller)
        again = send(caller, kind="text/plain")
        assert (again.status, again.json) == (200, first.json)
        assert kept(files) == [PDF]

    def test_parameters_of_the_type_are_left_out(self, caller: Caller) -> None:
        assert send(caller, b"Hi", "text/plain; charset=utf-8").json["content_type"] == "text/plain"

    @pytest.mark.parametrize("damage", ["lost", "cut short", "changed"])
    def test_a_file_that_the_storage_lost_is_put_back_by_sending_it_again(
        self, caller: Caller, files: Path, damage: str
    ) -> None:
        send(caller)
        path = files / "files" / "attachments" / str(caller.workspace_id) / SHA256
        if damage == "lost":
            path.unlink()
        else:
            path.write_bytes(PDF[:5] if damage == "cut short" else PDF.upper())
        assert send(caller).status == 200
        assert kept(files) == [PDF]

    @pytest.mark.parametrize(
        ("body", "kind", "query", "problem"),
        [
            (b"", "application/pdf", "", (422, "invalid", "file")),
            (PDF, "message/rfc822", "", (422, "invalid", "content_type")),
            (PDF, "nothing", "", (422, "invalid", "content_type")),
            (PDF, "multipart/form-data; boundary=x", "", (415, "unsupported_media_type", None)),
            (PDF, "application/x-www-form-urlencoded", "", (415, "unsupported_media_type", None)),
            (PDF, "", "", (415, "unsupported_media_type", None)),
            (PDF, "application/pdf", "?name=x", (422, "invalid", "name")),
            (b"x" * (rules.MOST_BYTES + 1), "application/pdf", "", (413, "too_large", "file")),
        ],
        ids=lambda value: str(value)[:30],
    )
    def test_of_what_is_refused_nothing_is_kept(
        self, caller: Caller, files: Path, body: bytes, kind: str, query: str, problem: Any
    ) -> None:
        assert send(caller, body, kind, query).problem == problem
        assert kept(files) == []
        with bind(caller.workspace_id), transaction.atomic():
            assert not Attachment.objects.exists()

    def test_the_biggest_file_is_taken(self, caller: Caller) -> None:
        assert send(caller, b"x" * rules.MOST_BYTES).status == 201

    def test_a_token_of_one_customer_sends_nothing(self, caller: Caller) -> None:
        bound = a_caller(a_runtime(caller.workspace_id), subject="customer-1")
        assert send(bound).problem == (403, "not_allowed", None)


class TestProposing:
    def test_a_campaign_shows_its_files_in_order(self, caller: Caller) -> None:
        send(caller)
        other = send(caller, b"a,b\n", "text/csv").json["sha256"]
        files = [named(), named(other, "報告.csv", "text/csv")]
        answer = propose(caller, *files)
        assert answer.status == 201, answer.json
        told = caller.get(f"/campaigns/{answer.json['id']}").json["attachments"]
        assert told == [{**files[0], "size": len(PDF)}, {**files[1], "size": 4}]

    def test_d08_other_bytes_another_name_type_or_order_is_another_digest(self, caller: Caller) -> None:
        send(caller)
        other = send(caller, b"other", "text/plain").json["sha256"]
        one, two = named(), named(other, "b.txt", "text/plain")
        proposals: list[list[dict[str, str]]] = [
            [], [one], [one, two], [two, one], [named(other)], [named(filename="x.pdf")],
            [named(content_type="text/plain")],
        ]  # fmt: skip
        digests = {propose(caller, *files).json["digest"] for files in proposals}
        assert len(digests) == len(proposals)
        assert propose(caller, one).json["digest"] in digests

    def test_another_file_under_the_same_external_id_is_another_proposal(self, caller: Caller) -> None:
        send(caller)
        first = propose(caller, named(), external_id="once")
        assert propose(caller, named(), external_id="once").json["id"] == first.json["id"]
        assert (
            propose(caller, named(filename="x.pdf"), external_id="once").json.get("digest")
            != first.json["digest"]
        )

    def test_a_file_that_nobody_sent_is_refused_by_its_place(self, caller: Caller) -> None:
        send(caller)
        before = stored(caller.workspace_id)
        assert propose(caller, named(), named("0" * 64)).problem == (422, "invalid", "attachments[1].sha256")
        assert stored(caller.workspace_id) == before

    @pytest.mark.parametrize(
        ("spoiled", "field"),
        [
            ({"sha256": "../" * 20}, "sha256"),
            ({"sha256": SHA256.upper()}, "sha256"),
            ({"filename": "a\r\nBcc: x@y.org"}, "filename"),
            ({"filename": "../x"}, "filename"),
            ({"filename": "x\u202efdp.exe"}, "filename"),
            ({"filename": "x\x1c"}, "filename"),
            ({"content_type": "text/plain; charset=x"}, "content_type"),
            ({"content_type": "message/rfc822"}, "content_type"),
            ({"content_type": "multipart/mixed"}, "content_type"),
            ({"data": "x"}, "data"),
        ],
        ids=str,
    )
    def test_what_cannot_be_written_is_refused_by_its_field(
        self, caller: Caller, spoiled: dict[str, str], field: str
    ) -> None:
        send(caller)
        answer = propose(caller, {**named(), **spoiled})
        assert answer.problem == (422, "invalid", f"attachments[0].{field}")

    def test_too_many_or_too_much_is_refused(self, caller: Caller) -> None:
        send(caller)
        assert propose(caller, *[named()] * 10).status == 201
        assert propose(caller, *[named()] * 11).problem == (422, "invalid", "attachments")
        big = send(caller, b"x" * 8 * 1024 * 1024, "text/plain").json["sha256"]
        answer = propose(caller, named(big, "a"), named(big, "b"))
        assert answer.problem == (422, "invalid", "attachments")
        assert "15 MB" in answer.json["detail"]

    def test_another_runtimes_file_is_as_if_it_were_not_there_and_a_persons_may_be_used(
        self, caller: Caller
    ) -> None:
        other = a_caller(a_runtime(caller.workspace_id))
        send(other)
        assert propose(caller, named()).problem == (422, "invalid", "attachments[0].sha256")
        person = Actor("member", "1", "Mia", ("reviewer",), "password")
        with bind(caller.workspace_id):
            attachments.keep(by=person, pieces=[PDF], content_type="application/pdf")
        assert propose(caller, named()).status == 201

    def test_a_file_is_sealed_with_its_version(self, caller: Caller) -> None:
        send(caller)
        answer = propose(caller, named())
        with bind(caller.workspace_id), transaction.atomic():
            version = Version.objects.get(campaign_id=answer.json["id"])
            [row] = VersionAttachment.objects.filter(version_id=version.id)
            assert (row.position, row.attachment.sha256, row.filename) == (1, SHA256, "terms.pdf")
