"""The journal: nothing in it changes or goes away, and the run moves by it alone."""

from tests.attacks.matrix.case import Case
from tests.attacks.matrix.guards import keys_to
from tests.attacks.matrix.rows import EVE, insert, replay

LATE = insert("event", run_id="%(run_interrupted)s", seq="1", late="false", received_at="'1999-01-01'")
GONE = "select 1 where pg_relation_size('approvals_{0}') = 0"
# A call that was to propose a campaign cites its event.
CITED = "constraint approvals_calledcampaign calledcampaign_event_same_run"

CASES = (
    Case(
        guard="trigger approvals_event event_append_only",
        what="change an event",
        by="owner",
        attack="update approvals_event set name = 'look_up' where run_id = %(run)s and type = 'tool_call'",
        refusal="append-only",
    ),
    Case(
        guard="trigger approvals_event event_append_only",
        what="change a payload's hash",
        by="owner",
        attack="update approvals_event set payload_hash = sha256('x') where payload_id = %(payload)s",
        refusal="append-only",
    ),
    Case(
        guard="trigger approvals_event event_append_only",
        what="delete an event",
        by="owner",
        attack="delete from approvals_event where run_id = %(run)s and type = 'tool_call'",
        refusal="append-only",
    ),
    Case(
        guard="trigger approvals_event event_append_only",
        what="change one by adding it again",
        by="owner",
        attack=insert("event", run_id="%(run)s", seq="1")
        + " on conflict (workspace_id, run_id, seq) do update set type = 'heartbeat', call_id = null, name = null",
        refusal="append-only",
    ),
    Case(
        guard="trigger approvals_event event_append_only",
        what="delete by merging",
        by="owner",
        attack="merge into approvals_event e using approvals_run r on e.run_id = r.id when matched then delete",
        refusal="append-only",
        behind=(CITED,),
    ),
    Case(
        guard="trigger approvals_event event_no_truncate",
        by="owner",
        attack=("truncate approvals_event", GONE.format("event")),
        refusal="append-only|0A000 cannot truncate a table referenced",
        behind=(CITED,),
    ),
    Case(
        guard="trigger approvals_event event_received",
        what="say that a late event came in time",
        attack=(LATE, "select 1 from approvals_event where run_id = %(run_interrupted)s and not late"),
        refusal="0 rows",
    ),
    Case(
        guard="trigger approvals_event event_received",
        what="backdate what was received",
        attack=(
            LATE,
            "select 1 from approvals_event where run_id = %(run_interrupted)s and received_at < '2000-01-01'",
        ),
        refusal="0 rows",
    ),
    Case(
        guard="trigger approvals_event journal_advanced",
        what="end a run that goes on",
        by="ingest",
        attack=(
            insert("event", seq="1", type="'ended'", outcome="'completed'"),
            "select 1 from approvals_run where id = %(open_run)s and status = 'running'",
        ),
        refusal="0 rows",
    ),
    Case(
        guard="trigger approvals_event journal_advanced",
        what="call a tool that no filter finds",
        attack=(
            insert("event", type="'tool_call'", call_id="'c9'", name="'wire_money'"),
            "select 1 where not exists (select from approvals_runtool where run_id = %(open_run)s)",
        ),
        refusal="0 rows",
    ),
    Case(
        guard="trigger approvals_runtool runtool_placed",
        what="file a tool's lineage under another tab than its own",
        by="owner",
        attack=(
            insert("runtool"),
            "select 1 from approvals_runtool where name = 'eve' and tab = 'history'",
        ),
        refusal="0 rows",
    ),
    Case(
        guard="trigger approvals_queueitem queueitem_moved",
        what="leave a tool's lineage on a tab that it went from",
        attack=(
            "update approvals_run set dismissed_at = now() where id = %(run)s",
            "select 1 from approvals_runtool where lineage_id = %(run)s and tab <> 'history'",
        ),
        refusal="0 rows",
    ),
    Case(
        guard="trigger approvals_run run_findable",
        what="report a run that no search finds",
        attack=(insert("run"), f"select 1 where {EVE} not in (select item_id from search_items('eve', 9))"),
        refusal="0 rows",
    ),
    Case(
        guard="trigger approvals_campaign campaign_findable",
        what="propose a campaign that no search finds",
        attack=(
            insert("campaign"),
            f"select 1 where {EVE} not in (select item_id from search_items('eve', 9))",
        ),
        refusal="0 rows",
    ),
    Case(
        guard="trigger approvals_run run_born",
        what="be born with events",
        attack=insert("run", max_seq="5", next_seq="6"),
        refusal="(run_born)",
    ),
    Case(
        guard="trigger approvals_run run_born",
        what="never fall silent",
        attack=(
            insert("run", silent_after="'infinity'", overlong_after="'infinity'", started_at="now()"),
            f"select 1 from approvals_run where id = {EVE} and silent_after = 'infinity'",
        ),
        refusal="0 rows",
    ),
    Case(
        guard="trigger approvals_run run_born",
        what="replay for another customer",
        attack=replay(subject="'customer-2'"),
        refusal="(run_lineage)",
    ),
    Case(
        guard="trigger approvals_run run_born",
        what="replay with another agent",
        attack=replay(agent="'other'"),
        refusal="(run_lineage)",
    ),
    Case(
        guard="trigger approvals_run run_born",
        what="replay a run of another lineage",
        attack=insert("run", replay_of_id="%(run)s", lineage_id="%(run_failed)s", subject="'customer-2'"),
        refusal="(run_lineage)",
    ),
    Case(
        guard="trigger approvals_run run_identity",
        what="give a run to another customer",
        by="owner",
        attack="update approvals_run set subject = 'customer-2' where id = %(run)s",
        refusal="(run_identity)",
    ),
    Case(
        guard="trigger approvals_run run_identity",
        what="give a run another input",
        by="owner",
        attack="update approvals_run set input_payload_id = gen_random_uuid() where id = %(run)s",
        refusal="(run_identity)",
    ),
    Case(
        guard="trigger approvals_run run_kept",
        by="owner",
        attack="delete from approvals_run where id = %(run_failed)s",
        refusal="append-only",
    ),
    Case(
        guard="trigger approvals_run run_no_truncate",
        by="owner",
        attack=("truncate approvals_run", GONE.format("run")),
        refusal="0A000 cannot truncate a table referenced in a foreign key constraint",
        behind=keys_to("approvals_run"),
    ),
)
