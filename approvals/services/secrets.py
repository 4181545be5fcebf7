"""Secrets at rest: encrypted with FIELD_KEY, or kept as a digest only."""

import base64
import hashlib
import hmac
import secrets
from uuid import UUID

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from approvals.rules import webhooks

UNREADABLE = (
    "The signing secret of this runtime cannot be read here, so nothing can be signed for it. Whoever runs Secondlook"
    " starts it with the FIELD_KEY under which the secret was stored, or sets the secret anew (`runtime new-secret`)"
    " and gives it to the runtime."
)
_UUID_BYTES, _MAC_BYTES = 16, 16
TOKEN_PREFIX = "sl_"  # noqa: S105 - a mark by which a leaked token can be recognised, not a secret


def _fernet() -> Fernet:
    try:
        return Fernet(settings.FIELD_KEY)
    except ValueError as error:
        raise ImproperlyConfigured("FIELD_KEY must be a Fernet key: 32 bytes in URL-safe base64.") from error


def seal(secret: str) -> bytes:
    """Encrypt a secret for storing it."""
    return _fernet().encrypt(secret.encode())


def unseal(sealed: bytes | memoryview) -> str:
    """The stored secret; ImproperlyConfigured when FIELD_KEY is another than the one it was sealed with."""
    try:
        return _fernet().decrypt(bytes(sealed)).decode()
    except InvalidToken as error:
        raise ImproperlyConfigured("FIELD_KEY is not the key that this secret was stored with.") from error


def signing(sealed: bytes) -> str | None:
    """The stored secret that requests are signed with; None where it cannot be read, or signs nothing."""
    try:
        secret = unseal(sealed)
        webhooks.sign(secret, "readable", 0, b"")
    except (ImproperlyConfigured, ValueError):
        return None
    return secret


def new_token() -> tuple[str, bytes, str]:
    """A new bearer token: (what is shown once, its SHA-256, a hint to know it by)."""
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    return token, token_digest(token), token[:8]


def token_digest(token: str) -> bytes:
    """The SHA-256 of a bearer token, which is all that is stored."""
    return hashlib.sha256(token.encode()).digest()


def keyed_digest(text: str) -> str:
    """An HMAC by which a repeated request is recognised, and from which nobody can guess an erased one."""
    return hmac.new(settings.FIELD_KEY.encode(), text.encode(), "sha256").hexdigest()


def unsubscribe_token(delivery_id: UUID) -> str:
    """What stands in the address with which the recipient of this delivery unsubscribes."""
    return base64.urlsafe_b64encode(delivery_id.bytes + _unsubscribe_mac(delivery_id)).decode().rstrip("=")


def delivery_of_token(token: str) -> UUID | None:
    """Whose address that is; None for one that we did not make."""
    try:
        data = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return None
    if len(data) != _UUID_BYTES + _MAC_BYTES:
        return None
    delivery_id = UUID(bytes=data[:_UUID_BYTES])
    return delivery_id if hmac.compare_digest(data[_UUID_BYTES:], _unsubscribe_mac(delivery_id)) else None


def _unsubscribe_mac(delivery_id: UUID) -> bytes:
    key = settings.FIELD_KEY.encode()
    return hmac.new(key, b"unsubscribe " + delivery_id.bytes, "sha256").digest()[:_MAC_BYTES]
