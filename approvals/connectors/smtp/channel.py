"""Sends messages over one connection, step by step, so that a loss is known to lie before or after the dot.

Before the final dot the server has not taken the message; once the dot is out, only its answer tells. Which
outcome a step and an answer mean is the table in `rules/smtp.py`; here is only what happened.
"""

import contextlib
import smtplib
import ssl
from collections.abc import Callable
from types import TracebackType
from typing import Self

from approvals.connectors import net
from approvals.connectors.smtp.message import Message, SmtpOutcome, SmtpSettings, in_envelope, on_the_wire
from approvals.connectors.smtp.session import Lost, Session
from approvals.rules import smtp as rules

POLITE_S = 2.0  # the longest wait for an answer that changes nothing
# The share of the time that is kept for the answer to the final dot: giving up before it leaves no doubt.
KEPT_FOR_ANSWER = 0.25
REPLY_LIMIT = 500  # bytes of a reply that are kept

_Reply = tuple[int, bytes]


class _Stopped(Exception):
    """A step did not go on: the server refused (`code` set) or was lost (`code` None)."""

    def __init__(self, phase: rules.Phase, code: int | None, reply: str) -> None:
        super().__init__(phase)
        self.phase, self.code, self.reply = phase, code, reply

    def outcome(self) -> SmtpOutcome:
        if self.code is None:
            kind, wide = rules.lost(self.phase), self.phase in rules.CHANNEL_PHASES
        else:
            kind, wide = rules.outcome(self.phase, self.code), rules.channel_wide(self.phase, self.code)
        return SmtpOutcome(kind, self.phase, self.code, self.reply, wide)


class Channel:
    """One mail server for a batch of messages; connects when needed. Not for several threads at once."""

    def __init__(self, settings: SmtpSettings) -> None:
        self._settings = settings
        self._session: Session | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self, *, deadline: float | None = None) -> SmtpOutcome | None:
        """Connect and sign in, if that is still to do; None when the channel is ready, else why it is not.

        Worth calling before the first intent of a batch: what goes wrong here is about no message.
        """
        try:
            self._ready(self._until(deadline))
        except _Stopped as stopped:
            return stopped.outcome()
        return None

    def send(self, message: Message, *, deadline: float | None = None) -> SmtpOutcome:
        """Send one message to its one recipient and say what is known; never raises for network trouble.

        Takes at most the settings' `timeout_s`, and never goes past `deadline`, an instant on
        `time.monotonic()` (the end of the lease).
        """
        if not in_envelope(message.envelope_from):
            return SmtpOutcome("not_sent", "mail", None, "the sender's address cannot be used", True)
        if not in_envelope(message.to):
            return SmtpOutcome("failed", "rcpt", None, "the address cannot be used", False)
        body = on_the_wire(message.raw)
        until = self._until(deadline)
        if until.passed():
            return SmtpOutcome("not_sent", "mail", None, "there was no time left", False)
        reused = self._session is not None
        outcome = self._attempt(message, body, until)
        if reused and self._session is None and outcome.phase == "mail":
            # The server had closed a connection that lay idle; of this message it has not heard.
            outcome = self._attempt(message, body, until)
        return outcome

    def close(self) -> None:
        """Take leave of the server, without waiting long for its answer."""
        session, self._session = self._session, None
        if session is None:
            return
        with contextlib.suppress(OSError), contextlib.closing(session):
            session.deadline = net.Deadline.after(POLITE_S)
            session.docmd("QUIT")

    def _until(self, deadline: float | None) -> net.Deadline:
        mine = net.Deadline.after(self._settings.timeout_s)
        return mine if deadline is None else net.Deadline(min(mine.at, deadline))

    def _attempt(self, message: Message, body: bytes, until: net.Deadline) -> SmtpOutcome:
        try:
            code, reply = self._transaction(message, body, until)
        except _Stopped as stopped:
            self._after(stopped, until)
            return stopped.outcome()
        return SmtpOutcome("sent", "dot", code, _plain(reply), False)

    def _transaction(self, message: Message, body: bytes, until: net.Deadline) -> _Reply:
        """From MAIL to the answer to the dot, which is returned; raises _Stopped."""
        before_dot = until.less(KEPT_FOR_ANSWER)
        session = self._ready(before_dot)
        session.deadline = before_dot
        # Told the size, a server may refuse a message before it has come.
        size = f" SIZE={len(body)}" if session.has_extn("size") else ""
        _step("mail", "2", lambda: session.docmd("MAIL", f"FROM:<{message.envelope_from}>{size}"))
        _step("rcpt", "2", lambda: session.docmd("RCPT", f"TO:<{message.to}>"))
        _step("data", "354", lambda: session.docmd("DATA"))
        _step("body", "", lambda: _write_body(session, body))
        session.deadline = until
        try:
            session.send(b".\r\n")
        except Lost as lost:
            # The dot is out only if the network took some of it.
            raise _Stopped("dot" if lost.written else "body", None, str(lost)) from lost
        return _step("dot", "2", session.getreply)

    def _after(self, stopped: _Stopped, until: net.Deadline) -> None:
        """Leave the connection so that the next message can use it, or close it."""
        session = self._session
        if session is None:
            return
        # Inside the body RSET would be text of the message; 421 says that the server is closing anyway.
        if stopped.code is not None and 400 <= stopped.code != 421 and stopped.phase != "body":
            with contextlib.suppress(OSError):
                session.deadline = until.or_after(POLITE_S)
                if session.docmd("RSET")[0] == 250:
                    return
        self._drop()

    def _drop(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def _ready(self, until: net.Deadline) -> Session:
        """The session, connected, secured and signed in as the settings ask; raises _Stopped."""
        if self._session is not None and _is_quiet(self._session):
            return self._session
        self._drop()
        settings = self._settings
        session = Session(until, implicit_tls=ssl.create_default_context() if settings.use_ssl else None)
        try:
            _step("connect", "220", lambda: session.open(settings.host, settings.port))
            _greet(session)
            if settings.use_tls:
                _step("tls", "220", lambda: session.secure(ssl.create_default_context()))
                _greet(session)
            if settings.username:
                _step("auth", "2", lambda: session.login(settings.username, settings.password))
        except _Stopped:
            session.close()
            raise
        self._session = session
        return session


def _is_quiet(session: Session) -> bool:
    """Whether a connection that lay idle is as it was: still there, and no word, such as a farewell, came."""
    try:
        return not session.spoke_unasked()
    except Lost:
        return False


def _greet(session: Session) -> None:
    def hello() -> _Reply:
        reply = session.ehlo()
        return session.helo() if 500 <= reply[0] < 600 else reply

    _step("helo", "250", hello)


def _write_body(session: Session, body: bytes) -> _Reply | None:
    """Write the body without its dot, and see whether the server has left or said something meanwhile."""
    session.send(body)
    return session.getreply() if session.spoke_unasked() else None


def _step(phase: rules.Phase, wanted: str, act: Callable[[], _Reply | None]) -> _Reply:
    """Do one step; return the reply if its code begins as wanted, else raise _Stopped.

    No reply at all is what is wanted of the body.
    """
    try:
        reply = act()
    except smtplib.SMTPResponseException as refused:  # login() raises what it could return
        reply = refused.smtp_code, _bytes(refused.smtp_error)
    except UnicodeError as error:  # smtplib signs in with ASCII
        raise _Stopped(phase, None, "the user name or password has letters that cannot be sent") from error
    except OSError as error:
        raise _Stopped(phase, None, net.why(error)) from error
    if reply is None:
        return 0, b""
    code, text = reply
    if not wanted or not str(code).startswith(wanted):
        raise _Stopped(phase, code, _plain(text))
    return reply


def _bytes(text: bytes | str) -> bytes:
    return text.encode(errors="replace") if isinstance(text, str) else text


def _plain(reply: bytes) -> str:
    """The server's words as one printable line of bounded length."""
    text = reply[:REPLY_LIMIT].decode(errors="replace")
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
