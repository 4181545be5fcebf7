"""A runtime whose own store is read reports nothing: what an agent says could hide what its store shows."""

import pytest
from django.db import transaction

from approvals.db.binding import bind
from approvals.models import Run, ToolCall
from tests import factories as f
from tests.api.world import Caller, a_caller, a_result, a_run, a_runtime, the_end

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def read(database: None) -> tuple[Caller, Run]:
    """A caller for a runtime that is read, and a run that broke off there with an open call."""
    del database
    runtime = a_runtime(kind="adk", database_url=b"sealed")
    with bind(runtime.workspace_id):
        return a_caller(runtime), f.broken_off(of=runtime)


def test_an_open_call_is_not_answered_by_a_report(read: tuple[Caller, Run]) -> None:
    caller, run = read
    answer = caller.post(f"/runs/{run.id}/events", {"events": [a_result(100, call_id="a2"), the_end(101)]})
    with bind(run.workspace_id), transaction.atomic():
        assert dict(ToolCall.objects.filter(run_id=run.id).values_list("call_id", "state"))["a2"] == "open"
        assert Run.objects.get(id=run.id).status == "interrupted"
    assert answer.problem == (409, "runtime_is_read", None)


def test_no_run_is_made_known_under_a_name_that_the_store_will_use(read: tuple[Caller, Run]) -> None:
    caller, _ = read
    answer = caller.post("/runs", a_run(external_id="support/u1/s/e-1"))
    assert answer.problem == (409, "runtime_is_read", None)
