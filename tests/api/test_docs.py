"""The OpenAPI document and the page that shows it: for everybody, true, and without anything from elsewhere."""

import re
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from tests.api.bad_values import CALLS
from tests.api.world import Caller

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture(scope="module")
def document(database: None) -> Any:
    del database
    response = Client().get("/api/v1/openapi.json")
    assert response.status_code == 200
    return response.json()


def schema(document: Any, name: str) -> Any:
    return document["components"]["schemas"][name]


def test_every_call_is_listed(document: Any) -> None:
    listed = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert listed == {
        ("POST", "/api/v1/runs"),
        ("GET", "/api/v1/runs"),
        ("GET", "/api/v1/runs/{run_id}"),
        ("POST", "/api/v1/runs/{run_id}/events"),
        ("POST", "/api/v1/runs/{run_id}/replay"),
        ("POST", "/api/v1/campaigns"),
        ("GET", "/api/v1/campaigns/{campaign_id}"),
        ("POST", "/api/v1/datasets"),
        ("GET", "/api/v1/datasets/{dataset_id}"),
        ("POST", "/api/v1/attachments"),
    }


def test_every_reference_leads_somewhere(document: Any) -> None:
    references = set(re.findall(r"'\$ref': '#/components/schemas/(\w+)'", str(document)))
    assert references <= set(document["components"]["schemas"])
    assert "Problem" in references


def test_every_call_wants_a_token_and_says_how_it_refuses(document: Any) -> None:
    for path, methods in document["paths"].items():
        for method, call in methods.items():
            assert call["security"] == [{"Token": []}], (method, path)
            refusals = {status for status in call["responses"] if int(status) >= 400}
            assert {"401", "500", "503"} <= refusals
            if "requestBody" in call:
                assert {"400", "411", "413", "415", "422"} <= refusals
            if "{" in path:
                assert "404" in refusals
            for status in refusals:
                assert list(call["responses"][status]["content"]) == ["application/problem+json"]


@pytest.mark.parametrize(
    ("name", "field", "limits"),
    [
        ("RunIn", "external_id", {"maxLength": 200, "minLength": 1}),
        ("RunIn", "subject", {"maxLength": 200}),
        ("ToolCall", "call_id", {"maxLength": 200}),
        ("ToolCall", "seq", {"minimum": 1, "maximum": 2_000_000_000}),
        ("Message", "text", {"maxLength": 1_000_000}),
        ("EventsIn", "events", {"maxItems": 1000, "minItems": 1}),
        ("CampaignIn", "from", {"maxLength": 400}),
        ("CampaignIn", "recipients", {"maxItems": 10_000}),
        ("RecipientIn", "vars", {"maxProperties": 100}),
    ],
)
def test_limits_are_told(document: Any, name: str, field: str, limits: dict[str, int]) -> None:
    told = schema(document, name)["properties"][field]
    assert {limit: told[limit] for limit in limits} == limits


@pytest.mark.parametrize(
    "name", ["RunIn", "CampaignIn", "EventsIn", "Heartbeat", "ToolResult", "RecipientIn"]
)
def test_no_object_takes_unknown_fields(document: Any, name: str) -> None:
    assert schema(document, name)["additionalProperties"] is False


def test_the_bad_input_tests_know_every_field(document: Any) -> None:
    """A field that somebody adds has to be met with bad values too."""
    names = {
        "run": "RunIn",
        "campaign": "CampaignIn",
        "heartbeat": "Heartbeat",
        "message": "Message",
        "tool_call": "ToolCall",
        "tool_result": "ToolResult",
        "node_started": "NodeStarted",
        "node_finished": "NodeFinished",
        "ended": "Ended",
    }
    free = {"result", "error", "receipt", "data"}  # any JSON value, or any object
    for call, name in names.items():
        assert set(schema(document, name)["properties"]) - free == set(CALLS[call].fields) - free


@pytest.mark.parametrize(
    ("name", "path"), [("RunIn", "/runs"), ("EventsIn", "/runs/RUN/events"), ("CampaignIn", "/campaigns")]
)
def test_the_examples_work(caller: Caller, document: Any, name: str, path: str) -> None:
    (example,) = schema(document, name)["examples"]
    answer = caller.post(path.replace("RUN", caller.open_run() if "RUN" in path else ""), example)
    assert answer.status in (201, 202), answer.json
    if name == "CampaignIn":
        assert answer.json["counts"]["refused"] == 0


def test_the_page_loads_nothing_from_elsewhere_and_runs_nothing_inline() -> None:
    response = Client().get("/api/v1/docs")
    page = response.content.decode()
    assert response.status_code == 200
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert loaded
    for address in loaded:
        assert address.startswith("/static/")
        assert finders.find(address.removeprefix("/static/")), address
    inline = re.findall(r"<script(?![^>]*src=)([^>]*)>", page)
    assert all('type="application/json"' in attributes for attributes in inline)
    assert "<style" not in page and "style=" not in page and " on" not in re.sub(r">[^<]*<", "><", page)
    assert "script-src 'self'" in response.headers["Content-Security-Policy"]
