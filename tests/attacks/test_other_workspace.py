"""Row-level security as the second line: app and ingest bound to one workspace, or to none."""

import pytest

from tests.attacks.conftest import Try

TABLES = ("workspace", "member", "runtime", "token", "payload", "run", "event", "runtool", "toolcall", "decision",
          "job", "campaign", "version", "audiencerow", "delivery", "queueitem")  # fmt: skip


def column(table: str) -> str:
    return "id" if table == "workspace" else "workspace_id"


@pytest.mark.parametrize("table", TABLES)
def test_app_sees_rows_of_the_bound_workspace_alone(table: str, attempt: Try) -> None:
    mine = f"select 1 from approvals_{table} where {column(table)} = %(workspace)s"
    theirs = f"select 1 from approvals_{table} where {column(table)} <> %(workspace)s"
    assert attempt("app", mine) not in ("0 rows", "")
    assert attempt("app", theirs) == "0 rows"


@pytest.mark.parametrize("table", TABLES)
def test_app_without_a_workspace_is_an_error_and_not_an_empty_answer(table: str, attempt: Try) -> None:
    said = attempt("app", f"select 1 from approvals_{table}", workspace=None)
    assert said.startswith(
        ("42704 unrecognized configuration parameter", "22P02 invalid input syntax for type uuid")
    )


@pytest.mark.parametrize("table", ["run", "event"])
def test_ingest_sees_rows_of_the_bound_workspace_alone(table: str, attempt: Try) -> None:
    assert (
        attempt("ingest", f"select 1 from approvals_{table} where workspace_id <> %(workspace)s") == "0 rows"
    )
    assert attempt("ingest", f"select 1 from approvals_{table}", workspace=None).startswith(
        ("42704", "22P02")
    )


CHANGES = {
    "interrupt a run": "update approvals_run set status = 'interrupted' where id = %(b_open_run)s",
    "cancel a job": "update approvals_job set status = 'cancelled' where id = %(b_job)s",
    "reject a campaign": "update approvals_campaign set status = 'rejected' where id = %(b_campaign)s",
    "skip a delivery": "update approvals_delivery set state = 'skipped' where id = %(b_delivery)s",
    "revoke a token": "update approvals_token set revoked_at = now() where id = %(b_token)s",
    "change a member's roles": "update approvals_member set roles = '{admin}' where id = %(b_member)s",
    "redirect a runtime": "update approvals_runtime set base_url = '' where id = %(b_runtime)s",
}


@pytest.mark.parametrize("change", CHANGES)
def test_in_another_workspace_app_cannot(change: str, attempt: Try) -> None:
    assert attempt("app", CHANGES[change]) == "0 rows"


def test_a_citation_cannot_leave_the_workspace(attempt: Try) -> None:
    campaign = (
        "insert into approvals_campaign (id, workspace_id, external_id, agent, name, purpose, comment,"
        " {0}) values (gen_random_uuid(), %(workspace)s, 'x', 'a', 'n', '', '', {1})"
    )
    assert "(campaign_run_same_workspace)" in attempt("app", campaign.format("run_id", "%(b_run)s"))
    assert "(campaign_runtime_same_workspace)" in attempt(
        "app", campaign.format("runtime_id", "%(b_runtime)s")
    )
    job = (
        "insert into approvals_job (id, workspace_id, decision_id, kind, status, {0})"
        " values (gen_random_uuid(), %(workspace)s, gen_random_uuid(), {1}, 'queued', {2})"
    )
    assert "(job_run_same_workspace)" in attempt("app", job.format("run_id", "'replay'", "%(b_run)s"))
    assert "(job_campaign_same_workspace)" in attempt(
        "app", job.format("campaign_id, version_id", "'send'", "%(b_campaign)s, %(version)s")
    )


def test_what_crosses_workspaces_is_narrow(attempt: Try) -> None:
    """These functions are for the moment before a workspace is known, and for the clock."""
    assert attempt("app", "select * from all_workspaces()", workspace=None) == "2 rows"
    assert attempt("app", "select * from workspaces_of(%(user)s)", workspace=None) == "1 rows"
    assert attempt("app", "select * from token_of(sha256('x'))", workspace=None) == "0 rows"
    # Both houses' send jobs; their runs fall due too, once they are old.
    assert attempt("app", "select * from due(10) where kind = 'send'", workspace=None) == "2 rows"


def test_the_search_looks_into_the_bound_workspace_alone(attempt: Try) -> None:
    assert attempt("app", "select * from search_items('spring', 10)") == "1 rows"
    assert attempt("app", "select * from search_items('customer-', 10)") == "2 rows"
    assert attempt("app", "select * from search_items('spring', 10)", workspace=None).startswith(
        ("42704", "22P02")
    )


def test_the_search_answers_nobody_who_is_bound_to_one_customer(attempt: Try) -> None:
    assert attempt("app", "select * from search_items('customer-', 10)", subject="customer-1") == "0 rows"
