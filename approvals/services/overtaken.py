"""Failures that a newer version settles.

Whoever failed under a version, and was written to by a newer one, is nobody's to answer for any more: what became of
the newer message is that version's to tell. Whom no newer version came to stays to be settled, however it ended.
"""

from uuid import UUID

from django.db.models import F, Subquery, TextField, Value
from django.db.models.functions import Cast, Concat, Now

from approvals.models import Version
from approvals.selectors.campaign_versions import overtaken, written_to

_SINCE = " of this campaign wrote to them since.)"


def settle(campaign_id: UUID) -> None:
    """Within a transaction that holds the campaign, after its jobs: what the server said stays, with who wrote since.

    Asked at each end of a batch, and wherever a job is taken from a worker that may have been lost before that.
    """
    if not Version.objects.filter(campaign_id=campaign_id, number__gt=1).exists():
        return
    newest = written_to(campaign_id).order_by("-version__number").values("version__number")[:1]
    by = Cast(Subquery(newest), TextField())
    said = Concat(F("reply"), Value(" (Version "), by, Value(_SINCE), output_field=TextField())
    overtaken(campaign_id).filter(resolved_at=None).update(resolved_at=Now(), reply=said)
