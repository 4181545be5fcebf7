"""The lists that Postgres has for itself are those of rules/."""

import re
from itertools import product
from typing import get_args

import pytest
from django.db import connection

from approvals.api.schemas import events
from approvals.rules import decisions, observed, permissions, states
from approvals.services import setup

pytestmark = pytest.mark.django_db


def check_list(constraint: str) -> set[str]:
    """The words of a CHECK constraint."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_get_constraintdef(oid) from pg_constraint where conname = %s", [constraint])
        (definition,) = cursor.fetchone()
    return set(re.findall(r"'(\w+)'::text", definition))


@pytest.mark.parametrize("machine", states.MACHINES, ids=lambda machine: machine.name)
def test_postgres_allows_exactly_the_steps_of_the_table(machine: states.Machine) -> None:
    pairs = list(product(machine.states, repeat=2))
    with connection.cursor() as cursor:
        cursor.execute(
            "select old, new from unnest(%s::text[], %s::text[]) as pairs(old, new)"
            " where transition_allowed(%s, old, new)",
            [[old for old, _ in pairs], [new for _, new in pairs], machine.name],
        )
        assert set(cursor.fetchall()) == machine.transitions


def test_the_trigger_of_deliveries_which_has_the_table_for_itself_allows_the_same() -> None:
    with connection.cursor() as cursor:
        cursor.execute("select prosrc from pg_proc where proname = 'refuse_step_of_delivery'")
        (body,) = cursor.fetchone()
    cases = re.findall(r"when '(\w+)' then array\[([^]]*)\]", body)
    steps = {(old, new) for old, words in cases for new in re.findall(r"'(\w+)'", words)}
    assert steps == states.DELIVERY.transitions


def test_postgres_knows_no_other_machine() -> None:
    with connection.cursor() as cursor:
        cursor.execute("select prosrc from pg_proc where proname = 'transition_allowed'")
        (body,) = cursor.fetchone()
    known = {machine.name for machine in states.MACHINES}
    assert set(re.findall(r"\('(\w+)','\w+','\w+'\)", body)) == known


@pytest.mark.parametrize(
    ("constraint", "machine"),
    [
        ("run_status_known", states.RUN),
        ("job_status_known", states.JOB),
        ("campaign_status_known", states.CAMPAIGN),
        ("delivery_state_known", states.DELIVERY),
        ("callback_status_known", states.CALLBACK),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_state_is_known_and_no_other(constraint: str, machine: states.Machine) -> None:
    assert check_list(constraint) == set(machine.states)


def test_events_are_those_that_the_machine_api_takes() -> None:
    union, *_ = get_args(events.Event)
    classes = get_args(union)
    said = {
        name: {
            word
            for cls in classes
            if name in cls.model_fields
            for word in get_args(cls.model_fields[name].annotation)
        }
        for name in ("type", "origin", "outcome")
    }
    assert check_list("event_type_known") == said["type"] | {"finding"}
    found_out = {"finding", "ended", "inferred", *observed.FINDINGS}
    assert check_list("event_origin_known") == said["origin"] | found_out
    of_results = {"tool_result", *observed.RESULT_OUTCOMES}
    assert check_list("event_outcome_known") == said["outcome"] | {"ended"} | of_results


def words_of_case(constraint: str, type: str) -> set[str]:
    """The words that a CHECK allows for events of one type."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_get_constraintdef(oid) from pg_constraint where conname = %s", [constraint])
        (definition,) = cursor.fetchone()
    branches = dict(
        re.findall(r"WHEN '(\w+)'::text THEN (.*?)(?= WHEN | ELSE )", definition.replace("\n", " "))
    )
    return set(re.findall(r"'(\w+)'::text", branches[type]))


def test_findings_and_what_came_of_a_call_are_those_of_the_rules() -> None:
    assert words_of_case("event_origin_known", "finding") == set(observed.FINDINGS)
    assert words_of_case("event_outcome_known", "tool_result") == set(observed.RESULT_OUTCOMES)
    assert words_of_case("event_origin_known", "ended") == {"live", "restored", "inferred"}


def test_every_finding_makes_a_record_unknown_under_its_own_name() -> None:
    with connection.cursor() as cursor:
        cursor.execute("select prosrc from pg_proc where proname = 'run_records'")
        (body,) = cursor.fetchone()
    for finding in observed.FINDINGS:
        assert f"bool_or(e.origin = '{finding}')" in body
        assert f"when {finding} then '{finding}'" in body


def test_kinds_of_runtimes_are_those_that_can_be_added() -> None:
    assert check_list("runtime_kind_known") == set(setup.KINDS)


def test_roles_are_those_of_the_permissions() -> None:
    assert check_list("member_roles_known") == set(permissions.ROLES)


def test_the_kinds_that_release_are_those_that_get_a_job() -> None:
    kinds = sorted({*decisions.RELEASING, "dismiss", "reject", "stop", "token_created", ""})
    with connection.cursor() as cursor:
        cursor.execute("select kind from unnest(%s::text[]) kind where is_releasing(kind)", [kinds])
        assert {row[0] for row in cursor.fetchall()} == decisions.RELEASING
        cursor.execute("select prosrc from pg_proc where proname = 'is_releasing'")
        (body,) = cursor.fetchone()
    assert set(re.findall(r"'(\w+)'", body)) == decisions.RELEASING


def test_machines_that_are_born_by_a_trigger_begin_where_the_table_says() -> None:
    with connection.cursor() as cursor:
        cursor.execute("select tgargs from pg_trigger where tgfoid = 'refuse_illegal_birth'::regproc")
        arguments = [bytes(row[0]).decode().split("\0") for row in cursor.fetchall()]
    begin = {machine: words.split() for machine, _, words, _ in arguments}
    assert begin.pop("job") == ["held", "queued"]  # without a hold it begins one step later
    assert ("held", "queued") in states.JOB.transitions
    assert begin == {
        machine.name: [machine.initial] for machine in (states.CAMPAIGN, states.DELIVERY, states.CALLBACK)
    }
