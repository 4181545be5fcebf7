"""What people said became of calls that had no answer."""

from dataclasses import dataclass
from uuid import UUID

from approvals.models import Decision
from approvals.selectors.payloads import contents_of


@dataclass(frozen=True, slots=True)
class Resolution:
    """One person's answer about one call: happened, did_not_happen or leave."""

    decision: Decision
    call_id: str
    resolution: str
    reason: str


def resolutions_of(run_id: UUID) -> dict[str, Resolution]:
    """The newest answer about each call of a run, by call id; an answer that was erased is not among them."""
    decided = list(
        Decision.objects.filter(target_kind="call", target_id=run_id, kind="resolve_run").order_by("seq")
    )
    contents = contents_of(decision.payload_id for decision in decided)
    found = {}
    for decision in decided:
        given = contents.get(decision.payload_id)
        if given:
            found[given["call_id"]] = Resolution(
                decision, given["call_id"], given["resolution"], given.get("reason", "")
            )
    return found
