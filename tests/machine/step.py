"""One step of the machine, as the laws see it."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from tests.machine.outside import Outside
from tests.machine.seen import Row, Seen


@dataclass
class Step:
    """What was there before and is now; `shown` is how the lineage looked on the page that was decided from."""

    before: Seen
    now: Seen
    outside: Outside
    shown: Any = None
    decided: dict[UUID, Any] = field(
        default_factory=dict
    )  # by job: how its lineage looked after the decision

    @property
    def new_decisions(self) -> list[Row]:
        """What was decided in this step."""
        return list(self.now.decisions[len(self.before.decisions) :])


def named(seen: Seen, lineage_id: UUID) -> str:
    """What its runtime calls it."""
    return str(seen.runs[lineage_id].external_id)
