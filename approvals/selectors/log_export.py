"""The log as an auditor gets it: only what is sealed, in the form that rules/verify_log reads (JSON Lines), or as CSV.

Streams in constant memory. Each batch is read in a short transaction of its own, bound and read-only, so whoever
reads slowly holds nothing open; the log is append-only, so the batches fit together up to the head that was read
first. Reading the whole log is the permission `export_log`; whoever calls has asked for it.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Func, Q, QuerySet, TextField

from approvals.db.reading import reading
from approvals.models import Decision, Payload, Workspace
from approvals.rules.spreadsheets import cell
from approvals.rules.verify_log import FORMAT
from approvals.selectors import log_heads
from approvals.selectors.decisions import Wanted, conditions_of
from approvals.selectors.log_heads import Head

BATCH = 1_000
COLUMNS = (
    *("seq", "at", "kind", "actor_kind", "actor_id", "actor_name", "actor_roles", "sign_in", "opened_at"),
    *("target_kind", "target_id", "item_id", "agent", "subject", "reason", "texts", "digest"),
    *("payload_hash", "prev_hash", "hash"),
)
_IN_HEADER = {"since": "from"}  # where a filter has another name than its field
_HASHES = ("payload_hash", "prev_hash", "hash")

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Export:
    """What is to be exported: the log as it was when this was made. `filter` is empty for the whole log."""

    workspace_id: UUID
    slug: str
    name: str
    exported_at: datetime
    filter: Mapping[str, str]
    conditions: Sequence[Q]
    entries: int
    head: Head

    @property
    def header(self) -> dict[str, Any]:
        """The first line."""
        return {
            "format": FORMAT,
            "workspace": str(self.workspace_id),
            "slug": self.slug,
            "name": self.name,
            "exported_at": f"{self.exported_at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}",
            "filter": dict(self.filter),
            "entries": self.entries,
            "head": {"seq": self.head.seq, "hash": self.head.hash},
        }


def begin(workspace_id: UUID, wanted: Wanted) -> Export:
    """Read where the log ends now; what comes later is not in the export."""
    with reading(workspace_id):
        return _export(workspace_id, filter_of(wanted), list(conditions_of(wanted)))


def entries_of_item(decision: Decision, *, at_most: int) -> tuple[Export, list[Entry], bool]:
    """(the export, its entries, whether there are more) of one decision and all that came after it about its item.

    Where not all of it fits, refused attempts are left out first, and the header says so.
    Reads in the open transaction.
    """
    about = Q(id=decision.id)
    if decision.item_id is not None:
        about |= Q(item_id=decision.item_id, seq__gt=decision.seq)
    packet = {"packet": str(decision.id)}
    export = _export(decision.workspace_id, packet, [about])
    found = _batch(export, after=decision.seq - 1, size=at_most + 1)
    if len(found) > at_most and any(entry["kind"] == "refused" for entry in found[1:]):
        # Anybody may be refused as often as they like: no decision, and nothing that came of one, is left out for that.
        told = Q(id=decision.id) | ~Q(kind="refused")
        export = _export(decision.workspace_id, packet | {"without": "refused"}, [about, told])
        found = _batch(export, after=decision.seq - 1, size=at_most + 1)
    more = len(found) > at_most
    return export, found[:at_most], more


def filter_of(wanted: Wanted) -> dict[str, str]:
    """The filters that are on, as the header names them: every one, so that no selection passes for the whole log."""
    on = {name: value for name, value in asdict(wanted).items() if value}
    if on.pop("decisions_only", False) and not wanted.kind:
        on["show"] = "decisions"
    return {_IN_HEADER.get(name, name): str(value) for name, value in on.items()}


def json_lines(export: Export) -> Iterator[str]:
    """The header and the entries, each with its line break."""
    yield json_line(export.header)
    for entry in entries(export):
        yield json_line(entry)


def json_line(value: Mapping[str, Any]) -> str:
    """One line of a log."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def csv_lines(export: Export) -> Iterator[str]:
    """For spreadsheets: a line of names, then one row an entry. It cannot be verified."""
    page = io.StringIO()
    writer = csv.writer(page, quoting=csv.QUOTE_ALL)
    page.write("\ufeff")  # by which spreadsheets know UTF-8
    writer.writerow(COLUMNS)
    for entry in entries(export):
        yield _taken(page)
        writer.writerow([cell(value) for value in _row(entry)])
    yield _taken(page)


def entries(export: Export) -> Iterator[Entry]:
    """The entries, oldest first."""
    after = 0
    while True:
        with reading(export.workspace_id):
            found = _batch(export, after=after, size=BATCH)
        yield from found  # outside of the transaction and of the binding: who knows when the next one is asked for
        if len(found) < BATCH:
            return
        after = found[-1]["seq"]


def _export(workspace_id: UUID, filter: Mapping[str, str], conditions: Sequence[Q]) -> Export:
    workspace = Workspace.objects.get(id=workspace_id)
    head = log_heads.head()
    count = Decision.objects.filter(*conditions, seq__lte=head.seq).count()
    return Export(
        workspace_id, workspace.slug, workspace.name, datetime.now(UTC), filter, conditions, count, head
    )


def _batch(export: Export, *, after: int, size: int) -> list[Entry]:
    rows = Decision.objects.filter(*export.conditions, seq__gt=after, seq__lte=export.head.seq).order_by(
        "seq"
    )
    found = list(_sealed(rows)[:size])
    texts = {
        id: {"salt": bytes(salt).hex(), "body": body}
        for id, salt, body in Payload.objects.filter(id__in=[row["payload_id"] for row in found]).values_list(
            "id", "salt", "body"
        )
    }
    return [_entry(row, texts.get(row["payload_id"])) for row in found]


def _sealed(rows: QuerySet[Decision]) -> Any:  # a query set of dictionaries
    """The sealed fields; times as they were hashed."""
    return rows.values(
        *(
            "workspace_id",
            "seq",
            "id",
            "kind",
            "actor_kind",
            "actor_id",
            "actor_name",
            "actor_roles",
            "sign_in",
        ),
        *("target_kind", "target_id", "item_id", "agent", "subject", "digest", "payload_id", *_HASHES),
        at_text=Func(F("at"), function="hashed_time", output_field=TextField()),
        opened_at_text=Func(F("opened_at"), function="hashed_time", output_field=TextField()),
    )


def _entry(row: dict[str, Any], texts: dict[str, str] | None) -> Entry:
    """In the order in which the fields are hashed."""
    return {
        "workspace": str(row["workspace_id"]),
        "seq": row["seq"],
        "id": str(row["id"]),
        "at": row["at_text"],
        "kind": row["kind"],
        "actor_kind": row["actor_kind"],
        "actor_id": row["actor_id"],
        "actor_name": row["actor_name"],
        "actor_roles": row["actor_roles"],
        "sign_in": row["sign_in"],
        "opened_at": row["opened_at_text"],
        "target_kind": row["target_kind"],
        "target_id": str(row["target_id"]),
        "item_id": str(row["item_id"]) if row["item_id"] else None,
        "agent": row["agent"],
        "subject": row["subject"],
        "digest": row["digest"],
        "payload_id": str(row["payload_id"]),
        **{name: bytes(row[name]).hex() for name in _HASHES},
        "payload": texts,
    }


def _row(entry: Entry) -> list[Any]:
    texts = entry["payload"]["body"] if entry["payload"] else "erased"
    given = json.loads(texts) if entry["payload"] else {}
    told = {
        **entry,
        "actor_roles": ", ".join(entry["actor_roles"]),
        "reason": given.get("reason") or given.get("comment") or "",
        "texts": texts,
    }
    return [told[name] for name in COLUMNS]


def _taken(page: io.StringIO) -> str:
    text = page.getvalue()
    page.seek(0)
    page.truncate()
    return text
