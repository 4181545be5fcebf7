"""Digests of what a decider was shown: equal digests mean that nothing of it changed.

Every field goes into the hash with its length in front, so that no two contents read the same.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from approvals.rules.verdict import RunFacts


def canonical(value: object) -> str:
    """The one JSON text of a JSON value: sorted keys, no spaces, letters as they are; ValueError for NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256_hex(data: bytes | str) -> str:
    """SHA-256 in lower-case hex; text is hashed as UTF-8."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def version_digest(
    *,
    headers: Mapping[str, str | None],
    text: str,
    html: str | None,
    recipients: Iterable[tuple[int, str, str]],
    attachments: Sequence[tuple[str, str, str]] = (),
) -> str:
    """The digest of one campaign version, in hex.

    `headers` holds every field a reviewer sees, by name; `attachments` are (file name, type, SHA-256 in hex), in
    order; `recipients` are (position, address, canonical variables) in order, read once and never kept.
    """
    hasher = _Hasher("secondlook campaign version 1")
    hasher.add(canonical(dict(headers)))
    hasher.add(text)
    hasher.add(canonical(html))
    hasher.add(canonical([list(one) for one in attachments]))
    for position, address, variables in recipients:
        hasher.add(str(position))
        hasher.add(address)
        hasher.add(variables)
    return hasher.hex()


def lineage_digest(lineage: Iterable[RunFacts]) -> str:
    """The digest of what the runs of a lineage did, in hex; the order they come in makes no difference."""
    hasher = _Hasher("secondlook lineage 1")
    for run in sorted(lineage, key=lambda run: str(run.id)):
        hasher.add(canonical(_told(run)))
    return hasher.hex()


def _told(run: RunFacts) -> dict[str, object]:
    """What a decider is told about one run, without what changes by itself, such as heartbeats."""
    restored = {"restored": True} if run.restored else {}
    return restored | {
        "id": str(run.id),
        "status": run.status,
        "started": run.started,
        "record": [run.record.kind, run.record.complete],
        "settled": run.settled,
        "events": run.events,
        "late_events": run.late_events,
        "has_input": run.has_input,
        "is_head": run.is_head,
        "calls": sorted([call.call_id, call.name, call.state, call.args_summary] for call in run.calls),
    }


class _Hasher:
    def __init__(self, purpose: str) -> None:
        self._sha256 = hashlib.sha256()
        self.add(purpose)

    def add(self, field: str) -> None:
        data = field.encode()
        self._sha256.update(len(data).to_bytes(8, "big"))
        self._sha256.update(data)

    def hex(self) -> str:
        return self._sha256.hexdigest()
