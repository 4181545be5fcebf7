"""The attack matrix. (The text that says how to add a case comes with the rooms.)"""

from tests.attacks.matrix import (
    closed_lists,
    decisions,
    isolation,
    journal,
    ownership,
    record,
    references,
    rights,
    sessions,
    states,
)
from tests.attacks.matrix.case import Case

ROOMS = (
    journal, record, decisions, states, isolation, references, closed_lists, rights, ownership, sessions,
)  # fmt: skip
CASES: tuple[Case, ...] = tuple(case for room in ROOMS for case in room.CASES)
EXCUSED: dict[str, str] = {}
