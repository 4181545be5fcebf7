"""The tests of a campaign's messages that one member asked for."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from approvals.models import Decision, Job
from approvals.selectors.job_progress import Progress, progress_of


@dataclass(frozen=True, slots=True)
class LastTrial:
    """A member's newest test of a campaign: as whom, of which version, when asked for, and how it is getting on."""

    address: str
    version: int
    at: datetime
    progress: Progress


def last_of(user_id: str, campaign_id: UUID) -> LastTrial | None:
    """What this member last asked for of this campaign, whichever version it was of; None where they never did."""
    mine = Decision.objects.filter(
        item_id=campaign_id, kind="send_test", actor_kind="member", actor_id=user_id
    )
    decision = mine.order_by("-seq").first()
    if decision is None:
        return None
    shows = Job.objects.filter(decision_id=decision.id).values_list(
        "sample__address", "sample__version__number"
    )
    address, number = shows.get()
    progress = progress_of(decision_id=decision.id)
    assert progress is not None, "a test has its job"
    return LastTrial(address, number, decision.at, progress)
