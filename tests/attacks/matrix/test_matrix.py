"""Each guard refuses an attack, and without it the attack gets through and the doctor names it."""

import re

import pytest

from tests.attacks.matrix import CASES, EXCUSED
from tests.attacks.matrix.arena import Arena
from tests.attacks.matrix.case import Case
from tests.attacks.matrix.guards import every_guard, named


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


def test_no_guard_is_without_an_attack() -> None:
    attacked = {case.guard for case in CASES}
    assert [guard for guard in every_guard() if guard not in attacked | EXCUSED.keys()] == []


def test_every_guard_that_is_attacked_or_excused_is_one() -> None:
    known = set(every_guard())
    spoken_of = {guard for case in CASES for guard in (case.guard, *case.behind)}
    assert sorted((spoken_of | EXCUSED.keys()) - known) == []


def test_no_guard_is_excused_that_is_attacked() -> None:
    assert sorted(EXCUSED.keys() & {case.guard for case in CASES}) == []


def test_the_doctor_has_nothing_to_say_where_nothing_was_taken_away(arena: Arena) -> None:
    assert arena.doctor() == ""
    arena.superuser.rollback()
