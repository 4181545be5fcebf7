"""When a turn of an agent is asked for once more by itself: the rate-limit rule and the empty-turn rule.

An `Attempt` gathers what one attempt has shown, live or as a replay; `next_step` says what follows once it has ended.

Before any function call, a refusal for a rate limit (429) is tried again, at most twice, after the pause that the
provider asked for; a longer one than MOST_WAIT_S is handed on. A turn in which nothing at all came is tried again
once. Both together never make more than MOST_REPEATS repetitions. Calls are counted across the attempts of a turn,
partial ones too: after one, nothing is tried again, whatever went wrong, because its effect may have happened. A 429
is known by an error only, never by what a model says.

A model that answered with thoughts alone, or with an answer without content, did answer: that is no empty turn. It
would most likely do the same once more, so it is not tried again and is handed on as `no_content`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

MOST_REPEATS = 2
MOST_EMPTY_REPEATS = 1
DEFAULT_WAIT_S = 30.0
MOST_WAIT_S = 60.0

Code = Literal["rate_limited", "empty_turn", "no_content", "failed"]

_CODES: dict[str, Code] = {
    "RESOURCE_EXHAUSTED": "rate_limited",
    "_ResourceExhaustedError": "rate_limited",  # the name of the class, which google-adk gives as the code
    "MODEL_RETURNED_NO_CONTENT": "no_content",
}
# Where an error has no code of its own, its text begins with its class or quotes the provider's status.
_RATE_LIMITED = re.compile(r"\A_ResourceExhaustedError\b|\b429 RESOURCE_EXHAUSTED\b")
_RETRY_INFO = re.compile(r"""retryDelay\\?["']?\s*[:=]\s*\\?["']?(\d+(?:\.\d+)?)s""")

_MOST_NAMES = 10
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Call:
    """A function call by its id in the runtime and the name of its tool."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Error:
    """An error that was shown: what it means, and the pause in seconds that the provider asked for, if it did."""

    code: Code
    wait_s: float | None = None


@dataclass(slots=True)
class Attempt:
    """What one attempt of a turn has shown so far; each method adds what was seen next."""

    anything: bool = False
    called: bool = False
    clean: bool = False
    error: Error | None = None
    _calls: dict[str, Call] = field(default_factory=dict)
    _partial: dict[str, dict[str, Call]] = field(default_factory=dict)
    _answered: set[str] = field(default_factory=set)
    # How a clean end here would have to be understood: as an end, or as a model that owes its answer.
    _silence: Literal["", "empty_turn", "no_content"] = ""
    _spoke: bool = False

    @property
    def completed(self) -> tuple[Call, ...]:
        """The calls that were answered, in the order of the calls."""
        return tuple(call for call in self._calls.values() if call.id in self._answered)

    @property
    def open(self) -> tuple[Call, ...]:
        """The calls without an answer, then those that were shown in part and never as a whole."""
        whole = [call for call in self._calls.values() if call.id not in self._answered]
        return (*whole, *(call for calls in self._partial.values() for call in calls.values()))

    def come(self) -> None:
        """Something came that is none of the following."""
        self.anything = True

    def say(self, *, words: bool) -> None:
        """The model answered: with words (or anything else to show), or with thoughts or nothing."""
        self.anything = True
        if words:
            self._spoke, self._silence, self.error = True, "", None
        elif not self._spoke:
            self._silence = "no_content"

    def call(self, call: Call, *, partial_of: str | None = None) -> None:
        """A function call was shown; `partial_of` names who is still writing it.

        Of a call that is still being written each piece has an id of its own, so they count by their names.
        """
        self.anything = self.called = True
        self._spoke, self._silence, self.error = False, "empty_turn", None
        if partial_of is None:
            self._calls.setdefault(call.id, call)
        else:
            self._partial.setdefault(partial_of, {})[call.name] = call

    def finish(self, partial_of: str) -> None:
        """Whoever was writing has shown the whole, which replaces its parts."""
        self._partial.pop(partial_of, None)

    def answer(self, call: Call, *, last: bool = False) -> None:
        """A call was answered; `last` where no word of the model has to follow.

        A call that was let go ahead by a confirmation is answered without having been shown: it counts as well.
        """
        self.anything = self.called = True
        self._calls.setdefault(call.id, call)
        self._answered.add(call.id)
        self._spoke, self._silence = False, "" if last else "empty_turn"

    def hold(self) -> None:
        """A call waits for a person or for something outside, so the turn may end here."""
        self.anything = True
        self._spoke, self._silence = True, ""

    def fail(self, code: str, text: str, details: str = "") -> None:
        """An error event or error frame came, with its code ("" where it has none), text and details."""
        self.anything = True
        before = self.error
        error = classify_error(code, text, details)
        if before and before.code == error.code and error.wait_s is None:
            error = before  # the same error told twice, the second time with less
        self.error = error

    def end(self) -> None:
        """The attempt came to its end in order; without this it was broken off."""
        self.clean = True

    def ended_as(self) -> Code | None:
        """What the attempt came to: None where the turn is done."""
        if self.error is not None:
            return self.error.code
        if not self.clean:
            return "failed"
        return (self._silence or None) if self.anything else "empty_turn"


@dataclass(frozen=True, slots=True)
class Done:
    """The turn is over and nothing is left to do."""


@dataclass(frozen=True, slots=True)
class Again:
    """Ask for the turn once more after `wait_s` seconds; `why` is one plain sentence."""

    wait_s: float
    why: str


@dataclass(frozen=True, slots=True)
class HandedOn:
    """The turn failed and a person has to know; `text` is for them, the calls are those of all attempts."""

    code: Code
    text: str
    completed: tuple[Call, ...] = ()
    open: tuple[Call, ...] = ()


def classify_error(code: str, text: str, details: str = "") -> Error:
    """What an error means, by its code and its own text. Never to be asked about what a model said."""
    meant = _CODES.get(code, "failed")
    if meant == "failed" and (_RATE_LIMITED.search(text) or _RATE_LIMITED.search(details)):
        meant = "rate_limited"
    if meant != "rate_limited":
        return Error(meant)
    asked = [float(seconds) for seconds in _RETRY_INFO.findall(f"{text}\n{details}")]
    return Error(meant, max(asked, default=None))


def next_step(attempts: Sequence[Attempt], *, repeatable: bool = True) -> Done | Again | HandedOn:
    """What follows after the attempts of one turn, in their order; every one of them is over.

    `repeatable` is False for a turn that cannot be asked for once more at all, such as answers to open calls: there
    a tool may run without being shown as called.
    """
    last = attempts[-1]
    code = last.ended_as()
    if code is None:
        return Done()
    if not repeatable or not last.clean or any(attempt.called for attempt in attempts):
        return _handed_on(code, attempts, _CHECK)
    repeats = len(attempts) - 1
    if code == "rate_limited":
        return _after_429(last.error, repeats, attempts)
    empty = sum(attempt.ended_as() == "empty_turn" for attempt in attempts)
    if code == "empty_turn" and empty <= MOST_EMPTY_REPEATS and repeats < MOST_REPEATS:
        return Again(0.0, "The agent answered with nothing at all, so it is asked once more.")
    return _handed_on(code, attempts, _NO_CALL)


def _after_429(error: Error | None, repeats: int, attempts: Sequence[Attempt]) -> Again | HandedOn:
    wait_s = DEFAULT_WAIT_S if error is None or error.wait_s is None else error.wait_s
    if wait_s > MOST_WAIT_S:
        pause = (
            f"It asks for a pause of {_seconds(wait_s)}, longer than the {MOST_WAIT_S:g} seconds waited here."
        )
        return _handed_on("rate_limited", attempts, pause, _NO_CALL)
    if repeats >= MOST_REPEATS:
        return _handed_on("rate_limited", attempts, f"It refused {repeats} repetitions too.", _NO_CALL)
    return Again(wait_s, f"The provider is at its rate limit; it is asked once more in {_seconds(wait_s)}.")


_WHAT: dict[Code, str] = {
    "rate_limited": "The model's provider refused a request because of its rate limit.",
    "empty_turn": "The model ended its turn without an answer.",
    "no_content": "The model answered without any content.",
    "failed": "The run failed.",
}
_NO_CALL = "No tool call was seen, so no effect is known and the run can be started anew."
# Whoever reads these must not be led to a second effect.
_CHECK = (
    "Not everything was seen that may have happened. Check what the agent's own store shows, then decide."
)
_CHECK_CALLS = "Check what these calls have done, then decide how it goes on."


def _handed_on(code: Code, attempts: Sequence[Attempt], *after: str) -> HandedOn:
    completed = tuple(call for attempt in attempts for call in attempt.completed)
    unanswered = tuple(call for attempt in attempts for call in attempt.open)
    if any(attempt.called for attempt in attempts):
        after = (f"Completed: {_names(completed)}. Left open: {_names(unanswered)}.", _CHECK_CALLS)
    return HandedOn(code, " ".join((_WHAT[code], *after)), completed, unanswered)


def _names(calls: Iterable[Call]) -> str:
    """The names of tools for people, each once: `send_email (2 times), refund`."""
    counted = Counter(_name(call.name) for call in calls)
    shown = [name if times == 1 else f"{name} ({times} times)" for name, times in counted.items()]
    if len(shown) > _MOST_NAMES:
        shown[_MOST_NAMES:] = [f"{len(shown) - _MOST_NAMES} more"]
    return ", ".join(shown) or "none"


def _name(name: str) -> str:
    """A tool's name, which a model may have made up, as one short word."""
    plain = "".join(
        char if char.isprintable() and not char.isspace() else "_" for char in name[:_LONGEST_NAME]
    )
    return plain or "a tool without a name"


def _seconds(seconds: float) -> str:
    if seconds > 86400:
        return "more than a day"
    return "1 second" if seconds == 1 else f"{seconds:.15g} seconds"
