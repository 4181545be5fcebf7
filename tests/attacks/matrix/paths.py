"""The pinned search_path of every function: nobody's own operator stands in for Postgres's inside of it.

A stand-in needs a schema to live in, which app may not create; so that right stands before each pin here. The attacker
creates one, puts it first in the path, and has the function called.
"""

from collections.abc import Iterator

from tests.attacks.matrix.case import Case
from tests.attacks.matrix.datasets import EMPTIED
from tests.attacks.matrix.guards import functions
from tests.attacks.matrix.rows import EVES_DECISION, insert, told
from tests.attacks.matrix.states import ERASED, RELEASED

NO_SCHEMA = "no create on database for app"
SCHEMA = ("create schema eve", "grant usage on schema eve to public")
FIRST = "set local search_path = eve, pg_catalog, public"
BACK = "set local search_path = public"


def listening(head: str, gives: str, answer: str) -> tuple[str, ...]:
    """A function as it should be, that remembers as whom it was called."""
    returns = "return query select" if gives.startswith("setof") else "return"
    return (
        f"create function eve.{head} returns {gives} language plpgsql as $$ begin"
        " if current_user operator(pg_catalog.<>) session_user then"
        " perform pg_catalog.set_config('eve.was', current_user, true); end if;"
        f" {returns} {answer}; end $$",
    )


def listening_operator(name: str, left: str, right: str = "", gives: str = "boolean") -> tuple[str, ...]:
    """An operator as it should be, that remembers as whom it was called."""
    right = right or left
    return (
        *listening(f"heard({left}, {right})", gives, f"$1 operator(pg_catalog.{name}) $2"),
        f"create operator eve.{name} (function = eve.heard, leftarg = {left}, rightarg = {right})",
    )


LISTENS = tuple(
    statement for type in ("uuid", "text", "bigint", "bytea") for statement in listening_operator("=", type)
)
# What is found by a word, and what finds it.
WORDS = ("pinned run_findable()", "pinned words_of(value text)")
SEARCH = "pinned search_items(words text, at_most integer)"
SEARCHES = ("select search_items('spring bo', 10)",)
JOINS, GREATER, OTHER = (listening_operator("||", "text[]", gives="text[]"), listening_operator(">", "text"),
                         listening_operator("<>", "text"))  # fmt: skip
SIGN = listening("chr(integer)", "text", "pg_catalog.chr($1)")
# What they listen at, where it is not a comparison with =: only the function itself asks for it, not who calls it.
HEARD: dict[str, tuple[str, ...]] = {
    "run_findable": JOINS,
    "campaign_findable": JOINS,
    "words_of": listening("regexp_match(text, text)", "text[]", "pg_catalog.regexp_match($1, $2)"),
    "cut_into_words": SIGN,
    "folded": listening("lower(text)", "text", "pg_catalog.lower($1)"),
    "bare": listening(
        "regexp_replace(text, text, text, text)", "text", "pg_catalog.regexp_replace($1, $2, $3, $4)"
    ),
    "said_in": listening_operator("->>", "jsonb", "text", "text"),
    "typed_words": listening(
        "regexp_split_to_table(text, text)", "setof text", "pg_catalog.regexp_split_to_table($1, $2)"
    ),
    "last_word": SIGN,
    "items_with": GREATER,
    "decisions_with": GREATER,
    "search_items": OTHER,
    "search_decisions": OTHER,
    "observed_stores": listening_operator("<", "timestamptz"),
    "due_imports": listening_operator("<=", "timestamptz"),
    "due_callbacks": listening_operator("<=", "timestamptz"),
    "log_anchors": listening_operator("%", "bigint", "integer", "bigint"),
}
# Whoever's function of the definer calls ours, runs it with the definer's rights.
CALLED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "event_received": ((insert("event"),), ()),
    "journal_advanced": ((insert("event"),), ()),
    "job_moved": (RELEASED, ()),
    "one_job_per_release": ((insert("decision"), "set constraints all immediate"), ()),
    "payload_matches": (("select payload_matches(%(workspace)s, %(run)s, 1, 'x')",), ()),
    "settle_run": (("select settle_run(%(workspace)s, %(run)s)",), ()),
    "place_lineage": ((insert("run"),), ("pinned run_moved()",)),
    "place_campaign": ((insert("campaign"),), ("pinned campaign_moved()",)),
    "workspaces_of": (("select workspaces_of(%(user)s)",), ()),
    "token_of": (("select token_of(%(digest)s)",), ()),
    "due": (("select due(10)",), ()),
    "overdue_jobs": (("select overdue_jobs('1 s')",), ()),
    "observed_stores": (("select observed_stores('1 s')",), ()),
    "search_items": (SEARCHES, ()),
    "search_decisions": (("select search_decisions('because test', 10)",), ()),
    "items_with": (SEARCHES, (SEARCH,)),
    "decisions_with": (
        ("select search_decisions('because test', 10)",),
        ("pinned search_decisions(words text, at_most integer)",),
    ),
    "typed_words": (SEARCHES, (SEARCH,)),
    "last_word": (SEARCHES, (SEARCH, "pinned items_with(typed text, at_most integer)")),
    "run_findable": ((insert("run"),), ()),
    "campaign_findable": ((insert("campaign"),), ()),
    "words_of": ((insert("run"),), WORDS[:1]),
    "cut_into_words": ((insert("run"),), WORDS),
    "folded": ((insert("run"),), WORDS),
    "bare": ((insert("run"),), WORDS),
    "decision_findable": ((insert("decision"),), ()),
    "said_in": ((insert("decision"),), ("pinned decision_findable()",)),
    # Within the functions that lead to them, the path is pinned already.
    "runtool_placed": ((insert("runtool"),), ("no insert on approvals_runtool for app",)),
    "queueitem_moved": (
        ("update approvals_queueitem set tab = 'history' where id operator(pg_catalog.=) %(run)s",),
        ("no update on approvals_queueitem for app",),
    ),
    "job_is_told": (
        (
            "update approvals_job set status = 'done' where id operator(pg_catalog.=) %(job_running)s",
            told("%(job_running)s"),
            "set constraints all immediate",
        ),
        (),
    ),
    "log_anchors": (("select log_anchors('-infinity')",), ()),
    "due_imports": (("select due_imports(10)",), ()),
    "due_calls": (("select due_calls(10)",), ()),
    "campaign_called": ((insert("event"),), ()),
    "due_callbacks": (("select due_callbacks(10)",), ()),
    "home_of_delivery": (("select home_of_delivery(%(delivery)s)",), ()),
    "log_heads": (("select log_heads()",), ()),
}
AS_WHOM = dict.fromkeys(("typed_words", "last_word"), "search")  # owner's, called by search's


def definers() -> Iterator[Case]:
    """Code of app's, run by the owner or by a reader of all workspaces."""
    for signature, rest in functions().items():
        if call := CALLED.get(signature.partition("(")[0]):
            owner = AS_WHOM.get(signature.partition("(")[0], rest.split()[0])
            yield Case(
                guard=f"pinned {signature}",
                what=f"run as {owner}",
                attack=(
                    *SCHEMA,
                    *HEARD.get(signature.partition("(")[0], LISTENS),
                    FIRST,
                    *call[0],
                    BACK,
                    f"select 1 where current_setting('eve.was', true) = 'secondlook_{owner}'",
                ),
                behind=(NO_SCHEMA, *call[1]),
                refusal="42501 permission denied for database",
            )


def _stands_in(
    signature: str, what: str, stand_in: tuple[str, ...], *then: str, behind: tuple[str, ...] = ()
) -> Case:
    return Case(
        guard=f"pinned {signature}",
        what=what,
        attack=(*SCHEMA, *stand_in, FIRST, *then),
        behind=(NO_SCHEMA, *behind),
        refusal="42501 permission denied for database",
    )


def operator(name: str, left: str, right: str, answer: str, gives: str = "boolean") -> tuple[str, ...]:
    """An operator that answers this, whatever it is asked."""
    return (
        f"create function eve.lie({left}, {right}) returns {gives} language sql as $$ select {answer} $$",
        f"create operator eve.{name} (function = eve.lie, leftarg = {left}, rightarg = {right})",
    )


def function(head: str, gives: str, answer: str) -> tuple[str, ...]:
    """A function that answers this, whatever it is asked."""
    return (f"create function eve.{head} returns {gives} language sql as $$ select {answer} $$",)


CHAINED = ("pinned decision_chained()",)
HASHED = (*CHAINED, "pinned decision_hash(entry approvals_decision)")
WRONG_HASH = (
    insert("decision"),
    BACK,
    f"select 1 from approvals_decision d where d.id = {EVES_DECISION} and d.hash <> decision_hash(d)",
)
LIES = (
    _stands_in(
        "refuse_illegal_transition()",
        "finish a job that nobody claimed",
        operator(
            "->>", "jsonb", "text",
            "case ($1 operator(pg_catalog.->>) $2) when 'queued' then 'queued' else 'running' end",
            gives="text",
        ),
        "update approvals_job set status = 'done' where id = %(job_queued)s",
        told("%(job_queued)s"),
    ),
    _stands_in(
        "transition_allowed(machine text, old_state text, new_state text)",
        "finish a job that nobody claimed",
        operator("=", "text", "text", "true"),
        "update approvals_job set status = 'done' where id = %(job_held)s",
        told("%(job_held)s"),
        behind=("pinned refuse_illegal_transition()",),
    ),
    _stands_in(
        "refuse_illegal_birth()",
        "have a delivery born sent",
        operator("=", "text", "text", "true"),
        insert("delivery", state="'sent'"),
    ),
    _stands_in(
        "refuse_old_fence()",
        "give a fence back",
        operator("<", "bigint", "bigint", "false"),
        "update approvals_job set fence = fence - 1 where id = %(job_running)s",
    ),
    _stands_in(
        "refuse_step_of_delivery()",
        "attempt under another campaign's approval",
        operator("=", "uuid", "uuid", "true"),
        "update approvals_delivery set state = 'attempting', attempted_at = now(), job_id = %(job_running)s, fence = 5"
        " where id operator(pg_catalog.=) %(delivery)s",
    ),
    _stands_in(
        "refuse_version_of_decided()",
        "put another version into what was approved",
        operator("=", "text", "text", "true"),
        insert("version", campaign_id="%(campaign_approved)s"),
    ),
    _stands_in(
        "refuse_unheard()",
        "follow a run that is another's",
        operator("=", "uuid", "uuid", "true"),
        "update approvals_job set status = 'running', fence = fence + 1"
        " where id operator(pg_catalog.=) %(job_held_back)s",
    ),
    _stands_in(
        "refuse_change_of_dataset()",
        "fail, and keep half of it",
        operator("<>", "text", "text", "false"),
        "update approvals_dataset set ended_at = now(), trouble = 'eve', addressable = 1"
        " where id operator(pg_catalog.=) %(dataset)s",
    ),
    _stands_in(
        "refuse_rows_of_dataset()",
        "add somebody to a list that is over",
        operator("=", "uuid", "uuid", "true"),
        insert("datasetrow", dataset_id="%(dataset_over)s"),
    ),
    _stands_in(
        "refuse_heavy_attachments()",
        "attach more than a worker can hold",
        operator("=", "uuid", "uuid", "false"),
        insert("versionattachment", attachment_id="%(heavy)s"),
    ),
    _stands_in(
        "refuse_change_of_suppression()",
        "have somebody suppressed for another reason",
        operator("=", "jsonb", "jsonb", "true"),
        "update approvals_suppression set reason = 'complained' where id operator(pg_catalog.=) %(suppression)s",
        behind=("no update (reason) on approvals_suppression for app",),
    ),
    _stands_in(
        "refuse_another_secret()",
        "have a runtime trust what somebody else signs",
        operator("<>", "bytea", "bytea", "false"),
        "update approvals_runtime set signing_secret = 'eve' where id operator(pg_catalog.=) %(runtime)s",
    ),
    _stands_in(
        "refuse_unrevoking()",
        "date a revocation anew",
        operator("=", "timestamptz", "timestamptz", "true"),
        "update approvals_token set revoked_at = now() where id = %(revoked)s",
    ),
    _stands_in(
        "refuse_change_of_sealed()",
        "change a text before it is sealed",
        operator("=", "jsonb", "jsonb", "true"),
        "update approvals_version set text = 'eve' where id = %(draft)s",
        behind=("no update (text) on approvals_version for app",),
    ),
    _stands_in(
        "run_born()",
        "have a run born completed",
        operator("<>", "text", "text", "false"),
        insert("run", status="'completed'"),
    ),
    _stands_in(
        "run_identity_fixed()",
        "give a run to another customer",
        operator("=", "text", "text", "true"),
        "update approvals_run set subject = 'customer-2' where id = %(run)s",
        behind=("no update (subject) on approvals_run for app",),
    ),
    _stands_in(
        "tools_executed_write_once()",
        "overwrite a record",
        operator("=", "jsonb", "jsonb", "true"),
        "update approvals_run set tools_executed = '[]' where id = %(run)s",
        behind=("no update (tools_executed) on approvals_run for app",),
    ),
    _stands_in(
        "decision_chained()",
        "backdate a decision",
        function("clock_timestamp()", "timestamptz", "'1999-01-01'::timestamptz"),
        insert("decision"),
        f"select 1 from approvals_decision where id = {EVES_DECISION} and at < '2000-01-01'",
    ),
    _stands_in(
        "decision_hash(entry approvals_decision)",
        "seal an entry with a hash of its own",
        function("sha256(bytea)", "bytea", "'forged'::bytea"),
        insert("decision"),
        f"select 1 from approvals_decision where id = {EVES_DECISION} and hash = 'forged'",
        behind=CHAINED,
    ),
    _stands_in(
        "hashed_time(value timestamp with time zone)",
        "leave the time out of the hash",
        function("to_char(timestamp, text)", "text", "'never'"),
        *WRONG_HASH,
        behind=HASHED,
    ),
    _stands_in(
        "is_releasing(kind text)",
        "release without a job",
        operator("=", "text", "text", "false"),
        insert("decision", kind="'approve'"),
        behind=("pinned one_job_per_release()",),
    ),
    _stands_in(
        "refuse_all_but_erasure()",
        "refuse a recipient by the way of erasing",
        operator("=", "jsonb", "jsonb", "true"),
        f"update approvals_audiencerow set {ERASED}, state = 'refused', reason = 'eve'"
        " where id operator(pg_catalog.=) %(audience)s",
        behind=("no update on approvals_audiencerow for app",),
    ),
    _stands_in(
        "refuse_all_but_erasure_of_row()",
        "count a row of a list otherwise by the way of erasing it",
        operator("=", "jsonb", "jsonb", "true"),
        f"update approvals_datasetrow set {EMPTIED}, formula = true"
        " where dataset_id operator(pg_catalog.=) %(dataset)s",
        behind=("no update on approvals_datasetrow for app",),
    ),
    _stands_in(
        "refuse_other_recipient()",
        "send what was approved to somebody else",
        operator("=", "text", "text", "true"),
        "update approvals_delivery set address = 'eve@x.example' where id operator(pg_catalog.=) %(delivery)s",
        behind=("no update (address) on approvals_delivery for app",),
    ),
    _stands_in(
        "place_now(OUT system bigint, OUT timeline integer, OUT database bigint, OUT relation bigint)",
        "pass a copy for the original",
        function("pg_walfile_name(pg_lsn)", "text", "'0000002A'"),
        "select 1 from place_now() where timeline = 42",
    ),
    _stands_in(
        "run_records(of_workspace uuid, of_runs uuid[])",
        "take a run that called a tool for one that called none",
        operator(">", "bigint", "integer", "false"),
        "select 1 from run_records(%(workspace)s, array[%(run)s]) where kind = 'none'",
    ),
)  # fmt: skip
CASES = (*definers(), *LIES)
