"""What concerns one customer or one address: their lineages, what was sent to them, and the decisions on both."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from approvals.models import Delivery, Run, Version
from approvals.rules.addresses import Address, check_address

MOST = 5_000  # of each kind: far more than one customer ever has


@dataclass(frozen=True, slots=True)
class Reach:
    """Everything that concerns one name, by id. `campaigns` were addressed to them or proposed on their behalf.

    `deliveries` are those to them, `proposed` the versions of the campaigns that were proposed on their behalf.
    """

    lineages: Sequence[UUID]
    campaigns: Sequence[UUID]
    deliveries: Sequence[UUID]
    proposed: Sequence[UUID]

    @property
    def decisions(self) -> Q:
        """The decisions that concern them: on their runs, on a campaign as a whole, on a delivery to them."""
        return (
            Q(item_id__in=self.lineages)
            | Q(target_kind="campaign", target_id__in=self.campaigns)
            | Q(target_kind="delivery", target_id__in=self.deliveries)
        )


def reach_of(name: str) -> Reach:
    """What concerns the customer `name`, who may be an address, in any spelling that reaches the same person."""
    lineages = Run.objects.filter(subject=name).order_by().values_list("lineage_id", flat=True).distinct()
    to_them = list(
        Delivery.objects.filter(dedupe_key=spelling_of(name)).values_list("id", "campaign_id")[:MOST]
    )
    for_them = list(
        Version.objects.filter(campaign__run__subject=name).values_list("id", "campaign_id")[:MOST]
    )
    return Reach(
        lineages=list(lineages[:MOST]),
        campaigns=list({campaign_id for _, campaign_id in (*to_them, *for_them)}),
        deliveries=[delivery_id for delivery_id, _ in to_them],
        proposed=[version_id for version_id, _ in for_them],
    )


def spelling_of(address: str) -> str:
    """The one spelling under which deliveries to an address are kept; `address` may be anything."""
    checked = check_address(address)
    return checked.dedupe_key if isinstance(checked, Address) else address.lower()
