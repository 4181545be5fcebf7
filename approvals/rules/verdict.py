"""Whether a run may start again, and every reason why not, over the whole lineage of the run.

A run that called a tool is not started again until a person decides so, and what is unknown counts as
a call. The facts come from the record that Postgres settled; nothing here reads a clock or a database.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from approvals.rules.call_words import none_made

RecordKind = Literal["none", "called", "unknown"]


@dataclass(frozen=True, slots=True)
class RecordFacts:
    """What a run is known to have called; `complete` means its end was seen and no event is missing."""

    kind: RecordKind
    complete: bool
    why: str


@dataclass(frozen=True, slots=True)
class CallFacts:
    """One tool call of a run, as a decider sees it."""

    call_id: str
    name: str
    state: str
    args_summary: str
    provenance: str
    run_id: str


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One attempt of a lineage.

    `started` is false for a replay that was certainly never handed to its runtime: nothing it could have
    done counts. It must be true from the moment the intent to hand it over is committed.
    `settled` says whether tools_executed has its value; `late_events` counts events received after that.
    `events` counts the events other than heartbeats: a sign of life is no change for a decider.
    `restored`: the database was restored since the run was made, and no attempt was made or resumed after that.
    """

    id: str
    external_id: str
    status: str
    started: bool
    record: RecordFacts
    settled: bool
    late_events: int
    has_input: bool
    is_head: bool
    calls: tuple[CallFacts, ...] = ()
    events: int = 0
    restored: bool = False


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that stands in the way; `calls` are those made by the runs that it is about."""

    code: str
    text: str
    calls: tuple[CallFacts, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the rules say: `may_start_again` without a person only when there is no reason at all."""

    may_start_again: bool
    reasons: tuple[Reason, ...] = ()

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the reasons, in their fixed order."""
        return tuple(reason.code for reason in self.reasons)

    @property
    def calls(self) -> tuple[CallFacts, ...]:
        """Every call that any reason names, once: what somebody who forces a replay acknowledges."""
        return tuple(dict.fromkeys(call for reason in self.reasons for call in reason.calls))


REASON_TEXT: Mapping[str, str] = {
    "input_missing": "The input of this run is gone or was altered, so there is nothing to start it with."
    " Ask for a new run instead.",
    "still_running": "This run is still running. Wait until it ends, or end it first on its page.",
    "replay_in_flight": "Another attempt of this run is under way."
    " Wait until it ends, or take it back while it is held, queued or paused.",
    "succeeded": "An attempt of this run already completed. Start it again only to do the same work twice.",
    "tools_called": "An attempt of this run already called tools."
    " Look at what each call did; only a person can decide to start it again.",
    "unknown_record": "What an attempt of this run did is not fully known, and unknown counts as a call."
    " Find out what happened; only a person can decide to start it again.",
    "late_events": "Events of this run arrived after its record was settled."
    " Look at what they say; only a person can decide to start it again.",
    "restored": "This run may have been started again after the backup was taken that this database was restored from."
    " Ask its runtime; only a person can decide.",
}

# Other words for "tools_called" where no call was made, and for "succeeded" where what completed waits for an answer.
_NONE_MADE = (
    "Calls of this run were asked for, or answered by a person, and no tool is known to have run."
    " Look at what became of each call; only a person can decide to start it again."
)
_AWAITING = (
    "An attempt of this run waits for a confirmation."
    " Confirm or reject its call; starting again leaves it unanswered and does the work anew."
)

# What a person may decide to start again in spite of; the others have to go away first.
OVERRIDABLE = frozenset({"tools_called", "unknown_record", "late_events", "succeeded", "restored"})


def verdict_of(lineage: Sequence[RunFacts], target: str) -> Verdict:
    """What stands in the way of starting run `target` again, given every attempt of its lineage.

    Raises ValueError if `target` is not in the lineage.
    """
    run = next((attempt for attempt in lineage if attempt.id == target), None)
    if run is None:
        raise ValueError(f"run {target} is not in the lineage it was judged with")
    concerned = {
        "input_missing": () if run.has_input else (run,),
        "still_running": (run,) if run.status == "running" else (),
        # A replay that waits for its worker counts too: it is going to start.
        "replay_in_flight": [other for other in lineage if other is not run and other.status == "running"],
        "succeeded": _having(lineage, lambda attempt: attempt.status == "completed"),
        "tools_called": _having(lineage, _called),
        "unknown_record": _having(lineage, _unknown),
        "late_events": _having(lineage, lambda attempt: attempt.late_events > 0),
        "restored": [attempt for attempt in lineage if attempt.restored],
    }
    reasons = tuple(
        Reason(code, _text(code, concerned[code]), _calls(concerned[code]))
        for code in REASON_TEXT
        if concerned[code]
    )
    return Verdict(may_start_again=not reasons, reasons=reasons)


def _text(code: str, attempts: Sequence[RunFacts]) -> str:
    """The sentence of a reason about these attempts: no call that was only asked for is said to have been made."""
    states = [call.state for call in _calls(attempts)]
    if code == "succeeded" and all(
        a.is_head and any(c.state == "awaiting" for c in a.calls) for a in attempts
    ):
        return _AWAITING
    if code == "tools_called" and none_made(states):
        return _NONE_MADE
    return REASON_TEXT[code]


def forceable(verdict: Verdict) -> bool:
    """Whether a person may start the run again in spite of the reasons; false when there are none."""
    return bool(verdict.reasons) and OVERRIDABLE.issuperset(verdict.codes)


def _having(lineage: Sequence[RunFacts], holds: Callable[[RunFacts], bool]) -> list[RunFacts]:
    return [attempt for attempt in lineage if _lived(attempt) and holds(attempt)]


def _lived(attempt: RunFacts) -> bool:
    """Whether the attempt can have done anything: anything heard from it disproves `started=False`."""
    return attempt.started or attempt.late_events > 0 or bool(attempt.calls)


def _called(attempt: RunFacts) -> bool:
    return attempt.record.kind == "called" or bool(attempt.calls)


def _unknown(attempt: RunFacts) -> bool:
    """Unknown, or a "none" that Postgres has not written down: only the settled record is proof."""
    return attempt.record.kind == "unknown" or (attempt.record.kind == "none" and not attempt.settled)


def _calls(attempts: Iterable[RunFacts]) -> tuple[CallFacts, ...]:
    return tuple(call for attempt in attempts for call in attempt.calls)
