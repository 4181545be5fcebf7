"""Filling the ways to go on with a run of an ADK runtime, side by side, each with what it would do."""

from collections.abc import Iterable

from approvals.rules.call_words import may_be_again
from approvals.rules.in_place import KIND, held, unanswered, why_no_answers
from approvals.rules.verdict import OVERRIDABLE, forceable
from approvals.selectors.run_pages import OpenedRun
from dashboard.presenters.parts import Link
from dashboard.presenters.runs import RunActs, Way
from dashboard.presenters.text import again, listed, plain

_BROKE_OFF = ("interrupted", "failed")
_FRESH = "Start in a fresh session with the last message"
_NO_CALL = {
    True: "No tool ran, so nothing can happen twice.",
    False: "No call is known, but there may have been some, which may be made again.",
}


def ways_of(opened: OpenedRun, acts: RunActs) -> tuple[Way, ...]:
    """Nothing where nothing can be decided now, or its runtime knows one way alone."""
    if opened.run.kind != KIND or not (acts.replay or acts.force or acts.dismiss or acts.held):
        return ()
    ways = []
    if held(opened.own):
        ways.append(_held(opened, acts))
    if opened.run.status in _BROKE_OFF:
        ways.append(_answers(opened, acts))
    ways.append(_fresh(opened, acts))
    if acts.dismiss:
        ways.append(
            Way(
                title="Dismiss it",
                forecast=("Nothing is started.", "It leaves the queue and can be reopened."),
                link=Link("Dismiss it…", "#dismiss"),
                refused=acts.dismiss.refused,
            )
        )
    return tuple(ways)


def _held(opened: OpenedRun, acts: RunActs) -> Way:
    names = _names(call.name for call in held(opened.own))
    why_not = next((act.why_not for act in acts.held), "")
    refused = next((act.confirm.refused for act in acts.held), "")
    return Way(
        title=f"Confirm or reject {names}",
        forecast=(
            f"Confirmed: ADK runs {names} in place, in the same session, and the agent goes on.",
            f"Rejected: {names} does not run; the agent is told so and goes on without it.",
        ),
        link=Link("Confirm or reject…", "#held"),
        why_not=why_not,
        refused=refused,
    )


def _answers(opened: OpenedRun, acts: RunActs) -> Way:
    why_not = why_no_answers(opened.run.kind, opened.own)
    names = _names(call.name for call in unanswered(opened.own))
    refused = acts.answer.refused if acts.answer else ""
    return Way(
        title="Answer the open calls",
        forecast=()
        if why_not
        else (
            "You say of each open call whether it happened, and ADK goes on in place.",
            f"These calls are not made again: {names}.",
            "Its agent knows the whole conversation, and may call again what you say did not happen.",
        ),
        link=Link("Answer the open calls…", "#answer"),
        why_not=why_not,
        refused=refused,
    )


def _fresh(opened: OpenedRun, acts: RunActs) -> Way:
    verdict = opened.verdict
    refused = next((act.refused for act in (acts.replay, acts.force) if act and act.refused), "")
    if not (verdict.may_start_again or forceable(verdict)):
        blocking = [reason.text for reason in verdict.reasons if reason.code not in OVERRIDABLE]
        return Way(title=_FRESH, forecast=(), why_not=" ".join(blocking))
    repeats = again(*may_be_again((call.name, call.state) for call in verdict.calls))
    return Way(
        title=_FRESH,
        forecast=(
            "ADK starts a new session with the message that began this run.",
            "The old conversation is not known to its agent.",
            f"No answer is taken over: {repeats}." if repeats else _NO_CALL[verdict.may_start_again],
            _hides(opened),
        ),
        act=acts.replay,
        link=Link("Start in a fresh session…", "#force") if acts.force else None,
        danger=acts.force is not None,
        refused=refused,
    )


def _hides(opened: OpenedRun) -> str:
    """Whether its app can have done more than is listed."""
    found = any(line.origin == "hidden" for line in opened.timeline.lines)
    if found or opened.run.hides_calls:
        return "This app has tools whose own calls leave no trace: it may have done more than is listed here."
    return "No tool of this app is known to hide its calls."


def _names(names: Iterable[str]) -> str:
    return listed([plain(name or "a tool") for name in dict.fromkeys(names)], 5)
