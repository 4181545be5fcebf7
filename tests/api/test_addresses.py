"""What is no address, no method, or no working database is told in the API's own form too."""

import pytest
from django.db import OperationalError

from approvals.api.views import runs
from tests.api.world import Caller, a_caller, a_run, a_runtime

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture(scope="module")
def caller(database: None) -> Caller:
    return a_caller(a_runtime())


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/nothing",
        "/runs/",
        "/run",
        "/runs/a/b/c",
        "/docs/",
        "/openapi",
        "/../../etc/passwd",
        "//runs",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_an_address_that_is_none(caller: Caller, method: str, path: str) -> None:
    assert caller.send(method, path).problem == (404, "not_found", None)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/runs", {"GET", "POST"}),
        ("PUT", "/runs", {"GET", "POST"}),
        ("PATCH", "/runs/00000000-0000-4000-8000-000000000000", {"GET"}),
        ("GET", "/runs/00000000-0000-4000-8000-000000000000/events", {"POST"}),
        ("GET", "/runs/00000000-0000-4000-8000-000000000000/replay", {"POST"}),
        ("GET", "/campaigns", {"POST"}),
        ("DELETE", "/campaigns/00000000-0000-4000-8000-000000000000", {"GET"}),
        ("POST", "/openapi.json", {"GET", "HEAD"}),
        ("POST", "/docs", {"GET", "HEAD"}),
    ],
)
def test_a_method_that_is_none(caller: Caller, method: str, path: str, allowed: set[str]) -> None:
    answer = caller.send(method, path)
    assert answer.problem == (405, "method_not_allowed", None)
    assert set(answer.headers["Allow"].split(", ")) == allowed


def test_what_nobody_expected_is_logged_and_not_shown(
    caller: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(**_: object) -> None:
        raise RuntimeError("the secret of the house")

    monkeypatch.setattr(runs.journal, "register_run", broken)
    answer = caller.post("/runs", a_run())
    assert answer.problem == (500, "internal", None)
    assert "secret" not in str(answer.json)
    assert "the secret of the house" in caplog.text


def test_a_database_that_is_away_is_said_to_be_away(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(**_: object) -> None:
        raise OperationalError("connection refused at 10.1.2.3")

    monkeypatch.setattr(runs.journal, "register_run", away)
    answer = caller.post("/runs", a_run())
    assert answer.problem == (503, "unavailable", None)
    assert answer.headers["Retry-After"]
    assert "10.1.2.3" not in str(answer.json)
