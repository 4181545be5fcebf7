"""Several connections to one mail server, driven by one thread that waits for all of them at once.

An errand is offered (its message may go up to, and without, the final dot), released (the dot may follow) or withdrawn
(its connection is closed, and nobody gets it), and ends with an outcome that `collect` hands back. One slow connection
keeps the others waiting for no longer than one of their own rounds.
"""

import select
import socket
import time
from collections import deque
from collections.abc import Hashable, Iterator
from types import TracebackType
from typing import Self

from approvals.connectors import net
from approvals.connectors.smtp.dialling import Dialling
from approvals.connectors.smtp.line import KEPT_FOR_ANSWER, Errand, Line
from approvals.connectors.smtp.message import Message, SmtpOutcome, SmtpSettings, in_envelope, on_the_wire

GRACE_S = 0.002  # the least that the first to end waits for the others
Ended = tuple[Hashable, SmtpOutcome]


class Lines:
    """At most `count` connections; each is dialled when it is needed. Not for several threads at once."""

    def __init__(self, settings: SmtpSettings, count: int) -> None:
        self._settings = settings
        self._count = self._allowed = count
        self._lines: list[Line] = []
        self._diallings: list[Dialling] = []
        self._waiting: deque[Errand] = deque()
        self._ended: list[Ended] = []
        self._wakes, self._wake = socket.socketpair()
        self._wakes.setblocking(False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self, *, deadline: float | None = None) -> SmtpOutcome | None:
        """Have one connection, if there is none yet; None when it is ready, else why it is not.

        Worth calling before the first intent of a batch: what goes wrong here is about no message.
        """
        self._allowed = self._count
        if any(line.is_free and line.is_quiet() for line in self._lines):
            return None
        until = self._until(deadline)
        dialling = self._dial(until)
        while not dialling.over:
            if until.passed():
                break
            self._rest(until.at)
        if dialling.refusal is not None:
            self._diallings.remove(dialling)
            return dialling.refusal.outcome()
        self._adopt()
        return None if self._lines else SmtpOutcome("not_sent", "connect", None, "it took too long", True)

    def free(self) -> int:
        """How many more errands can be offered now."""
        busy = sum(not line.is_free for line in self._lines)
        return max(0, self._allowed - busy - len(self._waiting))

    @property
    def busy(self) -> bool:
        """Whether an errand is under way, or a connection answers what the last one left behind."""
        return bool(self._waiting) or any(line.alive and not line.is_free for line in self._lines)

    def offer(self, key: Hashable, message: Message, *, deadline: float | None = None) -> None:
        """Begin with a message, up to its final dot; whatever goes wrong is its outcome.

        It takes at most the settings' `timeout_s` altogether, and never goes past `deadline`, an instant on
        `time.monotonic()` (the end of the lease).
        """
        until = self._until(deadline)
        refused = _unsayable(message)
        if refused is None and until.passed():
            refused = SmtpOutcome("not_sent", "mail", None, "there was no time left", False)
        if refused is not None:
            self._ended.append((key, refused))
            return
        errand = Errand(key, message, on_the_wire(message.raw), until, until.less(KEPT_FOR_ANSWER))
        self._waiting.append(errand)
        self._assign()

    def release(self, key: Hashable) -> None:
        """Let the message of this errand end: from here on its server may take it."""
        for errand in self._errands():
            if errand.key == key:
                errand.released = True

    def withdraw(self, key: Hashable) -> None:
        """Do not send this errand's message after all; its connection goes, since a message has no other way back."""
        self._waiting = deque(errand for errand in self._waiting if errand.key != key)
        for line in self._lines:
            if line.errand is not None and line.errand.key == key:
                line.errand = None
                line.drop()
        self._lines = [line for line in self._lines if line.alive]
        self._ended = [one for one in self._ended if one[0] != key]

    def move(self) -> None:
        """Do everything that can be done without waiting, for whoever has something else to do before `collect`."""
        self._adopt()
        for line in self._lines:
            line.move()
            line.expire()
            self._end(line)
        self._assign()

    def collect(self, *, deadline: float) -> list[Ended]:
        """The errands that ended: all of them, or those that ended while the others were slow; [] at the deadline."""
        began = time.monotonic()
        first: float | None = None
        while True:
            self.move()
            now = time.monotonic()
            if self._ended and first is None:
                first = now + max(GRACE_S, now - began)
            prompt = any(not errand.late for errand in self._errands())
            if not self.busy or now >= deadline or (first is not None and (not prompt or now >= first)):
                break
            self._rest(min(deadline, first or deadline, self._next_deadline()))
        for errand in self._errands():
            errand.late = True
        ended, self._ended = self._ended, []
        return ended

    def close(self) -> None:
        """Take leave of the server, without waiting long for its answers."""
        lines, self._lines = self._lines, []
        diallings, self._diallings = self._diallings, []
        for dialling in diallings:
            dialling.leave()
        for line in lines:
            line.leave()
        self._waiting.clear()

    def __del__(self) -> None:
        self._wakes.close()
        self._wake.close()

    def _until(self, deadline: float | None) -> net.Deadline:
        mine = net.Deadline.after(self._settings.timeout_s)
        return mine if deadline is None else net.Deadline(min(mine.at, deadline))

    def _errands(self) -> Iterator[Errand]:
        yield from self._waiting
        yield from (line.errand for line in self._lines if line.errand is not None)

    def _end(self, line: Line) -> None:
        if line.ended is None:
            return
        (errand, outcome), line.ended = line.ended, None
        if outcome.phase == "mail" and not line.alive and line.carried > 1 and not errand.again:
            # The server had closed a connection that lay idle; of this message it has not heard.
            errand.again = True
            self._waiting.appendleft(errand)
        else:
            self._ended.append((errand.key, outcome))

    def _assign(self) -> None:
        """Give what waits to whoever is free, and dial for the rest."""
        for line in self._lines:
            if self._waiting and line.is_free and line.is_quiet():
                line.take(self._waiting.popleft())
                self._end(line)
        self._lines = [line for line in self._lines if line.alive]
        for place, errand in enumerate(list(self._waiting)):
            if errand.before_dot.passed() and not self._diallings:
                self._waiting.remove(errand)
                waited = SmtpOutcome("not_sent", "connect", None, "no connection was free in time", False)
                self._ended.append((errand.key, waited))
            elif len(self._diallings) <= place and len(self._lines) + len(self._diallings) < self._allowed:
                self._dial(errand.before_dot)

    def _dial(self, until: net.Deadline) -> Dialling:
        dialling = Dialling(self._settings, until, lambda: self._wake.send(b"!"))
        self._diallings.append(dialling)
        return dialling

    def _adopt(self) -> None:
        """Take over what was dialled. Refused one connection, the others do; without any, all that waits has ended."""
        for dialling in [one for one in self._diallings if one.over]:
            self._diallings.remove(dialling)
            if dialling.session is not None:
                self._lines.append(Line(dialling.session))
                continue
            self._allowed = max(1, len(self._lines) + len(self._diallings))
            if not self._lines and not self._diallings and dialling.refusal is not None:
                outcome = dialling.refusal.outcome()
                self._ended += [(errand.key, outcome) for errand in self._waiting]
                self._waiting.clear()

    def _next_deadline(self) -> float:
        found = [line.deadline() for line in self._lines]
        waiting = [errand.before_dot for errand in self._waiting]
        return min((one.at for one in [*found, *waiting] if one is not None), default=float("inf"))

    def _rest(self, until: float) -> None:
        """Until a connection can go on, a dialling is over, or the instant is there."""
        poll = select.poll()
        poll.register(self._wakes, select.POLLIN)
        for line in self._lines:
            if line.session.sock is not None:
                poll.register(
                    line.session.sock, select.POLLIN | (select.POLLOUT if line.wants_to_write else 0)
                )
        left = min(until - time.monotonic(), 60.0)
        for descriptor, _ in poll.poll(max(0.0, left) * 1000):
            if descriptor == self._wakes.fileno():
                self._wakes.recv(64)


def _unsayable(message: Message) -> SmtpOutcome | None:
    """Why a message cannot even be begun, whatever the server offers: only plain addresses are ever said."""
    if not in_envelope(message.envelope_from):
        return SmtpOutcome("not_sent", "mail", None, "the sender's address cannot be used", True)
    if not in_envelope(message.to):
        return SmtpOutcome("failed", "rcpt", None, "the address cannot be used", False)
    return None
