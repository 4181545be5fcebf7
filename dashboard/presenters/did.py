"""What a run or a campaign did, in one line, and how risky it is to start it again."""

from collections.abc import Iterable, Sequence

from approvals.rules.call_words import none_made, what_came
from approvals.selectors.did import COUNTED, Attempt, Calls, Mailing
from dashboard.presenters import chips
from dashboard.presenters.ages import absolute
from dashboard.presenters.chips import Chip
from dashboard.presenters.text import capped, listed, plain

# Why a record is unknown (sql/0004_record), as the end of one line.
WHY_UNKNOWN = {
    "restored": "Part of its history was restored, not lived through, so what it did cannot be known.",
    "altered": "Its history was changed afterwards, so what it did cannot be known.",
    "erased": "Texts of its history were erased, so what it did cannot be known.",
    "gap": "Events are missing, so what it did cannot be known.",
    "no_end": "No call was seen, but neither was its end; it may have called something.",
    "edited": "Its history was edited in the runtime's store, so what it did cannot be known.",
    "deleted": "Its history was deleted from the runtime's store, so what it did cannot be known.",
    "unreadable": "Part of its history cannot be read, and any of it may be a call.",
    "hidden": "No call was seen, but this application has tools whose own calls leave no trace.",
    "end_inferred": "No call was seen, but its end was only concluded from its last event.",
    "merely_reported": "No call was reported, but its runtime may report a call only after making it.",
}
_NO_TOOL = {
    "interrupted": "No tool ran before it broke off.",
    "failed": "No tool ran before it failed.",
    "running": "Running; no tool was called so far.",
}

# What became of calls, as the end of a line: of one, of several.
_ENDS = (
    ("open", "has no answer", "have no answer"),
    ("aborted", "was aborted and may have happened", "were aborted and may have happened"),
    ("failed", "failed", "failed"),
)

# What is known of an attempt, and whether its calls are such as were not made; the worst first.
_RISKS = (("unknown", False), ("called", False), ("called", True), ("none", False))

# An attempt that was not handed to its runtime, by the state of its replay.
_BEFORE = {
    "held": "It is held for a moment, so that it can be taken back.",
    "queued": "It waits for a worker.",
    "running": "A worker hands it to its runtime.",
    "in_doubt": "Nobody knows whether it began.",
    "paused": "It is paused, and waits for somebody to say whether it goes on.",
}
_BEFORE_STATE = {
    "held": Chip("Waiting to start", "info"),
    "queued": Chip("Waiting to start", "info"),
    "running": Chip("Being started", "info"),
    "in_doubt": Chip("In doubt", "warn", "Nobody knows whether it began"),
    "paused": Chip("Paused", "warn", "Somebody has to say whether it goes on"),
}


def lineage_in_short(attempts: Sequence[Attempt], state: str) -> str:
    """What the attempts of a lineage did together; `state` is the queue's word for where it stands."""
    if not attempts:
        return ""
    lived = [attempt for attempt in attempts if attempt.began or attempt.calls] or list(attempts)
    job = next((a for a in reversed(attempts) if a.job_status), None)
    return " ".join([*_of_job(job, state), *_of_runs(lived)])


def run_in_short(attempt: Attempt) -> str:
    """What one run did."""
    if not attempt.began and not attempt.calls:
        return _BEFORE.get(attempt.job_status, "Never started.")
    return " ".join(_of_runs([attempt]))


def state_of(attempt: Attempt) -> Chip:
    """Where an attempt stands: one whose replay is on its way does not run yet."""
    if attempt.status == "failed" and attempt.interrupted_why == "stopped":
        return chips.STOPPED
    if attempt.status != "running" or attempt.began or attempt.calls:
        return chips.run_state(attempt.status)
    return _BEFORE_STATE.get(attempt.job_status) or chips.run_state(attempt.status)


def record_of(attempt: Attempt) -> Chip | None:
    """What is known of what an attempt did; None while there is nothing to know."""
    waits = not attempt.began and not attempt.calls and attempt.job_status != "in_doubt"
    return None if waits or _just_running(attempt) else _record(attempt)


def lineage_risk(attempts: Sequence[Attempt]) -> Chip | None:
    """The worst record of the attempts that can have done something; None while nothing can be said."""
    lived = [a for a in attempts if (a.began or a.calls) and not _just_running(a)]
    return next((_record(a) for risk in _RISKS for a in lived if (a.record, _none_made(a)) == risk), None)


def mailing_in_short(mailing: Mailing, state: str) -> str:
    """What a campaign would do, or did; of one with several versions what its newest would."""
    return f"{_newest_in_short(mailing, state)}{_earlier_in_short(mailing)}"


def _newest_in_short(mailing: Mailing, state: str) -> str:
    subject = f"“{plain(mailing.subject_line)}”"
    people = _people(mailing.recipients)
    if mailing.status == "pending" or (mailing.status == "approved" and state != "paused"):
        word = "Would send" if mailing.status == "pending" else "Will send"
        excluded = f"; {_number(mailing.excluded)} cannot be addressed" if mailing.excluded else ""
        starts = f", not before {absolute(mailing.starts_at)}" if mailing.starts_at else ""
        return f"{_named(mailing)}{word} a mail titled {subject} to {people}{excluded}{starts}."
    if mailing.status == "approved":
        return f"Paused before {subject} went to {people}."
    if mailing.status == "returned":
        return f"{_named(mailing)}Returned, and waits for another version: {subject} to {people}."
    if state == "rejected":
        return f"Nothing was sent: {subject} to {people}."
    count = mailing.deliveries
    trouble = [
        f"{_number(count[key])} {word}"
        for key, word in (("in_doubt", "in doubt"), ("failed", "failed"), ("skipped", "skipped"))
        if count.get(key)
    ]
    rest = f"; {', '.join(trouble)}" if trouble else ""
    return f"{_named(mailing)}Sent to {_number(count.get('sent', 0))} of {people}{rest}."


def _named(mailing: Mailing) -> str:
    return f"Version {mailing.version:,}: " if mailing.version > 1 else ""


def _earlier_in_short(mailing: Mailing) -> str:
    said = [
        f"{_number(number)} {word}"
        for key, word in (("sent", "sent"), ("in_doubt", "in doubt"), ("failed", "failed"))
        if (number := mailing.earlier.get(key, 0))
    ]
    return f" Before that: {', '.join(said)}." if said else ""


def mailing_state(mailing: Mailing, state: str) -> Chip:
    """Where a campaign stands: one that went through without everybody getting it says so."""
    some = mailing.deliveries.get("in_doubt") or mailing.deliveries.get("failed")
    return chips.WITH_PROBLEMS if state == "finished" and some else chips.queue_state("campaign", state)


def mailing_risk(mailing: Mailing, state: str) -> Chip | None:
    """How far a campaign reaches, or what may have gone wrong with it."""
    if state == "in_doubt":
        return Chip("May have been sent", "danger")
    if state == "failed":
        return Chip("Not sent to everybody", "warn")
    if state == "paused" and mailing.status != "paused":
        return Chip("May have gone out meanwhile", "warn")
    if state in ("pending", "returned", "approved", "sending", "paused"):
        return Chip(
            f"{_number(mailing.recipients)} recipient{'' if mailing.recipients == 1 else 's'}", "info"
        )
    return None


def _of_job(job: Attempt | None, state: str) -> list[str]:
    if state == "queued":
        return ["A replay waits for a worker."]
    if state == "paused":
        return ["A replay is paused since the database was restored."]
    if job is None or state not in ("replay_failed", "in_doubt"):
        return []
    word = "The replay failed" if state == "replay_failed" else "Nobody knows whether the replay began"
    return [f"{word}: {job.job_outcome}" if job.job_outcome else f"{word}."]


def _of_runs(lived: Sequence[Attempt]) -> list[str]:
    head = lived[-1]
    calls = [call for attempt in lived for call in attempt.calls if not none_made([call.state])]
    asked = [call for call in head.calls if call.state == "awaiting"]
    others = _others(lived)
    unknown = next((a.why for a in lived if a.record == "unknown" and not _just_running(a)), "")
    said = [_asks(asked)] if asked else []
    said += [_called(calls)] if calls else []
    said += others
    if unknown:
        said.append(WHY_UNKNOWN.get(unknown, "What it did cannot be known."))
    elif not calls and not asked and not others:
        said.append(_NO_TOOL.get(head.status, "No tool ran."))
    if head.status == "failed" and head.interrupted_why == "stopped":
        said.append("A person stopped it.")
    elif head.error and head.status == "failed":
        said.append(f"It ended with an error: {head.error}")
    return said


def _others(lived: Sequence[Attempt]) -> list[str]:
    """What became of the calls that were not made; that nobody asks any more is news of the last attempt alone."""
    told = [
        f"{call.name or 'a tool'} {what_came(call.state)}."
        for attempt in lived
        for call in attempt.calls
        if call.state in ("supplied", "rejected") or (call.state == "withdrawn" and attempt is lived[-1])
    ]
    return _once(told)


def _record(attempt: Attempt) -> Chip:
    """What is known of it; one whose calls were not made is not said to have made any."""
    return chips.ASKED_ALONE if _none_made(attempt) else chips.record_kind(attempt.record)


def _none_made(attempt: Attempt) -> bool:
    return attempt.record == "called" and none_made([call.state for call in attempt.calls])


def _just_running(attempt: Attempt) -> bool:
    """A run that goes on has no record yet, which is no news."""
    return attempt.status == "running" and not attempt.calls


def held_in(attempts: Sequence[Attempt]) -> str:
    """The names of the calls that the attempt that counts asks a person about."""
    lived = [attempt for attempt in attempts if attempt.began or attempt.calls]
    held = [call for call in lived[-1].calls if call.state == "awaiting"] if lived else []
    return listed(_once(call.name or "a tool" for call in held))


def _asks(asked: Sequence[Calls]) -> str:
    names = listed(_once(call.name or "a tool" for call in asked))
    reached = _once(one for call in asked for one in call.recipients)
    return f"Asks before it calls {names}{f', to {listed(reached)}' if reached else ''}."


def _called(calls: Sequence[Calls]) -> str:
    counts: dict[str, int] = {}
    for call in calls:
        counts[call.name or "a tool"] = counts.get(call.name or "a tool", 0) + call.count
    names = listed([f"{name} ×{count}" if count > 1 else name for name, count in counts.items()], 4)  # noqa: RUF001 - a count
    reached = list(dict.fromkeys(one for call in calls for one in call.recipients))
    to = f", to {listed(reached)}" if reached else ""
    ends = [
        f"{listed(tools)} {many if len(tools) > 1 else one}"
        for state, one, many in _ENDS
        if (tools := _once(call.name or "a tool" for call in calls if call.state == state))
    ]
    return f"Called {names}{to}{'; ' if ends else ''}{', '.join(ends)}."


def _once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _number(number: int) -> str:
    return capped(number, COUNTED)


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{_number(number)} people"
