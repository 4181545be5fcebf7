"""Files to attach to campaigns: taken in once under their SHA-256, and attached to a version before it is sealed."""

from collections.abc import Iterable, Sequence

from django.db import transaction
from django.db.models import F, Q

from approvals.access.actors import Actor, Proposer, TokenBearer
from approvals.access.attachments import attachments_of
from approvals.access.campaigns import require_may_propose
from approvals.db.binding import current_workspace
from approvals.exceptions import Invalid, Refusal
from approvals.models import Attachment, Version, VersionAttachment
from approvals.rules.attachments import (
    HEAD,
    MB,
    MOST,
    MOST_BYTES,
    MOST_TOGETHER,
    Wanted,
    check_content_type,
    check_filename,
    look_like,
)
from approvals.selectors.attachments import attached_to, name_in_storage
from approvals.services import files


def too_big() -> Refusal:
    """The refusal of a file beyond the limit."""
    return Refusal(
        f"The file is larger than {MOST_BYTES // MB} MB. Make it smaller, or put it where a link in the text leads to.",
        code="too_large",
        status=413,
        field="file",
    )


def keep(*, by: Actor | TokenBearer, pieces: Iterable[bytes], content_type: str) -> tuple[Attachment, bool]:
    """Keep a file; (its row, whether it is new). `pieces` are read once.

    The same bytes again are the same row; their file is put back if the storage lost it. Invalid for an empty file or
    a type that cannot be attached, Refusal for one that is too big, NotAllowed; then nothing is kept.
    """
    require_may_propose(by)
    if reason := check_content_type(content_type):
        raise Invalid("content_type", reason)
    with files.spooled(pieces, most=MOST_BYTES, too_big=too_big()) as came:
        looks = look_like(came.file.read(HEAD))
        files.store(came, name_in_storage(current_workspace(), came.sha256))
    new = Attachment(
        workspace_id=current_workspace(),
        runtime_id=by.runtime_id if isinstance(by, TokenBearer) else None,
        sha256=came.sha256,
        size=came.size,
        content_type=content_type,
        looks_like=looks,
    )
    with transaction.atomic():
        Attachment.objects.bulk_create([new], ignore_conflicts=True)
        kept = Attachment.objects.get(Q(runtime_id=new.runtime_id), sha256=new.sha256)
    return kept, kept.id == new.id


def attach(version: Version, wanted: Sequence[Wanted], *, by: Proposer) -> None:
    """Attach files to a version that is not sealed yet, within the caller's transaction.

    Invalid naming the field: a file that nobody sent, a name or type that cannot be written, too many or too much.
    """
    if len(wanted) > MOST:
        raise Invalid("attachments", f"At most {MOST} files can be attached.")
    sent = {
        file.sha256: file  # the sender's own one counts before a person's
        for file in attachments_of(by)
        .filter(sha256__in=[one.sha256 for one in wanted])
        .order_by(F("runtime_id").asc(nulls_first=True))
    }
    for number, one in enumerate(wanted):
        _check(one, f"attachments[{number}]", sent)
    if sum(sent[one.sha256].size for one in wanted) > MOST_TOGETHER:
        raise Invalid(
            "attachments", f"Together the files are larger than {MOST_TOGETHER // MB} MB. Attach fewer."
        )
    VersionAttachment.objects.bulk_create(
        VersionAttachment(
            workspace_id=version.workspace_id,
            version_id=version.id,
            position=position,
            attachment_id=sent[one.sha256].id,
            filename=one.filename,
            content_type=one.content_type,
        )
        for position, one in enumerate(wanted, start=1)
    )


def sealed_as(version: Version) -> list[tuple[str, str, str]]:
    """What the digest of a version holds of its files: (name, type, SHA-256) of each, in order."""
    return [(one.filename, one.content_type, one.sha256) for one in attached_to(version.id)]


def _check(one: Wanted, field: str, sent: dict[str, Attachment]) -> None:
    if one.sha256 not in sent:
        raise Invalid(
            f"{field}.sha256",
            "There is no file with this SHA-256, or none that you may use. Send it to POST /api/v1/attachments first.",
        )
    if reason := check_filename(one.filename):
        raise Invalid(f"{field}.filename", reason)
    if reason := check_content_type(one.content_type):
        raise Invalid(f"{field}.content_type", reason)
