"""What people said became of calls that had no answer."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from approvals.models import Decision
from approvals.rules.decisions import RESOLUTIONS
from approvals.selectors.lineages import summary
from approvals.selectors.payloads import proven

_RESOLVED = Q(target_kind="call", kind="resolve_run")
_IN_PLACE = Q(target_kind="run", kind="answer_calls")


@dataclass(frozen=True, slots=True)
class Resolution:
    """One person's answer about one call: happened, did_not_happen or leave; `meaning` is the same in words.

    `told` is what its agent was given as the result, where it went on with the answer (shortened JSON).
    """

    decision: Decision
    resolution: str
    meaning: str
    reason: str
    told: str = ""

    @property
    def who(self) -> str:
        """Who said so."""
        return self.decision.actor_name

    @property
    def words(self) -> str:
        """Who said what, and how they know."""
        told = f"; its agent was told {self.told}" if self.told else ""
        return f"{self.who}: {self.meaning}{told}. “{self.reason}”"

    @property
    def at(self) -> datetime:
        """When they said so."""
        return self.decision.at


def resolutions_in(run_ids: Collection[UUID]) -> Mapping[tuple[UUID, str], Resolution]:
    """The newest answer about each call of these runs, by run and call id, without what was erased or altered.

    Also those with which a run went on in its own session.
    """
    return _newest(_RESOLVED | _IN_PLACE, run_ids)


def resolutions_of(run_id: UUID) -> dict[str, Resolution]:
    """Those for one run that no agent was told of, by call id."""
    return {call_id: answer for (_, call_id), answer in _newest(_RESOLVED, [run_id]).items()}


def _newest(which: Q, run_ids: Collection[UUID]) -> dict[tuple[UUID, str], Resolution]:
    decided = list(Decision.objects.filter(which, target_id__in=run_ids).order_by("seq"))
    contents, _altered = proven({decision.payload_id: decision.payload_hash for decision in decided})
    return {
        (decision.target_id, call_id): answer
        for decision in decided
        if (given := contents.get(decision.payload_id))
        for call_id, answer in _answers(decision, given)
    }


def _answers(decision: Decision, given: Mapping[str, Any]) -> Iterator[tuple[str, Resolution]]:
    """What one decision says, by call id."""
    if decision.kind == "resolve_run":
        yield given["call_id"], Resolution(decision, given["resolution"], given["meaning"], given["reason"])
        return
    for answer in given["answers"]:
        said = "happened" if answer["happened"] else "did_not_happen"
        told = summary(answer["response"])
        yield answer["call_id"], Resolution(decision, said, RESOLUTIONS[said], given["reason"], told)
