"""What was never granted. Made from the ground: for each right that app or ingest does not hold, whoever uses it."""

import re
from collections.abc import Iterator

from tests.attacks.matrix.case import Case
from tests.attacks.matrix.guards import (
    ATTACKERS,
    closed_by_rls,
    columns,
    constraint,
    every_guard,
    functions,
    keys_to,
    lines,
    triggers,
)
from tests.attacks.matrix.rows import VALID, insert, replay

# A change that no key or check forbids, for roles that may change nothing of the table. No column is read.
CHANGE = {
    "agentsession": "updated_at = now()",
    "attachment": "content_type = 'text/eve'",
    "audiencerow": "address = 'eve@x.example'",
    "beat": "detail = 'eve'",
    "calledcampaign": "by_subject = true",
    "callback": "answer = 'eve'",
    "campaign": "comment = 'eve'",
    "dataset": "notice = 'eve'",
    "datasetrow": "email = 'eve'",
    "suppression": "released_at = now()",
    "decision": "actor_name = 'Eve'",
    "decisionword": "decision_id = gen_random_uuid()",
    "delivery": "reply = 'eve'",
    "event": "name = 'eve'",
    "itemword": "item_id = gen_random_uuid()",
    "job": "task_id = 'eve'",
    "member": "roles = '{admin}'",
    "observation": "trouble = 'eve'",
    "payload": "body = 'eve'",
    "place": "timeline = 77",
    "queueitem": "tab = 'history'",
    "run": "interrupted_why = 'eve'",
    "runtime": "base_url = 'http://eve.example'",
    "runtool": "lineage_id = gen_random_uuid()",
    "storedrow": "digest = sha256('eve')",
    "token": "subject = 'eve'",
    "user": "password = 'eve'",
    "version": "text = 'eve'",
    "versionattachment": "filename = 'eve.txt'",
    "workspace": "name = 'Eve'",
}
# One row of alpha, where a change of all would make two of them the same.
ONE = {
    noun: f"id = %({noun})s"
    for noun in (
        "member",
        "runtime",
        "token",
        "run",
        "job",
        "campaign",
        "delivery",
        "observation",
        "dataset",
        "suppression",
        "callback",
    )
} | {
    "version": "id = %(draft)s",
    "user": "id = %(stranger)s",
    "workspace": "id = %(workspace)s",
    "agentsession": "id = %(session)s",
    "storedrow": "id = %(row)s",
    "calledcampaign": "id = %(called)s",
}
VALUE = {
    "uuid": "gen_random_uuid()",
    "text": "'eve'",
    "varchar": "'eve'",
    "integer": "77",
    "bigint": "77",
    "timestamp": "'1999-01-01'",
    "bytea": "'eve'",
    "boolean": "true",
    "jsonb": "'[]'",
}
INGEST_BEHIND = {
    # Somebody who may not read the log cannot chain an entry either, and has to bring what the chain would set.
    "decision": ("trigger approvals_decision decision_chained",),
    "datasetrow": ("trigger approvals_datasetrow datasetrow_of_an_open_dataset",),
    "versionattachment": ("trigger approvals_versionattachment versionattachment_bounded",),
    "version": ("trigger approvals_version version_of_pending",),
    "job": (
        "constraint approvals_job job_decision_same_workspace",
        "trigger approvals_job job_has_its_decision",
    ),
}
FORGED = {"decision": {"seq": "99", "at": "now()", "prev_hash": "''", "hash": "''"}}
# A table of somebody else's app keeps our row by a key of its own.
CITED_ELSEWHERE = {
    "user": "alter table account_emailaddress drop constraint"
    " account_emailaddress_user_id_2c513194_fk_approvals_user_id"
}
# Nobody has adopted this place yet, as in a copy whose one row was taken out.
BEFORE = {"place": "delete from approvals_place"}
BEHIND_A_WORD = {
    role: (
        f"no select on approvals_itemword for {role}",
        f"no select on approvals_decisionword for {role}",
        "policy approvals_decisionword search",
        f"no execute on last_word(word text) for {role}",
    )
    for role in ATTACKERS
}
CHANGES_PLACE = {
    role: tuple(f"no {right} on approvals_place for {role}" for right in ("insert", "update"))
    for role in ATTACKERS
}
READ_FOR_A_RECORD = tuple(
    f"no select on approvals_{noun} for ingest" for noun in ("payload", "toolcall", "callevent")
)
PLACE_NOW = next(signature for signature in functions() if signature.startswith("place_now("))
# signature without names: (the attack, what else is in its way)
CALLS: dict[tuple[str, str], tuple[str | tuple[str, ...], tuple[str, ...]]] = {
    ("settle_run", "ingest"): ("select settle_run(%(workspace)s, %(run)s)", ()),
    ("run_record", "ingest"): (
        "select 1 from run_record(%(workspace)s, %(run)s) where kind = 'called'",
        (*READ_FOR_A_RECORD, "no execute on run_records(of_workspace uuid, of_runs uuid[]) for ingest"),
    ),
    ("run_records", "ingest"): (
        "select 1 from run_records(%(workspace)s, array[%(run)s]) where kind = 'called'",
        READ_FOR_A_RECORD,
    ),
    ("token_of", "ingest"): ("select 1 from token_of(%(b_digest)s)", ()),
    ("workspaces_of", "ingest"): ("select 1 from workspaces_of(%(b_user)s)", ()),
    ("all_workspaces", "ingest"): ("select 1 from all_workspaces() where workspace_id = %(b_workspace)s", ()),
    ("due", "ingest"): ("select 1 from due(99) where workspace_id = %(b_workspace)s", ()),
    ("overdue_jobs", "ingest"): ("select 1 where overdue_jobs('-1 day') > 1", ()),
    ("observed_stores", "ingest"): ("select 1 from observed_stores('1 s') where observed > 1", ()),
    ("search_items", "ingest"): ("select 1 from search_items('spring', 10)", ()),
    ("search_decisions", "ingest"): ("select 1 from search_decisions('ada', 10)", ()),
    ("items_with", "app"): ("select 1 from items_with('bo@x', 10)", (BEHIND_A_WORD["app"])),
    ("items_with", "ingest"): (
        "select 1 from items_with('bo@x', 10)",
        (*BEHIND_A_WORD["ingest"], "no select on approvals_delivery for ingest"),
    ),
    ("decisions_with", "app"): ("select 1 from decisions_with('ada', 10)", BEHIND_A_WORD["app"]),
    ("decisions_with", "ingest"): ("select 1 from decisions_with('ada', 10)", BEHIND_A_WORD["ingest"]),
    ("log_heads", "ingest"): ("select 1 from log_heads() where workspace_id = %(b_workspace)s", ()),
    ("log_anchors", "ingest"): (
        "select 1 from log_anchors('-infinity') where workspace_id = %(b_workspace)s",
        (),
    ),
    ("due_imports", "ingest"): ("select 1 from due_imports(99) where workspace_id = %(b_workspace)s", ()),
    ("due_calls", "ingest"): ("select 1 from due_calls(99) where workspace_id = %(b_workspace)s", ()),
    ("due_callbacks", "ingest"): ("select 1 from due_callbacks(99) where workspace_id = %(b_workspace)s", ()),
    ("home_of_delivery", "ingest"): ("select 1 where home_of_delivery(%(b_delivery)s) is not null", ()),
    ("place_now", "ingest"): ("select 1 from place_now()", ()),
    # A copy that was taken before something was sent, and that sends it again because nobody asks.
    ("adopt_place", "app"): ("select adopt_place()", CHANGES_PLACE["app"]),
    ("adopt_place", "ingest"): (
        "select adopt_place()",
        (
            *CHANGES_PLACE["ingest"],
            "no select on approvals_place for ingest",
            f"no execute on {PLACE_NOW} for ingest",
        ),
    ),
}
# To place an item fails where there is none, which tells whoever may not see it that there is one.
TELLING = (
    *(
        Case(
            guard=f"no execute on place_lineage(of_workspace uuid, of_lineage uuid) for {role}",
            what="learn of another customer's run",
            by=role,
            attack="select place_lineage(%(workspace)s, %(open_run)s)",
            subject="customer-1",
        )
        for role in ATTACKERS
    ),
    Case(
        guard="no execute on place_campaign(of_workspace uuid, of_campaign uuid) for ingest",
        what="learn of a campaign",
        by="ingest",
        attack="select place_campaign(%(workspace)s, %(campaign)s)",
    ),
)


def cases() -> Iterator[Case]:
    """One for each right that is not granted; none where a table is new and nothing is known about its rows."""
    for guard in every_guard():
        if found := re.fullmatch(r"no (\w+) \((\w+)\) on approvals_(\w+) for (\w+)", guard):
            right, column, noun, role = found.groups()
            if noun in {"insert": VALID, "update": ONE}.get(right, (noun,)):
                yield _of_a_column(guard, right, column, noun, role)
        elif found := re.fullmatch(r"no (\w+) on approvals_(\w+) for (\w+)", guard):
            right, noun, role = found.groups()
            if noun in {"insert": VALID, "update": CHANGE}.get(right, (noun,)):
                yield _of_a_table(guard, right, noun, role)
        elif found := re.fullmatch(r"no (\w+) on sequence (\w+) for (\w+)", guard):
            yield _of_a_sequence(guard, *found.groups())
    for (name, role), (attack, behind) in CALLS.items():
        for guard in every_guard():
            if guard.startswith(f"no execute on {name}(") and guard.endswith(f" for {role}"):
                yield Case(guard=guard, by=role, attack=attack, behind=behind)


def _of_a_table(guard: str, right: str, noun: str, role: str) -> Case:
    table = f"approvals_{noun}"
    attack: str | tuple[str, ...]
    behind: tuple[str, ...] = ()
    workspace, given = "workspace", ""
    if right == "select":
        attack = f"select * from {table}"
        if noun == "toolcall":
            behind = (f"no select on approvals_callevent for {role}",)
        behind += closed_by_rls(table)
    elif right == "insert":
        attack, behind = (
            insert(noun, **FORGED.get(noun, {})),
            (*INGEST_BEHIND.get(noun, ()), *closed_by_rls(table)),
        )
        given = BEFORE.get(noun, "")
        workspace = "ghost" if noun == "workspace" else workspace
    elif right == "update":
        attack = f"update {table} set {CHANGE[noun]}"
        behind = (*triggers(table, "UPDATE"), *closed_by_rls(table))
    elif right == "delete":
        attack, behind = (
            f"delete from {table}",
            (*triggers(table, "DELETE"), *keys_to(table), *closed_by_rls(table)),
        )
        if noun == "payload":  # what goes with it is nobody's but owner's either
            behind += ("trigger approvals_payload payload_forgotten",)
        given = CITED_ELSEWHERE.get(noun, "")
    elif right == "truncate":
        attack = (f"truncate {table}", f"select 1 where pg_relation_size('{table}') = 0")
        behind = (*triggers(table, "TRUNCATE"), *keys_to(table))
        given = CITED_ELSEWHERE.get(noun, "")
    else:
        # A function that comes with Postgres and that everybody may use as a trigger: it drops some updates.
        attack = (
            f"create trigger eve before update on {table} for each row"
            " execute function suppress_redundant_updates_trigger()",
            "select 1 from pg_trigger where tgname = 'eve'",
        )
    return Case(guard=guard, by=role, attack=attack, behind=behind, workspace=workspace, given=given)


def _of_a_column(guard: str, right: str, column: str, noun: str, role: str) -> Case:
    table = f"approvals_{noun}"
    if right == "select":
        return Case(guard=guard, by=role, attack=f"select {column} from {table}")
    value = _value(table, column)
    if right == "insert":
        # What nobody may choose, the trigger would choose; and a birth with a record it would refuse.
        behind = tuple(t for t in triggers(table, "INSERT") if t.endswith(("run_born", "event_received")))
        if column == "replay_of_id":
            behind = ("policy approvals_run originals_only",)
            return Case(guard=guard, by=role, attack=replay(), behind=behind)
        if noun == "run":
            behind += ("trigger approvals_run run_added",)
        return Case(guard=guard, by=role, attack=insert(noun, **{column: value}), behind=behind)
    behind = (*triggers(table, "UPDATE"), *_on_column(table, column))
    return Case(
        guard=guard,
        by=role,
        attack=f'update {table} set "{column}" = {value} where {ONE[noun]}',
        behind=behind,
    )


def _of_a_sequence(guard: str, right: str, sequence: str, role: str) -> Case:
    attack = f"select setval('{sequence}', 1000000)" if right == "update" else f"select nextval('{sequence}')"
    return Case(guard=guard, by=role, attack=attack)


def _value(table: str, column: str) -> str:
    if column == "workspace_id":
        return "%(b_workspace)s"
    if column == "status":
        return "'completed'"
    return VALUE[re.split(r"[ (]", columns(table)[column])[0]]


def _on_column(table: str, column: str) -> tuple[str, ...]:
    """What else speaks of this column: constraints, keys that cite it, the policy."""
    word = re.compile(rf"\b{column}\b")
    on_it = tuple(
        constraint(of, name, what)
        for of, name, what in lines("constraints", table)
        if word.search(what) and not what.startswith("PRIMARY")
    )
    citing = keys_to(table) if column in ("id", "workspace_id") else ()
    policies = tuple(
        f"policy {table} {name}"
        for _, name, what in lines("policies", table)
        if word.search(what) and "all" in what
    )
    whose = "id" if table == "approvals_workspace" else "workspace_id"
    return tuple(dict.fromkeys((*citing, *on_it))) + (policies if column == whose else ())


CASES = (*cases(), *TELLING)
assert {case.by for case in CASES} <= set(ATTACKERS)
