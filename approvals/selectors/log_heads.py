"""Where the logs end, and their anchors: hashes that are told to the world outside, so that a cut end shows."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from approvals.models import Decision


@dataclass(frozen=True, slots=True)
class Head:
    """The last entry of a log."""

    seq: int
    hash: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """An entry of a log whose hash is told outside."""

    workspace_id: UUID
    slug: str
    seq: int
    hash: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Verified:
    """The head of one log, and up to which entry it was verified, and when; where never, since it was begun."""

    workspace_id: UUID
    slug: str
    head: Head
    seq: int
    at: datetime


def head() -> Head:
    """The head of the bound workspace's log."""
    row = Decision.objects.order_by("-seq").values_list("seq", "hash").first()
    return Head(row[0], bytes(row[1]).hex()) if row else Head(0, "")


def heads() -> list[Verified]:
    """The head of every log, in all workspaces."""
    with connection.cursor() as cursor:
        cursor.execute("select workspace_id, slug, seq, hash, verified_seq, verified_at from log_heads()")
        return [
            Verified(row[0], row[1], Head(row[2], bytes(row[3]).hex()), row[4], row[5])
            for row in cursor.fetchall()
        ]


def anchors(*, since: datetime) -> list[Anchor]:
    """Every 1,000th entry of every log from that moment on, oldest first."""
    with connection.cursor() as cursor:
        cursor.execute("select workspace_id, slug, seq, hash, at from log_anchors(%s)", [since])
        return [Anchor(row[0], row[1], row[2], bytes(row[3]).hex(), row[4]) for row in cursor.fetchall()]
