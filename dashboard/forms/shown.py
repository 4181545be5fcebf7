"""What a page showed travels with its forms, signed: a decision is bound to it, and nobody can make it up."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.core import signing

from approvals.exceptions import Invalid
from approvals.rules.shown import Shown

SALT = "secondlook.shown"


def pack(*, target: UUID, user_id: str, digest: str, told: dict[str, list[str | int]] | None = None) -> str:
    """The value of the hidden field `shown`, for this item, this person and this moment."""
    content = {
        "t": str(target),
        "u": user_id,
        "d": digest,
        "o": datetime.now(UTC).isoformat(),
        "s": told or {},
    }
    return signing.dumps(content, salt=SALT, compress=True)


def unpack(value: str, *, target: UUID, user_id: str) -> Shown:
    """What was shown; Invalid for a value that this page never made for this person."""
    try:
        content: dict[str, Any] = signing.loads(value, salt=SALT)
    except signing.BadSignature:
        content = {}
    if (content.get("t"), content.get("u")) != (str(target), user_id):
        raise Invalid(
            "shown", "This form does not belong to the page you see. Reload the page and decide again."
        )
    return Shown(digest=content["d"], opened_at=datetime.fromisoformat(content["o"]), told=content["s"])
