"""The state machines: no step that is not in rules/states, no birth in the middle, no fence given back."""

from collections.abc import Iterator
from itertools import permutations

from approvals.rules import states
from tests.attacks.matrix.case import Case
from tests.attacks.matrix.rows import EVE, insert, release, told

# What else has to be set so that nothing but the step itself is wrong.
ALONG = {
    "job": ", fence = fence + 1",
    "delivery": ", job_id = %(job_at_work)s, fence = 2, attempted_at = now()",
    "callback": ", told_at = null",
    "callback told": ", told_at = now()",
}
TOLD = ("trigger approvals_job job_end_is_told",)
ENDS = ("done", "failed", "in_doubt")


def illegal_steps() -> Iterator[Case]:
    """Every step between two states of a machine that its table does not know."""
    for machine in states.MACHINES:
        column = "state" if machine.name == "delivery" else "status"
        for old, new in permutations(machine.states, 2):
            along = ALONG.get(f"{machine.name} {new}", ALONG.get(machine.name, ""))
            if (old, new) not in machine.steps:
                yield Case(
                    guard=f"trigger approvals_{machine.name} {machine.name}_transition",
                    what=f"{old} to {new}",
                    attack=f"update approvals_{machine.name} set {column} = '{new}'{along}"
                    f" where id = %({machine.name}_{old})s",
                    refusal=f"23514 {machine.name} may not go from {old} to {new} ({machine.name}_transition)",
                    behind=TOLD if machine.name == "job" and new in ENDS else (),
                )


BIRTHS = (
    *(
        Case(
            guard="trigger approvals_job job_born",
            what=f"a job born {state}",
            attack=release(status=f"'{state}'"),
            refusal="(job_born)",
        )
        for state in states.JOB.states
        if state not in ("held", "queued")
    ),
    *(
        Case(
            guard="trigger approvals_campaign campaign_born",
            what=f"a campaign born {state}",
            attack=insert("campaign", status=f"'{state}'"),
            refusal="(campaign_born)",
        )
        for state in states.CAMPAIGN.states
        if state != "pending"
    ),
    *(
        Case(
            guard="trigger approvals_delivery delivery_born",
            what=f"a delivery born {state}",
            attack=insert("delivery", state=f"'{state}'", job_id="%(job)s", fence="1", attempted_at="now()"),
            refusal="(delivery_born)",
        )
        for state in states.DELIVERY.states
        if state != "planned"
    ),
    *(
        Case(
            guard="trigger approvals_callback callback_born",
            what=f"news born {state}",
            attack=insert("callback", status=f"'{state}'", told_at="now()" if state == "told" else "null"),
            refusal="(callback_born)",
        )
        for state in states.CALLBACK.states
        if state != "waiting"
    ),
    *(
        Case(
            guard="trigger approvals_run run_born",
            what=f"a run born {state}",
            attack=insert("run", status=f"'{state}'", started_at="now()"),
            refusal="(run_born)",
        )
        for state in states.RUN.states
        if state != "running"
    ),
)
FENCES = (
    Case(
        guard="trigger approvals_job job_fence",
        what="give a fence back",
        attack="update approvals_job set fence = fence - 1 where id = %(job_running)s",
        refusal="(job_fence)",
    ),
    Case(
        guard="trigger approvals_job job_fence",
        what="claim without a new fence",
        attack="update approvals_job set status = 'running' where id = %(job)s",
        refusal="(job_fence)",
    ),
)
# An attempt carries the decision of its job, so it is the job that was decided for it, and at work.
ATTEMPT = (
    "update approvals_delivery set state = 'attempting', attempted_at = now(), job_id = {0}, fence = {1}"
    " where {2}"
)
THIS, SENT = "id = %(delivery)s", "campaign_id = %(sent_campaign)s"
RELEASED_BY = {
    "attempt under another campaign's approval": ATTEMPT.format("%(job_running)s", 5, THIS),
    "attempt for a job that is done": ATTEMPT.format("%(job_done)s", 5, SENT),
    "attempt for a job that nobody claimed": ATTEMPT.format("%(job_queued)s", 5, SENT),
    "attempt with the fence of a worker that was given up": ATTEMPT.format("%(job_running)s", 4, SENT),
    "attempt what another version's approval is about": ATTEMPT.format("%(job_at_the_draft)s", 2, THIS),
}
ERASED = "erased_at = now(), vars = '{}', email = '', address = ''"
AUTHORITY = (
    *(
        Case(
            guard="trigger approvals_delivery delivery_transition",
            what=what,
            attack=attack,
            refusal="(delivery_attempt_is_released)",
        )
        for what, attack in RELEASED_BY.items()
    ),
    Case(
        guard="trigger approvals_job job_intent_is_kept",
        what="have a runtime asked again that was asked already",
        attack="update approvals_job set status = 'queued', intent_at = null where id = %(job_asking)s",
        refusal="(job_intent_is_kept)",
    ),
)
TERMS = (
    *(
        Case(
            guard="trigger approvals_campaign campaign_terms_kept",
            what=f"change the {column} of what was approved",
            attack=f"update approvals_campaign set {column} = {value} where id = %(campaign_approved)s",
            refusal="(campaign_terms_kept)",
        )
        for column, value in {
            "name": "'Eve'", "purpose": "'Eve'", "send_by": "now()", "run_id": "%(run)s",
        }.items()
    ),
    *(
        Case(
            guard="trigger approvals_version version_of_pending",
            what=f"put another version into a campaign that is {state}",
            attack=insert("version", campaign_id=f"%(campaign_{state})s"),
            refusal="(version_of_pending)",
        )
        for state in states.CAMPAIGN.states
        if state != "pending"
    ),
)  # fmt: skip
SEALED = (
    Case(
        guard="trigger approvals_version version_sealed",
        what="break a seal",
        attack="update approvals_version set sealed_at = null, digest = '' where id = %(version)s",
        refusal="(version_sealed)",
    ),
    Case(
        guard="trigger approvals_version version_sealed",
        what="seal anew",
        attack="update approvals_version set digest = 'other' where id = %(version)s",
        refusal="(version_sealed)",
    ),
    Case(
        guard="trigger approvals_version version_sealed",
        what="change a sealed text",
        by="owner",
        attack="update approvals_version set text = 'other' where id = %(version)s",
        refusal="(version_sealed)",
    ),
    Case(
        guard="trigger approvals_audiencerow audience_before_seal",
        what="add a recipient after the seal",
        attack=insert("audiencerow", version_id="%(version)s"),
        refusal="(version_sealed)",
    ),
    Case(
        guard="trigger approvals_delivery delivery_before_seal",
        what="add a delivery after the seal",
        attack=insert("delivery", version_id="%(version)s", audience_row_id="%(audience)s"),
        refusal="(version_sealed)",
    ),
    Case(
        guard="trigger approvals_audiencerow audience_only_erased",
        what="redirect a sealed recipient",
        by="owner",
        attack="update approvals_audiencerow set address = 'eve@x.example' where id = %(audience)s",
        refusal="only ever erased",
    ),
    Case(
        guard="trigger approvals_audiencerow audience_only_erased",
        what="refuse a recipient by the way of erasing",
        by="owner",
        attack=f"update approvals_audiencerow set {ERASED}, state = 'refused', reason = 'eve' where id = %(audience)s",
        refusal="only ever erased",
    ),
    Case(
        guard="trigger approvals_audiencerow audience_only_erased",
        what="write to somebody else in the place of who was erased",
        by="owner",
        attack=(
            f"update approvals_audiencerow set {ERASED} where id = %(audience)s",
            "update approvals_audiencerow set erased_at = null, address = 'eve@x.example' where id = %(audience)s",
        ),
        refusal="only ever erased",
    ),
    Case(
        guard="trigger approvals_audiencerow audience_kept",
        what="take a recipient out",
        by="owner",
        attack="delete from approvals_audiencerow where id = %(draft_audience)s",
        refusal="append-only",
    ),
)
KEPT = (
    Case(
        guard="trigger approvals_job job_kept",
        by="owner",
        attack="delete from approvals_job where id = %(job_held)s",
        refusal="append-only",
    ),
    Case(
        guard="trigger approvals_delivery delivery_kept",
        by="owner",
        attack="delete from approvals_delivery where id = %(delivery_sent)s",
        refusal="append-only",
    ),
    Case(
        guard="trigger approvals_token token_stays_revoked",
        what="revive a token",
        attack="update approvals_token set revoked_at = null where id = %(revoked)s",
        refusal="(token_stays_revoked)",
    ),
)
# The queue shows what waits: a row that is not placed hides from everybody who decides.
AGAIN = {"target_kind": "'run'", "target_id": "%(run)s", "item_id": "%(run)s", "kind": "'force_replay'"}
RELEASED = (
    insert("run", replay_of_id="%(run)s", lineage_id="%(run)s"),
    insert("decision", **AGAIN),
    insert("job", kind="'replay'", run_id=EVE, campaign_id="null", version_id="null"),
)
QUEUE = (
    Case(
        guard="trigger approvals_run run_added",
        what="report a run that no queue shows",
        attack=(
            insert("run"),
            f"select 1 where not exists (select from approvals_queueitem where id = {EVE})",
        ),
        refusal="0 rows",
    ),
    Case(
        guard="trigger approvals_run run_moved",
        what="interrupt a run that nobody is asked about",
        attack=(
            "update approvals_run set status = 'interrupted', interrupted_at = now() where id = %(open_run)s",
            "select 1 from approvals_queueitem where id = %(open_run)s and tab <> 'decide'",
        ),
        refusal="0 rows",
    ),
    Case(
        guard="trigger approvals_job job_added",
        what="release a replay and leave the queue as it was",
        attack=(*RELEASED, "select 1 from approvals_queueitem where id = %(run)s and state <> 'queued'"),
        refusal="0 rows",
    ),
    Case(
        guard="trigger approvals_job job_moved",
        what="claim a replay and leave the queue as it was",
        attack=(
            *RELEASED,
            f"update approvals_job set status = 'running', fence = 1 where id = {EVE}",
            f"update approvals_job set status = 'in_doubt' where id = {EVE}",
            told(EVE),
            "select 1 from approvals_queueitem where id = %(run)s and tab <> 'decide'",
        ),
        refusal="0 rows",
    ),
    Case(
        guard="trigger approvals_campaign campaign_added",
        what="propose a campaign that no queue shows",
        attack=(
            insert("campaign"),
            f"select 1 where not exists (select from approvals_queueitem where id = {EVE})",
        ),
        refusal="0 rows",
    ),
    Case(
        guard="trigger approvals_campaign campaign_moved",
        what="reject a campaign that still waits for a decision",
        attack=(
            insert("campaign"),
            f"update approvals_campaign set status = 'rejected' where id = {EVE}",
            f"select 1 from approvals_queueitem where id = {EVE} and tab = 'decide'",
        ),
        refusal="0 rows",
    ),
    Case(
        guard="trigger approvals_version version_moved",
        what="propose another version, and have it wait as long as the first",
        attack=(
            "update approvals_version set digest = 'eve', sealed_at = now() where id = %(draft)s",
            "select 1 from approvals_queueitem q join approvals_version v on v.id = %(draft)s"
            " where q.id = %(campaign)s and q.since < v.created_at",
        ),
        refusal="0 rows",
    ),
    Case(
        guard="trigger approvals_campaign campaign_renamed",
        what="give a campaign a name that no search finds",
        attack=(
            "update approvals_campaign set name = 'Eve' where id = %(campaign)s",
            "select 1 where %(campaign)s not in (select item_id from search_items('eve', 9))",
        ),
        refusal="0 rows",
    ),
    Case(
        guard="trigger approvals_delivery delivery_moved",
        what="leave a delivery in doubt and ask nobody",
        attack=(
            "update approvals_delivery set state = 'in_doubt' where id = %(delivery_attempting)s",
            "select 1 from approvals_queueitem where id = %(campaign)s and state = 'pending'",
        ),
        refusal="0 rows",
    ),
    Case(
        guard="trigger approvals_job send_job_moved",
        what="pause a campaign and ask nobody",
        attack=(
            "update approvals_job set status = 'paused' where id = %(job)s",
            "select 1 from approvals_queueitem where id = %(sent_campaign)s and tab <> 'decide'",
        ),
        refusal="0 rows",
    ),
)

CASES = (*illegal_steps(), *BIRTHS, *FENCES, *AUTHORITY, *TERMS, *SEALED, *KEPT, *QUEUE)
