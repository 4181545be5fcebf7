"""The attack matrix. (The text that says how to add a case comes with the rooms.)"""

from tests.attacks.matrix import closed_lists, ownership, references, rights
from tests.attacks.matrix.case import Case

CASES: tuple[Case, ...] = (*references.CASES, *closed_lists.CASES, *rights.CASES, *ownership.CASES)
UNATTACKED: dict[str, str] = {}
