"""Calls that are to propose a campaign: each has its row, and what became of it is said once."""

from tests.attacks.matrix.case import Case
from tests.attacks.matrix.rows import insert

SETTLED = "trigger approvals_calledcampaign calledcampaign_settled"
PROPOSED = "ordinal = 2, state = 'proposed', settled_at = now(), version_id"
ONE = "where id = %(called)s"

CASES = (
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
