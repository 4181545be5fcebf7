"""Whether the log that stands in Postgres is still the one that was sealed, worked out by Postgres itself.

In chunks, each in a short transaction of its own: a check of a million entries holds nothing open.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from approvals.models import Decision
from approvals.selectors import log_heads
from approvals.selectors.log_heads import Head
from approvals.selectors.payloads import proven

CHUNK = 10_000
# Each entry beside the one before; of each kind of fault the first number.
_CHUNK = """
    with entry as (
      select d.seq, d.prev_hash, d.hash,
        d.hash = decision_hash(d) as sealed,
        p.id is null as erased,
        sha256(p.salt || convert_to(p.body, 'UTF8')) = d.payload_hash as whole,
        lag(d.seq, 1, %(seq)s) over by_number as seq_before,
        lag(d.hash, 1, %(hash)s) over by_number as hash_before
      from approvals_decision d
      left join approvals_payload p on p.workspace_id = d.workspace_id and p.id = d.payload_id
      where d.seq > %(seq)s and d.seq <= %(until)s
      window by_number as (order by d.seq)
    )
    select count(*), count(*) filter (where erased), max(seq),
      (select last.hash from entry last order by last.seq desc limit 1),
      min(seq) filter (where not sealed),
      min(seq) filter (where not whole),
      min(seq_before + 1) filter (where seq <> seq_before + 1),
      min(seq) filter (where seq = seq_before + 1 and prev_hash <> hash_before)
    from entry
"""
_FAULTS = (
    "a sealed field, or its hash, is not what was sealed",
    "its texts are not what was sealed",
    "it is missing",
    "it does not follow from the entry before: one of the two was replaced",
)


@dataclass(frozen=True, slots=True)
class Checked:
    """So many entries were checked, up to `seq`, whose hash is `hash`; `first_bad` is the first that is not right."""

    head: Head
    entries: int = 0
    erased: int = 0
    seq: int = 0
    hash: str = ""
    first_bad: int | None = None
    why: str = ""

    @property
    def holds(self) -> bool:
        """Whether nothing was found so far."""
        return self.first_bad is None


@dataclass(frozen=True, slots=True)
class Verification:
    """What the log says of its own last check; `holds` is None where that was erased or altered."""

    at: datetime
    seq: int
    holds: bool | None
    entries: int
    first_bad: int | None
    why: str


def check() -> Iterator[Checked]:
    """Check the bound workspace's log up to its head of now; what is known after each chunk, to the first fault."""
    with transaction.atomic():
        found = Checked(log_heads.head())
    yield found
    while found.holds and found.seq < found.head.seq:
        found = _next(found)
        yield found


def last_verification() -> Verification | None:
    """The newest entry that says that the log was verified."""
    row = Decision.objects.filter(kind="log_verified").order_by("-seq").first()
    if row is None:
        return None
    contents, _altered = proven({row.payload_id: row.payload_hash})
    given: dict[str, Any] = contents.get(row.payload_id) or {}
    return Verification(
        at=row.at,
        seq=row.seq,
        holds=given.get("holds"),
        entries=given.get("entries", 0),
        first_bad=given.get("first_bad"),
        why=given.get("why", ""),
    )


def _next(found: Checked) -> Checked:
    until = min(found.seq + CHUNK, found.head.seq)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_CHUNK, {"seq": found.seq, "hash": bytes.fromhex(found.hash), "until": until})
        entries, erased, last, last_hash, *firsts = cursor.fetchone()
    faults = [(seq, why) for seq, why in zip(firsts, _FAULTS, strict=True) if seq is not None]
    if (last or found.seq) < until:
        faults.append(((last or found.seq) + 1, "it is missing"))
    counted = replace(found, entries=found.entries + entries, erased=found.erased + erased)
    if faults:
        first, why = min(faults)
        return replace(counted, first_bad=first, why=f"Entry {first}: {why}.")
    return replace(counted, seq=until, hash=bytes(last_hash).hex())
