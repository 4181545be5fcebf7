"""Files to attach to campaigns: sending one."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from approvals.api.auth import bearer
from approvals.api.pieces import pieces_of
from approvals.api.schemas.attachments import AttachmentKept
from approvals.api.schemas.problems import refusals
from approvals.exceptions import Invalid, Refusal
from approvals.rules.attachments import MOST_BYTES
from approvals.services import attachments

router = Router(tags=["campaigns"])
_FORMS = ("multipart/form-data", "application/x-www-form-urlencoded", "")
_BODY = {
    "requestBody": {
        "required": True,
        "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post(
    "/attachments",
    response={201: AttachmentKept, 200: AttachmentKept},
    summary="Send a file to attach",
    openapi_extra={
        **refusals(
            400,
            403,
            411,
            413,
            415,
            422,
            s400="The body ended before all of the file was there (`bad_json`).",
            s413="The file is larger than 10 MB (`too_large`).",
            s415="The body is a form, or the header Content-Type is missing (`unsupported_media_type`).",
        ),
        **_BODY,
    },
)
def send_attachment(request: HttpRequest) -> Any:
    """The body is the file itself, up to 10 MB, with its own type as Content-Type (parameters are left out). It is kept
    once: the same bytes again answer 200 with what is kept. A campaign then names the file by its `sha256`."""
    for name in request.GET:
        raise Invalid(name, "There is no such parameter.")
    content_type = (request.content_type or "").lower()
    if content_type in _FORMS:
        raise Refusal(
            "Send the file itself as the body, with its type in the header Content-Type, such as application/pdf.",
            code="unsupported_media_type",
            status=415,
        )
    kept, created = attachments.keep(
        by=bearer(request),
        pieces=pieces_of(request, most=MOST_BYTES, too_big=attachments.too_big()),
        content_type=content_type,
    )
    told = {"sha256": kept.sha256, "size": kept.size, "content_type": kept.content_type}
    return Status(201 if created else 200, told)
