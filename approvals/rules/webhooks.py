"""Signatures in the Standard Webhooks format: id, timestamp and body under HMAC-SHA256.

A secret is `whsec_` and base64 of 24 to 64 bytes. It signs what we send to a runtime and lets the runtime,
or us, tell a true request from a forged or an old one.
"""

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping

PREFIX = "whsec_"
TOLERANCE_S = 300

_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")  # no dot: it separates the parts that are signed
_TIMESTAMP = re.compile(r"[0-9]{1,12}")


class BadSignature(ValueError):
    """The request is not signed with this secret, or too long ago; the text says which."""


def new_secret() -> str:
    """A fresh secret of 32 random bytes."""
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def sign(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """The signature, `v1,` and base64, over `id.timestamp.body`; `timestamp` is in Unix seconds.

    Raises ValueError for a malformed secret or an id with anything but letters, digits, _ and -.
    """
    if not _ID.fullmatch(message_id):
        raise ValueError("a message id has only letters, digits, _ and -")
    signed = f"{message_id}.{int(timestamp)}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(_key(secret), signed, hashlib.sha256)).decode()


def signed_headers(secret: str, message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The three headers of a signed request."""
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(timestamp)),
        "webhook-signature": sign(secret, message_id, timestamp, body),
    }


def verify(
    secret: str, headers: Mapping[str, str], body: bytes, *, now: float, tolerance_s: float = TOLERANCE_S
) -> str:
    """The message id of a request that is truly signed and at most `tolerance_s` away from `now`.

    `now` is in Unix seconds; header names in any case. Raises BadSignature, or ValueError for a bad secret.
    """
    given = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    if not _ID.fullmatch(message_id) or not _TIMESTAMP.fullmatch(timestamp):
        raise BadSignature("The request has no usable webhook-id and webhook-timestamp.")
    if abs(now - int(timestamp)) > tolerance_s:
        raise BadSignature("The request was signed too long ago, or a clock is wrong.")
    expected = sign(secret, message_id, int(timestamp), body).encode()
    # Several signatures stand side by side while a secret is being changed.
    offered = given.get("webhook-signature", "").split(" ")
    if not any(hmac.compare_digest(expected, one.encode(errors="replace")) for one in offered):
        raise BadSignature("The signature does not match.")
    return message_id


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(PREFIX) or not 24 <= len(key) <= 64:
        # The secret itself must never get into a message.
        raise ValueError(f"a signing secret is {PREFIX} and base64 of 24 to 64 bytes")
    return key
