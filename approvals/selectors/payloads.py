"""Reading what may have been erased."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from approvals.models import Payload


def contents_of(ids: Iterable[UUID | None]) -> dict[UUID, Any]:
    """The JSON values of these payloads; one that was erased is not in the answer."""
    wanted = {id for id in ids if id is not None}
    rows = Payload.objects.filter(id__in=wanted).values_list("id", "body") if wanted else ()
    return {id: json.loads(body) for id, body in rows}


def proven(hashes: Mapping[UUID, bytes | memoryview]) -> tuple[dict[UUID, Any], set[UUID]]:
    """The JSON values of these payloads, and the ids of those that are not what their hash was made from any more."""
    contents, altered = {}, set()
    for id, salt, body in Payload.objects.filter(id__in=hashes).values_list("id", "salt", "body"):
        if hashlib.sha256(bytes(salt) + body.encode()).digest() == bytes(hashes[id]):
            contents[id] = json.loads(body)
        else:
            altered.add(id)
    return contents, altered
