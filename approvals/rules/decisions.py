"""The kinds of decisions: which release an effect, and what a decider has to give."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from unicodedata import category

from approvals.exceptions import Invalid
from approvals.rules.verdict import CallFacts, RunFacts, Verdict

# Exactly one job each (sql/0005_decisions enforces it).
RELEASING = frozenset(
    {
        "replay",
        "force_replay",
        "replay_again",
        "answer_calls",
        "confirm_call",
        "reject_call",
        "approve",
        "send_again",
        "send_test",
    }
)

# A replay of these goes on in the session of the run that it is of; any other of an ADK run gets a fresh one.
IN_PLACE = frozenset({"answer_calls", "confirm_call", "reject_call"})

RESOLUTIONS: Mapping[str, str] = {
    "happened": "it happened",
    "do_again": "it did not happen, do it again",
    "did_not_happen": "it did not happen",
    "leave": "leave it",
}

REASON_LENGTH = 10  # characters: long enough that a manager can read why
LONGEST_REASON = 2000
_REPLACED = "\ufffd"  # what stands in for bytes that are no text
_NEVER_TYPED = frozenset({"Cc", "Cs"})  # control characters and halves of characters
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # count as letters or signs, and show nothing

_MARKED, _MARK = 100, 6  # calls that a form can name, and characters for each
_NAMED = 5  # new calls that are named

UNKNOWN_ACKNOWLEDGED = "I know that this run may have done things that are not listed here."


TOO_LATE = (
    "The time by which this campaign was to be sent is over. Return it with a comment, so that another version can be"
    " proposed."
)
RESTORED = (
    "The database was restored from a backup since this campaign was proposed. It may have been approved and sent after"
    " that was taken, and nothing here would show it: ask the mail server before you approve."
)
ERASED = "What was known of this recipient was erased."
NOTHING_TO_SEND = f"{ERASED} Nothing can be sent to them any more; leave it."
OWN_PROPOSAL = "You proposed this version yourself, so somebody else has to approve it."
REACHED_ANYWAY = "Another version of this campaign reached this recipient, or may have. Leave this one."
NOBODY_REACHED = "Nobody in the list can be reached, so there is nothing to approve."


def reason_given(reason: str, *, field: str = "reason") -> str:
    """The reason without surrounding spaces; Invalid when it is too short to tell anybody anything.

    What cannot be seen does not count, and what no keyboard writes is not kept.
    """
    reason = reason.replace("\r\n", "\n").strip()
    if not _can_be_kept(reason):
        raise Invalid(field, "This text holds a character that cannot be stored; type it again.")
    if sum(category(char) != "Cf" and char not in _BLANK for char in reason) < REASON_LENGTH:
        raise Invalid(
            field, f"Give a reason of at least {REASON_LENGTH} characters, so that others can follow it."
        )
    if len(reason) > LONGEST_REASON:
        raise Invalid(field, f"Keep the reason under {LONGEST_REASON} characters.")
    return reason


def text_given(text: str, *, field: str, longest: int = LONGEST_REASON) -> str:
    """An optional text without surrounding spaces, maybe empty; Invalid where it cannot be stored."""
    text = text.replace("\r\n", "\n").strip()
    if not _can_be_kept(text):
        raise Invalid(field, "This text holds a character that cannot be stored; type it again.")
    if len(text) > longest:
        raise Invalid(field, f"Keep this text under {longest:,} characters.")
    return text


def as_typed(text: str) -> str:
    """What somebody typed who was refused, however short; empty where it is no text that can be kept."""
    text = text.replace("\r\n", "\n").strip()
    return text[:LONGEST_REASON] if _can_be_kept(text) else ""


def _can_be_kept(text: str) -> bool:
    return not any(
        char == _REPLACED or (char not in "\t\n" and category(char) in _NEVER_TYPED) for char in text
    )


def call_key(run_id: str, call_id: str) -> str:
    """How a form names one call of one run."""
    return f"{run_id} {call_id}"


def check_acknowledged(verdict: Verdict, ticked: Collection[str], unknown_ticked: bool) -> None:
    """Invalid unless every call that the verdict names is ticked and, for an unknown record, its sentence too."""
    missed = [call.name for call in verdict.calls if call_key(call.run_id, call.call_id) not in ticked]
    if missed:
        raise Invalid("ack", f"Tick each call that is listed: {', '.join(missed)}.")
    if "unknown_record" in verdict.codes and not unknown_ticked:
        raise Invalid("ack_unknown", f"Tick the sentence “{UNKNOWN_ACKNOWLEDGED}”")


def told(facts: Iterable[RunFacts]) -> dict[str, list[str | int]]:
    """What a decider was told about a lineage, small enough to travel in a form."""
    return {
        run.id: [run.status, run.record.kind, len(run.calls), run.events, run.late_events, _marks(run.calls)]
        for run in facts
    }


def _marks(calls: Sequence[CallFacts]) -> str:
    """A few characters for each call, by which it is known again; none where there are too many for a form."""
    return "".join(_mark(call) for call in calls) if len(calls) <= _MARKED else ""


def _mark(call: CallFacts) -> str:
    return sha256(call.call_id.encode()).hexdigest()[:_MARK]


def changes(before: Mapping[str, list[str | int]], now: Iterable[RunFacts]) -> list[str]:
    """One sentence for each difference between what was told and what is so now."""
    sentences = []
    for run in now:
        if run.id not in before:
            sentences.append(f"A new attempt {run.external_id} appeared.")
            continue
        status, kind, calls, events, late, *marks = before[
            run.id
        ]  # a page opened before an upgrade has no marks
        if run.status != status:
            sentences.append(f"Attempt {run.external_id} was {status} and is {run.status} now.")
        if run.record.kind != kind:
            sentences.append(f"What attempt {run.external_id} did was {kind} and is {run.record.kind} now.")
        if new := _new(run.calls, str(marks[0]) if marks else "", int(calls)):
            word = "a new call" if len(new) == 1 else f"{len(new)} new calls"
            sentences.append(f"Attempt {run.external_id} has {word}: {_listed(new)}.")
        elif len(run.calls) != calls:
            sentences.append(
                f"Attempt {run.external_id} had {calls} call{'' if calls == 1 else 's'} and has {len(run.calls)} now."
            )
        if (run.events, run.late_events) != (events, late):
            sentences.append(f"New events of attempt {run.external_id} arrived.")
    return sentences or ["Details of what this run did are different now."]


def _new(calls: Sequence[CallFacts], marks: str, told_of: int) -> list[str]:
    """The names of the calls that nobody was told of, as far as that can be said."""
    if len(marks) != told_of * _MARK:
        return []
    known = {marks[place : place + _MARK] for place in range(0, len(marks), _MARK)}
    return [call.name or "a tool" for call in calls if _mark(call) not in known]


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMED])
    return f"{shown} and {len(names) - _NAMED} more" if len(names) > _NAMED else shown
