"""What is attached to a version, and the files themselves, which are only ever handed out as they were approved."""

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from django.core.files.storage import default_storage

from approvals.access.actors import Proposer
from approvals.access.attachments import attachments_of
from approvals.db.binding import current_workspace
from approvals.exceptions import Conflict, Unavailable
from approvals.models import Version, VersionAttachment
from approvals.rules.attachments import MOST_BYTES, Attached
from approvals.rules.content import Content
from approvals.rules.messages import enclose

MEND = "Have the same file sent to POST /api/v1/attachments once more, or restore it from a backup."

log = logging.getLogger(__name__)


def name_in_storage(workspace_id: UUID, sha256: str) -> str:
    """Where a file of a workspace is kept."""
    return f"attachments/{workspace_id}/{sha256}"


def attached_to(version_id: UUID) -> tuple[Attached, ...]:
    """The files of a version, in order."""
    rows = VersionAttachment.objects.filter(version_id=version_id).select_related("attachment")
    return tuple(attached_as(row) for row in rows.order_by("position"))


def content_of(version: Version) -> Content:
    """What preview and message are made from; the files are named, and not read."""
    return Content(
        version.from_address,
        version.reply_to,
        version.subject_line,
        version.text,
        version.html,
        attached_to(version.id),
    )


def attached_as(row: VersionAttachment) -> Attached:
    """One of them as the rules know it."""
    file = row.attachment
    return Attached(row.id, row.filename, row.content_type, file.sha256, file.size, file.looks_like)


def sizes_for(by: Proposer, sha256s: Sequence[str]) -> dict[str, int]:
    """The size in bytes of each of these files that is kept and that they may attach, by SHA-256."""
    rows = attachments_of(by).filter(sha256__in=sha256s).order_by()
    return dict(rows.values_list("sha256", "size"))


def told(version_id: UUID) -> list[dict[str, object]]:
    """The files of a version in the shape of the API."""
    return [
        {"sha256": one.sha256, "filename": one.filename, "content_type": one.content_type, "size": one.size}
        for one in attached_to(version_id)
    ]


def with_files(content: Content) -> Content:
    """The content with its files read, ready to be sent; raises like `fetch`. Never inside a transaction."""
    return replace(content, enclosed=tuple(enclose(one, fetch(one)) for one in content.attached))


def fetch(attached: Attached) -> bytes:
    """The bytes of a file of the current workspace, as they were approved. Never inside a transaction.

    Conflict where the storage has none or other ones, which a person has to mend; Unavailable where it does not answer.
    """
    name = name_in_storage(current_workspace(), attached.sha256)
    try:
        with default_storage.open(name, "rb") as file:
            data: bytes = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise Conflict(
            f"{_which(attached)} is not in the storage any more. {MEND}", code="file_missing"
        ) from None
    except Exception as error:  # each storage has its own
        log.warning("the storage does not answer", exc_info=True)
        text = "The storage does not hand out the attached files now; that is tried again later."
        raise Unavailable(text) from error
    if hashlib.sha256(data).hexdigest() != attached.sha256:
        raise Conflict(f"{_which(attached)} was changed in the storage. {MEND}", code="file_altered")
    return data


def _which(attached: Attached) -> str:
    return f"The attached file “{attached.filename}” (SHA-256 {attached.sha256[:12]}…)"
