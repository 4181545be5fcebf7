"""Calls that are to propose a campaign: each has its row, and what became of it is said once."""

from tests.attacks.matrix.case import Case
from tests.attacks.matrix.rows import insert

SETTLED = "trigger approvals_calledcampaign calledcampaign_settled"
PROPOSED = "ordinal = 2, state = 'proposed', settled_at = now(), version_id"
ONE = "where id = %(called)s"
CALL = {"seq": "1", "type": "'tool_call'", "call_id": "'e1'", "name": "'propose'"}
OF_IT = "from approvals_calledcampaign where run_id = %(open_run)s"

CASES = (
    Case(
        guard="trigger approvals_event journal_calls",
        what="call a declared tool, and nobody proposes anything",
        attack=(insert("event", **CALL), f"select 1 where not exists (select {OF_IT})"),
        refusal="0 rows",
    ),
    Case(
        guard="body campaign_called heeds current_setting('app.subject') <> ''",
        what="speak to many with a token of one customer",
        attack=(insert("event", **CALL), f"select 1 {OF_IT} and not by_subject"),
        subject="customer-2",
        refusal="0 rows",
    ),
    Case(
        guard="body campaign_called asks a.origin = 'live'",
        what="propose again what was taken over from elsewhere",
        attack=(insert("event", **CALL, origin="'restored'"), f"select 1 {OF_IT}"),
    ),
    Case(
        guard="constraint approvals_calledcampaign calledcampaign_event_same_run",
        what="a call that nobody made",
        by="owner",
        attack=insert("calledcampaign", seq="77"),
    ),
    Case(
        guard="constraint approvals_calledcampaign calledcampaign_once",
        what="one call that proposes twice",
        by="owner",
        attack=insert("calledcampaign", seq="1"),
    ),
    Case(
        guard="constraint approvals_calledcampaign calledcampaign_ordinal_once",
        what="two calls of a run that stand for one",
        attack=f"update approvals_calledcampaign set {PROPOSED} = %(version)s, ordinal = 1 {ONE}".replace(
            "ordinal = 2, ", ""
        ),
    ),
    Case(
        guard="constraint approvals_calledcampaign calledcampaign_state_known",
        what="proposed, and nothing to show for it",
        attack=f"update approvals_calledcampaign set {PROPOSED} = null {ONE}",
    ),
    Case(
        guard="constraint approvals_calledcampaign calledcampaign_version_same_workspace",
        what="cite a version over there",
        attack=f"update approvals_calledcampaign set {PROPOSED} = %(b_version)s {ONE}",
    ),
    Case(
        guard=SETTLED,
        what="propose again",
        attack="update approvals_calledcampaign set state = 'pending', ordinal = null, version_id = null,"
        " settled_at = null where id = %(settled_call)s",
        refusal="(calledcampaign_settled)",
    ),
    Case(
        guard="trigger approvals_calledcampaign calledcampaign_kept",
        what="lose a call",
        by="owner",
        attack="delete from approvals_calledcampaign where id = %(settled_call)s",
        refusal="append-only|refused",
    ),
)
