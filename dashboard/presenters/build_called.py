"""What became of a call that was to propose a campaign, on the page of its run."""

from approvals.selectors.called import Called
from dashboard.presenters.parts import Link
from dashboard.presenters.places import Places
from dashboard.presenters.runs import Proposal
from dashboard.presenters.text import reveal_line, summary_line

_LONG = 600  # characters of what is wrong
_PENDING = "It is to propose a campaign, and will within moments once all that came before it is there."
_ERASED = "It was to propose a campaign and could not; why was erased."


def proposal_of(called: Called | None, places: Places) -> Proposal | None:
    """None for a call of another tool."""
    if called is None:
        return None
    if called.campaign_id is not None:
        campaign = Link(summary_line(called.campaign, 100), places.campaign(called.campaign_id))
        return Proposal(reveal_line(f", version {called.version}."), "Proposed as campaign", campaign)
    if called.state == "pending":
        return Proposal(reveal_line(_PENDING))
    if called.why is None:
        return Proposal(reveal_line(_ERASED), wrong=True)
    what = f"{called.field}: {called.why}" if called.field else called.why
    return Proposal(summary_line(f"It was to propose a campaign, but: {what}", _LONG), wrong=True)
