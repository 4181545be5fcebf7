"""Approving something for a later time (`campaigns/_schedule.html`): the time as it is typed, and what it means.

Fragment: `campaigns/_schedule.html#schedule`, which a plain form asks for as a whole page. GET fields of the check:
`date`, `time`, `zone`. POST form of the approval: `shown`, `next`, `at` (an instant in UTC) and `zone`; with a choice
of instants also `date` and `time` as they were typed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.presenters.acts import Act


@dataclass(frozen=True, slots=True)
class Instant:
    """One instant that a time can mean. `value` is sent as `at`; `refused` says why nothing can go out then."""

    value: str
    text: str
    hint: str = ""
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the time means. With one of `instants` it is plain; of several somebody chooses one.

    `approve` is missing where none of them can be approved; `button` says what it does.
    """

    says: str
    instants: tuple[Instant, ...]
    then: str = ""
    approve: Act | None = None
    button: str = ""

    @property
    def plain(self) -> bool:
        """Whether there is nothing to choose."""
        return len(self.instants) == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The fields, and the answer once they were looked at.

    `shown` goes along with the check of a page that stays open, so that its approval is bound to that page. `kept` are
    fields (name, value) of the page's address. `guess`: nobody chose this zone, so the browser's own may stand there.
    """

    action: str
    shown: str
    zones: Sequence[str]
    kept: tuple[tuple[str, str], ...] = ()
    date: str = ""
    time: str = ""
    zone: str = ""
    guess: bool = False
    open: bool = False
    refused: str = ""
    date_error: str = ""
    time_error: str = ""
    zone_error: str = ""
    error: str = ""
    answer: Answer | None = None
