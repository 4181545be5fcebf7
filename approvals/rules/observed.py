"""What a runtime's own store or stream shows of its sessions, in the words of the journal.

A connector translates rows and stream events into these; services store them. Nothing here knows of any one runtime.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
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


# Calls by which an agent hands its turn to another: its own end is not the end of the run then.
HANDOVERS = frozenset({"transfer_to_agent"})


def end_of(rows: Sequence[Row], *, root_is_llm: bool) -> Line | None:
    """The `ended` line that all rows of one invocation, in order of time, justify now; None while nothing does.

    Of origin `live` where the last row itself proves the end, else `inferred`: failed after an error, completed
    where a person has to confirm something, or after a final answer while no call is open. `root_is_llm` says that
    whichever agent gives a final answer is the last to speak, which an agent of several steps is not.
    """
    calls, answers = _calls_and_answers(rows)
    handed_over = any(name in HANDOVERS for name in calls.values())
    telling = [row for row in rows if (row.ends or row.lines) and not (row.proven and handed_over)]
    if not telling:
        return None
    last = telling[-1]
    if last.proven:
        before = next((row for row in reversed(telling) if not row.proven), None)
        failed = before is not None and before.ends == "failed"
        return _ended(last, "failed" if failed else "completed", "live")
    if last.ends == "failed":
        return _ended(last, "failed", "inferred")
    answered = last.ends == "completed" and root_is_llm and not _open(calls, answers)
    return _ended(last, "completed", "inferred") if last.ends == "waiting" or answered else None


def _calls_and_answers(rows: Sequence[Row]) -> tuple[dict[str, str], dict[str, str]]:
    """(the calls, the answers to calls) of the rows, as names by call id; parts of streamed calls aside."""
    lines = [
        line for row in rows for line in row.lines if line.call_id and not (line.content or {}).get("partial")
    ]
    calls = {line.call_id or "": line.name or "" for line in lines if line.type == "tool_call"}
    results = (line for line in lines if line.type == "tool_result" and line.outcome != "awaiting")
    return calls, {line.call_id or "": line.name or "" for line in results}


def _open(calls: Mapping[str, str], answers: Mapping[str, str]) -> bool:
    """Whether a call has no answer. One that names no call of these answers an open one of the same name."""
    left = Counter(name for call_id, name in calls.items() if call_id not in answers)
    left -= Counter(name for call_id, name in answers.items() if call_id not in calls)
    return bool(left)


def _ended(row: Row, outcome: str, origin: str) -> Line:
    return Line(type="ended", at=row.at, outcome=outcome, origin=origin)
