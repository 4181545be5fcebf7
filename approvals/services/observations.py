"""The watch over a runtime's store: who reads it now, how far that is, and what stands in the way.

Whoever reads holds a lease, by the database's clock, and says with each step that it still does; a reader that was
given up writes nothing more.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now

from approvals.models import Observation, Runtime
from approvals.rules.observed import SessionKey
from approvals.selectors.runtimes import allowed_hosts
from approvals.services import secrets

LONGEST_TROUBLE = 300  # characters


@dataclass(frozen=True, slots=True)
class Reached:
    """How far a pass is: first through the keys of the store, for sessions that are not known, then through those that
    are, by their ids here, for rows that were changed or deleted."""

    key: SessionKey | None = None
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Watch:
    """One runtime's store in this worker's hands until the lease ends, as it stood when it was claimed."""

    runtime_id: UUID
    fence: int
    base_url: str
    allowed_hosts: frozenset[str]
    database_url: str = field(repr=False)
    hides_calls: bool
    facts: dict[str, dict[str, Any]]
    notice: str
    asked_at: datetime | None
    changed_until: datetime | None
    pass_after: Reached | None
    pass_ended_at: datetime | None
    now: datetime

    def has_simple_end(self, app: str) -> bool:
        """Whether a final answer of this application is the end of its run: one agent, and no steps after it."""
        return self.facts.get(app, {}).get("root") == "llm"


@transaction.atomic
def claim(*, runtime_id: UUID) -> Watch | None:
    """Take the watch if it is due and nobody has it; None otherwise. A wake-up may come twice or late."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            update approvals_observation set fence = fence + 1, lease_until = clock_timestamp() + %s
            where id = (select id from approvals_observation where runtime_id = %s and due_at <= clock_timestamp()
                        and (lease_until is null or lease_until < clock_timestamp()) for update skip locked)
            returning id, clock_timestamp()
            """,
            [_lease(), runtime_id],
        )
        row = cursor.fetchone()
    if row is None:
        return None
    watch = Observation.objects.get(id=row[0])
    runtime = Runtime.objects.get(id=runtime_id)
    return Watch(
        runtime_id=runtime_id,
        fence=watch.fence,
        base_url=runtime.base_url,
        allowed_hosts=allowed_hosts(),
        database_url=secrets.unseal(bytes(runtime.database_url)),
        hides_calls=runtime.hides_calls,
        facts=watch.facts,
        notice=watch.notice,
        asked_at=watch.asked_at,
        changed_until=watch.changed_until,
        pass_after=_reached(watch.pass_after),
        pass_ended_at=watch.pass_ended_at,
        now=row[1],
    )


def _lease() -> Any:
    return timedelta(seconds=settings.LEASE_S)


def holds(watch: Watch) -> bool:
    """In the open transaction: prolong the watch; False if this worker has it no more. Nobody takes it meanwhile."""
    return _update(watch, lease_until=Now() + _lease())


@transaction.atomic
def asked(watch: Watch, *, version: str, facts: dict[str, dict[str, Any]], notice: str) -> Watch:
    """What the service said of itself, or in `notice` why it did not. Facts that were known are kept then."""
    watch = replace(watch, facts=watch.facts | facts, notice=notice)
    said: dict[str, Any] = {"notice": notice[:LONGEST_TROUBLE], "facts": watch.facts, "asked_at": Now()}
    _update(watch, **said | ({"version": version} if version else {}))
    return watch


def _reached(stored: Any) -> Reached | None:
    if stored is None:
        return None
    return (
        Reached(key=SessionKey(*stored))
        if isinstance(stored, list) and stored
        else Reached(id=stored or None)
    )


def went_on(watch: Watch, *, after: Reached, sessions: int) -> bool:
    """In the open transaction: this pass has come so far, by so many sessions more."""
    stored = [after.key.app, after.key.user, after.key.id] if after.key else after.id or 0
    return _update(watch, pass_after=stored, pass_done=F("pass_done") + sessions)


@transaction.atomic
def begin_pass(watch: Watch, *, total: int) -> bool:
    """A pass begins, from the first session on; about so many are there."""
    return _update(watch, pass_after=[], pass_began_at=Now(), pass_done=0, pass_total=total)


@transaction.atomic
def end_pass(watch: Watch) -> bool:
    """The pass is complete."""
    return _update(watch, pass_after=None, pass_ended_at=Now())


def caught_up(watch: Watch, *, until: datetime) -> bool:
    """In the open transaction: every change up to here, by the store's clock, was read."""
    return _update(watch, changed_until=until)


@transaction.atomic
def rest(watch: Watch, *, seconds: float) -> bool:
    """Give the watch back; it is due again after so many seconds."""
    return _update(
        watch,
        lease_until=None,
        due_at=Now() + timedelta(seconds=seconds),
        trouble="",
        troubled_since=None,
        read_at=Now(),
    )


@transaction.atomic
def in_trouble(watch: Watch, *, why: str, seconds: float) -> bool:
    """Give the watch back because the store cannot be read: one sentence, and when to try again."""
    given_back = _update(
        watch, lease_until=None, due_at=Now() + timedelta(seconds=seconds), trouble=why[:LONGEST_TROUBLE]
    )
    Observation.objects.filter(runtime_id=watch.runtime_id, troubled_since=None).exclude(trouble="").update(
        troubled_since=Now()
    )
    return given_back


def _update(watch: Watch, **values: Any) -> bool:
    mine = Observation.objects.filter(
        runtime_id=watch.runtime_id, fence=watch.fence, lease_until__isnull=False
    )
    return mine.update(**values) == 1
