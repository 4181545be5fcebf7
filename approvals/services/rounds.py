"""The rounds of a batch: what is next, and the one transaction that settles some messages and lets the next ones go.

A message may leave only after the round that marked its row *attempting* was committed; an outcome is written down only
by whoever still holds the job's fence. So whoever is killed leaves at most the rows of one round in doubt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from approvals.rules.decisions import ERASED
from approvals.rules.pace import pace
from approvals.services.jobs import Claim
from approvals.services.sending import DUE_AGAIN, Sealed

ATTEMPTS = 5  # for one recipient whose server keeps asking to wait
NOT_ALLOWED = "Only recipients at {domains} are written to here (ALLOWED_RECIPIENT_DOMAINS)."


@dataclass(frozen=True, slots=True)
class Planned:
    """One recipient who may be next: everything their message is made from, or why they get none (`skip`).

    `date` is when it was read, by the database's clock and in whole seconds; `again`, that they were asked to wait.
    """

    delivery_id: UUID
    position: int
    address: str
    message_id: str
    vars: str
    date: datetime
    again: bool
    skip: str = ""


@dataclass(frozen=True, slots=True)
class Ending:
    """What became of one message.

    `state` is sent, failed, in_doubt, or planned for one that certainly was not sent. `counts` is false where that was
    the channel's fault: such an attempt says nothing about the recipient.
    """

    delivery_id: UUID
    state: str
    reply: str
    counts: bool = True


@dataclass(frozen=True, slots=True)
class Round:
    """What a round came to.

    `opened`: whose message may leave. `settled`: whose ending was written down. `early`: whom the pace does not allow
    yet; `wait_s`, in how many seconds it allows the next. `ours` is false once the job is somebody else's, or the
    campaign is not being sent any more.
    """

    opened: frozenset[UUID]
    settled: frozenset[UUID]
    ours: bool
    early: frozenset[UUID] = frozenset()
    wait_s: float = 0


_NEXT = """
    select d.id, d.position, d.address, d.message_id, a.vars, date_trunc('second', clock_timestamp()),
      d.attempt > 0, a.erased_at is not null
    from approvals_delivery d
    join approvals_audiencerow a on a.workspace_id = d.workspace_id and a.id = d.audience_row_id
    where d.version_id = %s and d.state = 'planned' and {which} limit %s
"""
_THIS_ONE = _NEXT.format(which=f"d.id = %s and (d.attempt = 0 or {DUE_AGAIN} < clock_timestamp())")
# A recipient that somebody sends to again has a job of its own.
_NOBODYS = """d.id <> all (array(select own.delivery_id from approvals_job own where own.campaign_id = %s
      and own.delivery_id is not null and own.status in ('held', 'queued', 'paused', 'running')))"""
_FIRST_TIME = _NEXT.format(which=f"d.attempt = 0 and d.position > %s and {_NOBODYS} order by d.position")
_ONCE_MORE = _NEXT.format(
    which=f"d.attempt > 0 and {DUE_AGAIN} < clock_timestamp() and {_NOBODYS} order by d.attempt, d.position"
)


@transaction.atomic
def upcoming(*, held: Claim, sealed: Sealed, after: int, at_most: int) -> list[Planned]:
    """Who is next, in order: whoever was not tried yet, beyond position `after`; then those who have waited.

    Nothing is marked; a row may be gone by the time its round comes.
    """
    version, job_of = sealed.version_id, held.target_id
    if held.delivery_id:
        rows = _rows(_THIS_ONE, [version, held.delivery_id, settings.SEND_RETRY_S, 1])
    else:
        rows = _rows(_FIRST_TIME, [version, after, job_of, at_most])
        rows = rows or _rows(_ONCE_MORE, [version, settings.SEND_RETRY_S, job_of, at_most])
    return [Planned(*row, skip=ERASED if erased else _not_allowed(row[2])) for *row, erased in rows]


def _rows(statement: str, values: Sequence[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def _not_allowed(address: str) -> str:
    allowed = [domain.lower() for domain in settings.ALLOWED_RECIPIENT_DOMAINS]
    if not allowed or address.rpartition("@")[2].lower() in allowed:
        return ""
    return NOT_ALLOWED.format(domains=", ".join(allowed))


@transaction.atomic
def turn(
    *, held: Claim, sealed: Sealed, endings: Sequence[Ending] = (), wanted: Sequence[Planned] = ()
) -> Round:
    """Write down what became of some messages, and mark the rows whose message may leave next.

    Only rows that are still planned, of a campaign that is still being sent and a version that is still the approved
    one, are opened, by whoever holds the job within its lease. Whoever is to be skipped is.
    """
    ours, per_minute = _ours(held)
    settled = settle(held, endings) if endings else frozenset()
    if not ours or not wanted:
        return Round(frozenset(), settled, ours)
    _skip([planned for planned in wanted if planned.skip])
    may = [planned for planned in wanted if not planned.skip]
    if not per_minute or not may:
        return Round(_open(held, sealed, may), settled, ours)
    count, wait_s = _paced(len(may), per_minute)
    early = frozenset(planned.delivery_id for planned in may[count:])
    return Round(_open(held, sealed, may[:count]), settled, ours, early, wait_s)


def _ours(held: Claim) -> tuple[bool, int]:
    """(whether this worker may let messages go, how many a minute). Campaign and job stay as they are until the commit.

    A stop takes the campaign's row, and the clock the job's: whoever comes second sees what the first one did.
    """
    rows = _rows(
        """
        select c.status = 'sending' or j.delivery_id is not null,
          j.fence = %s and j.status = 'running' and j.lease_until > clock_timestamp(),
          (select w.messages_per_minute from approvals_workspace w)
        from approvals_campaign c join approvals_job j on j.workspace_id = c.workspace_id and j.campaign_id = c.id
        where c.id = %s and j.id = %s for no key update of c, j
        """,
        [held.fence, held.target_id, held.job_id],
    )
    if not rows:
        return False, 0
    [(sending, holds, per_minute)] = rows
    return bool(sending and holds), per_minute


def settle(held: Claim, endings: Sequence[Ending]) -> frozenset[UUID]:
    """Within a transaction: what became of these; those that were still ours to settle.

    Where the lease was lost meanwhile, such a row is in doubt already.
    """
    rows = _rows(
        """
        update approvals_delivery d set settled_at = clock_timestamp(), reply = e.reply, attempt = d.attempt - e.free,
          state = case when e.state = 'planned' and d.attempt - e.free >= %s then 'failed' else e.state end
        from unnest(%s::uuid[], %s::text[], %s::text[], %s::integer[]) as e (id, state, reply, free)
        where d.id = e.id and d.state = 'attempting' and d.job_id = %s and d.fence = %s
        returning d.id
        """,
        [
            ATTEMPTS,
            [one.delivery_id for one in endings],
            [one.state for one in endings],
            [one.reply for one in endings],
            [0 if one.counts else 1 for one in endings],
            held.job_id,
            held.fence,
        ],
    )
    return frozenset(id for (id,) in rows)


def _skip(refused: Sequence[Planned]) -> None:
    if refused:
        _rows(
            """
            update approvals_delivery d set state = 'skipped', settled_at = clock_timestamp(), reply = s.why
            from unnest(%s::uuid[], %s::text[]) as s (id, why) where d.id = s.id and d.state = 'planned'
            returning d.id
            """,
            [[one.delivery_id for one in refused], [one.skip for one in refused]],
        )


def _paced(wanted: int, per_minute: int) -> tuple[int, float]:
    """(how many may leave now, in how many seconds the next may). One worker of a workspace at a time."""
    [(mark_s,)] = _rows(
        "select extract(epoch from w.next_message_at - clock_timestamp()) from approvals_workspace w"
        " for no key update",
        [],
    )
    now = pace(per_minute=per_minute, mark_s=None if mark_s is None else float(mark_s), wanted=wanted)
    _rows(
        "update approvals_workspace set next_message_at = clock_timestamp() + %s returning id",
        [timedelta(seconds=now.mark_s)],
    )
    return now.count, now.wait_s


def _open(held: Claim, sealed: Sealed, wanted: Sequence[Planned]) -> frozenset[UUID]:
    """Commit this, and their messages may leave. Whatever forbids one of them is asked here, in the same statement."""
    if not wanted:
        return frozenset()
    rows = _rows(
        """
        update approvals_delivery d set state = 'attempting', job_id = %s, fence = %s, attempt = d.attempt + 1,
          attempted_at = w.date, settled_at = null, reply = ''
        from unnest(%s::uuid[], %s::timestamptz[]) as w (id, date), approvals_version v, approvals_audiencerow a
        where d.id = w.id and d.state = 'planned' and d.version_id = %s
          and v.id = d.version_id and v.digest = %s
          and a.workspace_id = d.workspace_id and a.id = d.audience_row_id and a.erased_at is null
        returning d.id
        """,
        [
            held.job_id,
            held.fence,
            [one.delivery_id for one in wanted],
            [one.date for one in wanted],
            sealed.version_id,
            sealed.digest,
        ],
    )
    return frozenset(id for (id,) in rows)
