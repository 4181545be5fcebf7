"""POST /datasets, GET /datasets/{id}, and a campaign that names one: who is in it, and what is refused."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction
from django.test import Client

from approvals.access.actors import Actor
from approvals.db.binding import bind
from approvals.models import AudienceRow, Dataset, Delivery, Suppression, Version
from approvals.rules.digests import version_digest
from approvals.services import datasets
from approvals.tasks import imports
from tests.api.world import Answer, Caller, a_caller, a_campaign, a_runtime, stored

pytestmark = pytest.mark.usefixtures("database")

LIST = """email,first_name,country,note
ann@shop.example.com,Ann,NL,
bob@shop.example.com,Bob,DE,"two
lines"
ANN@shop.example.com,Again,DE,
nobody,X,NL,
gone@shop.example.com,Gone,NL,
"""


@pytest.fixture(autouse=True)
def files(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    return tmp_path


def send(caller: Caller, body: bytes, kind: str = "text/csv", **asked: str) -> Answer:
    response = Client(
        enforce_csrf_checks=True,
        raise_request_exception=False,
        headers={"Authorization": f"Bearer {caller.token}"},
        query_params={"name": "spring.csv"} | asked,
    ).generic(
        "POST", "/api/v1/datasets", body, content_type=kind, query_params={"name": "spring.csv"} | asked
    )
    return Answer(response.status_code, json.loads(response.content), response.headers)


def imported(caller: Caller, text: str = LIST, **asked: str) -> str:
    answer = send(caller, text.encode(), **asked)
    assert answer.status == 201, answer.json
    with bind(caller.workspace_id):
        imports.execute.run(answer.json["id"])
    return answer.json["id"]


def suppress(caller: Caller, key: str, scope: str = "") -> None:
    with bind(caller.workspace_id), transaction.atomic():
        Suppression.objects.create(
            workspace_id=caller.workspace_id, dedupe_key=key, scope=scope, reason="unsubscribed"
        )


def propose(caller: Caller, dataset_id: str, **changes: Any) -> Answer:
    body = a_campaign(dataset_id=dataset_id, **changes)
    del body["recipients"]
    return caller.post("/campaigns", body)


def audience(caller: Caller, campaign_id: str) -> list[tuple[int, str, str]]:
    with bind(caller.workspace_id), transaction.atomic():
        rows = AudienceRow.objects.filter(version__campaign_id=campaign_id).order_by("position")
        return list(rows.values_list("position", "state", "address"))


class TestImporting:
    def test_a_list_is_taken_at_once_and_tells_how_it_is_read(self, caller: Caller) -> None:
        answer = send(caller, LIST.encode())
        assert answer.status == 201
        told = {
            name: answer.json[name] for name in ("name", "status", "columns", "address_column", "delimiter")
        }
        assert told == {
            "name": "spring.csv", "status": "waiting", "columns": ["email", "first_name", "country", "note"],
            "address_column": "email", "delimiter": ",",
        }  # fmt: skip

    def test_it_is_ready_once_a_worker_was_there(self, caller: Caller) -> None:
        told = caller.get(f"/datasets/{imported(caller)}").json
        assert told["status"] == "ready"
        assert told["counts"] == {
            "total": 5, "addressable": 3, "duplicate": 1, "suppressed": 0, "refused": 1, "formulas": 0,
        }  # fmt: skip

    def test_S13_the_same_file_again_is_the_first_import(self, caller: Caller) -> None:
        first = imported(caller)
        again = send(caller, LIST.encode(), name="another name.csv")
        assert (again.status, again.json["id"], again.json["name"]) == (200, first, "spring.csv")

    def test_another_runtime_knows_nothing_of_it(self, caller: Caller) -> None:
        first = imported(caller)
        other = a_caller(a_runtime(caller.workspace_id))
        assert other.get(f"/datasets/{first}").problem == (404, "not_found", None)
        assert send(other, LIST.encode()).status == 201
        assert propose(other, first).problem == (422, "invalid", "dataset_id")

    def test_what_a_person_imported_may_be_used(self, caller: Caller) -> None:
        person = Actor("member", "1", "Mia", ("reviewer",), "password")
        with bind(caller.workspace_id):
            dataset, _ = datasets.receive(by=person, upload=datasets.Upload(name="x", pieces=[LIST.encode()]))
            imports.execute.run(str(dataset.id))
        assert propose(caller, str(dataset.id)).status == 201

    @pytest.mark.parametrize(
        ("body", "asked", "problem"),
        [
            (b"PK\x03\x04", {}, (422, "invalid", "file")),
            (b"\0\1\2", {}, (422, "invalid", "file")),
            (b"first,last\nAnn,B\n", {}, (422, "invalid", "address_column")),
            (b"email\na@x.org\n", {"address_column": "mail"}, (422, "invalid", "address_column")),
            (b"email\na@x.org\n", {"encoding": "ebcdic"}, (422, "invalid", "encoding")),
            (b"email\na@x.org\n", {"name": "a\x0bb"}, (422, "invalid", "name")),
            (b"email\na@x.org\n", {"filter": "x"}, (422, "invalid", "filter")),
            (b"email,a\x1cb\na@x.org,x\n", {}, (422, "invalid", "file")),
        ],
        ids=str,
    )
    def test_of_what_is_refused_nothing_is_kept(
        self, caller: Caller, files: Path, body: bytes, asked: dict[str, str], problem: tuple[int, str, str]
    ) -> None:
        assert send(caller, body, **asked).problem == problem
        assert list(files.iterdir()) == []
        with bind(caller.workspace_id), transaction.atomic():
            assert not Dataset.objects.exists()

    def test_another_kind_of_body_is_refused(self, caller: Caller) -> None:
        assert send(caller, b"{}", kind="application/json").problem == (415, "unsupported_media_type", None)

    def test_a_file_of_300_mb_is_refused_before_it_is_read(self, caller: Caller, settings: Any) -> None:
        settings.IMPORT_MOST_MB = 1
        assert send(caller, b"email\n" + b"x" * 1024 * 1024).problem == (413, "too_large", "file")

    def test_a_body_that_ends_early_is_no_list(self, caller: Caller) -> None:
        response = Client(raise_request_exception=False).generic(
            "POST", "/api/v1/datasets?name=x", b"email\na@x.org\n", content_type="text/csv",
            headers={"Authorization": f"Bearer {caller.token}"}, CONTENT_LENGTH="500",
            **{"wsgi.input": BytesIO(b"email\na@x.org\n")},
        )  # fmt: skip
        assert response.status_code == 400
        with bind(caller.workspace_id), transaction.atomic():
            assert not Dataset.objects.exists()

    def test_a_token_of_one_customer_imports_nothing_and_sees_none(self, caller: Caller) -> None:
        first = imported(caller)
        with bind(caller.workspace_id), transaction.atomic():
            runtime = Dataset.objects.get(id=first).runtime
        bound = a_caller(runtime, subject="customer-1")
        assert send(bound, LIST.encode()).problem == (403, "not_allowed", None)
        assert bound.get(f"/datasets/{first}").problem == (404, "not_found", None)


class TestProposing:
    def test_a_campaign_is_filled_with_the_rows_of_its_list(self, caller: Caller) -> None:
        suppress(caller, "gone@shop.example.com")
        answer = propose(caller, imported(caller))
        assert answer.status == 201, answer.json
        assert audience(caller, answer.json["id"]) == [
            (2, "addressable", "ann@shop.example.com"),
            (3, "addressable", "bob@shop.example.com"),
            (4, "duplicate", "ANN@shop.example.com"),
            (5, "refused", ""),
            (6, "suppressed", "gone@shop.example.com"),
        ]
        counts = answer.json["counts"]
        assert {name: counts[name] for name in ("total", "addressable", "suppressed", "planned")} == {
            "total": 5, "addressable": 2, "suppressed": 1, "planned": 2,
        }  # fmt: skip

    def test_each_that_is_written_to_has_a_delivery_as_if_it_had_been_named(self, caller: Caller) -> None:
        answer = propose(caller, imported(caller))
        with bind(caller.workspace_id), transaction.atomic():
            version = Version.objects.get(campaign_id=answer.json["id"])
            deliveries = list(Delivery.objects.filter(version_id=version.id).order_by("position"))
            rows = AudienceRow.objects.filter(version_id=version.id, state="addressable").order_by("position")
            told = list(rows.values_list("position", "address", "vars"))
        assert [one.message_id for one in deliveries] == [
            f"<{one.id.hex}@shop.example.com>" for one in deliveries
        ]
        assert [(one.position, one.address, one.dedupe_key) for one in deliveries] == [
            (position, address, address.lower()) for position, address, _ in told
        ]
        body = a_campaign()
        assert answer.json["digest"] == version.digest == version_digest(
            headers={
                "version": "1", "name": body["name"],
                "purpose": body["purpose"], "send_by": "2999-06-01T06:00:00+00:00",
                "from": body["from"], "reply_to": body["reply_to"], "subject": body["subject"],
            },
            text=body["text"], html=body["html"], recipients=told,
        )  # fmt: skip

    def test_E01_who_unsubscribed_after_the_import_gets_nothing(self, caller: Caller) -> None:
        dataset = imported(caller)
        suppress(caller, "ann@shop.example.com")
        states = [state for _, state, _ in audience(caller, propose(caller, dataset).json["id"])]
        assert states == ["suppressed", "addressable", "suppressed", "refused", "addressable"]

    def test_a_line_break_in_a_subject_excludes_the_row(self, caller: Caller) -> None:
        answer = propose(caller, imported(caller), subject="About {{ note }}")
        assert [state for _, state, _ in audience(caller, answer.json["id"])] == [
            "addressable", "refused", "duplicate", "refused", "addressable",
        ]  # fmt: skip

    def test_a_filter_picks_rows_and_the_first_of_those_wins(self, caller: Caller) -> None:
        answer = propose(caller, imported(caller), where={"country": "DE"})
        assert audience(caller, answer.json["id"]) == [
            (3, "addressable", "bob@shop.example.com"),
            (4, "addressable", "ANN@shop.example.com"),
        ]

    @pytest.mark.parametrize(
        "where",
        [{}, {"land": "DE"}, {"country": " "}, {"country": "XX"}, {"email": "ann@shop.example.com"}],
        ids=str,
    )
    def test_D04_an_empty_or_unknown_filter_is_refused_and_never_everybody(
        self, caller: Caller, where: dict[str, str]
    ) -> None:
        dataset = imported(caller)
        before = stored(caller.workspace_id)
        status, _, field = propose(caller, dataset, where=where).problem
        assert status == 422
        assert field and field.startswith("where")
        assert stored(caller.workspace_id) == before

    def test_a_list_that_is_not_ready_or_not_there_is_refused(self, caller: Caller) -> None:
        waiting = send(caller, LIST.encode()).json["id"]
        failed = imported(caller, 'email\n"never closed\n')
        for dataset in (waiting, failed, str(uuid4())):
            assert propose(caller, dataset).problem == (422, "invalid", "dataset_id")

    @pytest.mark.parametrize(
        ("changes", "field"),
        [
            ({"recipients": []}, "recipients"),
            ({"dataset_id": str(uuid4())}, "recipients"),
            ({"where": {"country": "DE"}}, "where"),
        ],
    )
    def test_a_campaign_has_one_audience(self, caller: Caller, changes: dict[str, Any], field: str) -> None:
        assert caller.post("/campaigns", a_campaign(**changes)).problem == (422, "invalid", field)

    def test_the_same_proposal_again_is_the_same_campaign_and_another_filter_is_not(
        self, caller: Caller
    ) -> None:
        dataset = imported(caller)
        first = propose(caller, dataset, external_id="once")
        assert propose(caller, dataset, external_id="once").json == first.json
        other = propose(caller, dataset, external_id="once", where={"country": "DE"})
        assert (other.status, other.json["id"], other.json["version"]) == (201, first.json["id"], 2)

    def test_E01_recipients_that_are_named_are_looked_up_too(self, caller: Caller) -> None:
        suppress(caller, "ann@shop.example.com")
        given = [{"email": "Ann@shop.example.com"}, {"email": "bob@shop.example.com"}]
        answer = caller.post("/campaigns", a_campaign(recipients=given))
        assert [state for _, state, _ in audience(caller, answer.json["id"])] == ["suppressed", "addressable"]
