"""What a runtime is told of a campaign that it proposed, and how often somebody tries to tell it."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from approvals.rules.digests import canonical

# What each kind of decision about a whole campaign is called in a callback.
TYPES: Mapping[str, str] = {
    "approve": "campaign.approved",
    "reject": "campaign.rejected",
    "return_campaign": "campaign.returned",
    "cancel_send": "campaign.taken_back",
    "pause_send": "campaign.paused",
    "resume_send": "campaign.resumed",
    "stop": "campaign.stopped",
}
FINISHED = "campaign.finished"  # nobody's decision: the last message was settled
REVISED = "campaign.revised"  # a member proposed another version of it
NOT_BEGUN = "campaign.not_begun"  # a worker's: it was approved, and must not go out as things are now

# Why a worker did not begin, for the agent: what it can do, and nobody's name.
SEND_BY_OVER = (
    "Its send_by was over before a worker could begin, so nothing was sent. Propose another version with a later"
    " send_by, or with none."
)
APPROVER_LEFT = (
    "Whoever approved it may not approve campaigns any more, so nothing was sent. It waits for another decision;"
    " there is nothing for you to do."
)
NOT_THE_APPROVED = (
    "It is not what was approved any more, so nothing was sent. It waits for another decision; there is nothing for you"
    " to do."
)
OVERDUE = (
    "No worker could begin until long after its time, so nothing was sent yet. It goes out once a person lets it go on;"
    " there is nothing for you to do."
)
LINKS_LEAD_NOWHERE = (
    "The links in its messages would lead nowhere as Secondlook is set up, so nothing was sent yet. It goes out once"
    " that is mended and a person lets it go on; there is nothing for you to do."
)

# Seconds from each try that failed to the next one. After the last of them nobody tries any more.
PAUSES_S = (10, 60, 5 * 60, 30 * 60, 2 * 3600, 8 * 3600)

# Of what the machine API tells of a campaign, what a callback tells: enough to go on, and nobody's address.
_TELLS = ("id", "external_id", "version", "status", "comment", "counts")


def pause_after(attempts: int) -> int | None:
    """Seconds to wait once so many tries have failed; None: that was the last one."""
    return PAUSES_S[attempts - 1] if attempts <= len(PAUSES_S) else None


def tried_at(due_at: datetime, attempts: int) -> datetime | None:
    """When the last of so many tries failed, of news that are due again then; None where that cannot be told."""
    pause_s = pause_after(attempts) if attempts else None
    return due_at - timedelta(seconds=pause_s) if pause_s is not None else None


def body_of(type: str, at: datetime, campaign: Mapping[str, Any], *, reason: str = "") -> str:
    """The body as it is signed and sent, the same at every try. `campaign` is what the machine API tells of it.

    `reason` is why, in news that nobody's comment explains.
    """
    data = {name: campaign[name] for name in _TELLS}
    data["id"] = str(data["id"])
    if reason:
        data["reason"] = reason
    stamp = at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return canonical({"type": type, "timestamp": stamp, "data": data})
