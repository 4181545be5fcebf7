"""The decision log: a chain that nobody forges, and one job for each decision that releases something."""

from tests.attacks.matrix.case import Case
from tests.attacks.matrix.guards import keys_to
from tests.attacks.matrix.rows import EVES_DECISION, insert, release

FORGED = insert(
    "decision", seq="77", at="'1999-01-01'", prev_hash="sha256('x')", hash="sha256('x')", kind="'dismiss'"
)
ONE_JOB = "(one_job_per_release)"
APPROVES = {
    "kind": "'approve'",
    "target_kind": "'campaign'",
    "target_id": "%(campaign)s",
    "item_id": "%(campaign)s",
    "digest": "repeat('0', 64)",
}
SENDS_AGAIN = {"kind": "'send_again'", "target_kind": "'delivery'", "target_id": "%(delivery)s"}


def _forged(what: str, condition: str) -> Case:
    return Case(
        guard="trigger approvals_decision decision_chained",
        what=what,
        attack=(FORGED, f"select 1 from approvals_decision where id = {EVES_DECISION} and {condition}"),
        refusal="0 rows",
    )


CASES = (
    Case(
        guard="trigger approvals_decision decision_append_only",
        what="change who decided",
        by="owner",
        attack="update approvals_decision set actor_name = 'Eve' where id = %(dismissal)s",
        refusal="append-only",
    ),
    Case(
        guard="trigger approvals_decision decision_append_only",
        what="delete an entry",
        by="owner",
        attack="delete from approvals_decision where id = %(dismissal)s",
        refusal="append-only",
    ),
    Case(
        guard="trigger approvals_decision decision_append_only",
        what="change one by adding it again",
        by="owner",
        attack=insert("decision", id="%(dismissal)s") + " on conflict (id) do update set actor_name = 'Eve'",
        refusal="append-only",
    ),
    Case(
        guard="trigger approvals_decision decision_no_truncate",
        by="owner",
        attack=("truncate approvals_decision", "select 1 where pg_relation_size('approvals_decision') = 0"),
        refusal="0A000 cannot truncate a table referenced in a foreign key constraint",
        behind=keys_to("approvals_decision"),
    ),
    Case(
        guard="trigger approvals_decision decision_becomes_findable",
        what="decide what no search finds",
        attack=(
            insert("decision"),
            f"select 1 where {EVES_DECISION} not in (select decision_id from search_decisions('eve', 9))",
        ),
        refusal="0 rows",
    ),
    _forged("take a number of its own", "seq = 77"),
    _forged("backdate a decision", "at < '2000-01-01'"),
    _forged("bring a hash of its own", "hash = sha256('x')"),
    _forged("hang on another entry", "prev_hash = sha256('x')"),
    Case(
        guard="trigger approvals_decision decision_has_its_job",
        what="release a replay without a job",
        attack=insert("decision", kind="'force_replay'"),
        refusal=ONE_JOB,
    ),
    Case(
        guard="trigger approvals_decision decision_has_its_job",
        what="look away at the check",
        attack=(
            release()[0],
            "select set_config('app.workspace_id', %(b_workspace)s::text, true)",
        ),
        refusal=ONE_JOB,
    ),
    Case(
        guard="trigger approvals_job job_has_its_decision",
        what="execute another campaign than the one approved",
        attack=(*release(campaign_id="%(sent_campaign)s"),),
        refusal=ONE_JOB,
        behind=("trigger approvals_decision decision_has_its_job",),
    ),
    Case(
        guard="trigger approvals_job job_has_its_decision",
        what="release a whole campaign as one message again",
        attack=release("'send_again'"),
        refusal=ONE_JOB,
        behind=("trigger approvals_decision decision_has_its_job",),
    ),
    Case(
        guard="trigger approvals_job job_has_its_decision",
        what="replay a run on the approval of a campaign",
        attack=(
            release()[0],
            insert("job", kind="'replay'", run_id="%(replay)s", campaign_id="null", version_id="null"),
        ),
        refusal=ONE_JOB,
        behind=("trigger approvals_decision decision_has_its_job",),
    ),
    Case(
        guard="body one_job_per_release asks v.digest = decision.digest",
        what="send another version than the one approved",
        attack=release(version_id="%(version)s"),
        refusal=ONE_JOB,
    ),
    Case(
        guard="body one_job_per_release asks v.campaign_id = j.campaign_id",
        what="send another campaign's version that reads the same",
        attack=(
            insert("decision", **APPROVES),
            insert(
                "job", version_id="(select id from approvals_version where campaign_id = %(sent_campaign)s)"
            ),
        ),
        refusal=ONE_JOB,
    ),
    Case(
        guard="body one_job_per_release asks d.version_id = j.version_id",
        what="send one message again in the words of another version",
        attack=(
            insert("decision", **APPROVES | SENDS_AGAIN),
            insert("job", delivery_id="%(delivery)s"),
        ),
        refusal=ONE_JOB,
    ),
)
