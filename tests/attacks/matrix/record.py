"""The record: written once, by the function that derives it, from payloads that nobody changed."""

from tests.attacks.matrix.case import Case
from tests.attacks.matrix.rows import insert

CASES = (
    Case(
        guard="trigger approvals_run tools_executed_write_once",
        what="overwrite a record",
        by="owner",
        attack="update approvals_run set tools_executed = '[]' where id = %(run)s",
        refusal="(tools_executed_write_once)",
    ),
    Case(
        guard="trigger approvals_run tools_executed_write_once",
        what="erase a record",
        by="owner",
        attack="update approvals_run set tools_executed = null where id = %(run)s",
        refusal="(tools_executed_write_once)",
    ),
    Case(
        guard="trigger approvals_run tools_executed_write_once",
        what="date a record anew",
        by="owner",
        attack="update approvals_run set settled_at = '1999-01-01' where id = %(run)s",
        refusal="(tools_executed_write_once)",
    ),
    Case(
        guard="trigger approvals_run run_born",
        what="be born with a record",
        attack=insert("run", tools_executed="'[]'"),
        refusal="(tools_executed_write_once)",
    ),
    Case(
        guard="trigger approvals_run run_born",
        what="be born settled",
        attack=insert("run", settled_at="now()"),
        refusal="(tools_executed_write_once)",
    ),
    Case(
        guard="trigger approvals_payload payload_unchanged",
        what="change a payload",
        by="owner",
        attack="update approvals_payload set body = '{}' where id = %(payload)s",
        refusal="append-only",
    ),
    Case(
        guard="trigger approvals_payload payload_unchanged",
        what="change a salt",
        by="owner",
        attack="update approvals_payload set salt = decode(repeat('00', 16), 'hex') where id = %(payload)s",
        refusal="append-only",
    ),
    Case(
        guard="trigger approvals_payload payload_forgotten",
        what="be found by the words of what was erased",
        by="owner",
        attack=(
            "delete from approvals_payload p using approvals_decision d"
            " where d.id = %(dismissal)s and p.id = d.payload_id",
            "select 1 from approvals_decisionword where decision_id = %(dismissal)s and word = 'because'",
        ),
        refusal="0 rows",
    ),
    Case(
        guard="trigger approvals_payload payload_no_truncate",
        by="owner",
        attack=("truncate approvals_payload", "select 1 where pg_relation_size('approvals_payload') = 0"),
        refusal="append-only",
    ),
)
