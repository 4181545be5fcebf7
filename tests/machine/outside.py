"""The world outside: a runtime that is asked for replays and a mail server, which write down whatever reaches them."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from email import message_from_bytes
from types import SimpleNamespace
from typing import Any, Self
from uuid import UUID

import psycopg

from approvals.connectors.http import Outcome, ReplayOrder
from approvals.connectors.smtp import Message, SmtpOutcome

# What the other side does with a call. `lost` is a time-out before it got there, `unheard` one after it was taken.
ANSWERS = ("taken", "refused", "lost", "unheard", "busy", "closed")
ARRIVED = ("taken", "unheard")


@dataclass(frozen=True)
class Handover:
    """The runtime was asked for a replay. `head`: how long the decision log was at that moment."""

    job_id: UUID
    run_id: UUID
    took_it: bool
    head: int
    in_place: bool = False


@dataclass(frozen=True)
class Mail:
    """A message left for somebody; `took_it` says whether the server has it."""

    message_id: str
    took_it: bool
    head: int


@dataclass
class Outside:
    """Both of them. `answers` is what they do next, the last one from then on; `now` is the workers' own clock."""

    sql: psycopg.Connection[Any]
    workspace_id: UUID
    answers: list[str] = field(default_factory=lambda: ["taken"])
    now: float = 1_000.0
    handovers: list[Handover] = field(default_factory=list)
    mails: list[Mail] = field(default_factory=list)
    without_intent: list[str] = field(default_factory=list)

    def then(self, answers: Sequence[str]) -> None:
        """What the next calls meet."""
        self.answers = list(answers)

    def start_replay(self, order: ReplayOrder) -> Outcome:
        """Stands in for the connector's call to the runtime."""
        answer, job_id = self._next(), UUID(order.job_id)
        self._has_intent(
            f"the handover of job {job_id}", "approvals_job", "id = %s and intent_at is not null", job_id
        )
        self.handovers.append(
            Handover(job_id, UUID(order.payload["run_id"]), answer in ARRIVED, self._head())
        )
        if answer == "taken":
            return Outcome("accepted", "The runtime took it.")
        if answer in ("lost", "unheard"):
            return Outcome("in_doubt", "The runtime did not answer in time.")
        return Outcome("refused", "The runtime refused it.")

    def send(self, message: Message, deadline: float | None) -> SmtpOutcome:
        """Stands in for the conversation with the mail server."""
        if deadline is not None and deadline <= self.now:
            return SmtpOutcome("not_sent", "mail", None, "there was no time left", False)
        answer, message_id = self._next(), str(message_from_bytes(message.raw)["Message-ID"])
        self._has_intent(
            f"the message to {message.to}", "approvals_delivery", "message_id = %s and state = 'attempting'", message_id
        )  # fmt: skip
        if answer in ("taken", "lost", "unheard"):
            self.mails.append(Mail(message_id, answer in ARRIVED, self._head()))
        return {
            "taken": SmtpOutcome("sent", "data", 250, "kept", False),
            "refused": SmtpOutcome("failed", "rcpt", 550, "no such box", False),
            "busy": SmtpOutcome("not_sent", "rcpt", 451, "later", False),
            "closed": SmtpOutcome("not_sent", "mail", 421, "closing", True),
        }.get(answer, SmtpOutcome("in_doubt", "data", None, "the connection broke after the dot", False))

    def lines(self, _settings: Any, _count: int) -> "_Lines":
        """Stands in for the connector's lines: there is one, so that a worker stands between any two messages."""
        return _Lines(self)

    @property
    def clock(self) -> Any:
        """Stands in for the module `time` of the tasks."""
        return SimpleNamespace(monotonic=lambda: self.now)

    def _next(self) -> str:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def _head(self) -> int:
        query = "select count(*) from approvals_decision where workspace_id = %s"
        [row] = self.sql.execute(query, [self.workspace_id]).fetchall()
        return int(row[0])

    def _has_intent(self, what: str, table: str, condition: str, key: object) -> None:
        """Asked over another connection than the worker's: only what is committed counts."""
        found = self.sql.execute(f"select from {table} where {condition}".encode(), [key])
        if not found.rowcount:
            self.without_intent.append(f"{what} left before its intent was committed")


@dataclass
class _Lines:
    outside: Outside
    offered: dict[Hashable, tuple[Message, float | None]] = field(default_factory=dict)
    ended: list[tuple[Hashable, SmtpOutcome]] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    @property
    def busy(self) -> bool:
        return False

    def open(self, *, deadline: float | None = None) -> SmtpOutcome | None:
        del deadline
        return None

    def free(self) -> int:
        return 1

    def offer(self, key: Hashable, message: Message, *, deadline: float | None = None) -> None:
        self.offered[key] = message, deadline

    def move(self) -> None:
        """Nothing goes on by itself here."""

    def withdraw(self, key: Hashable) -> None:
        self.offered.pop(key, None)

    def release(self, key: Hashable) -> None:
        self.ended.append((key, self.outside.send(*self.offered.pop(key))))

    def collect(self, *, deadline: float) -> list[tuple[Hashable, SmtpOutcome]]:
        del deadline
        ended, self.ended = self.ended, []
        return ended
