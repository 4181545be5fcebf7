"""What hostile or mistaken SQL of the app role meets, workspace by workspace bound."""

import pytest

from tests.attacks.conftest import Try

DENIED = "42501 permission denied for"
RLS = "42501 new row violates row-level security policy"

EVENT = (
    "insert into approvals_event (workspace_id, run_id, seq, type, at{more})"
    " values ({ws}, {run}, {seq}, {type}, now(){values})"
)
RUN = (
    "insert into approvals_run (id, workspace_id, runtime_id, external_id, agent, subject, session_id, trigger,"
    " input_payload_id, input_hash, body_digest, lineage_id{more}) values ('00000000-0000-0000-0000-000000000001',"
    " %(workspace)s, %(runtime)s, 'x', 'a', 's', '', '', %(payload)s, '', '', '00000000-0000-0000-0000-000000000001'"
    "{values})"
)
JOB = (
    "insert into approvals_job (id, workspace_id, decision_id, kind, status, campaign_id, version_id{more})"
    " values (gen_random_uuid(), %(workspace)s, {decision}, 'send', {status}, {campaign}, {version}{values})"
)
DECISION = (
    "insert into approvals_decision (id, workspace_id, kind, actor_kind, actor_id, actor_name, actor_roles, sign_in,"
    " target_kind, target_id, item_id, agent, subject, digest, payload_id, payload_hash) values (gen_random_uuid(),"
    " {ws}, {kind}, 'member', '1', 'Eve', '{{}}', '', 'campaign', %(campaign)s, %(campaign)s, '', '', '',"
    " %(payload)s, '')"
)
TOKEN = (
    "insert into approvals_token (id, workspace_id, runtime_id, subject, digest, hint)"
    " values (gen_random_uuid(), %(workspace)s, {runtime}, {subject}, {digest}, 'sl_')"
)
DELIVERY = (
    "insert into approvals_delivery (id, workspace_id, campaign_id, version_id, audience_row_id, position, address,"
    " dedupe_key, message_id{more}) values (gen_random_uuid(), %(workspace)s, %(campaign)s, %(version)s, %(audience)s,"
    " 2, 'x', {key}, ''{values})"
)


def event(
    *,
    ws: str = "%(workspace)s",
    run: str = "%(run)s",
    seq: object = 3,
    type: str = "'heartbeat'",
    **more: str,
) -> str:
    columns = "".join(f", {column}" for column in more)
    values = "".join(f", {value}" for value in more.values())
    return EVENT.format(ws=ws, run=run, seq=seq, type=type, more=columns, values=values)


def run(**more: str) -> str:
    return RUN.format(
        more="".join(f", {column}" for column in more),
        values="".join(f", {value}" for value in more.values()),
    )


def replay_of(original: str, *, subject: str = "customer-1", agent: str = "helper") -> str:
    return (
        run(replay_of_id=original)
        .replace("'a', 's'", f"'{agent}', '{subject}'")
        .replace(", '', '', '00000000-0000-0000-0000-000000000001', ", f", '', '', {original}, ")
    )


def job(
    *,
    decision: str = "gen_random_uuid()",
    status: str = "'queued'",
    campaign: str = "%(campaign)s",
    version: str = "%(version)s",
    **more: str,
) -> str:
    return JOB.format(
        decision=decision, status=status, campaign=campaign, version=version,
        more="".join(f", {column}" for column in more), values="".join(f", {value}" for value in more.values()),
    )  # fmt: skip


def decision(kind: str, ws: str = "%(workspace)s") -> str:
    return DECISION.format(kind=f"'{kind}'", ws=ws)


def token(runtime: str = "%(runtime)s", subject: str = "null", digest: str = "sha256('x')") -> str:
    return TOKEN.format(runtime=runtime, subject=subject, digest=digest)


def delivery(key: str = "'new'", **more: str) -> str:
    return DELIVERY.format(
        key=key,
        more="".join(f", {column}" for column in more),
        values="".join(f", {v}" for v in more.values()),
    )


# what is tried: (the statements, what Postgres has to say)
JOURNAL = {
    "change an event": ("update approvals_event set name = 'nothing'", f"{DENIED} table approvals_event"),
    "renumber an event": ("update approvals_event set seq = 9", f"{DENIED} table approvals_event"),
    "delete an event": ("delete from approvals_event", f"{DENIED} table approvals_event"),
    "empty the journal": ("truncate approvals_event", f"{DENIED} table approvals_event"),
    "empty runs and all that cites them": ("truncate approvals_run cascade", f"{DENIED} table approvals_run"),
    "overwrite an event while adding it": (
        event(seq=1) + " on conflict (workspace_id, run_id, seq) do update set type = 'heartbeat'",
        f"{DENIED} table approvals_event",
    ),
    "merge into the journal": (
        "merge into approvals_event e using approvals_run r on e.run_id = r.id when matched then delete",
        f"{DENIED} table approvals_event",
    ),
    "add an event to another workspace's run": (event(run="%(b_run)s"), "P0002 query returned no rows"),
    "add an event in another workspace": (
        event(ws="%(b_workspace)s", run="%(b_run)s"),
        "P0002 query returned no rows",
    ),
    "add an event twice": (
        event(seq=1),
        '23505 duplicate key value violates unique constraint "event_seq_once"',
    ),
    "add event number 0": (event(seq=0), "(event_seq_positive)"),
    "add an event of no type": (event(type="'rewind'"), "(event_type_known)"),
    "add a nameless call": (event(type="'tool_call'", call_id="'c'"), "(event_call_named)"),
    "add a result of no call": (event(type="'tool_result'"), "(event_call_named)"),
    "add an end without an outcome": (event(type="'ended'"), "(event_outcome_known)"),
    "invent an origin": (event(origin="'dreamt'"), "(event_origin_known)"),
    "invent a provenance": (event(provenance="'sworn'"), "(event_provenance_known)"),
    "cite a payload without its hash": (event(payload_id="%(payload)s"), "(event_payload_hashed)"),
    "load events in bulk": (
        "copy approvals_event (workspace_id, run_id, seq, type, at) from stdin",
        "0A000 COPY FROM not supported with row-level security",
    ),
    "delete a run": ("delete from approvals_run", f"{DENIED} table approvals_run"),
    "give a run to another customer": (
        "update approvals_run set subject = 'x'",
        f"{DENIED} table approvals_run",
    ),
    "move a run to another lineage": (
        "update approvals_run set lineage_id = id",
        f"{DENIED} table approvals_run",
    ),
    "hide a gap": ("update approvals_run set next_seq = 99", f"{DENIED} table approvals_run"),
    "let a run be born completed": (run(status="'completed'"), "(run_born)"),
    "let a run be born with events": (run(max_seq="5"), "(run_born)"),
    "put a replay into another lineage": (run(replay_of_id="%(run)s"), "(run_lineage)"),
    "replay for another customer": (replay_of("%(run)s", subject="customer-2"), "(run_lineage)"),
    "replay with another agent": (replay_of("%(run)s", agent="other"), "(run_lineage)"),
    "replay another workspace's run": (replay_of("%(b_run)s"), "(run_lineage)"),
    "replay while an attempt is running": (
        replay_of("%(open_run)s", subject="customer-2"),
        "(run_one_active_per_lineage)",
    ),
    "run in another workspace's runtime": (
        run().replace("%(runtime)s", "%(b_runtime)s"),
        "(run_runtime_same_workspace)",
    ),
    "revive an ended run": (
        "update approvals_run set status = 'running' where id = %(run)s",
        "23514 run may not go from failed to running (run_transition)",
    ),
    "forget which tools were called": ("delete from approvals_runtool", f"{DENIED} table approvals_runtool"),
    "invent a tool": ("update approvals_runtool set name = 'x'", f"{DENIED} table approvals_runtool"),
    "write into the view of calls": (
        "delete from approvals_toolcall",
        '55000 cannot delete from view "approvals_toolcall"',
    ),
    "move a queue item": (
        "update approvals_queueitem set tab = 'history'",
        f"{DENIED} table approvals_queueitem",
    ),
    "call what keeps the queue": (
        "select place_lineage(%(workspace)s, %(run)s)",
        f"{DENIED} function place_lineage",
    ),
}
RECORD = {
    "write the record": ("update approvals_run set tools_executed = '[]'", f"{DENIED} table approvals_run"),
    "erase the record": ("update approvals_run set tools_executed = null", f"{DENIED} table approvals_run"),
    "date the record": ("update approvals_run set settled_at = null", f"{DENIED} table approvals_run"),
    "let a run be born with a record": (run(tools_executed="'[]'"), "(tools_executed_write_once)"),
    "let a run be born settled": (run(settled_at="now()"), "(tools_executed_write_once)"),
    "settle another workspace's run": (
        "select settle_run(%(b_workspace)s, %(b_run)s)",
        "42501 settle_run does not see run",
    ),
    "settle a run of nowhere": (
        "select settle_run(%(workspace)s, %(b_run)s)",
        "42501 settle_run does not see run",
    ),
    "change a payload": ("update approvals_payload set body = '{}'", f"{DENIED} table approvals_payload"),
    "change a salt": ("update approvals_payload set salt = ''", f"{DENIED} table approvals_payload"),
    "delete a payload": ("delete from approvals_payload", f"{DENIED} table approvals_payload"),
    "empty the payloads": ("truncate approvals_payload", f"{DENIED} table approvals_payload"),
    "store a payload with a short salt": (
        "insert into approvals_payload (id, workspace_id, body, salt)"
        " values (gen_random_uuid(), %(workspace)s, '{}', 'x')",
        "(payload_salt_long_enough)",
    ),
    "store a payload elsewhere": (
        "insert into approvals_payload (id, workspace_id, body, salt)"
        " values (gen_random_uuid(), %(b_workspace)s, '{}', sha256('x'))",
        RLS,
    ),
}
LOG = {
    "change a decision": (
        "update approvals_decision set actor_name = 'x'",
        f"{DENIED} table approvals_decision",
    ),
    "change a hash": ("update approvals_decision set hash = ''", f"{DENIED} table approvals_decision"),
    "delete a decision": ("delete from approvals_decision", f"{DENIED} table approvals_decision"),
    "empty the log": ("truncate approvals_decision cascade", f"{DENIED} table approvals_decision"),
    "decide in another workspace": (decision("dismiss", ws="%(b_workspace)s"), RLS),
    "release without a job": (decision("approve"), "(one_job_per_release)"),
    "execute without a decision": (job(), "(job_decision_same_workspace)"),
    "execute a decision twice": (
        job(decision="%(approval)s", campaign="%(sent_campaign)s"),
        "(job_once_per_decision)",
    ),
    "execute what released nothing": (job(decision="%(dismissal)s"), "(one_job_per_release)"),
    "execute another campaign than the one approved": (
        decision("approve").replace("gen_random_uuid()", "'00000000-0000-0000-0000-000000000002'"),
        job(decision="'00000000-0000-0000-0000-000000000002'", campaign="%(sent_campaign)s"),
        "(one_job_per_release)",
    ),
    "release the whole campaign as one message again": (
        decision("send_again").replace("gen_random_uuid()", "'00000000-0000-0000-0000-000000000002'"),
        job(decision="'00000000-0000-0000-0000-000000000002'"),
        "(one_job_per_release)",
    ),
    "check early and add a second job": (
        "set constraints all immediate",
        job(decision="%(approval)s", campaign="%(sent_campaign)s"),
        "(job_once_per_decision)",
    ),
    "look away at the check": (
        decision("approve"),
        "select set_config('app.workspace_id', %(b_workspace)s::text, true)",
        "(one_job_per_release)",
    ),
    "say as a person what came of a job": (decision("outcome"), "(decision_outcome_of_job)"),
    "let nobody decide": (decision("dismiss").replace("'member'", "'nobody'"), "(decision_actor_known)"),
}
EXECUTION = {
    "let a job be born done": (job(decision="%(approval)s", status="'done'"), "(job_born)"),
    "let a job be born running": (job(decision="%(approval)s", status="'running'"), "(job_born)"),
    "claim without a new fence": ("update approvals_job set status = 'running'", "(job_fence)"),
    "give a fence back": ("update approvals_job set fence = fence - 1", "(job_fence)"),
    "finish an unclaimed job": ("update approvals_job set status = 'done'", "(job_transition)"),
    "end a job without a word in the log": (
        "update approvals_job set status = 'running', fence = fence + 1",
        "update approvals_job set status = 'done'",
        "(job_end_is_told)",
    ),
    "hold a lease while queued": (
        "update approvals_job set lease_until = now()",
        "(job_lease_only_while_running)",
    ),
    "point a job elsewhere": (
        "update approvals_job set campaign_id = %(campaign)s",
        f"{DENIED} table approvals_job",
    ),
    "change a job's decision": ("update approvals_job set decision_id = id", f"{DENIED} table approvals_job"),
    "delete a job": ("delete from approvals_job", f"{DENIED} table approvals_job"),
    "let a campaign be born approved": (
        "insert into approvals_campaign (id, workspace_id, external_id, agent, name, purpose, comment,"
        " status) values (gen_random_uuid(), %(workspace)s, 'x', 'a', 'n', '', '', 'approved')",
        "(campaign_born)",
    ),
    "send what is pending": (
        "update approvals_campaign set status = 'sending' where id = %(campaign)s",
        "(campaign_transition)",
    ),
    "change a sealed text": ("update approvals_version set text = 'x'", f"{DENIED} table approvals_version"),
    "break a seal": ("update approvals_version set sealed_at = null, digest = ''", "(version_sealed)"),
    "seal anew": ("update approvals_version set digest = 'x'", "(version_sealed)"),
    "add a recipient after the seal": (
        "insert into approvals_audiencerow (workspace_id, version_id, position, email, address, vars, state, reason)"
        " values (%(workspace)s, %(version)s, 2, 'x', 'x', '{}', 'addressable', '')",
        "(version_sealed)",
    ),
    "add a delivery after the seal": (delivery(), "(version_sealed)"),
    "change a recipient": (
        "update approvals_audiencerow set address = 'x'",
        f"{DENIED} table approvals_audiencerow",
    ),
    "send one person two copies": (delivery(key="'bo@x.example'"), "(delivery_once_per_version)"),
    "let a delivery be born sent": (delivery(state="'sent'"), "(delivery_born)"),
    "claim to have sent": ("update approvals_delivery set state = 'sent'", "(delivery_transition)"),
    "attempt without a job": (
        "update approvals_delivery set state = 'attempting'",
        "(delivery_attempt_is_owned)",
    ),
    "redirect a delivery": (
        "update approvals_delivery set address = 'x'",
        f"{DENIED} table approvals_delivery",
    ),
    "delete a delivery": ("delete from approvals_delivery", f"{DENIED} table approvals_delivery"),
}
SETUP = {
    "revive a token": (
        "update approvals_token set revoked_at = now()",
        "update approvals_token set revoked_at = null",
        "(token_stays_revoked)",
    ),
    "give a token another subject": (
        "update approvals_token set subject = null",
        f"{DENIED} table approvals_token",
    ),
    "give a token another secret": (
        "update approvals_token set digest = ''",
        f"{DENIED} table approvals_token",
    ),
    "bind a token to an empty subject": (token(subject="''"), "(token_subject_not_empty)"),
    "make a token for another workspace's runtime": (
        token("%(b_runtime)s"),
        "(token_runtime_same_workspace)",
    ),
    "store a token itself": (token(digest="'sl_secret'"), "(token_digest_is_sha256)"),
    "take a role nobody knows": ("update approvals_member set roles = '{root}'", "(member_roles_known)"),
    "be a member without a role": ("update approvals_member set roles = '{}'", "(member_roles_known)"),
    "delete a member": ("delete from approvals_member", f"{DENIED} table approvals_member"),
    "make a workspace that is not the bound one": (
        "insert into approvals_workspace (id, slug, name) values (gen_random_uuid(), 'x', 'x')",
        RLS,
    ),
    "rename a workspace": (
        "update approvals_workspace set name = 'x'",
        f"{DENIED} table approvals_workspace",
    ),
    "delete a workspace": ("delete from approvals_workspace", f"{DENIED} table approvals_workspace"),
    "change somebody's e-mail address": (
        "update approvals_user set email = 'x'",
        f"{DENIED} table approvals_user",
    ),
    "delete a user": ("delete from approvals_user", f"{DENIED} table approvals_user"),
    "forget a migration": ("delete from django_migrations", f"{DENIED} table django_migrations"),
    "swap a signing secret": (
        "update approvals_runtime set signing_secret = ''",
        "(runtime_secret_once)",
    ),
}
ATTACKS = JOURNAL | RECORD | LOG | EXECUTION | SETUP


@pytest.mark.parametrize("attack", ATTACKS)
def test_app_is_refused_to(attack: str, attempt: Try) -> None:
    *statements, refusal = ATTACKS[attack]
    assert refusal in attempt("app", *statements)
