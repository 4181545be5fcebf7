"""What the role of the machine API's writes meets: it adds runs, events and payloads, and can do nothing else."""

import pytest

from tests.attacks.conftest import Try

DENIED = "42501 permission denied for"
UNREADABLE = ("decision", "job", "token", "payload", "member", "workspace", "campaign", "version", "audiencerow",
              "delivery", "queueitem", "runtool", "toolcall", "user", "beat")  # fmt: skip

RUN = (
    "insert into approvals_run (id, workspace_id, runtime_id, external_id, agent, subject, session_id, trigger,"
    " input_payload_id, input_hash, body_digest, lineage_id{column}) values ('00000000-0000-0000-0000-000000000001',"
    " %(workspace)s, %(runtime)s, 'x', 'a', {subject}, '', '', %(payload)s, '', '',"
    " '00000000-0000-0000-0000-000000000001'{value})"
)


def run(column: str = "", value: str = "", subject: str = "'customer-1'") -> str:
    return RUN.format(column=column and f", {column}", value=value and f", {value}", subject=subject)


def event(column: str = "provenance", value: str = "'reported'", run: str = "%(open_run)s") -> str:
    return (
        f"insert into approvals_event (workspace_id, run_id, seq, type, at, {column})"
        f" values (%(workspace)s, {run}, 7, 'heartbeat', now(), {value})"
    )


ATTACKS = {
    "change an event": ("update approvals_event set name = 'x'", f"{DENIED} table approvals_event"),
    "delete an event": ("delete from approvals_event", f"{DENIED} table approvals_event"),
    "empty the journal": ("truncate approvals_event", f"{DENIED} table approvals_event"),
    "say that it was observed": (event(value="'observed'"), "reports_only"),
    "say that it was guarded": (event(value="'guarded'"), "reports_only"),
    "date what it reports": (event("received_at", "now()"), f"{DENIED} table approvals_event"),
    "say that it came in time": (event("late", "false"), f"{DENIED} table approvals_event"),
    "choose the number of a row": (event("id", "1"), f"{DENIED} table approvals_event"),
    "report on another workspace's run": (event(run="%(b_run)s"), "P0002 query returned no rows"),
    "make a replay": (run("replay_of_id", "%(run)s"), f"{DENIED} table approvals_run"),
    "make a run with a record": (run("tools_executed", "'[]'"), f"{DENIED} table approvals_run"),
    "make a run that is settled": (run("settled_at", "now()"), f"{DENIED} table approvals_run"),
    "make a run that has ended": (run("status", "'completed'"), f"{DENIED} table approvals_run"),
    "make a run that never falls silent": (
        run("silent_after", "'infinity'"),
        f"{DENIED} table approvals_run",
    ),
    "make a run in another lineage": (
        run().replace(
            "%(payload)s, '', '', '00000000-0000-0000-0000-000000000001'", "%(payload)s, '', '', %(run)s"
        ),
        "(run_lineage_begins_with_itself)",
    ),
    "make a run of another workspace's runtime": (
        run().replace("%(runtime)s", "%(b_runtime)s"),
        "(run_runtime_same_workspace)",
    ),
    "write a record": ("update approvals_run set tools_executed = '[]'", f"{DENIED} table approvals_run"),
    "end a run by hand": ("update approvals_run set status = 'completed'", f"{DENIED} table approvals_run"),
    "settle a run": ("select settle_run(%(workspace)s, %(open_run)s)", f"{DENIED} function settle_run"),
    "derive a record": ("select run_record(%(workspace)s, %(run)s)", f"{DENIED} function run_record"),
    "decide": (
        "insert into approvals_decision (kind) values ('approve')",
        f"{DENIED} table approvals_decision",
    ),
    "execute": ("insert into approvals_job (kind) values ('send')", f"{DENIED} table approvals_job"),
    "propose a campaign": (
        "insert into approvals_campaign (name) values ('x')",
        f"{DENIED} table approvals_campaign",
    ),
    "change a payload": ("update approvals_payload set body = ''", f"{DENIED} table approvals_payload"),
    "delete a payload": ("delete from approvals_payload", f"{DENIED} table approvals_payload"),
    "trust its own runtime": (
        "update approvals_runtime set writes_ahead = true",
        f"{DENIED} table approvals_runtime",
    ),
    "read a signing secret": (
        "select signing_secret from approvals_runtime",
        f"{DENIED} table approvals_runtime",
    ),
    "learn whose token it is": ("select * from token_of(sha256('x'))", f"{DENIED} function token_of"),
    "list workspaces": ("select * from all_workspaces()", f"{DENIED} function all_workspaces"),
    "list a person's workspaces": ("select * from workspaces_of(1)", f"{DENIED} function workspaces_of"),
    "see what is due": ("select * from due(10)", f"{DENIED} function due"),
    "count overdue jobs": ("select overdue_jobs('1 s')", f"{DENIED} function overdue_jobs"),
    "search": ("select * from search_items('x', 10)", f"{DENIED} function search_items"),
    "take numbers of another table": ("select nextval('approvals_user_id_seq')", f"{DENIED} sequence"),
    "hash an entry of the log": ("select hashed_time(now())", f"{DENIED} function hashed_time"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_ingest_is_refused_to(attack: str, attempt: Try) -> None:
    *statements, refusal = ATTACKS[attack]
    assert refusal in attempt("ingest", *statements)


@pytest.mark.parametrize("table", UNREADABLE)
def test_ingest_cannot_read(table: str, attempt: Try) -> None:
    assert f"{DENIED} " in attempt("ingest", f"select * from approvals_{table}")


# A token of customer-1; `open_run` is customer-2's.
BOUND = {
    "report on another customer's run": (
        event(),
        'row-level security policy "subject" for table "approvals_event"',
    ),
    "make a run for another customer": (
        run(subject="'customer-2'"),
        'row-level security policy "subject" for table "approvals_run"',
    ),
    "find another customer's run": ("select 1 from approvals_run where id = %(open_run)s", "0 rows"),
    "read another customer's events": ("select 1 from approvals_event where run_id = %(open_run)s", "0 rows"),
    "guess another customer's payload": (
        "select 1 from payload_matches(%(workspace)s, %(open_run)s, 1, 'x') m where m is not null",
        "0 rows",
    ),
}


@pytest.mark.parametrize("role", ["ingest", "app"])
@pytest.mark.parametrize("attack", BOUND)
def test_a_token_of_one_customer_cannot(attack: str, role: str, attempt: Try) -> None:
    *statements, refusal = BOUND[attack]
    assert refusal in attempt(role, *statements, subject="customer-1")


def test_a_token_of_one_customer_does_report_for_that_customer(attempt: Try) -> None:
    assert attempt("ingest", event(run="%(run)s"), subject="customer-1") == "1 rows"
    assert attempt("ingest", run(), subject="customer-1") == "1 rows"


def test_without_a_customer_it_reports_for_all(attempt: Try) -> None:
    assert attempt("ingest", event(), run(subject="'customer-3'")) == "1 rows"
