"""Closed lists and shapes: a value that nobody knows, a field without the one it belongs to."""

from approvals.rules.observed import RESULT_OUTCOMES
from tests.attacks.matrix.case import Case
from tests.attacks.matrix.rows import EVE, insert

JOBLESS = (
    "constraint approvals_job job_decision_same_workspace",
    "trigger approvals_job job_has_its_decision",
)
ADVANCED = ("trigger approvals_event journal_advanced",)
HASH = "sha256('x')"
OBSERVED = {"provenance": "'observed'"}


def _check(
    noun: str,
    name: str,
    what: str = "",
    *,
    by: str = "app",
    behind: tuple[str, ...] = (),
    refusal: str = "",
    **spoiled: str,
) -> Case:
    """One insert with one wrong value."""
    return Case(
        guard=f"constraint approvals_{noun} {name}",
        attack=insert(noun, **spoiled),
        what=what,
        by=by,
        behind=behind,
        refusal=refusal,
    )


CASES = (
    _check("member", "member_roles_known", "a role nobody knows", roles="'{root}'"),
    _check("member", "member_roles_known", "no role", roles="'{}'"),
    _check("runtime", "runtime_kind_known", kind="'telnet'"),
    _check("runtime", "runtime_store_known", "read a store that nobody named", kind="'adk'"),
    _check("runtime", "runtime_store_known", "name a store of a runtime that reports", database_url="'sealed'"),
    Case(
        guard="constraint approvals_runtime runtime_store_known",
        what="take the store away from a runtime that is read",
        attack="update approvals_runtime set database_url = '' where id = %(watched)s",
    ),
    Case(
        guard="constraint approvals_workspace approvals_workspace_messages_per_minute_check",
        what="fewer messages a minute than none",
        attack="update approvals_workspace set messages_per_minute = -1 where id = %(workspace)s",
    ),
    _check("runtime", "approvals_runtime_silence_s_check", "never silent", silence_s="-1"),
    _check("runtime", "approvals_runtime_time_limit_s_check", time_limit_s="-1"),
    _check("token", "token_digest_is_sha256", "the token itself", digest="'sl_secret'"),
    _check("token", "token_subject_not_empty", "bound to an empty subject, which reads as every", subject="''"),
    _check("payload", "payload_salt_long_enough", salt="'x'"),
    _check("payload", "payload_salt_long_enough", by="ingest", salt="''"),
    _check("run", "run_status_known", status="'asleep'", behind=("trigger approvals_run run_born",
           "trigger approvals_run run_added"), refusal="(run_born)"),
    _check("run", "run_lineage_begins_with_itself", "an original in another lineage", lineage_id="%(run)s"),
    _check("run", "run_lineage_begins_with_itself", "an original in another lineage", by="ingest",
           lineage_id="%(run)s"),
    _check("event", "event_type_known", type="'rewind'"),
    _check("event", "event_type_known", by="ingest", type="'rewind'"),
    _check("event", "event_seq_positive", "before the first", seq="-1"),
    _check("event", "event_seq_positive", "before the first", by="ingest", seq="0"),
    _check("event", "event_origin_known", origin="'dreamt'"),
    _check("event", "event_origin_known", "a message that was concluded", origin="'inferred'", **OBSERVED),
    _check("event", "event_origin_known", "an answer that is a finding", type="'tool_result'", call_id="'c'",
           origin="'hidden'", **OBSERVED),
    _check("event", "event_origin_known", "a finding that found nothing", type="'finding'", **OBSERVED),
    _check("event", "event_found_by_us", "a finding, which makes a record unknown for good", type="'finding'",
           origin="'deleted'"),
    _check("event", "event_found_by_us", "a finding of its own", by="ingest", type="'finding'", origin="'hidden'"),
    _check("event", "event_found_by_us", "an end that it concluded", by="ingest", type="'ended'",
           outcome="'completed'", origin="'inferred'"),
    *(
        _check("event", "event_found_by_us", f"a call that was {outcome}", by="ingest", type="'tool_result'",
               call_id="'c'", outcome=f"'{outcome}'")
        for outcome in RESULT_OUTCOMES
    ),
    _check("event", "event_provenance_known", provenance="'sworn'"),
    _check("event", "event_call_named", "a nameless call", type="'tool_call'", call_id="'c'",
           behind=ADVANCED),
    _check("event", "event_call_named", "a result of no call", type="'tool_result'"),
    _check("event", "event_outcome_known", "an end without an outcome", type="'ended'"),
    _check("event", "event_outcome_known", "an outcome of its own", by="ingest", type="'ended'", outcome="'great'",
           behind=ADVANCED),
    _check("event", "event_outcome_known", "a call that came to something else", type="'tool_result'",
           call_id="'c'", outcome="'completed'", **OBSERVED),
    _check("event", "event_outcome_known", "a message with an outcome", type="'message'", outcome="'supplied'",
           **OBSERVED),
    _check("storedrow", "storedrow_digest_is_sha256", "the row itself", digest="'{}'"),
    _check("event", "event_payload_hashed", "a payload without its hash", payload_id="%(payload)s"),
    _check("event", "event_payload_hashed", "a hash of no payload", by="ingest", payload_hash=HASH),
    _check("decision", "decision_actor_known", actor_kind="'nobody'"),
    _check("decision", "decision_outcome_of_job", "a member's own outcome", kind="'outcome'", target_kind="'job'"),
    _check("decision", "decision_outcome_of_job", "an outcome of no job", kind="'outcome'", actor_kind="'system'"),
    _check("job", "job_status_known", status="'asleep'", behind=(*JOBLESS, "trigger approvals_job job_born"),
           refusal="(job_born)"),
    _check("job", "job_target", "a replay of a campaign", kind="'replay'", behind=JOBLESS),
    _check("job", "job_target", "a job about nothing", campaign_id="null", version_id="null", behind=JOBLESS),
    _check("job", "job_target", "a sending of no version", version_id="null", behind=JOBLESS),
    _check("job", "job_lease_only_while_running", lease_until="now()", behind=JOBLESS),
    Case(
        guard="constraint approvals_job job_asks_once",
        what="ask a runtime again that may have been asked",
        attack=insert(
            "job", kind="'replay'", run_id="%(replay)s", campaign_id="null", version_id="null", intent_at="now()",
            decision_id="%(dismissal)s",
        ),
        behind=JOBLESS[1:],
    ),
    _check("campaign", "campaign_status_known", status="'asleep'", refusal="(campaign_born)",
           behind=("trigger approvals_campaign campaign_born",)),
    _check("version", "version_sealed_with_digest", "sealed without a digest", sealed_at="now()"),
    _check("version", "approvals_version_number_check", number="-1"),
    _check("audiencerow", "audience_state_known", "a state nobody knows", state="'asleep'"),
    _check("audiencerow", "audience_state_known", "refused for no reason", state="'refused'"),
    _check("audiencerow", "approvals_audiencerow_position_check", position="-1"),
    _check("audiencerow", "audience_erased_is_empty", "erased, and still written to", erased_at="now()"),
    Case(
        guard="constraint approvals_audiencerow audience_erased_is_empty",
        what="say that somebody was erased who was not",
        by="owner",
        attack="update approvals_audiencerow set erased_at = now() where id = %(audience)s",
    ),
    Case(
        guard="constraint approvals_place place_only_one",
        what="a second place that is the right one too",
        by="owner",
        attack=insert("place", id="2"),
    ),
    _check("delivery", "approvals_delivery_position_check", position="-1"),
    _check("delivery", "approvals_delivery_attempt_check", attempt="-1"),
    _check("delivery", "delivery_state_known", state="'asleep'", refusal="(delivery_born)",
           behind=("trigger approvals_delivery delivery_born",)),
    Case(
        guard="constraint approvals_delivery delivery_attempt_is_owned",
        what="attempt without a job",
        attack="update approvals_delivery set state = 'attempting' where id = %(delivery)s",
    ),
    Case(
        guard="constraint approvals_delivery delivery_attempt_is_owned",
        what="attempt without a fence",
        attack=(
            insert("delivery"),
            "update approvals_delivery set state = 'attempting', job_id = %(job_at_work)s, attempted_at = now()"
            f" where id = {EVE}",
        ),
        refusal="(delivery_attempt_is_released)",
        behind=("trigger approvals_delivery delivery_transition",),
    ),
    Case(
        guard="constraint approvals_workspace approvals_workspace_hold_s_check",
        attack=insert("workspace", hold_s="-1"),
        workspace="ghost",
    ),
)  # fmt: skip
