"""Filling the page of one run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from approvals.rules.call_words import may_be_again
from approvals.rules.in_place import KIND, held
from approvals.rules.verdict import CallFacts, RunFacts, Verdict, forceable
from approvals.selectors.asked_again import Asked
from approvals.selectors.decisions import Entry
from approvals.selectors.did import Attempt
from approvals.selectors.run_pages import OpenedRun
from dashboard.presenters import chips, did
from dashboard.presenters.ages import absolute, when
from dashboard.presenters.build_claim import claim_of, error_of
from dashboard.presenters.build_decisions import decision_line
from dashboard.presenters.build_job import job_progress
from dashboard.presenters.build_run_acts import run_acts
from dashboard.presenters.build_timeline import anchors_of, note_of, steps_of
from dashboard.presenters.build_ways import ways_of
from dashboard.presenters.chips import Chip
from dashboard.presenters.hand import Hand
from dashboard.presenters.parts import (
    DecisionLine,
    Fact,
    JobProgress,
    Link,
    Note,
    Reason,
    RunLine,
    Trail,
    VerdictBox,
)
from dashboard.presenters.places import Places
from dashboard.presenters.runs import RunPage
from dashboard.presenters.text import (
    again,
    clip,
    count,
    listed,
    plain,
    pretty,
    reveal,
    summary_line,
)

_TITLES = {
    "input_missing": ("danger", "It cannot start again"),
    "still_running": ("info", "It is still running"),
    "replay_in_flight": ("info", "Another attempt is under way"),
}


def run_page(opened: OpenedRun, hand: Hand, *, places: Places, trail: Trail, overdue_s: int) -> RunPage:
    """The whole page."""
    run = opened.run
    acts = run_acts(opened, hand, places)
    shown, note = clip(pretty(opened.given.value)) if opened.given.value is not None else ("", "")
    return RunPage(
        title=plain(run.external_id),
        heading=summary_line(run.external_id, 300),
        trail=trail,
        state=_state(opened),
        subject=summary_line(run.subject, 200),
        subject_url=places.subject(run.subject),
        summary=summary_line(_in_short(opened), 400),
        facts=_facts(opened),
        verdict=_verdict(opened, places),
        steps=steps_of(opened, places, asks=hand.actor.may("read_log")),
        steps_note=note_of(opened),
        claim=claim_of(opened),
        error=error_of(opened),
        ways=ways_of(opened, acts),
        input=reveal(shown),
        input_note=_input_note(opened) or note,
        lineage=_lineage(opened, places) if len(opened.attempts) > 1 else (),
        acts=acts,
        job=_job(opened, places, overdue_s),
        decisions=tuple(_decision(entry, opened, places) for entry in opened.entries),
    )


def _state(opened: OpenedRun) -> Chip:
    """Where it stands; a run that asks a person before it goes on is over only in the words of its runtime."""
    if opened.own.is_head and opened.run.status == "completed" and held(opened.own):
        return chips.held("")
    own = _own(opened)
    return did.state_of(own) if own else chips.run_state(opened.run.status)


def _decision(entry: Entry, opened: OpenedRun, places: Places) -> DecisionLine:
    """The line of the log; while its execution goes on, the box that follows it says how far it is."""
    line, job = decision_line(entry, places, opened.now), opened.progress
    return replace(line, outcome=None) if job and job.moving and job.decision_id == entry.id else line


def _job(opened: OpenedRun, places: Places, overdue_s: int) -> JobProgress | None:
    """The newest replay; on the page of the run that it made, without a link to that page."""
    if opened.progress is None:
        return None
    job = job_progress(opened.progress, places=places, overdue_s=overdue_s)
    return replace(job, result=None) if opened.progress.run_id == opened.run.id else job


def _in_short(opened: OpenedRun) -> str:
    own = _own(opened)
    return did.run_in_short(own) if own else ""


def _own(opened: OpenedRun) -> Attempt | None:
    return next((attempt for attempt in opened.attempts if attempt.id == opened.run.id), None)


def _input_note(opened: OpenedRun) -> str:
    if opened.given.erased:
        return "What it was started with was erased, so it cannot start again."
    if opened.given.value is None and opened.given.length:
        return f"Too long to show here: {count(opened.given.length)} characters."
    return ""


def _facts(opened: OpenedRun) -> tuple[Fact, ...]:
    run, now = opened.run, opened.now
    facts = [Fact("Agent", summary_line(run.agent, 100)), Fact("Runtime", summary_line(run.runtime, 100))]
    facts.append(
        Fact("Started", when(run.started_at, now) if run.started_at else "never handed to its runtime")
    )
    if run.last_event_at:
        facts.append(Fact("Last heard of", when(run.last_event_at, now)))
    if run.version:
        facts.append(Fact("ADK version", summary_line(run.version, 60)))
    if models := _models(opened):
        facts.append(Fact("Model", summary_line(models, 100)))
    if run.session_id:
        facts.append(Fact("Session", summary_line(run.session_id, 100)))
    facts.append(Fact("Attempt", f"{_number(opened.own, opened)} of {len(opened.facts)}"))
    own = _own(opened)
    record = did.record_of(own) if own else chips.record_kind(opened.own.record.kind)
    if record:
        facts.append(Fact("Record", record))
    facts.append(Fact("External id", summary_line(run.external_id, 100), copy=run.external_id))
    facts.append(Fact("Run id", str(run.id), copy=str(run.id)))
    return tuple(facts)


def _number(attempt: RunFacts, opened: OpenedRun) -> int:
    """Which of the attempts it is, from 1."""
    return opened.facts.index(attempt) + 1


def _models(opened: OpenedRun) -> str:
    """The versions of the models that spoke in it, as its events name them."""
    named = ((line.content or {}).get("model") for line in opened.timeline.lines if line.type == "message")
    return listed(list(dict.fromkeys(plain(name) for name in named if isinstance(name, str) and name)))


def _lineage(opened: OpenedRun, places: Places) -> tuple[RunLine, ...]:
    return tuple(_attempt(attempt, opened, places) for attempt in reversed(opened.attempts))


def _attempt(attempt: Attempt, opened: OpenedRun, places: Places) -> RunLine:
    return RunLine(
        name=summary_line(attempt.external_id, 100),
        url=places.run(attempt.id),
        state=did.state_of(attempt),
        record=did.record_of(attempt),
        at=when(attempt.at, opened.now),
        did=summary_line(did.run_in_short(attempt)),
        current=attempt.id == opened.run.id,
    )


def _verdict(opened: OpenedRun, places: Places) -> VerdictBox:
    return replace(_judged(opened, places), notes=_asked_again(opened, places))


def _asked_again(opened: OpenedRun, places: Places) -> tuple[Note, ...]:
    """What was asked in another run of the same session, before this one or after it."""
    earlier = [
        Note("Asked again after", _link(other, places), f"; that run had already called {_tools(other)}.")
        for other in opened.again.earlier
    ]
    later = [
        Note("Asked again after this run broke off:", _link(other, places), _what_came(other))
        for other in opened.again.later
    ]
    return (*earlier, *later)


def _link(other: Asked, places: Places) -> Link:
    return Link(summary_line(other.external_id, 100), places.run(other.id))


def _tools(other: Asked) -> str:
    return listed([plain(name) for name in other.called], 5)


def _what_came(other: Asked) -> str:
    called = f" It called {_tools(other)}." if other.called else " No call of it is known."
    if other.status == "completed":
        return f", which completed.{called} What was asked for may be done; look there before anything starts again."
    return f", which is {other.status}.{called} Look there too before anything starts again."


def _judged(opened: OpenedRun, places: Places) -> VerdictBox:
    verdict = opened.verdict
    anchors = anchors_of(opened)
    reasons = tuple(
        Reason(
            text=reason.text,
            code=reason.code,
            calls=_linked(reason.calls, opened, places, anchors),
        )
        for reason in verdict.reasons
    )
    if opened.run.dismissed_at is not None and opened.own.is_head and "replay_in_flight" not in verdict.codes:
        text = f"{_dismissed(opened)} It can be reopened. This is what the rules say of starting it again:"
        return VerdictBox("quiet", "It was dismissed", text, reasons)
    if not opened.own.is_head and "replay_in_flight" not in verdict.codes:
        return _of_another(opened, reasons)
    if opened.run.status == "completed":
        return _completed(opened, reasons)
    if verdict.may_start_again:
        text = "The record is complete and shows that no tool ran, so nothing can happen twice."
        return VerdictBox("ok", "It may start again", text, (), _outlook(opened))
    for code, (tone, title) in _TITLES.items():
        if code in verdict.codes:
            text = "This stands in the way of starting it again:"
            return VerdictBox(tone, title, text, reasons)  # type: ignore[arg-type]
    text = "Starting it again may do the same things a second time. This stands in the way:"
    return VerdictBox("warn", "A person has to decide", text, reasons, _outlook(opened))


def _of_another(opened: OpenedRun, reasons: tuple[Reason, ...]) -> VerdictBox:
    """It is not the attempt that counts: a later one is, or it never began itself."""
    if opened.own.started:
        text = "Decide on the attempt that counts. This is what the rules say of all of them together:"
        return VerdictBox("info", "A later attempt counts", text, reasons)
    began = "has not begun yet" if opened.run.status == "running" else "never began"
    counts = f"This attempt {began}; attempt {_number(opened.head, opened)} counts."
    return VerdictBox("info", f"It {began}", f"{counts} What the rules say of all of them:", reasons)


def _completed(opened: OpenedRun, reasons: tuple[Reason, ...]) -> VerdictBox:
    if held(opened.own):
        text = "It asks a person before it goes on. What it asks about has not been done. The rules on starting again:"
        return VerdictBox("warn", "A tool call is held", text, reasons)
    text = "Nothing waits. Starting it again would do the same work twice:"
    return VerdictBox("ok", "It completed", text, reasons, _outlook(opened))


def _linked(
    calls: Sequence[CallFacts], opened: OpenedRun, places: Places, anchors: Mapping[str, str]
) -> tuple[Link, ...]:
    """The calls of a reason: those of one attempt to one tool as one link, to the first of them."""
    counts = Counter((call.run_id, call.name) for call in calls)
    first = {(call.run_id, call.name): call for call in reversed(calls)}
    return tuple(
        Link(
            summary_line(f"{name or 'a tool'} ×{number}" if number > 1 else name or "a tool", 80),  # noqa: RUF001 - a count
            f"#{anchors[first[run_id, name].call_id]}"
            if run_id == opened.own.id and first[run_id, name].call_id in anchors
            else places.run(run_id),
        )
        for (run_id, name), number in list(counts.items())[:20]
    )


def _dismissed(opened: OpenedRun) -> str:
    entry = next((entry for entry in opened.entries if entry.kind == "dismiss"), None)
    if entry is None:
        return "It was dismissed."
    return f"It was dismissed by {plain(entry.actor_name)} on {absolute(entry.at)}."


def _outlook(opened: OpenedRun) -> tuple[str, ...]:
    """What a replay would do now; the ways of an ADK run tell it each for itself."""
    if opened.run.kind == KIND:
        return ()
    lines = [
        f"A replay starts the agent again from its stored input, on the runtime {plain(opened.run.runtime)}."
    ]
    repeats = again(*may_be_again((call.name, call.state) for call in opened.verdict.calls))
    if repeats:
        lines.append(f"It takes over no answer from before: {repeats}.")
    return tuple(lines) if _startable(opened.verdict) else ()


def _startable(verdict: Verdict) -> bool:
    return verdict.may_start_again or forceable(verdict)
