"""News of campaigns: whose they are, in which order they are told, and whose secret signs them."""

from tests.attacks.matrix.case import Case
from tests.attacks.matrix.rows import insert

CASES = (
    Case(
        guard="constraint approvals_callback callback_campaign_same_workspace",
        attack=insert("callback", campaign_id="%(b_campaign)s"),
    ),
    Case(
        guard="constraint approvals_callback callback_decision_same_workspace",
        attack=insert("callback", decision_id="%(b_dismissal)s"),
    ),
    Case(
        guard="constraint approvals_callback callback_order",
        what="two news at once, of which nobody knows the newer",
        attack=insert("callback", campaign_id="%(sent_campaign)s", number="1"),
        refusal="23505 duplicate key",
    ),
    Case(
        guard="constraint approvals_callback callback_status_known",
        attack=insert("callback", status="'lost'"),
        refusal="(callback_born)",
        behind=("trigger approvals_callback callback_born",),
    ),
    Case(
        guard="constraint approvals_callback callback_told_at_a_time",
        what="told at no time",
        attack="update approvals_callback set status = 'told' where id = %(callback)s",
    ),
    Case(
        guard="constraint approvals_callback callback_told_at_a_time",
        what="told, and to be told",
        attack="update approvals_callback set told_at = now() where id = %(callback)s",
    ),
    Case(
        guard="constraint approvals_callback callback_lease_only_while_waiting",
        what="keep what was given up in a worker's hands",
        attack="update approvals_callback set status = 'given_up', lease_until = now() where id = %(callback)s",
    ),
    Case(
        guard="constraint approvals_callback approvals_callback_number_check",
        attack=insert("callback", number="-1"),
    ),
    Case(
        guard="constraint approvals_callback approvals_callback_attempts_check",
        attack="update approvals_callback set attempts = -1 where id = %(callback)s",
    ),
    Case(
        guard="trigger approvals_callback callback_kept",
        what="have nobody know that somebody was not told",
        by="owner",
        attack="delete from approvals_callback where id = %(callback)s",
        refusal="append-only|refused",
    ),
    Case(
        guard="trigger approvals_runtime runtime_secret_once",
        what="have a runtime trust what somebody else signs",
        attack="update approvals_runtime set signing_secret = 'eve' where id = %(runtime)s",
        refusal="(runtime_secret_once)",
    ),
    Case(
        guard="trigger approvals_runtime runtime_secret_once",
        what="take a runtime's secret away, to set another",
        attack="update approvals_runtime set signing_secret = '' where id = %(runtime)s",
        refusal="(runtime_secret_once)",
    ),
)
