"""A campaign as the machine API tells it: its state, and how many of its recipients and deliveries are in which."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, QuerySet

from approvals.models import AudienceRow, Campaign, Delivery, Job, Version
from approvals.rules.states import DELIVERY
from approvals.selectors import attachments
from approvals.selectors.lacking import lacked

AUDIENCE = ("addressable", "duplicate", "suppressed", "refused", "already_sent")


def told_with_fields(campaign_id: UUID) -> dict[str, Any]:
    """As `told`, and how many recipients lack a value for a merge field, and which: that reads all of them."""
    with transaction.atomic():
        campaign = told(campaign_id)
        number, names = lacked(newest_version(campaign_id))
    campaign["counts"]["lacking"] = number
    return campaign | {"lacking_fields": names}


def told(campaign_id: UUID) -> dict[str, Any]:
    """This campaign in the shape of the API, as it stands now, but for what merge fields lack."""
    with transaction.atomic():
        campaign = Campaign.objects.get(id=campaign_id)
        version = newest_version(campaign_id)
        return {
            "id": campaign.id,
            "external_id": campaign.external_id,
            "name": campaign.name,
            "status": campaign.status,
            "version": version.number,
            "comment": campaign.comment,
            "digest": version.digest,
            "counts": counts_of(version.id),
            "attachments": attachments.told(version.id),
            "sends_at": _sends_at(campaign),
            "send_by": campaign.send_by,
            "created_at": campaign.created_at,
            "finished_at": campaign.finished_at,
        }


def _sends_at(campaign: Campaign) -> datetime | None:
    """When an approved campaign goes out at the earliest: the end of its hold, or the time that was chosen."""
    if campaign.status != "approved":
        return None
    held = Job.objects.filter(campaign_id=campaign.id, delivery=None, status="held")
    return held.values_list("due_at", flat=True).first()


def newest_version(campaign_id: UUID) -> Version:
    """The version of a campaign that counts."""
    return Version.objects.filter(campaign_id=campaign_id).latest("number")


def counts_of(version_id: UUID) -> dict[str, int]:
    """The total of recipients and those of each kind in AUDIENCE, and the deliveries in each state."""
    deliveries = _by_state(Delivery.objects.filter(version_id=version_id))
    return audience_of(version_id) | {state: deliveries.get(state, 0) for state in DELIVERY.states}


def audience_of(version_id: UUID) -> dict[str, int]:
    """The total of recipients, and those of each kind in AUDIENCE."""
    audience = _by_state(AudienceRow.objects.filter(version_id=version_id))
    return {"total": sum(audience.values()), **{state: audience.get(state, 0) for state in AUDIENCE}}


def _by_state(rows: QuerySet[Any]) -> dict[str, int]:
    return dict(rows.order_by().values_list("state").annotate(number=Count("*")))
