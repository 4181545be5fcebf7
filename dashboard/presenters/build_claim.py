"""Filling what a run said at its end beside what is known of it: its agent's last words, and its error."""

from collections import Counter

from approvals.selectors.run_pages import OpenedRun
from approvals.selectors.runs import record_sentence
from dashboard.presenters import chips
from dashboard.presenters.ages import when
from dashboard.presenters.build_timeline import anchors_of, author_of, words_of
from dashboard.presenters.did import WHY_UNKNOWN
from dashboard.presenters.parts import NOTHING
from dashboard.presenters.runs import Claim, ClaimedCall, ErrorBox
from dashboard.presenters.text import clip, plural, reveal, summary_line

_STOPPED = "Its runtime then told that it was aborted. A call that was under way may still have happened."
_LINES = 12  # kinds of calls beside the agent's words


def claim_of(opened: OpenedRun) -> Claim | None:
    """The agent's last words beside the record; None while it runs, and where calls are all that there is."""
    own = opened.own
    said = [line for line in opened.timeline.lines if line.type == "message" and author_of(line) != "user"]
    last = next((line for line in reversed(said) if words_of(line)), None)
    if own.status == "running" or not own.started or (own.calls and last is None):
        return None
    calls = _calls(opened)
    return Claim(
        text=_record(opened),
        calls=calls[:_LINES],
        more=f"And {plural(len(calls) - _LINES, 'more kind')} of calls below." if len(calls) > _LINES else "",
        last_words=reveal(clip(words_of(last), 4_000)[0]) if last else NOTHING,
        at=when(last.at, opened.now) if last else None,
    )


def error_of(opened: OpenedRun) -> ErrorBox | None:
    """What it failed with, where that has a code or stands beside calls."""
    failure = opened.failure
    if failure is None or not (failure.code or failure.completed or failure.open):
        return None
    stopped = opened.run.interrupted_why == "stopped"
    return ErrorBox(
        title="Stopped by a person" if stopped else "It failed",
        text=summary_line(_STOPPED if stopped else failure.text, 1_000),
        code=summary_line(failure.code or "", 80),
        completed=tuple(summary_line(name, 80) for name in failure.completed),
        open=tuple(summary_line(name, 80) for name in failure.open),
    )


def _record(opened: OpenedRun) -> str:
    record = opened.own.record
    if record.kind == "none":
        return "No tool ran. The history is complete from start to end and holds no call."
    if record.kind == "called":
        return record_sentence(record, opened.own.calls)
    return WHY_UNKNOWN.get(record.why, "What it did cannot be known.")


def _calls(opened: OpenedRun) -> tuple[ClaimedCall, ...]:
    """One line for the calls to one tool that are in one state."""
    own, anchors = opened.own, anchors_of(opened)
    counts = Counter((call.name, call.state) for call in own.calls)
    first = {(call.name, call.state): call.call_id for call in reversed(own.calls)}
    return tuple(
        ClaimedCall(
            name=summary_line(f"{name or 'a tool'} ×{number}" if number > 1 else name or "a tool", 80),  # noqa: RUF001 - a count
            state=chips.call_state(state),
            anchor=anchors.get(first[name, state], ""),
        )
        for (name, state), number in counts.items()
    )
