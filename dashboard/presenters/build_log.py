"""Filling the box of the log as a whole, and the evidence packet of one entry."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.safestring import SafeString, mark_safe

from approvals.rules.verify_log import Bad, check_seal
from approvals.selectors.decisions import Entry, Opened, Wanted
from approvals.selectors.log_check import Verification
from approvals.selectors.log_export import Export, json_line
from approvals.selectors.log_heads import Head
from dashboard.forms import decisions as form
from dashboard.presenters import chips
from dashboard.presenters.ages import absolute, when
from dashboard.presenters.build_decisions import name_of
from dashboard.presenters.build_entry import ALTERED, ERASED, chain_of, facts_of, seen_of, sentence_of
from dashboard.presenters.chips import Tone
from dashboard.presenters.decisions import LogBox, Packet, PacketEntry
from dashboard.presenters.parts import Fact, Link
from dashboard.presenters.places import Places
from dashboard.presenters.text import count, plain, plural, reveal, reveal_line, summary_line

_SHORT = 12  # digits of a hash that a person compares at a glance
_WORDS_APART = (
    "reason",
    "comment",
    "campaign",
    "run",
)  # evidence that stands in the sentence or as the reason
# Within a script element only these could end it or begin another one.
_HARMLESS = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}
_LETTER = (
    "The letter itself is no part of the log. This digest of it is, made from every header, the text, the HTML part and"
    " each recipient."
)


def log_box(
    *,
    head: Head,
    verification: Verification | None,
    wanted: Wanted,
    places: Places,
    may_export: bool,
    now: datetime,
) -> LogBox:
    """Where the log ends, when it was verified last, and the ways to take it along."""
    verified, tone = _verified(verification, places, now)
    return LogBox(
        head=f"Entry {count(head.seq)}",
        hash_short=f"{head.hash[:_SHORT]}…" if head.hash else "none",
        hash=head.hash,
        verified=verified,
        tone=tone,
        exports=_exports(wanted, places) if may_export else (),
    )


def _verified(verification: Verification | None, places: Places, now: datetime) -> tuple[SafeString, Tone]:
    if verification is None:
        said = (
            "Not verified yet. That happens once a day; an operator can do it now with manage.py log check."
        )
        return reveal_line(said), "quiet"
    at = when(verification.at, now)
    if verification.holds is None:
        return _join("Verified ", at, ", but the texts that say with which result are gone."), "warn"
    if not verification.holds:
        why = plain(verification.why)
        return _join("Verified ", at, f": it does NOT hold. {why} Ask whoever runs the database."), "danger"
    return _join("Verified ", at, f": all {plural(verification.entries, 'entry', 'entries')} hold."), "ok"


def _join(before: str, at: Any, after: str) -> SafeString:
    return mark_safe(f"{reveal_line(before)}{at}{reveal_line(after)}")  # noqa: S308  (each part is escaped)


def _exports(wanted: Wanted, places: Places) -> tuple[Link, ...]:
    links = [Link("The whole log (JSON Lines)", places.export(form.export_address(Wanted())))]
    if wanted.text:  # a search finds some entries only
        return tuple(links)
    if wanted != Wanted():
        links.append(Link("What is listed here (JSON Lines)", places.export(form.export_address(wanted))))
    csv = places.export(form.export_address(wanted, as_csv=True))
    return (*links, Link("What is listed here (CSV, for spreadsheets)", csv))


def packet(
    export: Export, sealed: Sequence[Mapping[str, Any]], *, more: bool, places: Places, file: str
) -> Packet:
    """The packet of the first of these sealed entries; the others followed. Nothing is read from anywhere else."""
    opened = _opened(sealed[0])
    entry = opened.entry
    seen = seen_of(opened)
    title = f"{chips.decision_kind(entry.kind).label} {plain(name_of(entry))}".strip()
    return Packet(
        title=f"{title}, entry {entry.seq}",
        workspace=plain(f"{export.name} ({export.workspace_id})"),
        made=absolute(export.exported_at),
        at=absolute(entry.at),
        sentence=sentence_of(entry),
        facts=tuple(Fact(fact.name, fact.value) for fact in facts_of(opened, places)),
        reason=reveal(entry.reason),
        seen=seen,
        bound=_LETTER if opened.digest and entry.target_kind in ("campaign", "delivery") else "",
        after=tuple(_after(_opened(one)) for one in sealed[1:]),
        after_note=_after_note(export, sealed, more),
        chain=(
            *chain_of(opened),
            Fact("Head of the log when this was made", f"entry {export.head.seq}, {export.head.hash}"),
        ),
        file=file,
        hash=opened.hash,
        sealed=_lines([export.header, *sealed]),
    )


def _opened(sealed: Mapping[str, Any]) -> Opened:
    """An entry as the pages know it, from what is sealed of it and nothing else."""
    try:
        check_seal(dict(sealed))
        altered = False
    except Bad:
        altered = True
    payload = sealed["payload"]
    given = json.loads(payload["body"]) if payload and not altered else None
    return Opened(
        entry=Entry(
            id=UUID(sealed["id"]),
            seq=sealed["seq"],
            at=datetime.fromisoformat(sealed["at"]),
            kind=sealed["kind"],
            actor_kind=sealed["actor_kind"],
            actor_name=sealed["actor_name"],
            actor_roles=tuple(sealed["actor_roles"]),
            target_kind=sealed["target_kind"],
            target_id=UUID(sealed["target_id"]),
            about=None,
            given=given if isinstance(given, dict) else None,
            job="",
            altered=altered,
        ),
        agent=sealed["agent"],
        subject=sealed["subject"],
        sign_in=sealed["sign_in"],
        opened_at=datetime.fromisoformat(sealed["opened_at"]) if sealed["opened_at"] else None,
        digest=sealed["digest"],
        payload_hash=sealed["payload_hash"],
        prev_hash=sealed["prev_hash"],
        hash=sealed["hash"],
        sealed=None,
        progress=None,
    )


def _after(opened: Opened) -> PacketEntry:
    entry = opened.entry
    given = entry.given or {}
    missing = ALTERED if entry.altered else ERASED
    return PacketEntry(
        number=count(entry.seq),
        at=absolute(entry.at),
        sentence=sentence_of(entry),
        reason=reveal(entry.reason),
        facts=tuple(
            Fact(plain(str(name)).replace("_", " ").capitalize(), summary_line(_said(value), 500))
            for name, value in given.items()
            if name not in _WORDS_APART and isinstance(value, str | int | float) and value != ""
        ),
        warning="" if entry.given is not None else missing,
    )


def _said(value: str | float) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _after_note(export: Export, sealed: Sequence[Mapping[str, Any]], more: bool) -> str:
    cut = "More followed than fit here."
    if "without" in export.filter:
        cut += " Refused attempts are left out."
    if more:
        return f"{cut} These are the first {len(sealed) - 1}; an export of the log holds all of them."
    if "without" in export.filter:
        return f"{cut} An export of the log holds them too. Its last entry, when this was made, was {export.head.seq}."
    nothing = "nothing more about it" if len(sealed) > 1 else "nothing about what came of it"
    return f"The log holds {nothing}, up to entry {export.head.seq}, its last when this packet was made."


def _lines(values: Sequence[Mapping[str, Any]]) -> SafeString:
    text = "".join(json_line(value) for value in values)
    return mark_safe(text.translate(_HARMLESS))  # noqa: S308  (no markup can begin in it)
