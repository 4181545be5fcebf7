"""The rounds of a batch: what is next, and the one transaction that settles some messages and lets the next ones go.

A message may leave only after the round that marked its row *attempting* was committed; an outcome is written down only
by whoever still holds the job's fence. So whoever is killed leaves at most the rows of one round in doubt.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now

from approvals.db import prepared
from approvals.db.violations import violated
from approvals.models import Workspace
from approvals.rules.decisions import ERASED
from approvals.rules.pace import pace
from approvals.services.jobs import Claim
from approvals.services.sending import DUE_AGAIN, Sealed

ATTEMPTS = 5  # for one recipient whose server keeps asking to wait
UNSUBSCRIBED = "They unsubscribed, so nothing was sent."
SUPPRESSED = "This address is on the list of those who are not to be written to, so nothing was sent."
ONCE_PER_CAMPAIGN = "delivery_once_per_campaign"
REACHED = "An earlier version of this campaign reached them, or may have."
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


# The entries by which a recipient is not to be written to by an agent.
_SUPPRESSED = """
    from approvals_suppression s where s.workspace_id = d.workspace_id and s.dedupe_key = d.dedupe_key
      and s.scope in ('', {agent}) and s.released_at is null"""
# Whoever another version of the campaign is with: who has it, or may have, and whose message is under way.
_OTHER = """from approvals_delivery o where o.workspace_id = d.workspace_id and o.campaign_id = d.campaign_id
      and o.dedupe_key = d.dedupe_key and o.state in ('attempting', 'sent', 'in_doubt')"""
_NEXT = f"""
    select d.id, d.position, d.address, d.message_id, a.vars, date_trunc('second', clock_timestamp()),
      d.attempt > 0, a.erased_at is not null, (select max(s.reason) {_SUPPRESSED.format(agent="c.agent")}),
      exists (select {_OTHER} and o.state <> 'attempting' offset 0)
    from approvals_delivery d
    join approvals_audiencerow a on a.workspace_id = d.workspace_id and a.id = d.audience_row_id
    join approvals_campaign c on c.workspace_id = d.workspace_id and c.id = d.campaign_id
    where d.version_id = %s and d.state = 'planned' and {{which}} limit %s
"""  # noqa: S608 - the words are this module's own
_THIS_ONE = _NEXT.format(which=f"d.id = %s and (d.attempt = 0 or {DUE_AGAIN} < clock_timestamp())")
# A recipient that somebody sends to again has a job of its own.
_NOBODYS = """d.id <> all (array(select own.delivery_id from approvals_job own where own.campaign_id = %s
      and own.delivery_id is not null and own.status in ('held', 'queued', 'paused', 'running')))"""
_FIRST_TIME = _NEXT.format(which=f"d.attempt = 0 and d.position > %s and {_NOBODYS} order by d.position")
_ONCE_MORE = _NEXT.format(
    which=f"d.attempt > 0 and {DUE_AGAIN} < clock_timestamp() and {_NOBODYS} order by d.attempt, d.position"
)


def begin_batch() -> None:
    """Before the rounds of a batch, each of which is the same statement."""
    prepared.plan_anew()


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
    return [
        Planned(*row, _why_not(row[2], erased, listed, reached))  # type: ignore[call-arg]
        for *row, erased, listed, reached in rows
    ]


def _rows(statement: str, values: Sequence[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def _why_not(address: str, erased: bool, listed: str | None, reached: bool) -> str:
    if erased:
        return ERASED
    if reached:
        return REACHED
    if listed:
        return UNSUBSCRIBED if listed == "unsubscribed" else SUPPRESSED
    return not_allowed(address)


def not_allowed(address: str) -> str:
    """Why nothing is sent to this address here, whoever asks for it; empty where it may be written to."""
    allowed = [domain.lower() for domain in settings.ALLOWED_RECIPIENT_DOMAINS]
    if not allowed or address.rpartition("@")[2].lower() in allowed:
        return ""
    return NOT_ALLOWED.format(domains=", ".join(allowed))


def turn(
    *,
    held: Claim,
    sealed: Sealed,
    endings: Sequence[Ending] = (),
    wanted: Sequence[Planned] = (),
    meanwhile: Callable[[], object] | None = None,
) -> Round:
    """Write down what became of some messages, and mark the rows whose message may leave next; committed on return.

    Only rows that are still planned, of a campaign that is still being sent and a version that is still the approved
    one, are opened, by whoever holds the job within its lease. Whoever is to be skipped is. `sealed` is what is sent.
    `meanwhile` is called while the database works, where it can be; it must not use the database.
    """
    try:
        return _turn(held, sealed, endings, wanted, meanwhile)
    except IntegrityError as error:
        # At this instant another job of the campaign began a message to one of them, which this round can see only now.
        if violated(error) != ONCE_PER_CAMPAIGN:
            raise
        return _turn(held, sealed, endings, wanted, None)


def _turn(
    held: Claim,
    sealed: Sealed,
    endings: Sequence[Ending],
    wanted: Sequence[Planned],
    meanwhile: Callable[[], object] | None,
) -> Round:
    refused = [planned for planned in wanted if planned.skip]
    may = [planned for planned in wanted if not planned.skip]
    if not refused and not (may and sealed.paced):
        ours, settled, opened = settle_and_open(held, sealed, endings, may, meanwhile)
        return Round(opened, settled, ours)
    early, wait_s = frozenset[UUID](), 0.0
    with transaction.atomic():
        if refused:
            _rows(_LOCK, [held.target_id, held.job_id])  # before its deliveries, as everybody takes them
            _skip(held, refused)
        if may and sealed.paced:
            count, wait_s = _paced(len(may))
            early = frozenset(planned.delivery_id for planned in may[count:])
            may = may[:count]
        ours, settled, opened = settle_and_open(held, sealed, endings, may)
    return Round(opened, settled, ours, early, wait_s)


# Whether this worker may let messages go.
_MAY = """(c.status = 'sending' or j.delivery_id is not null)
  and j.fence = %(fence)s and j.status = 'running' and j.lease_until > clock_timestamp()"""

# Nothing more of a version goes out once there is a newer one, but to somebody who is sent to again.
_NEWEST = """(j.delivery_id is not null or not exists (select from approvals_version n
        where n.workspace_id = c.workspace_id and n.campaign_id = c.id
          and n.number > (select v.number from approvals_version v where v.id = %(version)s)))"""
# One statement, since this is the price of each message. Campaign and job stay as they are until the commit: a stop
# takes the campaign's row, and the clock the job's, so whoever comes second sees what the first one did. Outcomes are
# settled by whoever made their intent, lease or no lease. Whatever forbids a message is asked where its row is opened.
# It is planned once a batch, maybe when few rows have a state that many will have. So state and version are written as
# no index knows them, and rows are found by their ids; `offset 0` has what forbids a message looked up for each row,
# instead of joined.
_TURN = prepared.Statement(f"""
    with mine as materialized (
      select {_MAY} and {_NEWEST} as may, c.agent from approvals_campaign c
      join approvals_job j on j.workspace_id = c.workspace_id and j.campaign_id = c.id
      where c.id = %(campaign)s and j.id = %(job)s for no key update of c, j
    ), settled as (
      update approvals_delivery d set settled_at = clock_timestamp(), reply = e.reply, attempt = d.attempt - e.free,
        state = case when e.state = 'planned' and d.attempt - e.free >= %(attempts)s then 'failed' else e.state end
      from unnest(%(ended)s::uuid[], %(states)s::text[], %(replies)s::text[], %(free)s::integer[])
        as e (id, state, reply, free)
      where d.id = e.id and d.state || '' = 'attempting' and d.job_id = %(job)s and d.fence = %(fence)s
      returning d.id
    ), opened as (
      update approvals_delivery d set state = 'attempting', job_id = %(job)s, fence = %(fence)s,
        attempt = d.attempt + 1, attempted_at = w.date, settled_at = null, reply = ''
      from unnest(%(wanted)s::uuid[], %(dates)s::timestamptz[]) as w (id, date)
      where (select may from mine) and d.id = w.id
        and d.state || '' = 'planned' and d.version_id::text = %(version)s::uuid::text
        and exists (select from approvals_version v where v.id = %(version)s and v.digest = %(digest)s)
        and exists (select from approvals_audiencerow a where a.id = d.audience_row_id and a.erased_at is null)
        and not exists (select {_SUPPRESSED.format(agent="(select agent from mine)")} offset 0)
        and not exists (select {_OTHER} offset 0)
      returning d.id
    )
    select coalesce((select may from mine), false)::text, array_to_string(array(select id from settled), ' '),
      array_to_string(array(select id from opened), ' ')
""")  # noqa: S608 - the words are this module's own


def settle_and_open(
    held: Claim,
    sealed: Sealed,
    endings: Sequence[Ending],
    wanted: Sequence[Planned],
    meanwhile: Callable[[], object] | None = None,
) -> tuple[bool, frozenset[UUID], frozenset[UUID]]:
    """(whether the job is ours, whose ending was written down, whose message may leave): in the open transaction, or
    in one of its own."""
    values = {
        "job": held.job_id,
        "fence": held.fence,
        "campaign": held.target_id,
        "attempts": ATTEMPTS,
        "ended": [one.delivery_id for one in endings],
        "states": [one.state for one in endings],
        "replies": [one.reply for one in endings],
        "free": [0 if one.counts else 1 for one in endings],
        "wanted": [one.delivery_id for one in wanted],
        "dates": [one.date for one in wanted],
        "version": sealed.version_id,
        "digest": sealed.digest,
    }
    [(ours, settled, opened)] = prepared.rows(_TURN, values, meanwhile=meanwhile)
    return ours == "true", _ids(settled), _ids(opened)


def _ids(words: str | None) -> frozenset[UUID]:
    return frozenset(map(UUID, (words or "").split()))


_LOCK = """
    select from approvals_campaign c join approvals_job j on j.workspace_id = c.workspace_id and j.campaign_id = c.id
    where c.id = %s and j.id = %s for no key update of c, j
"""


def _skip(held: Claim, refused: Sequence[Planned]) -> None:
    values: dict[str, Any] = {
        "job": held.job_id,
        "fence": held.fence,
        "ids": [one.delivery_id for one in refused],
        "why": [one.skip for one in refused],
    }
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            update approvals_delivery d set state = 'skipped', settled_at = clock_timestamp(), reply = s.why
            from unnest(%(ids)s::uuid[], %(why)s::text[]) as s (id, why)
            where d.id = s.id and d.state = 'planned' and exists (
              select from approvals_job j
              join approvals_campaign c on c.workspace_id = j.workspace_id and c.id = j.campaign_id
              where j.id = %(job)s and {_MAY})
            """,  # noqa: S608 - the words are this module's own
            values,
        )


def _paced(wanted: int) -> tuple[int, float]:
    """(how many may leave now, in how many seconds the next may). One worker of a workspace at a time."""
    [(per_minute, mark_s)] = _rows(
        "select w.messages_per_minute, extract(epoch from w.next_message_at - clock_timestamp())::float8"
        " from approvals_workspace w for no key update",
        [],
    )
    if not per_minute:  # the limit was taken away meanwhile
        return wanted, 0
    now = pace(per_minute=per_minute, mark_s=mark_s, wanted=wanted)
    Workspace.objects.update(next_message_at=Now() + timedelta(seconds=now.mark_s))
    return now.count, now.wait_s
