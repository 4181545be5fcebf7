"""One connection that carries one message at a time, and waits for nothing: what can be done now is done by `move`.

MAIL, RCPT and DATA are said together where the server takes them so (RFC 2920), else one after the other; the body
follows as soon as it is asked for. The final dot alone is kept back until the errand is released, which is when its
intent is committed: a message that is not to go out after all costs the connection, and nobody gets it.
"""

import contextlib
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from approvals.connectors import net
from approvals.connectors.smtp.dialling import Stopped, plain
from approvals.connectors.smtp.message import Message, SmtpOutcome
from approvals.connectors.smtp.session import Lost, Session
from approvals.rules import smtp as rules

POLITE_S = 2.0  # the longest wait for an answer that changes nothing
# The share of the time that is kept for the answer to the final dot: giving up before it leaves no doubt.
KEPT_FOR_ANSWER = 0.25
_DOT = b".\r\n"
_WANTED: Mapping[rules.Phase, str] = {"mail": "2", "rcpt": "2", "data": "354", "dot": "2"}
_AFTER: Mapping[rules.Phase, rules.Phase] = {"mail": "rcpt", "rcpt": "data", "data": "body"}


@dataclass(slots=True)
class Errand:
    """One message to be handed over. `key` is the caller's name for it; `body` is as it is on the wire, without dot."""

    key: Hashable
    message: Message
    body: bytes
    until: net.Deadline
    before_dot: net.Deadline
    released: bool = False
    again: bool = False  # it was begun on a connection that the server had closed already
    late: bool = False  # the others went on without it


class Line:
    """A session that was dialled, and the errand on it; `ended` is the errand that is over, until somebody takes it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.pipelines = bool(session.has_extn("pipelining"))
        self.sizes = bool(session.has_extn("size"))
        self.carried = 0  # messages that ended here, well or not
        self.alive = True
        self.errand: Errand | None = None
        self.ended: tuple[Errand, SmtpOutcome] | None = None
        self._phase: rules.Phase = "mail"
        self._commands: list[bytes] = []
        self._to_write = memoryview(b"")
        self._unanswered = 0  # commands that were said after the one that was refused
        self._recovers_by: net.Deadline | None = None

    @property
    def is_free(self) -> bool:
        """Whether it can take an errand now."""
        return self.alive and self.errand is None and self.ended is None and self._recovers_by is None

    @property
    def wants_to_write(self) -> bool:
        """Whether the network has not taken everything yet."""
        return bool(self._to_write)

    def is_quiet(self) -> bool:
        """Whether a connection that lay idle is as it was: still there, and no word, such as a farewell, came."""
        with contextlib.suppress(Lost):
            if not self.session.hear():
                return True
        self.drop()
        return False

    def take(self, errand: Errand) -> None:
        """Begin with a message; only while the line is free."""
        self.errand, self._phase = errand, "mail"
        # Told the size, a server may refuse a message before it has come.
        size = f" SIZE={len(errand.body)}" if self.sizes else ""
        self._commands = [
            f"MAIL FROM:<{errand.message.envelope_from}>{size}\r\n".encode(),
            f"RCPT TO:<{errand.message.to}>\r\n".encode(),
            b"DATA\r\n",
        ]
        if self.pipelines:
            self._write(b"".join(self._commands))
        else:
            self._write(self._commands[0])
        self.move()

    def move(self) -> None:
        """Do everything that can be done without waiting."""
        if not self.alive:
            return
        try:
            self._push()
            if self.session.hear():
                while self.alive and (reply := self.session.take_reply()) is not None:
                    self._hear(*reply)
            self._dot()
        except Lost as lost:
            self._lose(str(lost))

    def deadline(self) -> net.Deadline | None:
        """Until when it may wait for what comes next; None while nothing is under way."""
        if self._recovers_by is not None:
            return self._recovers_by
        if self.errand is None:
            return None
        return self.errand.until if self._phase == "dot" else self.errand.before_dot

    def expire(self) -> None:
        """Give up what has taken too long."""
        deadline = self.deadline()
        if deadline is not None and deadline.passed():
            self._lose("it took too long")

    def drop(self) -> None:
        """Close the connection without a word: nothing that was begun on it can end."""
        self.alive = False
        self._recovers_by = None
        self.session.close()

    def leave(self) -> None:
        """Take leave of the server, without waiting long for its answer."""
        if self.alive and self.is_free:
            with contextlib.suppress(OSError):
                self.session.deadline = net.Deadline.after(POLITE_S)
                self.session.docmd("QUIT")
        self.drop()

    def _write(self, data: bytes) -> None:
        self._to_write = memoryview(data)

    def _push(self) -> None:
        if self._to_write:
            self._to_write = self._to_write[self.session.write_now(self._to_write) :]

    def _dot(self) -> None:
        """End the message, if it is released and all of it is out; not after the server said something meanwhile."""
        errand = self.errand
        if not self.alive or errand is None or self._phase != "body" or not errand.released:
            return
        if self._to_write or self.session.has_unread:
            return
        if errand.before_dot.passed():  # whoever slept until now knows nothing of what happened meanwhile
            raise Lost("it took too long")
        dot = memoryview(_DOT)
        # The dot is out only if the network took some of it: until then a loss leaves no doubt.
        if written := self.session.write_now(dot):
            self._phase = "dot"
            self._to_write = dot[written:]

    def _hear(self, code: int, text: bytes) -> None:
        if self._recovers_by is not None:
            self._recover(code)
        elif self.errand is None:
            raise Lost("the server spoke out of turn")
        elif not str(code).startswith(_WANTED.get(self._phase, "nothing")):
            self._refuse(code, plain(text))
        elif self._phase == "dot":
            self._end(SmtpOutcome("sent", "dot", code, plain(text), False))
        else:
            self._go_on(self.errand)

    def _go_on(self, errand: Errand) -> None:
        self._phase = _AFTER[self._phase]
        if self._phase == "body":
            if self.session.has_unread:
                raise Lost("the server spoke out of turn")
            self._write(errand.body)
        elif not self.pipelines:
            self._write(self._commands[1 if self._phase == "rcpt" else 2])
        self._push()

    def _refuse(self, code: int, reply: str) -> None:
        """The server said no. The connection is kept where the next message can use it."""
        phase = self._phase
        self._end(Stopped(phase, code, reply).outcome())
        # Inside the body RSET would be text of the message; 421 says that the server is closing anyway.
        if not code >= 400 or code == 421 or phase == "body":
            self.drop()
            return
        self._recovers_by = net.Deadline.after(POLITE_S)
        self._unanswered = {"mail": 2, "rcpt": 1}.get(phase, 0) if self.pipelines else 0
        if not self._unanswered:
            self._reset()

    def _recover(self, code: int) -> None:
        """An answer after a refusal: to what was said along with what was refused, and then to RSET."""
        if self._unanswered:
            self._unanswered -= 1
            if code == 354:  # it wants the message although it refused the recipient: it gets no end of it
                self.drop()
            elif not self._unanswered:
                self._reset()
        elif code == 250:
            self._recovers_by = None
        else:
            self.drop()

    def _reset(self) -> None:
        self._write(b"RSET\r\n")
        self._push()

    def _lose(self, why: str) -> None:
        self.drop()
        if self.errand is not None:
            self._end(Stopped(self._phase, None, why).outcome())

    def _end(self, outcome: SmtpOutcome) -> None:
        if self.errand is not None:
            self.ended = self.errand, outcome
        self.errand = None
        self.carried += 1
