"""Going on with a run in its own session, which an ADK runtime can: answering its open calls, or a held one.

Which of it is possible, why not in one sentence, and what the agent is told. Nothing here reads a database.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from approvals.exceptions import Invalid
from approvals.rules import strict_json
from approvals.rules.decisions import text_given
from approvals.rules.verdict import CallFacts, RunFacts

KIND = "adk"  # the kind of runtime whose runs go on in place
_BROKE_OFF = ("interrupted", "failed")
UNANSWERED = frozenset({"open", "aborted"})  # the states of a call of which nobody knows whether it happened
MOST_ANSWERED = 50  # calls; the form asks for each of them
LONGEST_RESULT = 20_000  # characters of one result
DID_NOT_HAPPEN = {
    "error": "This call did not happen: a person looked, and nothing had been done. Do not count it as done."
}

_STANDARD_HINT = "Please approve or reject the tool call"  # how ADK asks where an application gives no words

# What is wrong with a history that nobody can go on from, by the word for why its record is unknown.
_BROKEN: Mapping[str, str] = {
    "restored": "was taken over from elsewhere",
    "altered": "was changed here",
    "edited": "was edited in the runtime's store",
    "deleted": "was deleted from the runtime's store",
    "unreadable": "cannot be read",
}


@dataclass(frozen=True, slots=True)
class Said:
    """What a person says of one call: whether it happened (None: nothing said), its result and receipt as typed."""

    happened: bool | None = None
    result: str = ""
    receipt: str = ""


def unanswered(run: RunFacts) -> tuple[CallFacts, ...]:
    """The calls of which nobody knows whether they happened."""
    return tuple(call for call in run.calls if call.state in UNANSWERED)


def held(run: RunFacts) -> tuple[CallFacts, ...]:
    """The calls that ask a person before they are made."""
    return tuple(call for call in run.calls if call.state == "awaiting")


def hint_of(asked: object) -> str:
    """What an application itself asks for a held call; empty where ADK asks, in words for programs."""
    text = asked if isinstance(asked, str) else ""
    return "" if text.startswith(_STANDARD_HINT) else text


def why_no_answers(kind: str, run: RunFacts) -> str:
    """Why the open calls of the attempt that counts cannot be answered, in one sentence; empty where they can."""
    asked, calls = held(run), unanswered(run)
    first = asked[0].name or "a tool" if asked else ""
    in_the_way = (
        (kind != KIND, "Its runtime cannot go on in place; only a run of an ADK runtime can."),
        (True, why_history_broken(run)),
        (run.status == "running", "It is still running, so its calls may still be answered by themselves."),
        (bool(asked), f"It asks first whether {first} may run; that has to be answered on its own."),
        (run.status not in _BROKE_OFF, f"It is {run.status}, so no call of it waits for an answer."),
        (not calls, "It left no call open, so there is nothing to answer."),
        (
            len(calls) > MOST_ANSWERED,
            f"It left {len(calls)} calls open; at most {MOST_ANSWERED} can be answered here.",
        ),
    )
    return next((why for holds, why in in_the_way if holds and why), "")


def why_not_held(kind: str, run: RunFacts, call: CallFacts) -> str:
    """Why this call cannot be confirmed or rejected, in one sentence; empty where it can."""
    if kind != KIND or call.state != "awaiting":
        return _OVER.get(call.state, "This call does not ask for a confirmation.")
    if broken := why_history_broken(run):
        return broken
    if run.status != "completed":
        return "The run has not come to the point where it waits for this answer. Reload the page to see where it is."
    return ""


_OVER: Mapping[str, str] = {
    "withdrawn": "This call is no longer asked about: it was answered elsewhere, or its session went on without it.",
    "rejected": "This call was rejected meanwhile. Reload the page to see what came of it.",
    "answered": "This call was confirmed and made meanwhile. Reload the page to see what came of it.",
    "failed": "This call was confirmed and failed meanwhile. Reload the page to see what came of it.",
    "supplied": "This call was answered from outside meanwhile. Reload the page to see what came of it.",
}


def why_history_broken(run: RunFacts) -> str:
    """Why nobody knows what the agent would go on from; empty where its history holds."""
    what = _BROKEN.get(run.record.why)
    return f"Part of its history {what}, so nobody knows what its agent would go on from." if what else ""


def answers_given(calls: Sequence[CallFacts], said: Mapping[str, Said]) -> list[dict[str, Any]]:
    """For each call what the agent is given as its response, as a decision keeps it; Invalid names what is missing."""
    missing = [call.name or "a tool" for call in calls if said.get(call.call_id, Said()).happened is None]
    if missing:
        raise Invalid("answers", f"Say of each open call whether it happened: {', '.join(missing)}.")
    return [_answer(call, said[call.call_id]) for call in calls]


def _answer(call: CallFacts, said: Said) -> dict[str, Any]:
    answer: dict[str, Any] = {"call_id": call.call_id, "name": call.name, "happened": bool(said.happened)}
    if not said.happened:
        return answer | {"response": DID_NOT_HAPPEN}
    answer["response"] = _response(call.name or "a tool", said.result)
    receipt = text_given(said.receipt, field="answers")
    return answer | {"receipt": receipt} if receipt else answer


def _response(name: str, typed: str) -> dict[str, Any]:
    """A JSON object as it stands, any other text as the result."""
    text = typed.replace("\r\n", "\n").strip()
    if not text:
        raise Invalid("answers", f"Say what {name} gave back, as far as you know; “done” is enough.")
    if len(text) > LONGEST_RESULT:
        raise Invalid("answers", f"Keep the result of {name} under {LONGEST_RESULT:,} characters.")
    if not text.startswith("{"):
        return {"result": text_given(text, field="answers", longest=LONGEST_RESULT)}
    try:
        value: dict[str, Any] = strict_json.loads(text.encode("utf-8", "surrogatepass"))
    except strict_json.BadJson as error:
        why = error.detail.replace("The body", "it", 1)
        raise Invalid(
            "answers", f"The result of {name} begins like a JSON object and is none: {why}"
        ) from None
    return value
