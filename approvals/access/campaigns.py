"""Which campaigns a bearer token may propose and reach."""

from uuid import UUID

from django.db.models import QuerySet

from approvals.access.actors import TokenBearer
from approvals.exceptions import NotAllowed, NotFound
from approvals.models import Campaign


def require_proposer(bearer: TokenBearer) -> None:
    """NotAllowed for a token bound to one subject: a campaign speaks to many."""
    if bearer.subject is not None:
        raise NotAllowed(
            "This token speaks for one customer only, so it cannot propose a campaign. Use a token of the runtime"
            " that is not bound to a customer."
        )


def campaigns_of_bearer(bearer: TokenBearer) -> QuerySet[Campaign]:
    """What the token's runtime proposed; nothing for a token bound to one subject."""
    campaigns = Campaign.objects.filter(workspace_id=bearer.workspace_id, runtime_id=bearer.runtime_id)
    return campaigns if bearer.subject is None else campaigns.none()


def campaign_for_bearer(bearer: TokenBearer, campaign_id: UUID) -> Campaign:
    """The campaign, or the same NotFound for one that is not there and for one this token may not know of."""
    campaign = campaigns_of_bearer(bearer).filter(id=campaign_id).first()
    if campaign is None:
        raise NotFound()
    return campaign
