"""That the log was verified is an entry of the log itself: who looked, how far, and what they found."""

from django.db import transaction

from approvals.access.actors import Actor
from approvals.db.binding import current_workspace
from approvals.models import Decision
from approvals.selectors.log_check import Checked
from approvals.services import decisions

KIND = "log_verified"


@transaction.atomic
def record(*, by: Actor, found: Checked) -> Decision:
    """Write down the result of a check that came to its end."""
    return decisions.record(
        by=by,
        kind=KIND,
        target_kind="workspace",
        target_id=current_workspace(),
        evidence={
            "entries": found.entries,
            "erased": found.erased,
            "head": {"seq": found.head.seq, "hash": found.head.hash},
            "holds": found.holds,
            "first_bad": found.first_bad,
            "why": found.why,
        },
    )


def record_once(*, by: Actor, found: Checked, after: int) -> Decision | None:
    """Write it down unless somebody else verified this log since entry `after`."""
    with transaction.atomic():
        if Decision.objects.filter(kind=KIND, seq__gt=after).exists():
            return None
        return record(by=by, found=found)
