"""One batch of messages, in rounds: what is next is begun up to its final dot while one commit settles what ended and
opens what is next; only then the dots may leave.

So there is never more than one message in doubt for each connection, and one commit for as many messages as there are
connections.
"""

import json
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from email.utils import parseaddr
from functools import lru_cache
from itertools import islice
from uuid import UUID

import structlog
from django.conf import settings

from approvals import faults
from approvals.connectors.smtp import Lines, Message, SmtpOutcome
from approvals.exceptions import Invalid
from approvals.rules import smtp as rules
from approvals.rules.content import Content, envelope_for
from approvals.rules.messages import build
from approvals.services import rounds
from approvals.services.jobs import Claim
from approvals.services.rounds import Ending, Planned
from approvals.services.sending import Sealed, Trouble
from approvals.services.suppressions import link_for
from approvals.tasks import leaving

CHUNK = 200  # recipients read at once
STREAK = 8  # messages in a row that came to nothing: then it is the server, and not its recipients
NAP_S = 0.2  # how long it sleeps before it looks again whether it was asked to end
STATES = {"sent": "sent", "failed": "failed", "in_doubt": "in_doubt", "not_sent": "planned"}
UNWRITABLE = "This message could not be written; the worker's log says why."

log = structlog.get_logger(__name__)


class Batch:
    """Up to a batch of messages until `deadline`, the last of which ends by `latest` (both on `time.monotonic()`)."""

    def __init__(self, held: Claim, sealed: Sealed, lines: Lines, *, deadline: float, latest: float) -> None:
        self._held, self._sealed, self._lines = held, sealed, lines
        self._deadline, self._latest = deadline, latest
        self._ahead = Ahead(held, sealed)
        self._made: dict[UUID, tuple[Planned, Message | Ending]] = {}  # for whoever is next
        self._left: int = settings.SEND_BATCH
        self._streak = 0
        self._ours = True
        self._trouble: Trouble | None = None

    def run(self) -> tuple[Trouble | None, float]:
        """(what stopped the channel as a whole, in how many seconds the pace allows the next message)."""
        rounds.begin_batch()
        endings: list[Ending] = []
        while True:
            wanted = self._next() if self._goes_on() else []
            wait_s = 0.0
            if wanted or endings:
                endings, wait_s = self._turn(endings, wanted)
            elif not self._lines.busy:
                return self._trouble, 0
            if wait_s and not self._lines.busy and not endings:
                if not self._nap(wait_s):
                    return self._trouble, wait_s
                continue
            until = min(self._latest, time.monotonic() + wait_s) if wait_s else self._latest
            endings += self._collect(until)

    def _goes_on(self) -> bool:
        """Whether another message may begin."""
        stops = self._trouble is not None or not self._ours or self._left <= 0 or leaving.asked()
        return not stops and time.monotonic() < self._deadline

    def _message(self, planned: Planned) -> Message | Ending:
        """Made before, unless its second, which the message tells, is over."""
        made_for, message = self._made.pop(planned.delivery_id, (None, None))
        if message is not None and made_for == planned:
            return message
        return message_for(self._sealed.content, planned)

    def _next(self) -> list[Planned]:
        """Whoever is next, as many as there are connections free."""
        return self._ahead.take(min(self._lines.free(), self._left))

    def _turn(self, endings: Sequence[Ending], wanted: Sequence[Planned]) -> tuple[list[Ending], float]:
        """Commit a round and let its messages go; (what ended without a word to the server, how long to wait)."""
        begun: dict[UUID, Message | Ending] = {}
        turned = rounds.turn(
            held=self._held,
            sealed=self._sealed,
            endings=endings,
            wanted=wanted,
            meanwhile=lambda: self._begin(wanted, begun),
        )
        if endings:
            faults.point("send.settled")
        if turned.opened:
            faults.point("send.intent")
        self._ours = turned.ours and len(turned.settled) == len(endings)
        ended: list[Ending] = []
        for planned in wanted:
            id = planned.delivery_id
            if id not in turned.opened:
                self._lines.withdraw(id)
                continue
            message = begun.get(id) or self._offer(planned)
            if isinstance(message, Ending):
                ended.append(message)
            else:
                self._lines.release(id)
        self._left -= len(turned.opened)
        self._ahead.put_back([planned for planned in wanted if planned.delivery_id in turned.early])
        return ended, turned.wait_s

    def _begin(self, wanted: Sequence[Planned], begun: dict[UUID, Message | Ending]) -> None:
        """While the database works: begin with these messages, make those after them, and send the bodies asked for.

        Where the pace may hold somebody back, nobody's message is begun yet.
        """
        if not self._sealed.paced:
            begun |= {planned.delivery_id: self._offer(planned) for planned in wanted}
        for planned in self._ahead.next(min(settings.SEND_CONNECTIONS, self._left)):
            if planned.delivery_id not in self._made:
                self._made[planned.delivery_id] = planned, message_for(self._sealed.content, planned)
        self._lines.move()

    def _offer(self, planned: Planned) -> Message | Ending:
        """Begin with a message, up to its final dot; why not, where there is none."""
        message = self._message(planned)
        if isinstance(message, Message):
            self._lines.offer(planned.delivery_id, message, deadline=self._latest)
        return message

    def _collect(self, until: float) -> list[Ending]:
        outcomes = self._lines.collect(deadline=until)
        if outcomes:
            faults.point("send.handed_over")
        return [self._ending(key, outcome) for key, outcome in outcomes if isinstance(key, UUID)]

    def _ending(self, id: UUID, outcome: SmtpOutcome) -> Ending:
        came_to_nothing = outcome.kind in ("not_sent", "in_doubt")
        self._streak = self._streak + 1 if came_to_nothing else 0
        if (outcome.channel_wide and outcome.kind == "not_sent") or self._streak >= STREAK:
            self._trouble = self._trouble or trouble_of(outcome)
        counts = outcome.kind != "not_sent" or rules.counts(outcome.phase, outcome.code)
        return Ending(id, STATES[outcome.kind], said(outcome), counts)

    def _nap(self, seconds: float) -> bool:
        """Sleep until the pace allows the next message; False where that is too long, or somebody asked to end."""
        end = time.monotonic() + seconds
        if end >= self._deadline:
            return False
        while (left := end - time.monotonic()) > 0:
            if leaving.asked():
                return False
            time.sleep(min(NAP_S, left))
        return True


class Ahead:
    """Who is next, read in chunks: memory does not grow with the campaign."""

    def __init__(self, held: Claim, sealed: Sealed) -> None:
        self._held, self._sealed = held, sealed
        self._rows: deque[Planned] = deque()
        self._again: set[UUID] = set()  # everybody who was asked to wait is tried once a batch
        self._after = -1
        self._read_at = 0.0
        self._dry = False

    def take(self, count: int) -> list[Planned]:
        """The next so many, dated now."""
        if len(self._rows) < count and not self._dry:
            self._read()
        taken = self.next(count)
        for _ in taken:
            self._rows.popleft()
        return taken

    def next(self, count: int) -> list[Planned]:
        """Whom `take` would give, as far as they have been read."""
        later = timedelta(seconds=int(time.monotonic() - self._read_at))
        coming = islice(self._rows, count)
        return [replace(planned, date=planned.date + later) if later else planned for planned in coming]

    def put_back(self, planned: Sequence[Planned]) -> None:
        """They are next again."""
        self._rows.extendleft(reversed(planned))

    def _read(self) -> None:
        rows = rounds.upcoming(held=self._held, sealed=self._sealed, after=self._after, at_most=CHUNK)
        new = [row for row in rows if row.delivery_id not in self._again]
        for row in new:
            if row.again:
                self._again.add(row.delivery_id)
            else:
                self._after = max(self._after, row.position)
        self._rows.extend(new)
        self._read_at = time.monotonic()
        self._dry = not new


def message_for(content: Content, planned: Planned) -> Message | Ending:
    """The message for one recipient, or why there is none: one that cannot be written stops no other."""
    if planned.skip:
        return Ending(planned.delivery_id, "planned", planned.skip)
    try:
        envelope, _ = envelope_for(
            content,
            delivery_id=str(planned.delivery_id),
            to=planned.address,
            variables=json.loads(planned.vars),
            message_id=planned.message_id,
            date=planned.date,
            unsubscribe=link_for(planned.delivery_id, settings.BASE_URL),
        )
        raw = build(envelope)
    except Invalid as invalid:
        return Ending(planned.delivery_id, "failed", invalid.text)
    except Exception:
        log.exception("a message could not be written", delivery=str(planned.delivery_id))
        return Ending(planned.delivery_id, "failed", UNWRITABLE)
    return Message(envelope_from=_sender(content.from_address), to=planned.address, raw=raw)


@lru_cache(maxsize=64)
def _sender(from_address: str) -> str:
    return parseaddr(from_address)[1]


def trouble_of(outcome: SmtpOutcome) -> Trouble:
    """What an outcome says about the channel as a whole."""
    return Trouble(said(outcome), rules.sender_refused(outcome.phase, outcome.code))


def said(outcome: SmtpOutcome) -> str:
    """What the server said, or what is known where it said nothing."""
    return f"{outcome.code} {outcome.reply}" if outcome.code else outcome.reply
