"""Keys: what cites what, within one workspace, and what there is only once."""

from collections.abc import Iterator

from tests.attacks.matrix.case import Case
from tests.attacks.matrix.guards import constraint, keys_of, lines, relations
from tests.attacks.matrix.rows import EVE, VALID, insert, release, replay

JOBLESS = "trigger approvals_job job_has_its_decision"
UNDECIDED = "trigger approvals_version version_of_pending"
NO_BIRTH = "trigger approvals_run run_born"
UNPLACED = ("trigger approvals_run run_added", "trigger approvals_run run_findable")
TOLD = ("trigger approvals_event event_received", "trigger approvals_event journal_advanced")
# What a trigger would find out first about a row in a workspace that does not exist.
BEHIND_A_GHOST = {
    "run": UNPLACED,
    "campaign": ("trigger approvals_campaign campaign_added",),
    "version": (UNDECIDED,),
    "runtool": ("trigger approvals_runtool runtool_placed",),
    "event": TOLD,
    "job": (JOBLESS,),
}
TELLS = dict.fromkeys(("event", "runtool"), "P0002 query returned no rows")
ADDED_BY_TRIGGERS = ("calledcampaign", "queueitem", "runtool")


def ghosts() -> Iterator[Case]:
    """A row in a workspace that does not exist."""
    for table in relations():
        noun = table.removeprefix("approvals_")
        for _, name, definition in lines("constraints", table):
            guard = constraint(table, name, definition)
            if noun in VALID and definition.startswith("FOREIGN KEY (workspace_id) REFERENCES"):
                yield Case(
                    guard=guard,
                    by="owner" if noun in ADDED_BY_TRIGGERS else "app",
                    attack=insert(noun, workspace_id="%(ghost)s"),
                    workspace="ghost",
                    behind=(*BEHIND_A_GHOST.get(noun, ()), *(key for key in keys_of(table) if key != guard)),
                    refusal=TELLS.get(noun, "("),
                )


FOREIGN = (
    Case(
        guard="constraint approvals_token token_runtime_same_workspace",
        attack=insert("token", runtime_id="%(b_runtime)s"),
    ),
    Case(
        guard="constraint approvals_run run_runtime_same_workspace",
        attack=insert("run", runtime_id="%(b_runtime)s"),
    ),
    Case(
        guard="constraint approvals_run run_runtime_same_workspace",
        by="ingest",
        attack=insert("run", runtime_id="%(b_runtime)s"),
    ),
    Case(
        guard="constraint approvals_run run_replay_of_same_workspace",
        attack=insert("run", replay_of_id="%(b_run)s", lineage_id="%(run)s"),
        refusal="(run_lineage)",
        behind=(NO_BIRTH,),
    ),
    Case(
        guard="constraint approvals_run run_lineage_same_workspace",
        attack=insert("run", replay_of_id="%(run)s", lineage_id="%(b_run)s"),
        refusal="(run_lineage)",
        behind=(NO_BIRTH, *UNPLACED[:1]),
    ),
    Case(
        guard="constraint approvals_event event_run_same_workspace",
        attack=insert("event", run_id="%(b_open_run)s"),
        refusal="P0002 query returned no rows",
        behind=TOLD,
    ),
    Case(
        guard="constraint approvals_event event_run_same_workspace",
        by="ingest",
        attack=insert("event", run_id="%(b_open_run)s"),
        refusal="P0002 query returned no rows",
        behind=TOLD,
    ),
    Case(
        guard="constraint approvals_runtool runtool_run_same_workspace",
        by="owner",
        attack=insert("runtool", run_id="%(b_run)s"),
    ),
    Case(
        guard="constraint approvals_campaign campaign_runtime_same_workspace",
        attack=insert("campaign", runtime_id="%(b_runtime)s"),
    ),
    Case(
        guard="constraint approvals_campaign campaign_run_same_workspace",
        attack=insert("campaign", run_id="%(b_run)s"),
    ),
    Case(
        guard="constraint approvals_version version_campaign_same_workspace",
        attack=insert("version", campaign_id="%(b_campaign)s"),
        behind=(UNDECIDED,),
        refusal="(version_of_pending)",
    ),
    Case(
        guard="constraint approvals_audiencerow audiencerow_version_same_workspace",
        attack=insert("audiencerow", version_id="%(b_draft)s"),
    ),
    Case(
        guard="constraint approvals_delivery delivery_campaign_same_workspace",
        attack=insert("delivery", campaign_id="%(b_campaign)s"),
    ),
    Case(
        guard="constraint approvals_delivery delivery_version_same_workspace",
        attack=insert("delivery", version_id="%(b_draft)s"),
    ),
    Case(
        guard="constraint approvals_delivery delivery_audience_same_workspace",
        attack=insert("delivery", audience_row_id="%(b_draft_audience)s"),
    ),
    Case(
        guard="constraint approvals_delivery delivery_job_same_workspace",
        attack="update approvals_delivery set job_id = %(b_job)s where id = %(delivery)s",
    ),
    Case(
        guard="constraint approvals_job job_run_same_workspace",
        attack=insert(
            "job",
            kind="'replay'",
            run_id="%(b_run)s",
            campaign_id="null",
            version_id="null",
            decision_id="%(dismissal)s",
        ),
        behind=(JOBLESS,),
    ),
    Case(
        guard="constraint approvals_job job_campaign_same_workspace",
        attack=insert("job", campaign_id="%(b_campaign)s", decision_id="%(dismissal)s"),
        behind=(JOBLESS,),
    ),
    Case(
        guard="constraint approvals_job job_version_same_workspace",
        attack=insert("job", version_id="%(b_version)s", decision_id="%(dismissal)s"),
        behind=(JOBLESS,),
    ),
    Case(
        guard="constraint approvals_job job_delivery_same_workspace",
        attack=insert("job", delivery_id="%(b_delivery)s", decision_id="%(dismissal)s"),
        behind=(JOBLESS,),
    ),
    Case(
        guard="constraint approvals_job job_decision_same_workspace",
        what="a job that cites another workspace's decision",
        attack=insert("job", decision_id="%(b_dismissal)s"),
        behind=(JOBLESS,),
    ),
    Case(
        guard="constraint approvals_job job_decision_same_workspace",
        what="a job without a decision",
        attack=insert("job"),
        behind=(JOBLESS,),
    ),
    Case(
        guard="constraint approvals_observation observation_runtime_same_workspace",
        attack=insert("observation", runtime_id="%(b_runtime)s"),
    ),
    Case(
        guard="constraint approvals_agentsession agentsession_runtime_same_workspace",
        attack=insert("agentsession", runtime_id="%(b_watched)s"),
    ),
    Case(
        guard="constraint approvals_storedrow storedrow_session_same_workspace",
        attack=insert("storedrow", session_id="%(b_session)s"),
    ),
    Case(
        guard="constraint approvals_storedrow storedrow_run_same_workspace",
        attack=insert("storedrow", run_id="%(b_run)s"),
    ),
    Case(
        guard="constraint approvals_member approvals_member_user_id_8a1dcadf_fk_approvals_user_id",
        attack=insert("member", user_id="987654"),
    ),
)

# What a key points at is unique together with its workspace; without it the keys that cite it cannot stand either.
CITED = (
    Case(
        guard="constraint approvals_agentsession agentsession_workspace_id",
        attack=insert("storedrow", session_id="%(b_session)s"),
        refusal="(storedrow_session_same_workspace)",
    ),
    Case(
        guard="constraint approvals_runtime runtime_workspace_id",
        attack=insert("token", runtime_id="%(b_runtime)s"),
        refusal="(token_runtime_same_workspace)",
    ),
    Case(
        guard="constraint approvals_run run_workspace_id",
        attack=insert("campaign", run_id="%(b_run)s"),
        refusal="(campaign_run_same_workspace)",
    ),
    Case(
        guard="constraint approvals_decision decision_workspace_id",
        attack=insert("job", decision_id="%(b_dismissal)s"),
        refusal="(job_decision_same_workspace)",
        behind=(JOBLESS,),
    ),
    Case(
        guard="constraint approvals_job job_workspace_id",
        attack="update approvals_delivery set job_id = %(b_job)s where id = %(delivery)s",
        refusal="(delivery_job_same_workspace)",
    ),
    Case(
        guard="constraint approvals_campaign campaign_workspace_id",
        attack=insert("version", campaign_id="%(b_campaign)s"),
        behind=(UNDECIDED,),
        refusal="(version_of_pending)",
    ),
    Case(
        guard="constraint approvals_version version_workspace_id",
        attack=insert("audiencerow", version_id="%(b_draft)s"),
        refusal="(audiencerow_version_same_workspace)",
    ),
    Case(
        guard="constraint approvals_audiencerow audiencerow_workspace_id",
        attack=insert("delivery", audience_row_id="%(b_draft_audience)s"),
        refusal="(delivery_audience_same_workspace)",
    ),
    Case(
        guard="constraint approvals_attachment attachment_workspace_id",
        attack=insert("versionattachment", attachment_id="%(b_attachment)s"),
        refusal="(versionattachment_file_same_workspace)",
    ),
    Case(
        guard="constraint approvals_delivery delivery_workspace_id",
        attack=insert("job", delivery_id="%(b_delivery)s", decision_id="%(dismissal)s"),
        refusal="(job_delivery_same_workspace)",
        behind=(JOBLESS,),
    ),
)

ONCE = (
    Case(
        guard="constraint approvals_observation observation_once_per_runtime",
        attack=insert("observation", runtime_id="%(watched)s"),
        what="two readings of one store, each with a lease of its own",
    ),
    Case(
        guard="constraint approvals_agentsession agentsession_once",
        attack=insert("agentsession", **{'"user"': "'customer-1'", "session": "'s1'"}),
        what="one session twice",
    ),
    Case(
        guard="constraint approvals_storedrow storedrow_once",
        attack=insert("storedrow", event_id="'e1'"),
        what="a row beside the one whose digest is known",
    ),
    Case(
        guard="constraint approvals_audiencerow audience_position_once",
        attack=insert("audiencerow", position="1"),
    ),
    Case(
        guard="constraint approvals_campaign campaign_external_id_once",
        attack=insert("campaign", external_id="'spring'"),
    ),
    Case(
        guard="constraint approvals_decision decision_seq_once",
        attack=(
            insert("decision", seq="1", at="now()", prev_hash="''", hash="'forged'"),
            "select 1 from approvals_decision where seq = 1 and hash = 'forged'",
        ),
        what="a second first entry of the log, past the chain",
        behind=("trigger approvals_decision decision_chained",),
        refusal="0 rows",
    ),
    Case(
        guard="constraint approvals_delivery delivery_once_per_version",
        attack=(
            insert("delivery"),
            insert("delivery", id="gen_random_uuid()", dedupe_key="'eve@x.example'"),
        ),
        what="two copies to one person",
    ),
    Case(
        guard="index approvals_delivery delivery_once_per_campaign",
        attack=(
            insert("delivery", dedupe_key="'sent@x.example'"),
            "update approvals_version set digest = repeat('1', 64), sealed_at = now() where id = %(draft)s",
            "update approvals_delivery set state = 'attempting', job_id = %(job_at_the_draft)s, fence = 2,"
            f" attempted_at = now() where id = {EVE}",
        ),
        what="a second copy through a new version",
    ),
    Case(
        guard="constraint approvals_event event_seq_once", attack=insert("event", run_id="%(run)s", seq="1")
    ),
    Case(
        guard="constraint approvals_event event_seq_once",
        by="ingest",
        attack=insert("event", run_id="%(run)s", seq="1"),
        what="overwrite by reporting again",
    ),
    Case(
        guard="index approvals_version version_digest_once",
        attack="update approvals_version set digest = repeat('0', 64), sealed_at = now() where id = %(draft)s",
        what="a second content that one approval is bound to",
    ),
    Case(
        guard="constraint approvals_job job_once_per_decision",
        attack=insert("job", decision_id="%(approval)s", campaign_id="%(sent_campaign)s"),
        what="a second releasing job",
        behind=(JOBLESS,),
    ),
    Case(
        guard="constraint approvals_member member_once",
        attack=insert("member", user_id="%(user)s"),
        what="be a member twice, with another role",
    ),
    Case(
        guard="index approvals_run run_external_id_once",
        attack=(
            "insert into approvals_run select (jsonb_populate_record(r, jsonb_build_object('id', "
            + EVE
            + "::text,"
            " 'lineage_id', "
            + EVE
            + "::text, 'status', 'running', 'tools_executed', null, 'settled_at', null,"
            " 'next_seq', 1, 'max_seq', 0))).* from approvals_run r where r.id = %(run)s"
        ),
        what="report a run a second time",
    ),
    Case(
        guard="index approvals_run run_one_active_per_lineage",
        attack=replay("%(open_run)s", subject="'customer-2'"),
        what="two active attempts",
    ),
    Case(guard="constraint approvals_runtime runtime_name_once", attack=insert("runtime", name="'desk'")),
    Case(
        guard="constraint approvals_runtool run_tool_once",
        by="owner",
        attack=insert("runtool", run_id="%(run)s", lineage_id="%(run)s", name="'send_email'"),
        what="a lineage twice under one tool",
        behind=("trigger approvals_runtool runtool_placed",),
        refusal="0 rows",
    ),
    Case(
        guard="constraint approvals_token approvals_token_digest_key",
        attack=insert("token", digest="%(b_digest)s"),
        what="a token that is another workspace's",
    ),
    Case(
        guard="constraint approvals_user approvals_user_email_key",
        attack=insert("user", email="'ann@beta.example'"),
        behind=("index approvals_user user_email_once",),
        refusal="23505 duplicate key",
    ),
    Case(
        guard="index approvals_user user_email_once",
        attack=insert("user", email="'ANN@beta.example'"),
        what="somebody's address in capitals",
    ),
    Case(guard="constraint approvals_version version_once", attack=insert("version", number="1")),
    Case(
        guard="constraint approvals_workspace approvals_workspace_slug_key",
        attack=insert("workspace", slug="'beta'"),
        workspace="ghost",
    ),
)

DECIDED = (
    Case(
        guard="trigger approvals_job job_has_its_decision",
        attack=insert("job", decision_id="%(dismissal)s"),
        what="execute what released nothing",
        refusal="(one_job_per_release)",
    ),
    Case(
        guard="trigger approvals_decision decision_has_its_job",
        attack=release()[0],
        what="release without a job",
        refusal="(one_job_per_release)",
    ),
)

CASES = (*ghosts(), *FOREIGN, *CITED, *ONCE, *DECIDED)
