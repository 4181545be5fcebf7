"""A row of each table that Postgres takes from whoever may add one, to be spoiled in one place."""

EVE = "'00000000-0000-4000-8000-0000000000e5'"
EVES_DECISION = "'00000000-0000-4000-8000-0000000000ed'"
HERE = {"workspace_id": "%(workspace)s"}

VALID: dict[str, dict[str, str]] = {
    "workspace": {"id": "%(ghost)s", "slug": "'eve'", "name": "'Eve'"},  # bound to "ghost"
    "user": {"email": "'eve@new.example'", "password": "''", "name": "'Eve'", "is_active": "true"},
    "beat": {"name": "'eve'", "at": "now()", "detail": "''"},
    "member": {"id": EVE, **HERE, "user_id": "%(stranger)s", "roles": "'{admin}'"},
    "runtime": {
        "id": EVE, **HERE, "name": "'eve'", "kind": "'http'", "base_url": "''", "silence_s": "60",
        "time_limit_s": "60", "writes_ahead": "true", "signing_secret": "''",
    },
    "observation": {"id": EVE, **HERE, "runtime_id": "%(runtime)s"},
    "agentsession": {
        **HERE, "runtime_id": "%(watched)s", "app": "'helper'", '"user"': "'eve'", "session": "'s9'",
        "updated_at": "now()",
    },
    "storedrow": {
        **HERE, "session_id": "%(session)s", "event_id": "'eve'", "invocation_id": "'i9'", "at": "now()",
        "digest": "sha256('eve')", "run_id": "%(run)s", "ends": "''", "answers": "false",
    },
    "token": {
        "id": EVE, **HERE, "runtime_id": "%(runtime)s", "subject": "null", "digest": "sha256('eve')", "hint": "'sl_'",
    },
    "payload": {"id": EVE, **HERE, "body": "'{}'", "salt": "decode('00112233445566778899aabbccddeeff', 'hex')"},
    "run": {
        "id": EVE, **HERE, "runtime_id": "%(runtime)s", "external_id": "'eve'", "agent": "'helper'",
        "subject": "'customer-1'", "session_id": "''", "trigger": "''", "input_payload_id": "%(payload)s",
        "input_hash": "''", "body_digest": "''", "lineage_id": EVE,
    },
    "event": {**HERE, "run_id": "%(open_run)s", "seq": "2", "type": "'heartbeat'", "at": "now()"},
    "runtool": {**HERE, "run_id": "%(open_run)s", "lineage_id": "%(open_run)s", "name": "'eve'",
        "tab": "'history'", "since": "now()", "due": "'infinity'"},
    "decision": {
        "id": EVES_DECISION, **HERE, "kind": "'dismiss'", "actor_kind": "'member'", "actor_id": "'1'",
        "actor_name": "'Eve'", "actor_roles": "'{}'", "sign_in": "''", "target_kind": "'run'", "target_id": "%(run)s",
        "item_id": "%(run)s", "agent": "''", "subject": "''", "digest": "''", "payload_id": "%(payload)s",
        "payload_hash": "''",
    },
    "job": {
        "id": EVE, **HERE, "decision_id": EVES_DECISION, "kind": "'send'", "status": "'queued'",
        "campaign_id": "%(campaign)s", "version_id": "%(draft)s",
    },
    "campaign": {
        "id": EVE, **HERE, "external_id": "'eve'", "agent": "'helper'", "name": "'Eve'", "purpose": "''",
        "comment": "''",
    },
    "version": {
        "id": EVE, **HERE, "campaign_id": "%(campaign)s", "number": "3", "from_address": "''", "reply_to": "''",
        "subject_line": "''", "text": "''", "html": "''", "digest": "''",
    },
    "audiencerow": {
        **HERE, "version_id": "%(draft)s", "position": "9", "email": "'eve@x.example'",
        "address": "'eve@x.example'", "vars": "'{}'", "state": "'addressable'", "reason": "''",
    },
    "delivery": {
        "id": EVE, **HERE, "campaign_id": "%(campaign)s", "version_id": "%(draft)s",
        "audience_row_id": "%(draft_audience)s", "position": "1", "address": "'eve@x.example'",
        "dedupe_key": "'eve@x.example'", "message_id": "'<eve@x.example>'",
    },
    "calledcampaign": {**HERE, "run_id": "%(called_run)s", "seq": "2", "tool": "'eve'"},
    "dataset": {
        "id": EVE, **HERE, "name": "'eve.csv'", "sha256": "repeat('e', 64)", "size": "1", "encoding": "'utf-8'",
        "delimiter": "','", "columns": "'[]'", "address_column": "'email'", "by_name": "'Eve'",
    },
    "datasetrow": {
        **HERE, "dataset_id": "%(dataset)s", "position": "9", "email": "'eve@x.example'",
        "address": "'eve@x.example'", "dedupe_key": "'eve@x.example'", "vars": "'{}'", "state": "'addressable'",
        "reason": "''", "formula": "false", "unfit": "''",
    },
    "suppression": {
        "id": EVE, **HERE, "scope": "''", "dedupe_key": "'eve@x.example'", "reason": "'by_hand'", "source": "''",
    },
    "attachment": {
        "id": EVE, **HERE, "runtime_id": "%(runtime)s", "sha256": "repeat('e', 64)", "size": "1",
        "content_type": "'text/plain'", "looks_like": "''",
    },
    "versionattachment": {
        "id": EVE, **HERE, "version_id": "%(draft)s", "position": "9", "attachment_id": "%(attachment)s",
        "filename": "'eve.txt'", "content_type": "'text/plain'",
    },
    "callback": {
        "id": EVE, **HERE, "campaign_id": "%(campaign)s", "number": "9", "decision_id": "null", "type": "'eve'",
        "body": "'{}'",
    },
    "place": {"id": "1", "system": "1", "timeline": "1", "database": "1", "relation": "1"},
    "itemword": {**HERE, "item_id": "%(campaign)s", "word": "'eve'", "at": "now()"},
    "decisionword": {**HERE, "decision_id": "%(dismissal)s", "word": "'eve'", "at": "now()"},
    "queueitem": {
        "id": EVE, **HERE, "kind": "'run'", "tab": "'decide'", "state": "'failed'", "agent": "''", "subject": "''",
        "title": "'Eve'", "since": "now()", "due": "'infinity'",
    },
}  # fmt: skip


def insert(noun: str, **spoiled: str) -> str:
    """One row; `spoiled` are the columns in which it differs from a valid one."""
    row = VALID[noun] | spoiled
    return f"insert into approvals_{noun} ({', '.join(row)}) values ({', '.join(row.values())})"


def release(kind: str = "'approve'", **job: str) -> tuple[str, str]:
    """A releasing decision about the pending campaign with its job, which is valid as it is."""
    about = {"target_kind": "'campaign'", "target_id": "%(campaign)s", "item_id": "%(campaign)s"}
    return insert("decision", kind=kind, **about), insert("job", **job)


def told(job: str, **spoiled: str) -> str:
    """The entry that says what came of a job."""
    about = {"target_kind": "'job'", "target_id": job, "item_id": job, "id": "gen_random_uuid()"}
    return insert("decision", **about | {"kind": "'outcome'", "actor_kind": "'system'"} | spoiled)


def replay(of: str = "%(run)s", **spoiled: str) -> str:
    """A run that is another attempt of `of`."""
    return insert("run", replay_of_id=of, lineage_id=of, **spoiled)
