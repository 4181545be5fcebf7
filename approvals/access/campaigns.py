"""Which campaigns a proposer may propose and reach: a bearer token or a run for its runtime, or a member."""

from uuid import UUID

from django.db.models import QuerySet

from approvals.access.actors import Actor, Proposer, TokenBearer
from approvals.exceptions import NotAllowed, NotFound
from approvals.models import Campaign


def require_may_propose(by: Proposer) -> None:
    """NotAllowed for a member without the right to, and for a token bound to one subject."""
    if isinstance(by, TokenBearer):
        require_proposer(by)
    elif isinstance(by, Actor):
        by.require("propose")


def require_proposer(bearer: TokenBearer) -> None:
    """NotAllowed for a token bound to one subject: a campaign speaks to many."""
    if bearer.subject is not None:
        raise NotAllowed(
            "This token speaks for one customer only, so it cannot propose a campaign. Use a token of the runtime"
            " that is not bound to a customer."
        )


def campaigns_of(by: Proposer) -> QuerySet[Campaign]:
    """What the runtime of the token or run proposed; for a member what people did."""
    if isinstance(by, Actor):
        return Campaign.objects.filter(runtime=None)
    return Campaign.objects.filter(runtime_id=by.runtime_id)


def campaign_for_bearer(bearer: TokenBearer, campaign_id: UUID) -> Campaign:
    """The campaign, or the same NotFound for one that is not there and for one this token may not know of."""
    campaign = campaigns_of(bearer).filter(id=campaign_id).first() if bearer.subject is None else None
    if campaign is None:
        raise NotFound()
    return campaign
