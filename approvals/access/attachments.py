"""Which files a campaign may attach, and which of them a member may take along."""

from uuid import UUID

from django.db.models import Q, QuerySet

from approvals.access.actors import Actor, Proposer
from approvals.exceptions import NotFound
from approvals.models import Attachment, VersionAttachment


def attachments_of(by: Proposer) -> QuerySet[Attachment]:
    """What the runtime or a person sent, all of it for a person; nothing for a token bound to one subject."""
    if isinstance(by, Actor):
        return Attachment.objects.all()
    mine = Q(runtime_id=by.runtime_id) | Q(runtime_id=None)
    return Attachment.objects.filter(mine) if by.subject is None else Attachment.objects.none()


def attached_for(actor: Actor, campaign_id: UUID, attached_id: UUID) -> VersionAttachment:
    """One file of one of a campaign's versions; NotAllowed without the right to look, NotFound without such a file."""
    actor.require("view")
    of_campaign = VersionAttachment.objects.filter(version__campaign_id=campaign_id)
    found = of_campaign.select_related("attachment").filter(id=attached_id).first()
    if found is None:
        raise NotFound()
    return found
