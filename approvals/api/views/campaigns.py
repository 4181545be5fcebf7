"""Campaigns: proposing one, and asking what became of it."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Status

from approvals.access.campaigns import campaign_for_bearer
from approvals.api.auth import bearer
from approvals.api.schemas.campaigns import CampaignIn, CampaignOut, CampaignProposed
from approvals.api.schemas.problems import WITH_BODY, refusals
from approvals.selectors import campaign_counts
from approvals.services import proposals

router = Router(tags=["campaigns"])


@router.post(
    "/campaigns",
    response={201: CampaignProposed, 200: CampaignProposed},
    summary="Propose a campaign",
    openapi_extra=refusals(
        *WITH_BODY, 403, 409, s409="The campaign of this external_id is closed (`external_id_conflict`)."
    ),
)
def propose_campaign(request: HttpRequest, body: CampaignIn) -> Any:
    """Nothing is sent until a person approves it.

    `external_id` is the key of what is meant: the same body again answers 200 and changes nothing, another body is the
    next version of the same campaign. It takes the place of the one before, an approval of that is void, and of what
    was sent already nothing is sent again.
    """
    campaign, created = proposals.propose(by=bearer(request), proposal=body.told())
    return Status(201 if created else 200, campaign_counts.told_with_fields(campaign.id))


@router.get(
    "/campaigns/{uuid:campaign_id}",
    response=CampaignOut,
    summary="Tell of a campaign",
    openapi_extra=refusals(404),
)
def tell_campaign(request: HttpRequest, campaign_id: UUID) -> Any:
    """Its status, what the reviewer wrote to its proposer, and how far the sending is."""
    return campaign_counts.told_with_fields(campaign_for_bearer(bearer(request), campaign_id).id)
