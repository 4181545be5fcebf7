"""A replay that is streamed: the worker owns the stream, writes down what comes, and says how it ended.

It occupies its place in the worker for as long as the agent takes, which may be hours: a queue `replay` that starts
many runs at once wants more workers. Nothing here is repeated by itself but a turn of which `rules.turns` says so, and
that in a session of its own. Whatever else goes wrong is left to a person.
"""

import mmap
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from celery.signals import worker_shutting_down
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from approvals import faults
from approvals.connectors.adk import (
    Closed,
    Opened,
    Place,
    StreamItem,
    StreamOrder,
    Telling,
    Told,
    create_session,
    note,
    stream,
    supported,
    usable,
)
from approvals.rules.observed import Line
from approvals.rules.sessions import session_of_run
from approvals.rules.turns import Again, Attempt, Code, Done, HandedOn, next_step
from approvals.services import handover, streaming
from approvals.services.jobs import Claim

TICK_S = 0.1  # how long the stream is quiet before what came is written down
GATHER_S = 0.15  # how long something that came may wait to be written down while more comes
BEAT_S = 2.0  # how often the lease is extended, and asked whether somebody stopped the run
MOST_NAMED = 10  # calls that one sentence names

LEAVING = "The worker was stopped while the run went on, so how the run ended is not known from it."
SAID_BY = "Secondlook"  # the author of what we say ourselves in a journal

# Shared with the processes that the worker forks: they get no signal when it is asked to end, and it waits for them.
_leaving = mmap.mmap(-1, 1)


@worker_shutting_down.connect  # type: ignore[untyped-decorator]
def leave(**_: Any) -> None:
    """The worker is to end: its streams are closed within a moment, and their runs are a person's to decide about."""
    _leaving[0] = 1


def run(held: Claim, order: handover.StreamOrder, timeout_s: float) -> None:
    """Stream one replay, whose intent was committed, to its end. It has to have begun within `timeout_s` seconds."""
    _Replay(held, order).run(timeout_s)
    faults.point("stream.settled")


@dataclass
class _Journal:
    """What came and is not written down yet. It is written in few transactions, however many events come at once."""

    listening: streaming.Listening
    quiet_s: float  # after so long without a line the journal gets a sign of life
    _pending: list[streaming.Piece] = field(default_factory=list)
    _since: float = 0.0  # when the oldest of them came
    _written: float = field(default_factory=time.monotonic)
    _told: float = field(default_factory=time.monotonic)

    def add(self, pieces: Iterable[streaming.Piece]) -> bool:
        """More came, and more may be there already. False: nobody is to listen any longer."""
        if not self._pending:
            self._since = time.monotonic()
        self._pending.extend(pieces)
        if self._pending and time.monotonic() - self._since >= GATHER_S:
            return self._write()
        return self._beat()

    def rest(self) -> bool:
        """Nothing came for a moment. False as in `add`."""
        return self._write() if self._pending else self._beat()

    def take(self) -> list[streaming.Piece]:
        """What is left, for whoever writes the end."""
        pending, self._pending = self._pending, []
        return pending

    def _beat(self) -> bool:
        now = time.monotonic()
        if now - self._written < min(BEAT_S, settings.LEASE_S / 4):
            return True
        if not self._pending and now - self._told >= self.quiet_s:
            self._pending.append(Line(type="heartbeat", at=datetime.now(UTC)))
        return self._write()

    def _write(self) -> bool:
        try:
            if not streaming.heard(listening=self.listening, pieces=self._pending):
                return False
        except (OperationalError, InterfaceError):
            # Postgres may be back before the lease is over, and leaving would end a run that is well.
            if time.monotonic() - self._written > settings.LEASE_S / 2:
                raise
            connection.close()
            self._since = time.monotonic()
            return True
        self._written = time.monotonic()
        if self._pending:
            self._told = self._written
            self._pending = []
            faults.point("stream.heard")
        return True


class _Replay:
    def __init__(self, held: Claim, order: handover.StreamOrder) -> None:
        self.held, self.order = held, order
        self.attempts: list[Attempt] = []
        self.journal: _Journal | None = None

    def run(self, timeout_s: float) -> None:
        """Attempt after attempt, as far as the rule goes; whoever lost the job, or whose run is over, leaves it."""
        until = time.monotonic() + timeout_s
        session_id, again = self.order.session_id, None
        while True:
            closed = self._attempt(session_id, until - time.monotonic())
            if closed is None:
                return
            if closed.kind != "ended":
                return self._end_early(closed, again)
            faults.point("stream.ended")
            step = next_step(self.attempts, repeatable=not self.order.in_place)
            if not isinstance(step, Again):
                return self._end(step)
            again = step
            if not self._wait(again):
                return
            session_id = session_of_run(self.order.run_id, attempt=len(self.attempts) + 1)
            until = time.monotonic() + settings.LEASE_S / 2

    def _attempt(self, session_id: str, timeout_s: float) -> Closed | None:
        """Run the turn once in this session; how the stream closed, or None where nobody is to listen any longer."""
        if self.order.version and not usable(self.order.version):
            return Closed("refused", f"Nothing was asked for: {supported(self.order.version)}")
        timeout_s = min(settings.RUNTIME_TIMEOUT_S, timeout_s)
        until = time.monotonic() + timeout_s
        place = Place(self.order.base_url, self.order.allowed_hosts, timeout_s)
        if not self.order.in_place:
            made = create_session(place, self.order.app, self.order.user, session_id)
            if made.kind != "created":
                return Closed("refused", made.detail)
        left = until - time.monotonic()
        if left <= 0:
            return Closed("refused", "Making the session took too long, so nothing was asked for.")
        turn = StreamOrder(
            place=Place(self.order.base_url, self.order.allowed_hosts, left),
            app=self.order.app,
            user=self.order.user,
            session_id=session_id,
            message=self.order.message,
            streaming=True,
            tick_s=TICK_S,
            limit_s=self.order.time_limit_s,
        )
        self.attempts.append(Attempt())
        with closing(stream(turn)) as items:
            return self._listen(items, session_id)

    def _listen(self, items: Iterable[StreamItem], session_id: str) -> Closed | None:
        telling, attempt = Telling(), self.attempts[-1]
        for item in items:
            note(attempt, item)
            if isinstance(item, Closed):
                return item
            if isinstance(item, Opened):
                if not self._opened(session_id):
                    return None
                faults.point("stream.opened")
            if self.journal is None:
                continue
            pieces = telling.pieces(item)
            if not (self.journal.add(pieces) if isinstance(item, Told) else self.journal.rest()):
                return None
            if _leaving[0]:
                return Closed("broken", LEAVING)
        raise AssertionError("a stream tells how it closed")

    def _opened(self, session_id: str) -> bool:
        listening = streaming.opened(held=self.held, order=self.order, session_id=session_id)
        if listening is None:
            return False
        if self.journal is None:
            self.journal = _Journal(listening, max(1.0, self.order.silence_s / 3))
        self.journal.listening = listening
        return True

    def _wait(self, step: Again) -> bool:
        """Say why, and let the time pass. False: nobody is to go on."""
        assert self.journal is not None, "it had opened"
        until = time.monotonic() + step.wait_s
        said = Line(type="message", at=datetime.now(UTC), content={"text": step.why, "author": SAID_BY})
        goes_on = self.journal.add([said]) and self.journal.rest()
        while goes_on and time.monotonic() < until:
            time.sleep(min(TICK_S, max(0.0, until - time.monotonic())))
            goes_on = self.journal.rest()
            if goes_on and _leaving[0]:
                self._broke_off(LEAVING)
                return False
        return goes_on

    def _end(self, step: Done | HandedOn) -> None:
        assert self.journal is not None, "it had opened"
        listening, pieces = self.journal.listening, self.journal.take()
        if isinstance(step, Done):
            streaming.ended(
                listening=listening, pieces=pieces, outcome="completed", sentence="The new run completed."
            )
            return
        error = {
            "code": step.code,
            "message": step.text,
            "completed": [call.name for call in step.completed],
            "open": [call.name for call in step.open],
        }
        streaming.ended(listening=listening, pieces=pieces, outcome="failed", sentence=step.text, error=error)

    def _end_early(self, closed: Closed, again: Again | None) -> None:
        """The stream never opened, or broke off."""
        if self.journal is None:
            handover.settle(held=self.held, kind=closed.kind, detail=closed.detail)
        elif again is not None and closed.kind == "refused":
            # Nothing came of asking once more, and nothing had been called before: it failed as it had failed.
            code: Code = next((code for code in (one.ended_as() for one in self.attempts) if code), "failed")
            text = f"{again.why} That was refused: {closed.detail}"
            self._end(HandedOn(code, f"{text} No call of a tool was seen."))
        else:
            self._broke_off(closed.detail)

    def _broke_off(self, detail: str) -> None:
        assert self.journal is not None, "it had opened"
        streaming.broken(
            listening=self.journal.listening,
            pieces=self.journal.take(),
            sentence=f"{detail} {_called(self.attempts)}",
        )


def _called(attempts: Iterable[Attempt]) -> str:
    """What was called until a stream broke off, and what to do about it."""
    attempts = list(attempts)
    if not any(attempt.called for attempt in attempts):
        return "No call was seen until then. Look at what it did before you decide."
    done = _names(call.name for attempt in attempts for call in attempt.completed)
    left = _names(call.name for attempt in attempts for call in attempt.open)
    return f"Completed until then: {done}. Left open: {left}. Check what these calls have done before you decide."


def _names(names: Iterable[str]) -> str:
    different = list(dict.fromkeys(name or "a tool without a name" for name in names))
    shown = ", ".join(different[:MOST_NAMED])
    return (
        f"{shown} and {len(different) - MOST_NAMED} more" if len(different) > MOST_NAMED else shown or "none"
    )
