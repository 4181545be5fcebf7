"""One message at a time over one connection: for a single message, and for whoever waits for its outcome."""

from types import TracebackType
from typing import Self

from approvals.connectors.smtp.lines import Lines
from approvals.connectors.smtp.message import Message, SmtpOutcome, SmtpSettings


class Channel:
    """One mail server; connects when needed. Not for several threads at once."""

    def __init__(self, settings: SmtpSettings) -> None:
        self._lines = Lines(settings, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self, *, deadline: float | None = None) -> SmtpOutcome | None:
        """Connect and sign in, if that is still to do; None when the channel is ready, else why it is not."""
        return self._lines.open(deadline=deadline)

    def send(self, message: Message, *, deadline: float | None = None) -> SmtpOutcome:
        """Send one message to its one recipient and say what is known; never raises for network trouble.

        Takes at most the settings' `timeout_s`, and never goes past `deadline`, an instant on
        `time.monotonic()` (the end of the lease).
        """
        self._lines.offer(0, message, deadline=deadline)
        self._lines.release(0)
        # Each step has a deadline of its own, so that this one never is the first.
        [(_, outcome)] = self._lines.collect(deadline=float("inf"))
        return outcome

    def close(self) -> None:
        """Take leave of the server, without waiting long for its answer."""
        self._lines.close()
