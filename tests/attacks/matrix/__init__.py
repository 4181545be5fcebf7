"""The attack matrix: every guard of the database, and at least one attack that nothing but this guard stops.

`guards` lists the guards, from `sql/ground.txt` and from what app and ingest are not granted. Each room is a list of
`Case`s. `test_matrix` plays each case three times in the arena (one database; nothing is ever committed):

1. With everything in place, whoever attacks signs in and is refused.
2. With only what is `behind` away (where two guards refuse the same), the attack still does not get through.
3. With the guard away too, it does get through: a row was changed that must not be, or another workspace's was shown.
   And with the guard alone away, the doctor names it.

A guard without a case fails `test_no_guard_is_without_an_attack`, which prints its name.

To add one, write a `Case` in the room it belongs to:

    Case(
        guard="constraint approvals_job job_outcome_known",     # as the failing test prints it
        what="a job with an outcome that nobody knows",
        attack=insert("job", outcome="'great'"),                # a row of `rows`, spoiled in one column
        behind=("trigger approvals_job job_has_its_decision",), # if something else refuses it too
    )

- `attack` is one statement or several; the last one has to change or show a row. Statements cite rows as `%(run)s`
  (of alpha, which the attacker is bound to) and `%(b_run)s` (of beta); `arena.furnish` adds others.
- `by` is app, ingest, or owner where app and ingest lack the right in any case (a trigger behind a missing grant).
- `refusal` is needed where Postgres says something else than the name of the guard.
- `without` is needed where taking the guard away is more than dropping it.
- A new table needs a row in `rows.VALID`, a harmless change in `rights.CHANGE` (and `rights.ONE` where app may change
  some columns), its row over there in `isolation.OVER_THERE`, and a row in `arena.furnish`; its rights, its owner and
  its policies then have their attacks.
- A new function that app or ingest may not call needs an attack in `rights.CALLS`, one that runs as its definer a
  call in `paths.CALLED` (and something to listen at in `paths.HEARD`, if it compares nothing with =), and what it
  asks inside a `body ...` case in `readers`.
- A new state of a machine has its attacks as soon as it stands in rules/states.
- A guard that really has no attack goes into `excused`, with the reason.
"""

from tests.attacks.matrix import (
    attachments,
    callbacks,
    called,
    closed_lists,
    datasets,
    decisions,
    isolation,
    journal,
    ownership,
    paths,
    readers,
    record,
    references,
    rights,
    sessions,
    states,
    telling,
    trials,
)
from tests.attacks.matrix.case import Case
from tests.attacks.matrix.excused import EXCUSED

ROOMS = (
    journal,
    record,
    decisions,
    states,
    telling,
    isolation,
    references,
    closed_lists,
    readers,
    rights,
    ownership,
    sessions,
    paths,
    datasets,
    called,
    attachments,
    trials,
    callbacks,
)
CASES: tuple[Case, ...] = tuple(case for room in ROOMS for case in room.CASES)

__all__ = ["CASES", "EXCUSED", "Case"]
