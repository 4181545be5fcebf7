"""What a runtime's own store or stream shows of its sessions, in the words of the journal.

A connector translates rows and stream events into these; services store them. Nothing here knows of any one runtime.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

# What came of a call, where it is neither an answer nor a failure.
RESULT_OUTCOMES = ("awaiting", "rejected", "supplied", "aborted", "withdrawn", "replaced")
# What was found out about a history, as the origin of a line of the type `finding`.
FINDINGS = ("restored", "edited", "deleted", "unreadable", "hidden")


@dataclass(frozen=True, slots=True, order=True)
class SessionKey:
    """One session of a runtime: its application, whom it speaks for, and its id there."""

    app: str
    user: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the journal to be. `content` is what may have to be erased: a JSON object, or None.

    `outcome` is completed, failed or cancelled on `ended`, and on `tool_result` one of RESULT_OUTCOMES or None.
    """

    type: str
    at: datetime
    call_id: str | None = None
    name: str | None = None
    outcome: str | None = None
    is_error: bool = False
    origin: str = "live"
    content: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One event of a session, translated. A row that cannot be read has a finding as its only line.

    `digest` is the SHA-256 of the row as stored, None for one that came by stream.
    `input` is the message that it starts a run with: what a person or program sent, and no answer to a call.
    `answers` are the ids of the calls that it answers from outside.
    `ends` is how the run stands once this is its last row: `completed` after a final answer, `failed` after an error,
    `waiting` while a confirmation is asked for; `proven` where the row itself says that the run is over.
    `marks_session` where what is wrong with this row is wrong with its whole session.
    """

    event_id: str
    invocation_id: str
    at: datetime
    digest: bytes | None = None
    lines: tuple[Line, ...] = ()
    input: Mapping[str, Any] | None = None
    answers: tuple[str, ...] = ()
    ends: Literal["completed", "failed", "waiting"] | None = None
    proven: bool = False
    marks_session: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """A session as its store lists it; `updated_at` in UTC as that store says, not as our clock does."""

    key: SessionKey
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Head:
    """What tells whether a stored row is known and unchanged."""

    event_id: str
    digest: bytes
