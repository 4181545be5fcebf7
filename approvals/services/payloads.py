"""Storing what may have to be erased: the body apart, and its salted hash for the row that cites it."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.db import connections

from approvals.db.binding import current_workspace
from approvals.models import Payload
from approvals.rules.digests import canonical


@dataclass(frozen=True, slots=True)
class Stored:
    """Where a payload is, and SHA-256(salt + body)."""

    id: UUID
    hash: bytes


def prepare(content: Any) -> tuple[Payload, Stored]:
    """An unsaved payload row for this JSON value, so that many can be inserted at once."""
    body, salt = canonical(content), secrets.token_bytes(16)
    row = Payload(id=uuid4(), workspace_id=current_workspace(), body=body, salt=salt)
    return row, Stored(row.id, hashlib.sha256(salt + body.encode()).digest())


def store(content: Any, *, using: str = "default") -> Stored:
    """Insert one payload in the open transaction of this connection alias."""
    row, stored = prepare(content)
    row.save(using=using, force_insert=True)
    return stored


def store_all(rows: Sequence[Payload], *, using: str) -> None:
    """Insert prepared payloads likewise, in one statement that stays the same for any number of them."""
    if not rows:
        return
    columns = [list(column) for column in zip(*((row.id, row.body, row.salt) for row in rows), strict=True)]
    with connections[using].cursor() as cursor:
        cursor.execute(
            "insert into approvals_payload (workspace_id, id, body, salt)"
            " select %s, * from unnest(%s::uuid[], %s::text[], %s::bytea[])",
            [current_workspace(), *columns],
        )
