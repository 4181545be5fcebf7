"""What cannot be accepted is refused with the field named, and leaves nothing behind.

Every field of every body meets every kind of bad value. No case may change the database, so all share one.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.bad_values import CALLS, Call
from tests.api.world import (
    Caller,
    a_caller,
    a_campaign,
    a_run,
    a_runtime,
    an_event,
    stored,
)

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture(scope="module")
def caller(database: None) -> Caller:
    return a_caller(a_runtime(writes_ahead=True))


@pytest.fixture(scope="module")
def run_id(caller: Caller) -> str:
    return caller.open_run()


@pytest.fixture
def refused(caller: Caller, run_id: str) -> Iterator[Any]:
    """Sends what must be refused; in the end nothing has been stored."""
    before = stored(caller.workspace_id)

    def send(call: Call, body: Any) -> tuple[int, str, str | None]:
        raw = body if isinstance(body, bytes) else json.dumps(_wrapped(call, body)).encode()
        return caller.send("POST", call.path.replace("RUN", run_id), raw).problem

    yield send
    assert stored(caller.workspace_id) == before


def _wrapped(call: Call, body: Any) -> Any:
    return {"events": [an_event(9), body]} if "events" in call.path else body


def _named(call: Call, field: str) -> str:
    return f"events[1].{field}" if "events" in call.path else field


BAD_VALUES = [
    pytest.param(call, field, value, id=f"{name}: {field} is {kind}")
    for name, call in CALLS.items()
    for field, values in call.fields.items()
    for kind, value in values.items()
]
FIELDS = [
    pytest.param(call, field, id=f"{name}: {field}") for name, call in CALLS.items() for field in call.fields
]


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_call_itself_would_be_accepted(call: Call) -> None:
    other = a_caller(a_runtime())
    path = call.path.replace("RUN", other.open_run() if "RUN" in call.path else "")
    assert other.post(path, _wrapped(call, call.body)).status in (201, 202)


@pytest.mark.parametrize(("call", "field", "value"), BAD_VALUES)
def test_a_bad_value_is_refused_by_name(refused: Any, call: Call, field: str, value: Any) -> None:
    status, code, named = refused(call, call.body | {field: value})
    # A number that no 64 bits can hold is no JSON of ours; everything else is a field that cannot be.
    assert (status, code) == ((400, "bad_json") if value == 2**63 else (422, "invalid"))
    assert named == _named(call, field)


@pytest.mark.parametrize(
    ("call", "field"),
    [
        pytest.param(call, field, id=f"{name}: {field}")
        for name, call in CALLS.items()
        for field in call.must_be_there
    ],
)
def test_a_missing_field_is_named(refused: Any, call: Call, field: str) -> None:
    body = {name: value for name, value in call.body.items() if name != field}
    assert refused(call, body) == (422, "invalid", _named(call, field))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(
    ("key", "shown"), [("colour", ".colour"), ("a b", '["a b"]'), ("ü" * 300, "." + "ü" * 300)]
)
def test_an_unknown_field_is_named(refused: Any, call: Call, key: str, shown: str) -> None:
    expected = _named(call, "").removesuffix(".") + shown
    assert refused(call, call.body | {key: 1}) == (422, "invalid", expected.removeprefix("."))


@pytest.mark.parametrize(
    "bad", ["\x00", "\ud800", "a\udfffb"], ids=["NUL", "lone surrogate", "in the middle"]
)
@pytest.mark.parametrize(("call", "field"), FIELDS)
def test_nul_and_half_surrogates_are_refused_by_name(refused: Any, call: Call, field: str, bad: str) -> None:
    assert refused(call, call.body | {field: bad}) == (400, "bad_json", _named(call, field))
    status, code, named = refused(call, call.body | {field: {"a": [bad]}})
    assert (status, code, named) == (400, "bad_json", _named(call, field) + ".a[0]")


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_body_100_000_levels_deep_is_refused(refused: Any, call: Call) -> None:
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        for depth in (100_000, 65):
            deep = opening * depth + "1" + closing * depth
            assert refused(call, deep.encode())[:2] == (400, "bad_json")
            field = next(iter(call.fields))
            inside = json.dumps(_wrapped(call, call.body | {field: "HERE"})).replace('"HERE"', deep)
            assert refused(call, inside.encode())[:2] == (400, "bad_json")


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_body_of_6_mb_is_refused(refused: Any, call: Call) -> None:
    field = next(iter(call.fields))
    assert refused(call, call.body | {field: "x" * 6_000_000}) == (413, "too_large", None)


@pytest.mark.parametrize(
    "call", [CALLS["run"], CALLS["heartbeat"], CALLS["campaign"]], ids=["run", "events", "campaign"]
)
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", (400, "bad_json", None)),
        (b"{", (400, "bad_json", None)),
        (b"\xff\xfe", (400, "bad_json", None)),
        (b"\xef\xbb\xbf{}", (400, "bad_json", None)),
        (b"NaN", (400, "bad_json", None)),
        (b'{"a": Infinity}', (400, "bad_json", "a")),
        (b'{"agent": "a", "agent": "b"}', (400, "bad_json", "agent")),
        (b'{"a": 1e999}', (400, "bad_json", "a")),
        (b"[]", (422, "invalid", None)),
        (b"null", (422, "invalid", None)),
        (b'"text"', (422, "invalid", None)),
        (b"7", (422, "invalid", None)),
    ],
    ids=repr,
)
def test_a_body_that_is_no_json_object_is_refused(
    refused: Any, call: Call, body: bytes, expected: tuple[int, str, str | None]
) -> None:
    assert refused(call, body) == expected


@pytest.mark.parametrize(
    ("events", "field"),
    [
        ([], "events"),
        ({}, "events"),
        (None, "events"),
        ("heartbeat", "events"),
        ([7], "events[0]"),
        ([None], "events[0]"),
        ([[]], "events[0]"),
        ([an_event(1), {}], "events[1].type"),
        ([an_event(1) | {"call_id": "c"}], "events[0].call_id"),
        ([an_event(1, "tool_result", call_id="c")], "events[0].result"),
        ([an_event(1, "tool_result", call_id="c", result=1, error=2)], "events[0].error"),
    ],
)
def test_a_batch_that_cannot_be_is_refused(refused: Any, events: Any, field: str) -> None:
    body = json.dumps({"events": events}).encode()
    assert refused(CALLS["heartbeat"], body) == (422, "invalid", field)


def test_one_bad_event_keeps_the_good_ones_out(refused: Any) -> None:
    events = [an_event(seq) for seq in range(1, 500)] + [an_event(0)]
    body = json.dumps({"events": events}).encode()
    assert refused(CALLS["heartbeat"], body) == (422, "invalid", "events[499].seq")


@pytest.mark.parametrize(
    ("recipient", "field"),
    [
        (7, ""),
        (None, ""),
        ("ann@shop.example.com", ""),
        ({}, ".email"),
        ({"email": None}, ".email"),
        ({"email": 7}, ".email"),
        ({"email": ["ann@shop.example.com"]}, ".email"),
        ({"email": "ann@shop.example.com", "name": "Ann"}, ".name"),
        ({"email": "ann@shop.example.com", "vars": None}, ".vars"),
        ({"email": "ann@shop.example.com", "vars": ["Ann"]}, ".vars"),
        ({"email": "ann@shop.example.com", "vars": {"name": None}}, ".vars.name"),
        ({"email": "ann@shop.example.com", "vars": {"name": {"first": "Ann"}}}, ".vars.name"),
        ({"email": "ann@shop.example.com", "vars": {"name": ["Ann"]}}, ".vars.name"),
        ({"email": "ann@shop.example.com", "vars": {"name": "x" * 10_001}}, ".vars.name"),
        ({"email": "ann@shop.example.com", "vars": {"": "Ann"}}, '.vars[""]'),
        ({"email": "ann@shop.example.com", "vars": {"a\nb": "Ann"}}, '.vars["a\\nb"]'),
        ({"email": "ann@shop.example.com", "vars": {"x" * 201: "Ann"}}, ".vars." + "x" * 201),
        ({"email": "ann@shop.example.com", "vars": {f"v{n}": n for n in range(101)}}, ".vars"),
    ],
)
def test_a_recipient_of_the_wrong_form_is_refused(refused: Any, recipient: Any, field: str) -> None:
    body = a_campaign(recipients=[{"email": "bob@shop.example.com"}, recipient])
    assert refused(CALLS["campaign"], body) == (422, "invalid", f"recipients[1]{field}")


def test_a_refusal_names_the_other_fields_too(caller: Caller) -> None:
    answer = caller.post("/runs", {"agent": 7, "colour": "red"})
    named = [error["field"] for error in answer.json["errors"]]
    assert named == ["external_id", "agent", "subject", "trigger", "input", "colour"]
    assert all(error["text"].endswith(".") for error in answer.json["errors"])


def test_a_refusal_names_twenty_fields_at_most(caller: Caller, run_id: str) -> None:
    answer = caller.post(f"/runs/{run_id}/events", {"events": [{}] * 1000})
    assert answer.status == 422
    assert len(answer.json["errors"]) == 20


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_a_body_of_another_type_is_refused(refused: Any, caller: Caller, content_type: str) -> None:
    from django.test import Client

    response = Client(headers={"Authorization": f"Bearer {caller.token}"}).generic(
        "POST", "/api/v1/runs", json.dumps(a_run()), content_type=content_type
    )
    assert (response.status_code, response.json()["code"]) == (415, "unsupported_media_type")
