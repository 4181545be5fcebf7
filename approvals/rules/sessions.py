"""Which run each row of a session belongs to, and what was found out about rows that had been read before.

An invocation is a run. Two kinds of rows belong to a run of ours instead: everything in a session that was made for a
replay, and what follows the answers that a replay in place gave. Rows are told apart by their ids alone: their times
are those of their making, not of their storing, so a row may turn up before others that are known.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid4

from approvals.rules.observed import Head, Line, Row

OURS = "secondlook-"  # how the id of a session begins that was made for a replay; the run's id follows

# How a row says that its run is over, as it is kept: rules.observed.Row.ends and whether it is proven. A quiet one says
# nothing at all.
QUIET = "quiet"
ENDS: Mapping[str, tuple[Literal["completed", "failed", "waiting"] | None, bool]] = {
    "": (None, False),
    "completed": ("completed", False),
    "failed": ("failed", False),
    "waiting": ("waiting", False),
    "over": (None, True),
    "over_completed": ("completed", True),
    "over_failed": ("failed", True),
}

EDITED = "A row of its history was changed in its store after it had been read."
DELETED = "Rows of its history were deleted from its store after they had been read."
HIDDEN_DECLARED = "An admin says of this runtime that its agents have tools whose own calls leave no trace."
HIDDEN_UNKNOWN = "It is not known whether this agent has tools whose own calls leave no trace."
RESTORED = "Its session holds events that were put there ready-made, so what is in it may not have happened."


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A row as it is known here; `digest` is None until it was seen in the store."""

    event_id: str
    invocation_id: str
    at: datetime
    digest: bytes | None
    run_id: UUID | None
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Seed:
    """A run that was not known: the invocation it is, when it began, and the message it was started with, if any."""

    run_id: UUID
    invocation_id: str
    at: datetime
    input: Mapping[str, object] | None


@dataclass(slots=True)
class Sorted:
    """What to write down of one session."""

    rows: list[tuple[Row, UUID | None]] = field(default_factory=list)  # new ones, each with its run
    seeds: list[Seed] = field(default_factory=list)
    journals: dict[UUID, list[Line]] = field(default_factory=dict)  # by run: lines to add
    touched: set[UUID] = field(default_factory=set)  # runs that a new row belongs to
    marked: bool = False  # what is wrong with one of the new rows is wrong with the whole session

    def add(self, run_id: UUID, lines: Iterable[Line]) -> None:
        """Lines for the journal of a run, after those that are there."""
        self.journals.setdefault(run_id, []).extend(lines)


def run_of_session(session_id: str) -> UUID | None:
    """The run that a session of this id was made for; None for everybody else's sessions."""
    if not session_id.startswith(OURS):
        return None
    try:
        return UUID(session_id.removeprefix(OURS)[:36])
    except ValueError:
        return None


def session_of_run(run_id: UUID, *, attempt: int = 1) -> str:
    """The id of the session that is made for a replay; each retry of its turn has one of its own."""
    return f"{OURS}{run_id}" + (f"-{attempt}" if attempt > 1 else "")


def sort_rows(
    known: Sequence[Known],
    rows: Sequence[Row],
    *,
    whole: UUID | None = None,
    in_place: Sequence[UUID] = (),
    begun: Iterable[UUID] = (),
) -> Sorted:
    """Give each new row of one session its run; rows that are known already are passed over.

    `whole` is the run that the session was made for; `in_place` are runs of ours whose answers were not seen in the
    store yet, oldest first; `begun` are runs of ours whose journal says already what they answered.
    """
    made = Sorted()
    seen = {row.event_id for row in known}
    fresh = [row for row in rows if row.event_id not in seen]
    ours = {whole, *in_place}
    waiting, told = list(in_place), set(begun)
    together: list[Known | Row] = [*known, *fresh]
    # By invocation: the message that it was started with, which need not be the first of several rows of one time.
    inputs = {row.invocation_id: row.input for row in reversed(fresh) if row.input is not None}
    firsts: dict[str, UUID] = {}  # of each invocation that is known: the run of its first row
    for one in sorted(known, key=lambda one: (one.at, one.event_id)):
        if one.run_id is not None:
            firsts.setdefault(one.invocation_id, one.run_id)
    current: dict[str, UUID] = {}
    for row in sorted(together, key=lambda one: (one.at, one.event_id)):
        if isinstance(row, Known):
            if row.run_id is not None:
                current[row.invocation_id] = row.run_id
            continue
        # A clock that was set back makes rows which are older than those that are known of their invocation.
        run_id = current.get(row.invocation_id) or firsts.get(row.invocation_id, whole)
        if row.answers and row.input is None and waiting:
            run_id = waiting.pop(0)
        if run_id is None and (row.input is not None or row.lines):
            run_id = uuid4()
            made.seeds.append(Seed(run_id, row.invocation_id, row.at, inputs.get(row.invocation_id)))
        made.rows.append((row, run_id))
        made.marked = made.marked or row.marks_session
        if run_id is None:
            continue
        current[row.invocation_id] = run_id
        made.touched.add(run_id)
        made.add(run_id, _lines(row, ours=run_id in ours, told=run_id in told))
    return made


def _lines(row: Row, *, ours: bool, told: bool) -> tuple[Line, ...]:
    """What a row says, but for what we said ourselves: our own message, and answers that the journal has."""
    if not ours or not (row.input is not None or row.answers):
        return row.lines
    return () if told or row.input is not None else row.lines


def differences(
    known: Sequence[Known], present: Sequence[Head]
) -> tuple[list[Known], list[Known], list[str]]:
    """(rows that were changed in place, rows that are gone, ids of rows that are not known).

    A row whose digest is not known yet, because a worker heard of it first, is neither.
    """
    digests = {head.event_id: head.digest for head in present}
    edited = [
        row
        for row in known
        if row.digest is not None and row.event_id in digests and digests[row.event_id] != row.digest
    ]
    gone = [
        row for row in known if row.digest is not None and row.event_id not in digests and not row.deleted
    ]
    ids = {row.event_id for row in known}
    return edited, gone, [head.event_id for head in present if head.event_id not in ids]


def hidden_by(facts: Mapping[str, Any], app: str, *, declared: bool) -> str:
    """Why an application may make calls that leave no trace here, as one sentence; empty where it cannot.

    `facts` are those of `Observation.facts`; `declared` is an admin's word for the whole runtime. What is not known of
    an application counts as hiding calls.
    """
    if declared:
        return HIDDEN_DECLARED
    known = facts.get(app)
    if not isinstance(known, dict):
        return HIDDEN_UNKNOWN
    return str(known.get("detail") or HIDDEN_UNKNOWN) if known.get("hides_calls", True) else ""


def finding(origin: str, detail: str, *, at: datetime) -> Line:
    """A line that says what was found out about a run's history."""
    return Line(type="finding", at=at, origin=origin, content={"detail": detail})


def withdrawn(call_id: str, name: str, *, at: datetime) -> Line:
    """A line that says that nobody waits for this call to be confirmed any more."""
    return Line(type="tool_result", at=at, call_id=call_id, name=name, outcome="withdrawn")


def awaiting_in(lines: Iterable[Line]) -> dict[str, str]:
    """Of the calls that these lines make: those that wait to be confirmed, as names by id."""
    waiting: dict[str, str] = {}
    for line in lines:
        if line.call_id is None or line.type != "tool_result":
            continue
        if line.outcome == "awaiting":
            waiting[line.call_id] = line.name or ""
        else:
            waiting.pop(line.call_id, None)
    return waiting


def ends_of(row: Row) -> str:
    """How a row is kept: what it says of the end of its run."""
    if not row.ends and not row.lines:
        return QUIET
    kept = (row.ends, row.proven)
    return next((name for name, meant in ENDS.items() if meant == kept), "")
