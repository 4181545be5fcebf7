"""/healthz and /readyz: no sign-in, no session, no database of their own."""

import pytest
from django.db import connections
from django.test import Client

from approvals.services import health

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "ingest"])


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.mark.parametrize("method", ["get", "head"])
def test_healthz_answers_while_there_is_no_database(client: Client, method: str) -> None:
    connections["default"].close()
    connections["default"].settings_dict["PORT"] = "1"
    answer = getattr(client, method)("/healthz")
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.content == (b"ok\n" if method == "get" else b"")


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_nothing_is_kept_of_an_answer(client: Client, path: str) -> None:
    answer = client.get(path)
    assert "no-store" in answer["Cache-Control"]
    assert not answer.cookies


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_nothing_can_be_done_with_them(client: Client, path: str, method: str) -> None:
    assert getattr(client, method)(path).status_code == 405


def test_readyz_says_why_not(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.views.health.readiness", lambda: health.Readiness(["The broker is gone."]))
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json() == {"ready": False, "reasons": ["The broker is gone."]}


def test_readyz_says_that_all_is_well(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.views.health.readiness", lambda: health.Readiness([]))
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"ready": True, "reasons": []}


def test_readyz_answers_while_there_is_no_database(client: Client) -> None:
    connections["default"].close()
    connections["default"].settings_dict["PORT"] = "1"
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json() == {"ready": False, "reasons": ["The database cannot be reached."]}
