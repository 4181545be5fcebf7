"""What became of the calls of a run that were to propose a campaign."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from approvals.models import CalledCampaign, Payload


@dataclass(frozen=True, slots=True)
class Called:
    """One call: `state` is pending, proposed or refused.

    Proposed: the campaign, its name, and the number of the version. Refused: `why`, with the `field` of the arguments
    that is at fault if one is; None where that was erased.
    """

    state: str
    campaign_id: UUID | None = None
    campaign: str = ""
    version: int = 0
    field: str = ""
    why: str | None = ""


def called_by(run_id: UUID) -> Mapping[int, Called]:
    """By the number of the call's event."""
    calls = list(CalledCampaign.objects.filter(run_id=run_id).select_related("version__campaign"))
    told = dict(
        Payload.objects.filter(id__in=[call.why_payload_id for call in calls]).values_list("id", "body")
    )
    return {call.seq: _called(call, told) for call in calls}


def _called(call: CalledCampaign, told: Mapping[UUID, str]) -> Called:
    if call.version is not None:
        campaign = call.version.campaign
        return Called("proposed", campaign.id, campaign.name, call.version.number)
    if call.why_payload_id is None:
        return Called("pending")
    body = told.get(call.why_payload_id)
    if body is None:
        return Called("refused", why=None)
    why = json.loads(body)
    return Called("refused", field=why["field"], why=why["text"])
