"""How many messages may go out now, so that no more than so many leave in a minute.

Each message moves the workspace's mark on by one step; another may leave once the mark is not ahead of the clock. A
mark that lies behind gives up to CATCH_UP_S of what was not used, and the steps are that much longer, so that in no
minute there are more than were allowed.
"""

import math
from dataclasses import dataclass

CATCH_UP_S = 1.0


@dataclass(frozen=True, slots=True)
class Pace:
    """`count` messages may leave now; then the mark lies `mark_s` seconds from now (before it where negative).

    `wait_s` is how long until the next may leave, where not all of them may now.
    """

    count: int
    mark_s: float
    wait_s: float


def pace(*, per_minute: int, mark_s: float | None, wanted: int) -> Pace:
    """What may leave of `wanted` messages, the mark lying `mark_s` seconds from now; None where it was never set."""
    step = (60 + CATCH_UP_S) / per_minute
    mark = -CATCH_UP_S if mark_s is None else max(mark_s, -CATCH_UP_S)
    count = min(wanted, 1 + math.floor(-mark / step)) if mark <= 0 else 0
    mark += count * step
    return Pace(count, mark, max(0.0, mark) if count < wanted else 0.0)
