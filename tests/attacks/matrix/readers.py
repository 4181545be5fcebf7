"""Functions that see further than whoever calls them: what they ask for themselves. The searches: `isolation`."""

from approvals.rules.observed import FINDINGS
from tests.attacks.matrix.case import Case
from tests.attacks.matrix.rows import insert, release

LATE = insert("event", run_id="%(run)s", seq="3")
GAP = insert("event", type="'ended'", outcome="'failed'")

CASES = (
    Case(
        guard="body payload_matches asks e.workspace_id = current_setting('app.workspace_id')::uuid",
        what="guess another workspace's payload",
        by="ingest",
        attack="select 1 from payload_matches(%(b_workspace)s, %(b_run)s, 1, 'x') m where m is not null",
        behind=("forced approvals_event", "forced approvals_payload", "forced approvals_run"),
    ),
    Case(
        guard="body payload_matches asks current_setting('app.subject') in ('', r.subject)",
        what="guess another customer's payload",
        by="ingest",
        attack="select 1 from payload_matches(%(workspace)s, %(run)s, 1, 'x') m where m is not null",
        subject="customer-2",
    ),
    Case(
        guard="body token_of asks t.revoked_at is null",
        what="come in with a revoked token",
        attack="select 1 from approvals_token t, token_of(t.digest) where t.id = %(revoked)s",
    ),
    Case(
        guard="body workspaces_of asks m.user_id = of_user",
        what="list somebody else's workspaces",
        attack="select 1 from workspaces_of(%(user)s) where workspace_id = %(b_workspace)s",
    ),
    Case(
        guard="body one_job_per_release heeds fitting <> jobs",
        what="execute another campaign than the one approved",
        attack=release(campaign_id="%(sent_campaign)s"),
        refusal="(one_job_per_release)",
    ),
    Case(
        guard="body one_job_per_release heeds decision.id is null",
        what="look for the decision in another workspace",
        attack=(
            *release(),
            "select set_config('app.workspace_id', %(b_workspace)s::text, true)",
        ),
        refusal="(one_job_per_release)",
    ),
    Case(
        guard="body one_job_per_release heeds jobs <> public.is_releasing(decision.kind)::integer",
        what="release without a job",
        attack=release()[0],
        refusal="(one_job_per_release)",
    ),
    Case(
        guard="body event_received heeds r.settled_at is not null",
        what="report after the end as if it had been before",
        by="ingest",
        attack=(LATE, "select 1 from approvals_event where run_id = %(run)s and seq = 3 and not late"),
    ),
    Case(
        guard="body event_received heeds r.status = 'interrupted'",
        what="report after the interruption as if it had been before",
        by="ingest",
        attack=(
            insert("event", run_id="%(run_interrupted)s"),
            "select 1 from approvals_event where run_id = %(run_interrupted)s and not late",
        ),
    ),
    Case(
        guard="body run_records heeds not gapless",
        what="pass a journal with a hole for one that called nothing",
        attack=(GAP, "select 1 from run_record(%(workspace)s, %(open_run)s) where kind = 'none'"),
    ),
    Case(
        guard="body run_records heeds bool_or(e.origin = 'restored')",
        what="pass a restored history for the run's own",
        attack=(
            insert("event", seq="1", origin="'restored'"),
            insert("event", type="'ended'", outcome="'failed'"),
            "select 1 from run_record(%(workspace)s, %(open_run)s) where kind = 'none'",
        ),
    ),
    *(
        Case(
            guard=f"body run_records heeds bool_or(e.origin = '{finding}')",
            what=f"pass a history that was found {finding} for a whole one",
            attack=(
                insert("event", seq="1", type="'finding'", origin=f"'{finding}'", provenance="'observed'"),
                insert("event", type="'ended'", outcome="'failed'", provenance="'observed'"),
                "select 1 from run_record(%(workspace)s, %(open_run)s) where kind = 'none'",
            ),
        )
        for finding in FINDINGS
        if finding != "restored"
    ),
    Case(
        guard="body run_records asks e.origin <> 'inferred'",
        what="pass an end that was concluded for one that proves that nothing was called",
        attack=(
            insert("event", seq="1", provenance="'observed'"),
            insert("event", type="'ended'", outcome="'failed'", origin="'inferred'", provenance="'observed'"),
            "select 1 from run_record(%(workspace)s, %(open_run)s) where kind = 'none'",
        ),
    ),
    Case(
        guard="body run_born asks (r.lineage_id, r.runtime_id, r.agent, r.subject) ="
        " (new.lineage_id, new.runtime_id, new.agent, new.subject)",
        what="replay for another customer",
        attack=insert("run", replay_of_id="%(run)s", lineage_id="%(run)s", subject="'customer-2'"),
        refusal="(run_lineage)",
    ),
)
