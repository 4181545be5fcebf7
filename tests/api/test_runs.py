"""POST /runs, GET /runs and GET /runs/{id}."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.api.world import Caller, a_call, a_caller, a_result, a_run, a_runtime, an_event, stored, the_end

pytestmark = pytest.mark.usefixtures("database")


def test_a_run_is_made_known(caller: Caller) -> None:
    answer = caller.post("/runs", a_run())
    assert answer.status == 201
    assert set(answer.json) == {"id", "status"}
    assert answer.json["status"] == "running"


def test_a_run_is_told_in_full(caller: Caller) -> None:
    run_id = caller.open_run(external_id="refund-1", subject="customer-17")
    caller.report(run_id, a_call(1, to="ann@shop.example.com"), a_result(2), the_end(3, "failed"))
    run = caller.run(run_id)
    assert set(run) == {
        "id", "external_id", "agent", "subject", "status", "record", "calls", "lineage", "verdict", "error",
        "asked_again",
    }  # fmt: skip
    assert (run["id"], run["external_id"], run["agent"], run["subject"], run["status"]) == (
        run_id, "refund-1", "support", "customer-17", "failed",
    )  # fmt: skip
    assert run["record"] == {
        "kind": "called",
        "complete": True,
        "code": "called",
        "why": "Tools were called.",
    }
    assert run["calls"] == [
        {
            "call_id": "c-1",
            "name": "send_email",
            "state": "answered",
            "args": {"to": "ann@shop.example.com"},
            "provenance": "reported",
        }
    ]
    assert [attempt["id"] for attempt in run["lineage"]] == [run_id]
    assert run["verdict"]["may_start_again"] is False
    (reason,) = run["verdict"]["reasons"]
    assert reason["code"] == "tools_called"
    assert reason["text"].endswith(".")
    assert reason["calls"] == [
        {
            "run_id": run_id,
            "call_id": "c-1",
            "name": "send_email",
            "state": "answered",
            "args_summary": '{"to":"ann@shop.example.com"}',
            "provenance": "reported",
        }
    ]


def test_the_same_body_again_is_the_same_run(caller: Caller) -> None:
    body = a_run()
    first = caller.post("/runs", body)
    before = stored(caller.workspace_id)
    again = caller.post("/runs", dict(reversed(body.items())))
    assert (first.status, again.status) == (201, 200)
    assert again.json == first.json
    assert stored(caller.workspace_id) == before


def test_a_repetition_tells_the_status_of_now(caller: Caller) -> None:
    body = a_run()
    run_id = caller.post("/runs", body).json["id"]
    caller.report(run_id, the_end(1, "failed"))
    assert caller.post("/runs", body).json == {"id": run_id, "status": "failed"}


@pytest.mark.parametrize(
    "change",
    [
        {"agent": "other"},
        {"session_id": "s-2"},
        {"session_id": None},
        {"trigger": "cron"},
        {"input": {"text": 1}},
    ],
    ids=str,
)
def test_another_body_under_the_same_external_id_is_a_conflict(
    caller: Caller, change: dict[str, object]
) -> None:
    body = a_run()
    caller.post("/runs", body)
    before = stored(caller.workspace_id)
    assert caller.post("/runs", body | change).problem == (409, "external_id_conflict", "external_id")
    assert stored(caller.workspace_id) == before


def test_another_subject_or_runtime_may_use_the_same_external_id(caller: Caller) -> None:
    one = caller.open_run(external_id="1", subject="customer-1")
    two = caller.open_run(external_id="1", subject="customer-2")
    three = a_caller(a_runtime(caller.workspace_id)).open_run(external_id="1", subject="customer-1")
    assert len({one, two, three}) == 3


@pytest.mark.parametrize("input", [None, 0, "text", [], {"a": [1, 2.5, True, None, "ü", "\U0001f600"]}])
def test_any_json_value_may_be_the_input(caller: Caller, input: object) -> None:
    run_id = caller.open_run(input=input)
    assert "input_missing" not in [reason["code"] for reason in caller.run(run_id)["verdict"]["reasons"]]


def test_session_id_may_be_left_out(caller: Caller) -> None:
    body = a_run()
    del body["session_id"]
    assert caller.post("/runs", body).status == 201
    assert caller.post("/runs", body | {"session_id": None}).status == 200


def test_a_list_pages_through_every_run_once_newest_first(caller: Caller) -> None:
    made = [caller.open_run() for _ in range(7)]
    seen: list[str] = []
    after = ""
    while True:
        page = caller.get(f"/runs?limit=3{after}").json
        seen += [run["id"] for run in page["runs"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert seen == made[::-1]


def test_a_list_tells_each_run_as_it_is_told_alone(caller: Caller) -> None:
    ids = [caller.open_run() for _ in range(3)]
    caller.report(ids[0], a_call(1), the_end(2, "failed"))
    caller.report(ids[1], the_end(1))
    listed = {run["id"]: run for run in caller.get("/runs").json["runs"]}
    assert listed == {id: caller.run(id) for id in ids}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("status=failed", ["a"]),
        ("agent=billing", ["b"]),
        ("subject=customer-2", ["b", "c"]),
        ("subject=customer-2&agent=support", ["c"]),
        ("status=completed", []),
    ],
)
def test_a_list_is_filtered(caller: Caller, query: str, expected: list[str]) -> None:
    failed = caller.open_run(external_id="a", subject="customer-1")
    caller.report(failed, the_end(1, "failed"))
    caller.open_run(external_id="b", subject="customer-2", agent="billing")
    caller.open_run(external_id="c", subject="customer-2")
    assert sorted(run["external_id"] for run in caller.get(f"/runs?{query}").json["runs"]) == expected


def test_a_list_takes_as_many_queries_for_many_runs_as_for_one(caller: Caller) -> None:
    def queries(limit: int) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert len(caller.get(f"/runs?limit={limit}").json["runs"]) == limit
        return len(captured)

    for _ in range(12):
        caller.report(caller.open_run(), a_call(1), a_call(2, "c-2"), an_event(3))
    assert queries(12) == queries(1) < 15


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("status=sleeping", "status"),
        ("status=", "status"),
        ("agent=%00", "agent"),
        ("agent=a%0Ab", "agent"),
        (f"agent={'a' * 201}", "agent"),
        ("subject=", "subject"),
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=many", "limit"),
        ("after=nowhere", "after"),
        ("after=", "after"),
        (f"after={'A' * 201}", "after"),
        ("after=%2F%2F%2F%2F%2F%2F%2F%2F%2F%2F%2F%2F%2F%2F%2F%2F%2F%2F%2F%2F%2F%2F%2F%2F", "after"),
        ("after=________________________________", "after"),
        ("agent=a&agent=b", "agent"),
        ("colour=red", "colour"),
    ],
)
def test_a_parameter_that_cannot_be_is_named(caller: Caller, query: str, field: str) -> None:
    assert caller.get(f"/runs?{query}").problem == (422, "invalid", field)
