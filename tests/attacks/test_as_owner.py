"""What holds even for the owner of the tables, as long as the triggers are there (doctor watches them)."""

import pytest

from tests.attacks.conftest import Try

ATTACKS = {
    "change an event": ("update approvals_event set name = 'x'", "append-only"),
    "delete an event": ("delete from approvals_event", "append-only"),
    "empty the journal": ("truncate approvals_event cascade", "append-only"),
    "empty runs and all that cites them": ("truncate approvals_run cascade", "append-only"),
    "empty workspaces and all that cites them": ("truncate approvals_workspace cascade", "append-only"),
    "delete a run": ("delete from approvals_run", "append-only"),
    "change a decision": ("update approvals_decision set actor_name = 'x'", "append-only"),
    "delete a decision": ("delete from approvals_decision", "append-only"),
    "empty the log": ("truncate approvals_decision cascade", "append-only"),
    "change a payload": ("update approvals_payload set body = '{}'", "append-only"),
    "empty the payloads": ("truncate approvals_payload", "append-only"),
    "delete a job": ("delete from approvals_job", "append-only"),
    "delete a delivery": ("delete from approvals_delivery", "append-only"),
    "change a recipient": ("update approvals_audiencerow set address = 'x'", "only ever erased"),
    "delete a recipient": ("delete from approvals_audiencerow", "append-only"),
    "overwrite a record": (
        "update approvals_run set tools_executed = '[]' where id = %(run)s",
        "(tools_executed_write_once)",
    ),
    "erase a record": (
        "update approvals_run set tools_executed = null where id = %(run)s",
        "(tools_executed_write_once)",
    ),
    "give a run to another customer": ("update approvals_run set subject = 'x'", "(run_identity)"),
    "change a sealed text": ("update approvals_version set text = 'x'", "(version_sealed)"),
    "revive an ended run": ("update approvals_run set status = 'running'", "(run_transition)"),
    "read without a workspace": (
        "select set_config('app.workspace_id', '', true)",
        "select * from approvals_run",
        "22P02 invalid input syntax for type uuid",
    ),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_even_owner_is_refused_to(attack: str, attempt: Try) -> None:
    *statements, refusal = ATTACKS[attack]
    assert refusal in attempt("owner", *statements)


def test_owner_sees_rows_of_the_bound_workspace_alone(attempt: Try) -> None:
    assert attempt("owner", "select 1 from approvals_run where workspace_id <> %(workspace)s") == "0 rows"


def test_owner_may_write_the_same_record_again(attempt: Try) -> None:
    same = (
        "update approvals_run set tools_executed = tools_executed, settled_at = settled_at where id = %(run)s"
    )
    assert attempt("owner", same) == "1 rows"


def test_owner_may_erase_a_payload_and_the_record_becomes_unknown(attempt: Try) -> None:
    said = attempt(
        "owner",
        "delete from approvals_payload where id = %(payload)s",
        "select 1 from run_record(%(workspace)s, %(run)s) where kind = 'unknown' and why = 'erased'",
    )
    assert said == "1 rows"
