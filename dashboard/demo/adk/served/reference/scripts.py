"""What the scripted model does next: plain Python, a table of scripts by the word in the user's message.

A message names its script as `[script:NAME]` or `[script:NAME:WORD:WORD]`; without one it is `normal`. What a script
remembers between two requests (how often it was refused) it remembers for the user and the script, not for the
session: a retry in a fresh session goes on where the last attempt ended.

| script | what the model does |
|---|---|
| normal, confirm | looks the customer up, sends one e-mail, says so |
| rate_before:N:DELAY | answers N requests with 429 (default 1, asking for DELAY seconds, default 1), then as normal |
| rate_before_huge | 429 at once, asking for ten minutes |
| rate_after:DELAY | as normal, but 429 after the e-mail |
| call_then_rate_in_retry:DELAY | 429 at once; the next attempt is rate_after |
| empty:N | yields nothing, N times at the start (without N: always), then as normal |
| empty_stop:N | the same with a STOP that has no parts |
| empty_after_call | as normal, but nothing after the e-mail |
| thought_only:N | a thought and no answer, N times (without N: always), then as normal |
| says_429 | says a text that holds "429 RESOURCE_EXHAUSTED", and calls nothing |
| parallel | two e-mails in one step |
| parallel_slow:S | two e-mails in one step, the second of which pauses S seconds (default 30) after it went out |
| parallel_fail | an e-mail that pauses two seconds after it went out, beside a tool that raises |
| tool_error | looks the customer up, then a tool raises |
| slow:S:once | an e-mail that pauses S seconds (default 30) after it went out; with `once`, the first time only |
| stream_call | as normal; where the client streams, each call comes in parts |
| stream_call_rate:DELAY | the first part of a call, then 429; where the client does not stream, just the 429 |
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

CUSTOMER = "C-17"
HUGE_DELAY_S = 600.0
PAUSE_S = 30.0
PLANS = {
    "support": ("lookup_customer", "send_email"),
    "lookup": ("lookup_customer",),
    "mail": ("send_email",),
    "manager": ("mailer",),
}


@dataclass(frozen=True)
class Turn:
    """Where the model stands: the user's last message, the calls made since, and what happened before.

    `refused` and `asked` count the earlier requests of this user and script: those that met a 429, and all.
    """

    text: str
    made: Sequence[str] = ()
    plan: str = "support"
    refused: int = 0
    asked: int = 0
    remembered: str = ""

    @property
    def script(self) -> str:
        """The script with its words, such as `rate_before:2`."""
        found = re.search(r"\[script:([\w.:-]+)\]", self.text)
        return found[1] if found else "normal"

    @property
    def words(self) -> list[str]:
        """The words after the script's name."""
        return self.script.split(":")[1:]

    @property
    def customer(self) -> str:
        """The customer that the message is about."""
        found = re.search(r"\bC-\w+", self.text)
        return found[0] if found else CUSTOMER


@dataclass(frozen=True)
class Call:
    """One call that the model asks for."""

    name: str
    args: Mapping[str, Any]


@dataclass(frozen=True)
class Calls:
    """Calls in one step; `in_parts` where a streaming client sees each of them come piece by piece."""

    calls: Sequence[Call]
    in_parts: bool = False


@dataclass(frozen=True)
class Say:
    """The model's last words."""

    text: str


@dataclass(frozen=True)
class TooMany:
    """A 429 that asks for a delay; `begun` is a call whose first part was seen before it."""

    delay_s: float
    begun: Call | None = field(default=None)


@dataclass(frozen=True)
class Nothing:
    """The model yields nothing at all; with `stop`, an end without any part; with `thought`, only a thought."""

    stop: bool = False
    thought: str = ""


Move = Calls | Say | TooMany | Nothing


def next_move(turn: Turn) -> Move:
    """What the model does now. A script that nobody knows is `normal`."""
    return _SCRIPTS.get(turn.script.partition(":")[0], _normal)(turn)


def _normal(turn: Turn) -> Move:
    steps = PLANS[turn.plan]
    if len(turn.made) < len(steps):
        return Calls([_call(turn, steps[len(turn.made)])])
    earlier = f" Earlier you asked: {turn.remembered}" if turn.remembered else ""
    return Say(f"Done: customer {turn.customer} is taken care of.{earlier}")


def _call(turn: Turn, name: str, **more: Any) -> Call:
    match name:
        case "lookup_customer" | "charge_card":
            args = {"customer_id": turn.customer}
        case "mailer":
            args = {"request": f"Write to customer {turn.customer}."}
        case _:
            args = {"to": _address(turn), "subject": "Your refund", "body": "Your refund is on its way."}
    return Call(name, args | more)


def _address(turn: Turn, what: str = "") -> str:
    return f"{what}{turn.customer.lower()}@customers.example"


def _over(turn: Turn) -> bool:
    """Whether every step of the plan was called."""
    return len(turn.made) >= len(PLANS[turn.plan])


def _number(turn: Turn, place: int, default: float) -> float:
    """The script's word at a place, as a number."""
    try:
        return float(turn.words[place])
    except (IndexError, ValueError):
        return default


def _rate_before(turn: Turn) -> Move:
    return TooMany(_number(turn, 1, 1)) if turn.refused < _number(turn, 0, 1) else _normal(turn)


def _rate_before_huge(turn: Turn) -> Move:
    return TooMany(HUGE_DELAY_S)


def _rate_after(turn: Turn) -> Move:
    return TooMany(_number(turn, 0, 1)) if _over(turn) else _normal(turn)


def _call_then_rate_in_retry(turn: Turn) -> Move:
    return TooMany(_number(turn, 0, 1)) if turn.refused == 0 else _rate_after(turn)


def _empty(turn: Turn) -> Move:
    return Nothing() if turn.asked < _number(turn, 0, float("inf")) else _normal(turn)


def _empty_stop(turn: Turn) -> Move:
    return Nothing(stop=True) if turn.asked < _number(turn, 0, float("inf")) else _normal(turn)


def _empty_after_call(turn: Turn) -> Move:
    return Nothing() if _over(turn) else _normal(turn)


def _thought_only(turn: Turn) -> Move:
    if turn.asked < _number(turn, 0, float("inf")):
        return Nothing(thought="The customer wants a refund; I should look them up first.")
    return _normal(turn)


def _says_429(turn: Turn) -> Move:
    return Say('Your log says "429 RESOURCE_EXHAUSTED"; that comes from the provider.')


def _two_mails(turn: Turn, **more: Any) -> Move:
    if turn.made:
        return Say("Both e-mails are on their way.")
    second = _call(turn, "send_email", to=_address(turn, "copy+"), **more)
    return Calls([_call(turn, "send_email"), second])


def _parallel_slow(turn: Turn) -> Move:
    return _two_mails(turn, pause_s=_number(turn, 0, PAUSE_S))


def _parallel_fail(turn: Turn) -> Move:
    if turn.made:
        return Say("That is as far as I got.")
    return Calls([_call(turn, "send_email", pause_s=2.0), _call(turn, "charge_card")])


def _tool_error(turn: Turn) -> Move:
    steps = ("lookup_customer", "charge_card")
    return Calls([_call(turn, steps[len(turn.made)])]) if len(turn.made) < len(steps) else Say("Done.")


def _slow(turn: Turn) -> Move:
    if turn.made:
        return Say("The e-mail is on its way.")
    pause_s = _number(turn, 0, PAUSE_S)
    if turn.asked and "once" in turn.words:
        pause_s = 0.0
    return Calls([_call(turn, "send_email", pause_s=pause_s)])


def _stream_call(turn: Turn) -> Move:
    move = _normal(turn)
    return Calls(move.calls, in_parts=True) if isinstance(move, Calls) else move


def _stream_call_rate(turn: Turn) -> Move:
    return TooMany(_number(turn, 0, 1), begun=_call(turn, "send_email"))


_SCRIPTS: Mapping[str, Callable[[Turn], Move]] = {
    "normal": _normal,
    "confirm": _normal,
    "rate_before": _rate_before,
    "rate_before_huge": _rate_before_huge,
    "rate_after": _rate_after,
    "call_then_rate_in_retry": _call_then_rate_in_retry,
    "empty": _empty,
    "empty_stop": _empty_stop,
    "empty_after_call": _empty_after_call,
    "thought_only": _thought_only,
    "says_429": _says_429,
    "parallel": _two_mails,
    "parallel_slow": _parallel_slow,
    "parallel_fail": _parallel_fail,
    "tool_error": _tool_error,
    "slow": _slow,
    "stream_call": _stream_call,
    "stream_call_rate": _stream_call_rate,
}
