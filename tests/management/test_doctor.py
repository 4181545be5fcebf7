"""`manage.py doctor` as a table and as JSON."""

import io
import json
from collections.abc import Callable

import psycopg
import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from approvals import sql
from approvals.services import guards

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "ingest"])


def doctor(*words: str) -> tuple[str, str]:
    """What it printed, and what it ended with."""
    printed = io.StringIO()
    try:
        call_command("doctor", *words, stdout=printed)
    except CommandError as error:
        return printed.getvalue(), str(error)
    return printed.getvalue(), ""


def test_all_is_well() -> None:
    printed, complaint = doctor()
    assert complaint == ""
    assert all(line.startswith("holds ") for line in printed.splitlines())


def test_as_json_it_is_a_list_of_guards() -> None:
    printed, complaint = doctor("--json")
    assert complaint == ""
    listed = json.loads(printed)
    assert [guard["guard"] for guard in listed] == [guard.guard for guard in guards.everything()] != []
    assert all(guard.keys() == {"guard", "holds", "detail"} and guard["holds"] is True for guard in listed)


def test_what_is_broken_is_named(connect_as: Callable[[str], psycopg.Connection]) -> None:
    connect_as("superuser").execute("drop trigger run_kept on approvals_run")
    printed, complaint = doctor()
    assert "BROKEN  triggers\n        missing: approvals_run run_kept" in printed
    assert complaint == f"1 of {len(guards.everything())} guards do not hold: triggers."
    printed, complaint = doctor("--json")
    broken = [guard for guard in json.loads(printed) if not guard["holds"]]
    assert [guard["guard"] for guard in broken] == ["triggers"]
    assert complaint != ""


def test_links_that_lead_nowhere_are_named_with_what_to_do(settings: Settings) -> None:
    settings.BASE_URL = "http://127.0.0.1:8000"
    printed, complaint = doctor()
    assert "BROKEN  links\n        Links in messages would lead nowhere" in printed
    assert "set BASE_URL to the https:// address" in printed
    assert complaint.endswith("guards do not hold: links.")


def test_they_keep_nobody_from_starting(settings: Settings) -> None:
    """An installation may have no campaigns at all; sending is what waits."""
    settings.BASE_URL = "http://127.0.0.1:8000"
    guards.require()


def test_it_prints_the_ground_as_it_is_written_down() -> None:
    printed, complaint = doctor("--ground")
    assert complaint == ""
    assert printed == sql.read("ground.txt", prefix="secondlook")
