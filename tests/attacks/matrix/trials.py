"""Tests to oneself: bound to what was shown, a member's own, and never one of a campaign's sendings."""

from tests.attacks.matrix.case import Case
from tests.attacks.matrix.rows import insert

ONE_JOB = "(one_job_per_release)"
UNDECIDED = (
    "trigger approvals_job job_has_its_decision",
    "trigger approvals_decision decision_has_its_job",
)


def trial(decision: dict[str, str] | None = None, **job: str) -> tuple[str, str]:
    """A decision that sends a test, with its job, which is valid as it is."""
    about = {
        "kind": "'send_test'",
        "target_kind": "'delivery'",
        "target_id": "%(delivery)s",
        "item_id": "%(campaign)s",
        "digest": "repeat('0', 64)",
    }
    shows = {"kind": "'test'", "campaign_id": "null", "version_id": "null", "sample_id": "%(delivery)s"}
    return insert("decision", **about | (decision or {})), insert("job", **shows | job)


CASES = (
    Case(
        guard="constraint approvals_job job_sample_same_workspace",
        what="show another workspace's message",
        attack=trial(sample_id="%(b_delivery)s"),
        behind=UNDECIDED,
    ),
    Case(
        guard="constraint approvals_job job_target",
        what="a test that is one of a campaign's jobs",
        attack=trial(campaign_id="%(campaign)s"),
    ),
    Case(
        guard="constraint approvals_job job_target",
        what="a test that holds a delivery up",
        attack=trial(delivery_id="%(delivery)s"),
    ),
    Case(
        guard="constraint approvals_job job_target",
        what="a test that shows nothing",
        attack=trial(sample_id="null"),
        behind=UNDECIDED,
    ),
    Case(
        guard="constraint approvals_job job_asks_once",
        what="send a test again that may have left",
        attack=trial(intent_at="now()"),
    ),
    Case(
        guard="trigger approvals_job job_intent_is_kept",
        what="have a test sent again that may have left",
        attack="update approvals_job set status = 'queued', intent_at = null where id = %(job_testing)s",
        refusal="(job_intent_is_kept)",
    ),
    Case(
        guard="constraint approvals_decision decision_test_by_member",
        what="have a test sent to a token, which has no mailbox",
        attack=trial({"actor_kind": "'token'"}),
    ),
    Case(
        guard="body one_job_per_release asks v.digest = decision.digest",
        what="show another version than the one looked at",
        attack=trial({"digest": "repeat('1', 64)"}),
        refusal=ONE_JOB,
    ),
    Case(
        guard="body one_job_per_release asks j.sample_id = decision.target_id",
        what="show another recipient's message than the one looked at",
        attack=trial(sample_id="%(delivery_planned)s"),
        refusal=ONE_JOB,
    ),
    Case(
        guard="body one_job_per_release asks d.campaign_id = decision.item_id",
        what="have a test stand among another campaign's decisions",
        attack=trial({"item_id": "%(sent_campaign)s"}),
        refusal=ONE_JOB,
    ),
)
