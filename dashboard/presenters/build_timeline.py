"""Filling *What this run already did*: its journal in order, with the place where it broke off."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any
from uuid import UUID

from approvals.rules.decisions import call_key
from approvals.rules.digests import canonical
from approvals.rules.in_place import held, hint_of
from approvals.rules.verdict import CallFacts
from approvals.selectors.run_pages import OpenedRun
from approvals.selectors.timelines import Line
from dashboard.presenters import chips
from dashboard.presenters.ages import span, when
from dashboard.presenters.build_called import proposal_of
from dashboard.presenters.chips import Chip, Tone
from dashboard.presenters.parts import NOTHING
from dashboard.presenters.places import Places
from dashboard.presenters.runs import Step
from dashboard.presenters.text import clip, count, plural, pretty, reveal, reveal_line, summary_line

_RESTORED = Chip("restored", "danger", "Taken over from elsewhere, not lived through by this run")
_PARTIAL = Chip("shown in part", "warn", "The model was still writing this call when its stream ended")
_IN_PROGRESS = Chip("In progress", "info", "The call was made and its answer is still to come")
_TONES: dict[str, Tone] = {
    "answered": "ok",
    "failed": "warn",
    "open": "danger",
    "aborted": "danger",
    "supplied": "info",
    "awaiting": "warn",
}
# What was found out about a history.
_FOUND = {
    "restored": "Part of this history was taken over from elsewhere.",
    "edited": "This history was edited in the runtime's store after it was read there.",
    "deleted": "Part of this history was deleted from the runtime's store.",
    "unreadable": "Part of this history cannot be read; any of it may be a call.",
    "hidden": "This application has tools whose own calls leave no trace.",
}
# The heading of what came of a call, where that is neither an answer nor a failure.
_CAME = {
    "awaiting": "Asks for a confirmation",
    "rejected": "Rejected",
    "supplied": "Given from outside",
    "aborted": "Aborted",
    "withdrawn": "No longer asked",
}
_WITHDRAWN = "It was answered elsewhere, or its session went on without it."
_LONG = 300  # characters of an error in one line


def anchor_of(seq: int) -> str:
    """The place of a call in the timeline."""
    return f"call-{seq}"


def anchors_of(opened: OpenedRun) -> dict[str, str]:
    """The place of each call of this run, by call id."""
    return {line.call_id: anchor_of(line.seq) for line in reversed(opened.timeline.lines) if line.call_id}


@dataclass(frozen=True, slots=True)
class _Journal:
    """The run with its calls and answers by call id; of several answers the last counts.

    `asks` where the reader may ask who allowed a call. `replaced` are calls that were shown in part, and then whole
    under another id.
    """

    opened: OpenedRun
    places: Places
    asks: bool
    facts: Mapping[str, CallFacts]
    calls: Mapping[str, Line]
    answers: Mapping[str, Line]
    replaced: Collection[str]


def steps_of(opened: OpenedRun, places: Places, *, asks: bool) -> tuple[Step, ...]:
    """The timeline; where the reader `asks`, each call leads to who allowed it."""
    run, now = opened.run, opened.now
    lines = opened.timeline.lines
    journal = _Journal(
        opened,
        places,
        asks,
        {call.call_id: call for call in opened.own.calls},
        {line.call_id: line for line in reversed(lines) if line.type == "tool_call"},
        {line.call_id: line for line in lines if line.type == "tool_result"},
        {line.call_id for line in lines if line.outcome == "replaced"},
    )
    began = run.started_at or run.created_at
    steps = [Step(kind="note", at=when(began, now), text=reveal_line(_start(opened)))]
    broke_off = _broke_off_after(opened)
    day = began.date()
    for line, gap in _with_gaps(opened):
        if gap:
            steps.append(Step(kind="note", at=None, tone="danger", text=reveal_line(gap)))
        if line is None:
            continue
        if line.at.date() != day:
            day = line.at.date()
            steps.append(Step(kind="note", at=None, text=reveal_line(_day(day))))
        steps += _steps(line, journal)
        if broke_off == line.seq:
            steps.append(_mark(opened))
    if broke_off == 0:
        steps.insert(1, _mark(opened))
    return tuple(steps)


def note_of(opened: OpenedRun) -> str:
    """How the times are to be read, and what is not shown."""
    began = opened.run.started_at or opened.run.created_at
    timeline = opened.timeline
    hidden = timeline.calls_left_out
    calls = f"{plural(hidden, 'call')} among them" if hidden else "no call is among them"
    return f"Times of {_day(began.date())}, UTC, as the runtime told them." + (
        f" {plural(timeline.left_out, 'earlier event')} left out here; {calls}." if timeline.left_out else ""
    )


def _start(opened: OpenedRun) -> str:
    run = opened.run
    if run.replay_of is not None:
        first = next((f.external_id for f in opened.facts if f.id == str(run.replay_of)), "another run")
        return f"Made as a replay of {first}" if run.started_at is None else f"Started as a replay of {first}"
    return f"Started by {run.trigger}" if run.trigger else "Started"


def _with_gaps(opened: OpenedRun) -> Iterator[tuple[Line | None, str]]:
    """Each line, and what is missing before it; a gap that nothing follows stands alone."""
    gaps = list(opened.timeline.gaps)
    for line in opened.timeline.lines:
        missing = []
        while gaps and gaps[0][0] < line.seq:
            missing.append(gaps.pop(0))
        yield line, _missing(missing)
    if gaps:
        yield None, _missing(gaps)


def _missing(gaps: list[tuple[int, int]]) -> str:
    if not gaps:
        return ""
    ranges = [f"{first}" if first == last else f"{first} to {last}" for first, last in gaps]
    single = len(gaps) == 1 and gaps[0][0] == gaps[0][1]
    verb = "Event {} is" if single else "Events {} are"
    return f"{verb.format(', '.join(ranges))} missing; anything may have happened there."


def _broke_off_after(opened: OpenedRun) -> int | None:
    """The number of the last event that came before the run was interrupted; 0 before the first; None if never."""
    at = opened.run.interrupted_at
    if at is None:
        return None
    return max((line.seq for line in opened.timeline.lines if line.received_at <= at), default=0)


def _mark(opened: OpenedRun) -> Step:
    run = opened.run
    text = {
        "silent": f"It broke off here: nothing more was heard for {span(run.silence_s)}.",
        "overlong": f"It was given up here: no end within {span(run.time_limit_s)}.",
        "declared": "A person declared it interrupted here.",
        "stopped": "A person stopped it here. A call that was under way may still have happened.",
        "broken": "Its stream broke off here. A call that was under way may still have happened.",
    }.get(run.interrupted_why, "It broke off here.")
    at = run.interrupted_at
    return Step(kind="mark", at=when(at, opened.now) if at else None, tone="danger", text=reveal_line(text))


def _steps(line: Line, journal: _Journal) -> list[Step]:
    opened = journal.opened
    at = when(line.at, opened.now)
    restored = line.origin == "restored" and line.type != "finding"
    shown = (chips.provenance(line.provenance), *((_RESTORED,) if restored else ()))
    match line.type:
        case "tool_call" | "tool_result":
            known = line.type == "tool_result" and line.call_id in journal.calls
            return [] if known or line.call_id in journal.replaced else [_call(line, journal, shown)]
        case "message":
            return _message(line, opened, shown)
        case "ended":
            return [_end(line, opened, shown)]
        case "finding":
            detail = (line.content or {}).get("detail")
            said = _FOUND.get(line.origin, "Something about this history is not right.")
            text = summary_line(f"{said} {detail}" if isinstance(detail, str) else said, 600)
            return [Step(kind="mark", at=at, tone="danger", text=text, late=line.late)]
        case _:
            word = {"node_started": "began", "node_finished": "finished"}.get(line.type, line.type)
            text = summary_line(f"{line.name or 'A step'} {word}", 200)
            return [Step(kind="note", at=at, text=text, chips=shown, late=line.late)]


def _message(line: Line, opened: OpenedRun, shown: tuple[Chip, ...]) -> list[Step]:
    """What was thought, said, sent along and went wrong in one message."""
    at, content = when(line.at, opened.now), line.content or {}
    author = author_of(line)
    who = NOTHING if author in ("", "agent", "assistant", "model") else summary_line(author, 60)
    parts = [("thought", _text_in(content, "thought")), ("said", words_of(line))]
    if isinstance(files := content.get("files"), list) and files:
        parts.append(("sent along", ", ".join(str(name) for name in files)))
    steps = [
        Step(kind="said", at=at, name=who, text=reveal(clip(text)[0]), chips=shown, late=line.late, verb=verb)
        for verb, text in parts
        if text
    ]
    if isinstance(error := content.get("error"), dict):
        told = ": ".join(str(error[key]) for key in ("code", "message") if error.get(key))
        text = summary_line(f"An error came: {told or 'nothing more is known'}", 2_500)
        steps.append(Step(kind="note", at=at, tone="danger", text=text, chips=shown, late=line.late))
    if steps:
        return steps
    text = reveal_line(_unread(line, "words"))
    return [Step(kind="said", at=at, name=who, text=text, chips=shown, late=line.late)]


def _end(line: Line, opened: OpenedRun, shown: tuple[Chip, ...]) -> Step:
    error = _error(line)
    inferred = line.origin == "inferred"
    said = {
        "completed": "completed",
        "cancelled": "cancelled by its runtime",
        "failed": f"with an error: {error}" if error else "with an error",
    }.get(line.outcome, "")
    if inferred and line.outcome == "completed" and held(opened.own):
        text = "It waits for a confirmation (concluded from its last event)."
    elif inferred:
        text = f"It seems to be over: {said or 'ended'} (concluded from its last event)."
    elif line.outcome == "failed":
        text = f"It ended {said}" if error else f"It ended {said}."
    else:
        text = f"It ended: {said}." if said else "It ended."
    return Step(
        kind="mark" if line.outcome == "failed" else "note",
        at=when(line.at, opened.now),
        tone={"completed": "ok", "failed": "danger"}.get(line.outcome, "quiet"),  # type: ignore[arg-type]
        text=summary_line(text, _LONG),
        chips=shown,
        late=line.late,
    )


def _call(line: Line, journal: _Journal, shown: tuple[Chip, ...]) -> Step:
    """A call with its answer, or an answer that no call stands before."""
    opened, facts = journal.opened, journal.facts.get(line.call_id)
    state = facts.state if facts else "unknown"
    running = state == "open" and opened.own.status == "running"
    step = Step(
        kind="call",
        at=when(line.at, opened.now),
        name=summary_line(line.name or (facts.name if facts else "") or f"call {line.call_id}", 200),
        anchor=anchor_of(line.seq),
        chips=(
            _IN_PROGRESS if running else chips.call_state(state),
            *((_PARTIAL,) if (line.content or {}).get("partial") else ()),
            *shown,
        ),
        tone="info" if running else _TONES.get(state, "quiet"),
        text=summary_line(_remark(line, opened, state, running), 2_500),
        late=line.late,
        authority_url=journal.places.authority(call_key(opened.own.id, line.call_id)) if journal.asks else "",
        proposal=proposal_of(opened.called.get(line.seq), journal.places),
    )
    if line.type == "tool_call" and line.content is not None:
        args, note = clip(pretty(line.content.get("args", {})))
        step = replace(step, args=reveal(args), args_note=note)
    answer = line if line.type == "tool_result" else journal.answers.get(line.call_id)
    return replace(step, **_answered(answer, line)) if answer else step


def _remark(line: Line, opened: OpenedRun, state: str, running: bool) -> str:
    """What a person has to know about this call besides what was recorded."""
    parts = []
    said = opened.answers.get((UUID(opened.own.id), line.call_id))
    if state == "open" and not running:
        parts.append("No answer was recorded." if said else "No answer was recorded. It may have happened.")
    if state == "aborted":
        parts.append(
            "Its client went away while it was under way. It may have happened, whatever its answer says."
        )
    if said:
        parts.append(said.words)
    if line.erased:
        parts.append("What it was called with was erased.")
    elif line.too_long:
        parts.append(_unread(line, "arguments"))
    return " ".join(parts)


def _answered(answer: Line, call: Line) -> dict[str, Any]:
    late = ", arrived late" if answer.late and not call.late else ""
    title = f"{_CAME.get(answer.outcome) or ('Error' if answer.is_error else 'Result')}{late}"
    if answer.content is None:
        text = _WITHDRAWN if answer.outcome == "withdrawn" else _unread(answer, "answer")
        return {"result_title": title, "result": reveal_line("It was erased." if answer.erased else text)}
    if answer.outcome == "awaiting":
        asked = answer.content.get("confirmation")
        hint = hint_of(asked.get("hint")) if isinstance(asked, dict) else ""
        return {
            "result_title": title,
            "result": reveal(clip(hint or "It gave no words of its own for it.")[0]),
        }
    value = answer.content.get("error") if answer.is_error else answer.content.get("result")
    shown, note = clip(value if isinstance(value, str) else pretty(value))
    receipt = answer.content.get("receipt")
    return {
        "result_title": title,
        "result": reveal(shown),
        "result_note": note,
        "receipt": summary_line(receipt if isinstance(receipt, str) else canonical(receipt), 200)
        if receipt is not None
        else NOTHING,
    }


def _unread(line: Line, what: str) -> str:
    if line.erased:
        return f"The {what} were erased." if what.endswith("s") else f"The {what} was erased."
    return f"Too long to show here: {count(line.length)} characters." if line.too_long else "Nothing."


def author_of(line: Line) -> str:
    """Who said it, as its runtime names them."""
    author = (line.content or {}).get("author", "")
    return author if isinstance(author, str) else ""


def words_of(line: Line) -> str:
    """What was said in a message; empty where nothing was."""
    return _text_in(line.content or {}, "text")


def _text_in(content: Mapping[str, Any], name: str) -> str:
    text = content.get(name, "")
    return text if isinstance(text, str) else canonical(text)


def _error(line: Line) -> str:
    error = (line.content or {}).get("error")
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        return str(error["message"])
    return error if isinstance(error, str) else "" if error is None else canonical(error)


def _day(day: date | datetime) -> str:
    return f"{day.day} {day:%b %Y}"
