"""POST /runs/{id}/replay: a machine may ask; the verdict alone answers."""

from typing import Any

import pytest
from django.db import transaction

from approvals.db.binding import bind
from approvals.models import Decision, Job
from approvals.selectors.payloads import contents_of
from tests.api.world import Caller, a_call, a_caller, a_result, a_runtime, stored, the_end, with_subject

pytestmark = pytest.mark.usefixtures("database")


def ask(caller: Caller, run_id: str) -> Any:
    return caller.send("POST", f"/runs/{run_id}/replay")


def test_a_run_that_certainly_did_nothing_starts_again(caller: Caller) -> None:
    run_id = caller.open_run(external_id="refund-1")
    caller.report(run_id, the_end(1, "failed"))
    answer = ask(caller, run_id)
    assert answer.status == 202, answer.json
    assert set(answer.json) == {"job_id", "run_id", "decision_id", "status"}
    assert answer.json["status"] == "queued"
    again = caller.run(answer.json["run_id"])
    assert again["status"] == "running"
    assert [attempt["id"] for attempt in again["lineage"]] == [run_id, again["id"]]
    assert again["lineage"][1]["replay_of"] == run_id
    with bind(caller.workspace_id), transaction.atomic():
        assert str(Job.objects.get().id) == answer.json["job_id"]


def test_it_is_logged_as_decided_by_the_rule_with_the_verdict(caller: Caller) -> None:
    run_id = caller.open_run()
    caller.report(run_id, the_end(1, "failed"))
    ask(caller, run_id)
    with bind(caller.workspace_id), transaction.atomic():
        decision = Decision.objects.get()
        evidence = contents_of([decision.payload_id])[decision.payload_id]
    assert (decision.actor_kind, decision.kind, str(decision.target_id)) == ("rule", "replay", run_id)
    assert caller.bearer.hint in decision.actor_name
    assert evidence["verdict"] == {"may_start_again": True, "reasons": []}


def test_a_run_that_called_tools_does_not(caller: Caller) -> None:
    run_id = caller.open_run()
    caller.report(
        run_id, a_call(1, to="ann@shop.example.com"), a_result(2), a_call(3, "c-2", "charge", cents=5)
    )
    caller.report(run_id, the_end(4, "failed"))
    before = stored(caller.workspace_id)
    answer = ask(caller, run_id)
    assert answer.problem == (409, "not_safe", None)
    assert [reason["code"] for reason in answer.json["reasons"]] == ["tools_called"]
    assert [
        (call["name"], call["call_id"], call["state"], call["args_summary"]) for call in answer.json["calls"]
    ] == [
        ("send_email", "c-1", "answered", '{"to":"ann@shop.example.com"}'),
        ("charge", "c-2", "open", '{"cents":5}'),
    ]
    kept = {"decision": before["decision"] + 1, "payload": before["payload"] + 1}  # that it was refused
    assert stored(caller.workspace_id) == before | kept


def test_every_reason_is_named(caller: Caller) -> None:
    run_id = caller.open_run()
    caller.report(run_id, a_call(1), the_end(2, "completed"))
    caller.report(run_id, a_call(3, "c-2"))
    answer = ask(caller, run_id)
    codes = [reason["code"] for reason in answer.json["reasons"]]
    assert codes == ["succeeded", "tools_called", "late_events"]
    assert answer.json["reasons"] == caller.run(run_id)["verdict"]["reasons"]


def test_a_running_run_does_not_start_again(caller: Caller) -> None:
    codes = [reason["code"] for reason in ask(caller, caller.open_run()).json["reasons"]]
    assert codes == ["still_running", "unknown_record"]


def test_what_a_runtime_merely_reported_does_not_start_again() -> None:
    caller = a_caller(a_runtime(writes_ahead=False))
    run_id = caller.open_run()
    caller.report(run_id, the_end(1, "failed"))
    assert [reason["code"] for reason in ask(caller, run_id).json["reasons"]] == ["unknown_record"]


def test_asking_again_while_it_starts_does_nothing_twice(caller: Caller) -> None:
    run_id = caller.open_run()
    caller.report(run_id, the_end(1, "failed"))
    ask(caller, run_id)
    before = stored(caller.workspace_id)
    answer = ask(caller, run_id)
    assert answer.problem == (409, "not_safe", None)
    assert [reason["code"] for reason in answer.json["reasons"]] == ["replay_in_flight"]
    assert stored(caller.workspace_id) == before


def test_a_token_of_one_subject_may_ask_for_that_subjects_run(caller: Caller) -> None:
    run_id = caller.open_run(subject="customer-17")
    caller.report(run_id, the_end(1, "failed"))
    assert ask(with_subject(caller, "customer-17"), run_id).status == 202


def test_the_runtime_reports_on_the_attempt_it_was_handed(caller: Caller) -> None:
    run_id = caller.open_run()
    caller.report(run_id, the_end(1, "failed"))
    new_id = ask(caller, run_id).json["run_id"]
    caller.report(new_id, a_call(1), a_result(2), the_end(3))
    assert caller.run(new_id)["status"] == "completed"
    assert "succeeded" in [reason["code"] for reason in caller.run(run_id)["verdict"]["reasons"]]
    # What the first attempt says now is late.
    caller.report(run_id, a_call(2))
    assert "late_events" in [reason["code"] for reason in caller.run(new_id)["verdict"]["reasons"]]
