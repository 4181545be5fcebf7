"""Connecting to a mail server: greeted, secured and signed in as the settings ask, within one deadline.

It waits, so the lines do it in a thread of its own for each connection (`Dialling`): a server that is slow to take
another connection keeps none of those that are open waiting.
"""

import smtplib
import ssl
import threading
from collections.abc import Callable

from approvals.connectors import net
from approvals.connectors.smtp.message import SmtpOutcome, SmtpSettings
from approvals.connectors.smtp.session import Session
from approvals.rules import smtp as rules

REPLY_LIMIT = 500  # bytes of a reply that are kept

_Reply = tuple[int, bytes]


class Stopped(Exception):
    """A step did not go on: the server refused (`code` set) or was lost (`code` None)."""

    def __init__(self, phase: rules.Phase, code: int | None, reply: str) -> None:
        super().__init__(phase)
        self.phase, self.code, self.reply = phase, code, reply

    def outcome(self) -> SmtpOutcome:
        """What that makes of the message under way."""
        if self.code is None:
            kind, wide = rules.lost(self.phase), self.phase in rules.CHANNEL_PHASES
        else:
            kind, wide = rules.outcome(self.phase, self.code), rules.channel_wide(self.phase, self.code)
        return SmtpOutcome(kind, self.phase, self.code, self.reply, wide)


def dial(settings: SmtpSettings, until: net.Deadline) -> Session:
    """A session that can take a message; raises Stopped."""
    session = Session(until, implicit_tls=ssl.create_default_context() if settings.use_ssl else None)
    try:
        _step("connect", "220", lambda: session.open(settings.host, settings.port))
        _greet(session)
        if settings.use_tls:
            _step("tls", "220", lambda: session.secure(ssl.create_default_context()))
            _greet(session)
        if settings.username:
            _step("auth", "2", lambda: session.login(settings.username, settings.password))
    except BaseException:
        session.close()
        raise
    return session


class Dialling:
    """One `dial` under way; `told` is called, in its thread, when it is over."""

    def __init__(self, settings: SmtpSettings, until: net.Deadline, told: Callable[[], object]) -> None:
        self._lock = threading.Lock()
        self._left = False
        self.session: Session | None = None
        self.refusal: Stopped | None = None
        threading.Thread(target=self._dial, args=(settings, until, told), name="dial", daemon=True).start()

    @property
    def over(self) -> bool:
        """Whether there is a session or a refusal."""
        return self.session is not None or self.refusal is not None

    def leave(self) -> None:
        """Nobody waits for it any more: what it comes to is closed."""
        with self._lock:
            self._left = True
            session, self.session = self.session, None
        if session is not None:
            session.close()

    def _dial(self, settings: SmtpSettings, until: net.Deadline, told: Callable[[], object]) -> None:
        try:
            session = dial(settings, until)
        except Stopped as stopped:
            self.refusal = stopped
        except Exception as error:  # a thread that ended without a word would be waited for
            self.refusal = Stopped("connect", None, net.why(error))
        else:
            with self._lock:
                if self._left:
                    session.close()
                    return
                self.session = session
        told()


def plain(reply: bytes) -> str:
    """The server's words as one printable line of bounded length."""
    text = reply[:REPLY_LIMIT].decode(errors="replace")
    if not text.isprintable():
        text = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(text.split())


def _greet(session: Session) -> None:
    def hello() -> _Reply:
        reply = session.ehlo()
        return session.helo() if 500 <= reply[0] < 600 else reply

    _step("helo", "250", hello)


def _step(phase: rules.Phase, wanted: str, act: Callable[[], _Reply]) -> None:
    """Do one step; raise Stopped unless its code begins as wanted."""
    try:
        code, text = act()
    except smtplib.SMTPResponseException as refused:  # login() raises what it could return
        code, text = refused.smtp_code, _bytes(refused.smtp_error)
    except UnicodeError as error:  # smtplib signs in with ASCII
        raise Stopped(phase, None, "the user name or password has letters that cannot be sent") from error
    except OSError as error:
        raise Stopped(phase, None, net.why(error)) from error
    if not str(code).startswith(wanted):
        raise Stopped(phase, code, plain(text))


def _bytes(text: bytes | str) -> bytes:
    return text.encode(errors="replace") if isinstance(text, str) else text
