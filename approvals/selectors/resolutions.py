"""What people said became of calls that had no answer."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from approvals.models import Decision
from approvals.selectors.payloads import proven


@dataclass(frozen=True, slots=True)
class Resolution:
    """One person's answer about one call: happened, did_not_happen or leave; `meaning` is the same in words."""

    decision: Decision
    resolution: str
    meaning: str
    reason: str

    @property
    def who(self) -> str:
        """Who said so."""
        return self.decision.actor_name

    @property
    def at(self) -> datetime:
        """When they said so."""
        return self.decision.at


def resolutions_in(run_ids: Collection[UUID]) -> Mapping[tuple[UUID, str], Resolution]:
    """The newest answer about each call of these runs, by run and call id, without what was erased or altered."""
    answers = Decision.objects.filter(target_kind="call", target_id__in=run_ids, kind="resolve_run")
    decided = list(answers.order_by("seq"))
    contents, _altered = proven({decision.payload_id: decision.payload_hash for decision in decided})
    found = {}
    for decision in decided:
        given = contents.get(decision.payload_id)
        if given:
            found[decision.target_id, given["call_id"]] = Resolution(
                decision, given["resolution"], given["meaning"], given["reason"]
            )
    return found


def resolutions_of(run_id: UUID) -> dict[str, Resolution]:
    """The same for one run, by call id."""
    return {call_id: answer for (_, call_id), answer in resolutions_in([run_id]).items()}
