"""The attack matrix. (The text that says how to add a case comes with the rooms.)"""

from tests.attacks.matrix import (
    closed_lists,
    decisions,
    isolation,
    journal,
    ownership,
    paths,
    record,
    references,
    rights,
    sessions,
    states,
)
from tests.attacks.matrix.case import Case
from tests.attacks.matrix.excused import EXCUSED

ROOMS = (
    journal, record, decisions, states, isolation, references, closed_lists, rights, ownership, sessions, paths,
)  # fmt: skip
CASES: tuple[Case, ...] = tuple(case for room in ROOMS for case in room.CASES)

__all__ = ["CASES", "EXCUSED", "Case"]
