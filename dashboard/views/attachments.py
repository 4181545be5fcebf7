"""What is read from the storage: the bytes of a message with its files, and a file by itself.

The middleware opens no transaction for these addresses (`FETCHES`), so that none is open while the storage answers.
"""

from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from approvals.access.attachments import attached_for
from approvals.db.reading import reading
from approvals.exceptions import Invalid, NotFound
from approvals.selectors import campaigns as selectors
from approvals.selectors.attachments import attached_as, fetch, with_files
from dashboard.middleware import PageRequest
from dashboard.presenters import build_message
from dashboard.views.campaign_parts import facts_with

POLICY = "default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox"


@require_safe
def source(request: PageRequest, slug: str, campaign_id: UUID, delivery_id: UUID) -> HttpResponse:
    """The bytes of the message to one recipient, to keep."""
    del slug
    with reading(request.membership.workspace_id):
        facts = facts_with(request.actor, campaign_id, delivery_id)
        recipient = selectors.recipient_of(facts.version_id, delivery_id=delivery_id)
    if recipient is None:
        raise NotFound()
    made = build_message.message_to(recipient, with_files(facts.content), timezone.now())
    if made.problem:
        raise Invalid(None, made.problem)
    response = HttpResponse(made.raw, content_type="message/rfc822")
    response["Content-Disposition"] = f'attachment; filename="{delivery_id}.eml"'
    return response


@require_safe
def download(request: PageRequest, slug: str, campaign_id: UUID, attached_id: UUID) -> HttpResponse:
    """A file as recipients get it, to keep: never shown here, whatever it says it is."""
    del slug
    with reading(request.membership.workspace_id):
        attached = attached_as(attached_for(request.actor, campaign_id, attached_id))
    response = HttpResponse(fetch(attached), content_type="application/octet-stream")
    response["Content-Disposition"] = content_disposition_header(True, attached.filename) or "attachment"
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = POLICY
    return response
