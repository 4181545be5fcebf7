"""What a failed run ended with, told so that it leads nobody to a second effect."""

from collections.abc import Sequence
from dataclasses import dataclass

from approvals.rules.call_words import none_made
from approvals.rules.in_place import UNANSWERED
from approvals.rules.verdict import CallFacts

_DONE = frozenset({"answered", "failed", "supplied"})


@dataclass(frozen=True, slots=True)
class Error:
    """The error as the journal has it; `completed` and `open` name tools, None where it does not speak of calls."""

    code: str | None
    message: str
    completed: tuple[str, ...] | None = None
    open: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """An error with what was called before it: tools whose calls have an answer, and those left open."""

    code: str | None
    text: str
    completed: tuple[str, ...]
    open: tuple[str, ...]


def failure_of(error: Error | None, calls: Sequence[CallFacts]) -> Failure | None:
    """The failure of a run with these calls; None where nothing is known of an error.

    An error that was handed on by us speaks of the calls itself. The words of anybody else may ask to try again, which
    after a call nobody should read here: they stay in the journal.
    """
    if error is None:
        return None
    done = tuple(_name(call) for call in calls if call.state in _DONE)
    left = tuple(_name(call) for call in calls if call.state in UNANSWERED)
    if error.completed is not None or error.open is not None:
        return Failure(error.code, error.message, error.completed or (), error.open or ())
    if not calls:
        return Failure(error.code, error.message, (), ())
    named = ", ".join(dict.fromkeys(_name(call) for call in calls if not none_made([call.state])))
    after = (
        f" after it called {named}. Look at what each call did"
        if named
        else ". Look at what became of each call"
    )
    text = f"It ended with an error{after}, then decide how it goes on."
    return Failure(error.code, text, done, left)


def _name(call: CallFacts) -> str:
    return call.name or "a tool"
