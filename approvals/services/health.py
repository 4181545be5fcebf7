"""Whether everything is in order: what /readyz says, asked of Postgres alone and in bounded time."""

import json
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass

from django.conf import settings
from django.db import DatabaseError, connection, connections
from django.db.models import F
from django.db.models.functions import Extract, Now

from approvals.models import Beat
from approvals.selectors.runtimes import UNREAD_S
from approvals.services import guards

FRESH_S = 15.0  # a process that was silent for longer counts as dead
ANSWER_S = 1.8  # a database that has not answered by then counts as not reachable
GUARDS_S = 30.0  # how long it is believed that the guards hold

PROCESSES = {
    "dispatcher": "the dispatcher (`manage.py dispatch`)",
    "worker-replay": "a worker of the queue replay",
    "worker-send": "a worker of the queue send",
    "worker-import": "a worker of the queue import",
}
OBSERVER = {"worker-observe": "a worker of the queue observe"}  # needed where a runtime's own store is read
NO_DATABASE = "The database cannot be reached."
SLOW_DATABASE = "The database does not answer."


@dataclass(frozen=True, slots=True)
class Readiness:
    """Ready if there is no reason not to be; a reason is a sentence."""

    reasons: list[str]

    @property
    def ready(self) -> bool:
        """Whether everything is in order."""
        return not self.reasons


class _Asking:
    """One question at a time, in a thread of its own: a frozen database must freeze neither who asks nor who ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: Future[Readiness] | None = None

    def ask(self) -> Readiness:
        with self._lock:
            if self._running is None or self._running.done():
                self._running = Future()
                threading.Thread(target=_answer, args=[self._running], name="readiness", daemon=True).start()
            running = self._running
        try:
            return running.result(timeout=ANSWER_S)
        except TooLate:
            return Readiness([SLOW_DATABASE])


def _answer(question: Future[Readiness]) -> None:
    try:
        found = look()
    except Exception as error:
        question.set_exception(error)
    else:
        question.set_result(found)
    finally:
        # A connection of its own for each question: whether one can be had is part of the answer.
        connections.close_all()


_asking = _Asking()
_guards_held_until = 0.0


def readiness() -> Readiness:
    """What is not in order, within two seconds whatever state the database is in."""
    return _asking.ask()


def look() -> Readiness:
    """The same in this thread, for as long as it takes."""
    try:
        observed, unread = _stores()
        needed = PROCESSES | OBSERVER if observed else PROCESSES
        return Readiness([*_silent_processes(needed), *_overdue(), *_unread(unread), *_broken_guards()])
    except DatabaseError:
        return Readiness([NO_DATABASE])


def _silent_processes(needed: Mapping[str, str]) -> list[str]:
    ages = Extract(Now() - F("at"), "epoch")
    beats = {beat.name: beat for beat in Beat.objects.filter(name__in=needed).annotate(age=ages)}
    reasons = []
    for name, what in needed.items():
        beat = beats.get(name)
        if beat is None:
            reasons.append(f"Nothing was ever heard from {what}.")
        elif beat.age > FRESH_S:
            reasons.append(f"Nothing was heard from {what} for {beat.age:.0f} seconds.")
        elif name == "dispatcher" and (trouble := _broker_trouble(beat.detail)):
            reasons.append(trouble)
    return reasons


def _broker_trouble(detail: str) -> str:
    try:
        broker = json.loads(detail)["broker"]
    except (ValueError, KeyError, TypeError):
        broker = "The dispatcher does not say whether the broker answers."
    return "" if broker == "ok" else str(broker)


def _overdue() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("select overdue_jobs(make_interval(secs => %s))", [settings.OVERDUE_S])
        (jobs,) = cursor.fetchone()
    if not jobs:
        return []
    what = "1 approved job was" if jobs == 1 else f"{jobs} approved jobs were"
    return [f"{what} not taken up by any worker for more than {settings.OVERDUE_S} seconds."]


def _stores() -> tuple[int, int]:
    """How many stores are read in all workspaces, and how many of them cannot be for a while."""
    with connection.cursor() as cursor:
        cursor.execute("select observed, unread from observed_stores(make_interval(secs => %s))", [UNREAD_S])
        observed, unread = cursor.fetchone()
    return observed, unread


def _unread(stores: int) -> list[str]:
    """Without names and reasons, which are for members: each workspace's pages say them."""
    if not stores:
        return []
    what = "The store of 1 runtime" if stores == 1 else f"The stores of {stores} runtimes"
    return [f"{what} cannot be read for more than {UNREAD_S} seconds; the Setup page says why."]


def _broken_guards() -> list[str]:
    """Without their details, which are for the operator. That they hold is remembered, that one is broken is not."""
    global _guards_held_until  # noqa: PLW0603 - one answer a process
    if time.monotonic() < _guards_held_until:
        return []
    broken = [guard.guard for guard in guards.examine(probe=False) if not guard.holds]
    if not broken:
        _guards_held_until = time.monotonic() + GUARDS_S
    return [f'The guard "{name}" does not hold; `manage.py doctor` says why.' for name in broken]
