"""Having an agent told again what became of its campaign."""

from uuid import UUID

from django.http import HttpResponse

from approvals.access.desk import campaign_for
from approvals.services import callbacks as services
from dashboard.middleware import PageRequest
from dashboard.presenters.places import Places
from dashboard.views.deciding import answer, deciding, found


@deciding("tell_again", on="campaign")
def tell_again(request: PageRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Try once more, and as often as the first time."""
    _, seen = found(request, campaign_for, campaign_id, "tell_again")
    decision, repeated = services.tell_again(by=request.actor, campaign_id=campaign_id, shown=seen)
    said = "It is told again within seconds. If that fails too, this page says so."
    return answer(
        request, decision.kind, repeated=repeated, said=said, page=Places(slug).campaign(campaign_id)
    )
