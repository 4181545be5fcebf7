"""Each guard refuses an attack, and without it the attack gets through and the doctor names it."""

import re

import pytest

from tests.attacks.matrix import CASES, EXCUSED, guards
from tests.attacks.matrix.arena import Arena
from tests.attacks.matrix.case import Case
from tests.attacks.matrix.guards import named


def through(answer: str) -> bool:
    """Whether an attack changed or showed a row."""
    return bool(re.fullmatch(r"[1-9]\d* rows", answer))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_guard_holds_and_nothing_else_would(case: Case, arena: Arena) -> None:
    answer = arena.with_everything_in_place(case)
    assert case.is_refused_by(answer) and not through(answer), answer
    if case.behind or case.given:
        answer, _ = arena.with_something_away(case, arena.away(case)[1:])
        assert not through(answer), "it gets through with the guard in place"
    answer, doctor = arena.with_something_away(case, arena.away(case))
    assert through(answer), f"without the guard: {answer}"
    assert (case.named or named(case.guard)) in doctor


def unattacked() -> list[str]:
    """The guards that no case attacks and that nobody excused."""
    spoken_of = {case.guard for case in CASES} | EXCUSED.keys()
    return [guard for guard in guards.every_guard() if guard not in spoken_of]


def test_no_guard_is_without_an_attack() -> None:
    assert unattacked() == []


TOMORROW = {
    "tables": ("approvals_tomorrow owner=owner rls=forced", "rls approvals_tomorrow"),
    "policies": (
        "approvals_tomorrow workspace permissive all to app using (workspace_id IS NULL)",
        "policy approvals_tomorrow workspace",
    ),
    "triggers": (
        "approvals_job job_named BEFORE INSERT FOR EACH ROW EXECUTE FUNCTION f()",
        "trigger approvals_job job_named",
    ),
    "constraints": ("approvals_job job_outcome CHECK (true)", "constraint approvals_job job_outcome"),
    "functions": (
        "tomorrow() owner=sweep definer stable sql search_path=pg_catalog, pg_temp",
        "no execute on tomorrow() for ingest",
    ),
}


@pytest.mark.parametrize("section", TOMORROW)
def test_a_guard_of_tomorrow_is_missed(section: str, monkeypatch: pytest.MonkeyPatch) -> None:
    line, guard = TOMORROW[section]
    ground = dict(guards.expected_ground())
    ground[section] |= {line}
    monkeypatch.setattr(guards, "expected_ground", lambda: ground)
    assert guard in unattacked()


def test_every_guard_that_is_attacked_or_excused_is_one() -> None:
    known = set(guards.every_guard())
    spoken_of = {guard for case in CASES for guard in (case.guard, *case.behind)}
    inside = {guard for guard in spoken_of if guard.startswith("body ")}  # no list knows these
    assert sorted((spoken_of | EXCUSED.keys()) - known - inside) == []


def test_ingest_may_nothing_that_app_may_not() -> None:
    """Which is the excuse for app that is no member of it."""
    for (thing, role), rights in guards.held().items():
        if role == "ingest":
            of_app = guards.held()[thing, "app"]
            for right, columns in rights.items():
                assert right in of_app and (not of_app[right] or (columns and columns <= of_app[right])), (
                    thing
                )
    for table, name, what in guards.lines("policies"):
        assert "ingest" not in what or "app" in what or what.startswith("restrictive"), (table, name)


def test_sweep_is_shown_every_row_of_what_it_may_read() -> None:
    """Which is the excuse for its BYPASSRLS."""
    may_read = {
        thing for (thing, role), rights in guards.held().items() if role == "sweep" and "select" in rights
    }
    everything = "permissive select to sweep using true"
    assert may_read == {table for table, _, what in guards.lines("policies") if what == everything}


def test_no_guard_is_excused_that_is_attacked() -> None:
    assert sorted(EXCUSED.keys() & {case.guard for case in CASES}) == []


def test_the_doctor_has_nothing_to_say_where_nothing_was_taken_away(arena: Arena) -> None:
    assert arena.doctor() == ""
    arena.superuser.rollback()
