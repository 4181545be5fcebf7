"""Reading a runtime's own store: what changed lately, every few seconds, and all of it, over and over.

A task reads for a few seconds and gives the watch back, so that one store keeps no other waiting. Between two
statements of ours the store is asked, never within a transaction.
"""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from celery import shared_task
from django.conf import settings
from django.db import transaction

from approvals import faults
from approvals.connectors.adk import client, orders
from approvals.connectors.adk.store import Store, StoreTrouble, open_store
from approvals.exceptions import Invalid
from approvals.rules.observed import Row, Session, SessionKey
from approvals.selectors import stored
from approvals.services import observations, observing
from approvals.services.observations import Reached, Watch
from approvals.services.observing import Read
from approvals.tasks.base import WorkspaceTask

SLICE_S = 5.0  # how long one task reads
SESSIONS = 200  # that are taken in one transaction
LISTED = 1_000  # keys of sessions that are looked through at a time
# An event is stored after it was made, so what changed "until now" is not all of it; measured: up to 5 s later.
OVERLAP = timedelta(minutes=15)
FIRST = timedelta(hours=1)  # what is read before everything older is
STATEMENT_S = 30.0
SERVICE_S = 5.0
ASKED_EVERY = timedelta(minutes=5)
ASKED_AGAIN = timedelta(seconds=20)  # where the service did not answer
TROUBLE_S = 5.0
BROKE_OFF = "The reading broke off at something that was not expected; the log of the worker says at what."
BROKE_OFF_S = 30.0
GONE = "The tables of ADK are gone, though sessions were read from them: see that this is the right database."
log = structlog.get_logger(__name__)


@shared_task(base=WorkspaceTask, bind=True, name="approvals.tasks.observe.execute")  # type: ignore[untyped-decorator]
def execute(self: Any, runtime_id: str) -> None:
    """A few seconds of reading one runtime's store, if it is due and nobody else reads it."""
    del self
    watch = observations.claim(runtime_id=UUID(runtime_id))
    if watch is None:
        return
    faults.point("observe.claimed")
    watch = _ask_service(watch)
    try:
        with open_store(watch.database_url, timeout_s=STATEMENT_S) as store:
            layout = store.layout()
            if layout.state == "unusable":
                raise StoreTrouble(layout.sentence)
            if layout.state == "empty" and _was_read(watch):
                raise StoreTrouble(GONE)
            more = layout.state == "ready" and _Reading(watch, store).go()
    except (StoreTrouble, Invalid) as trouble:
        observations.in_trouble(watch, why=str(trouble), seconds=TROUBLE_S)
        return
    except Exception:  # whatever is in there: whoever looks at the page has to see that nothing is read
        log.exception("a store could not be read", runtime=runtime_id)
        observations.in_trouble(watch, why=BROKE_OFF, seconds=BROKE_OFF_S)
        return
    faults.point("observe.read")
    observations.rest(watch, seconds=0 if more else settings.POLL_S)


@transaction.atomic
def _was_read(watch: Watch) -> bool:
    return bool(stored.slice_of(watch.runtime_id, after=0, size=1))


def _ask_service(watch: Watch) -> Watch:
    """What the service is and what its agents can hide. A service that is down keeps nobody from reading its store."""
    rest = ASKED_AGAIN if watch.notice else ASKED_EVERY
    if watch.asked_at is not None and watch.now - watch.asked_at < rest:
        return watch
    service = orders.Place(watch.base_url, watch.allowed_hosts, SERVICE_S)
    found = client.about(service)
    facts: dict[str, dict[str, Any]] = {}
    until = time.monotonic() + SERVICE_S
    for app in found.apps:
        if time.monotonic() > until:
            break
        told = client.app_facts(service, app)
        facts[app] = {"root": told.root, "hides_calls": told.hides_calls, "detail": told.detail}
    notice = found.trouble or client.supported(found.version)
    return observations.asked(watch, version=found.version, facts=facts, notice=notice)


class _Reading:
    """One task's reading: what changed lately first, then a part of the pass through everything."""

    def __init__(self, watch: Watch, store: Store) -> None:
        self.watch, self.store = watch, store
        self.until = time.monotonic() + SLICE_S
        self.lost = False

    def go(self) -> bool:
        """Read until the time is over; whether there is more to be read at once."""
        return self._changes() or self._pass()

    def _over(self) -> bool:
        return self.lost or time.monotonic() >= self.until

    def _changes(self) -> bool:
        """The sessions that changed since the last look, oldest change first; whether some are left."""
        # A session may say that it was changed in the year 9999: what changes now must not hide behind it.
        now = datetime.now(UTC)
        newest = min(self.watch.changed_until or now - FIRST + OVERLAP, now)
        since = newest - OVERLAP
        listed = self.store.changed_since(since)
        for start in range(0, len(listed), SESSIONS):
            if self._over():
                return True
            some = listed[start : start + SESSIONS]
            until = max(newest, min(some[-1].updated_at, now))
            self._take(
                self._changed(some),
                lambda until=until: observations.caught_up(self.watch, until=until),  # type: ignore[misc]
            )
        return False

    def _changed(self, listed: Sequence[Session]) -> list[Session]:
        """Those that are not known as they are listed."""
        with transaction.atomic():
            known = stored.updated_of(self.watch.runtime_id, [session.key for session in listed])
        return [session for session in listed if known.get(session.key) != session.updated_at]

    def _pass(self) -> bool:
        """A part of the pass through everything; whether it goes on at once."""
        place = self.watch.pass_after
        if place is None:
            ended = self.watch.pass_ended_at
            if ended is not None and self.watch.now - ended < timedelta(seconds=settings.OBSERVE_PASS_S):
                return False
            if not observations.begin_pass(self.watch, total=self.store.count().sessions):
                return False
            place = Reached()
        while not self._over():
            following = self._unknown(place) if place.id is None else self._known(place.id)
            if following is None:
                self.lost = self.lost or not observations.end_pass(self.watch)
                return False
            place = following
        return not self.lost

    def _unknown(self, place: Reached) -> Reached:
        """Through the store by its keys: sessions that are not known, or not as they are now."""
        listed = self.store.after(place.key, LISTED)
        changed = self._changed(listed)
        for start in range(0, len(changed), SESSIONS):
            some = changed[start : start + SESSIONS]
            self._take(some, self._went_on(Reached(key=some[-1].key), 0))
        following = Reached(key=listed[-1].key) if listed else Reached(id=0)
        self._take([], self._went_on(following, len(listed)))
        return following

    def _known(self, after: int) -> Reached | None:
        """Through what is known: rows that were changed or deleted, or were missed."""
        with transaction.atomic():
            some = stored.slice_of(self.watch.runtime_id, after=after, size=SESSIONS)
        if not some:
            return None
        following = Reached(id=some[-1][0])
        self._take([session for _, session in some], self._went_on(following, 0))
        return following

    def _went_on(self, place: Reached, sessions: int) -> Callable[[], bool]:
        return lambda: observations.went_on(self.watch, after=place, sessions=sessions)

    def _take(self, some: Sequence[Session], then: Callable[[], bool]) -> None:
        """Read these sessions, write down what is new, and `then` how far that is, in one transaction."""
        if self.lost:
            return
        reads = self._read(some)
        with transaction.atomic():
            self.lost = not observations.holds(self.watch)
            if self.lost:
                return
            if reads:
                observing.take(self.watch, reads, at=datetime.now(UTC))
            then()
        faults.point("observe.taken")

    def _read(self, some: Sequence[Session]) -> list[Read]:
        """Of a session that is not known all rows; of the others what tells whether something is new, and that."""
        keys = [session.key for session in some]
        with transaction.atomic():
            known = stored.ids_of(self.watch.runtime_id, keys)
        old = [key for key in keys if key in known]
        present = self.store.heads(old) if old else {}
        missing = {
            key: ids
            for key in old
            if (ids := [head.event_id for head in present.get(key, ()) if head.event_id not in known[key]])
        }
        rows: dict[SessionKey, list[Row]] = {key: [] for key in keys}
        for key, row in self.store.rows([key for key in keys if key not in known]):
            rows[key].append(row)
        for key, row in self.store.rows(list(missing), only=missing):
            rows[key].append(row)
        return [
            Read(session, rows[session.key], present.get(session.key, []) if session.key in known else None)
            for session in some
        ]
