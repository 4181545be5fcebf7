"""Runs as the machine API tells them: each with its record, its calls, its lineage and the verdict.

A page of runs takes as many queries as a single one.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from approvals.exceptions import Invalid
from approvals.models import Run
from approvals.rules.call_words import none_made
from approvals.rules.failures import Error, failure_of
from approvals.rules.verdict import CallFacts, RecordFacts, Verdict, verdict_of
from approvals.selectors.asked_again import NOT_AGAIN, Again, Asked, asked_again
from approvals.selectors.errors import errors_of
from approvals.selectors.lineages import Lineage, lineages_of

# Why a record is what it is, by the word that Postgres gives (sql/0004_record).
RECORD_TEXT: Mapping[str, str] = {
    "none": "This run ended, no event is missing, and no tool was called.",
    "called": "Tools were called.",
    "restored": "Part of this history was taken over from elsewhere and not lived through by this run.",
    "altered": "Something that was recorded is not what it was when it was recorded.",
    "erased": "Something that was recorded has been erased.",
    "gap": "Events are missing, and any of them may be a call.",
    "no_end": "No call was seen, but neither was the end of the run.",
    "edited": "Part of this history was edited in the runtime's own store after it was read there.",
    "deleted": "Part of this history was deleted from the runtime's own store.",
    "unreadable": "Part of this history cannot be read, and any of it may be a call.",
    "hidden": "No call was seen, but this application has tools whose own calls leave no trace.",
    "end_inferred": "No call was seen, but that it is over was only concluded from its last event.",
    "merely_reported": "No call was reported, but this runtime does not promise to report each call before it is made.",
}
MORE_CALLS_POSSIBLE = "Tools were called; events or the end are missing, so there may be more calls."
# Of calls that were asked for, and of which none is known to have been made; and where there may be more of them.
NONE_MADE = {
    True: "Calls were asked for, or answered by a person; no tool is known to have run.",
    False: "Calls were asked for, or answered by a person; events or the end are missing, so tools may have run.",
}


def page_of(
    runs: QuerySet[Run],
    *,
    status: str | None = None,
    agent: str | None = None,
    subject: str | None = None,
    after: str | None = None,
    limit: int = 50,
) -> dict[str, Any]:
    """One page of these runs, newest first, and the cursor of the next; Invalid for a cursor that is none."""
    wanted = {"status": status, "agent": agent, "subject": subject}
    runs = runs.filter(**{name: value for name, value in wanted.items() if value is not None})
    if after is not None:
        at, id = _place(after)
        runs = runs.filter(Q(created_at__lt=at) | Q(created_at=at, id__lt=id), created_at__lte=at)
    found = list(runs.order_by("-created_at", "-id")[: limit + 1])
    page = found[:limit]
    return {"runs": told(page), "next": _cursor(page[-1]) if len(found) > limit else None}


def told(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """These runs in the shape of the API."""
    lineages = lineages_of({run.lineage_id for run in runs})
    errors = errors_of([run.id for run in runs if run.status == "failed"])
    asked = asked_again([run.id for run in runs])
    return [
        _told(run, lineages[run.lineage_id], errors.get(run.id), asked.get(run.id, NOT_AGAIN)) for run in runs
    ]


def _told(run: Run, lineage: Lineage, error: Error | None, again: Again) -> dict[str, Any]:
    facts = next(facts for facts in lineage.facts if facts.id == str(run.id))
    return {
        "id": run.id,
        "external_id": run.external_id,
        "agent": run.agent,
        "subject": run.subject,
        "status": run.status,
        "record": {
            "kind": facts.record.kind,
            "complete": facts.record.complete,
            "code": facts.record.why,
            "why": record_sentence(facts.record, facts.calls),
        },
        "calls": [
            {
                "call_id": call.facts.call_id,
                "name": call.facts.name,
                "state": call.facts.state,
                "args": call.args,
                "provenance": call.facts.provenance,
            }
            for call in lineage.calls.get(run.id, ())
        ],
        "lineage": [
            {
                "id": attempt.id,
                "external_id": attempt.external_id,
                "status": attempt.status,
                "replay_of": attempt.replay_of_id,
                "created_at": attempt.created_at,
            }
            for attempt in lineage.attempts
        ],
        "error": _error(error, facts.calls) if run.status == "failed" else None,
        "asked_again": {
            "earlier": [_other(other) for other in again.earlier],
            "later": [_other(other) for other in again.later],
        },
        "verdict": _verdict(verdict_of(lineage.facts, str(run.id))),
    }


def _error(error: Error | None, calls: Sequence[CallFacts]) -> dict[str, Any] | None:
    failure = failure_of(error, calls)
    return asdict(failure) if failure else None


def _other(other: Asked) -> dict[str, Any]:
    return {
        "run_id": other.id,
        "external_id": other.external_id,
        "status": other.status,
        "called": list(other.called),
    }


def record_sentence(record: RecordFacts, calls: Sequence[CallFacts]) -> str:
    """Why the record of a run with these calls is what it is, in a sentence."""
    if record.why == "called" and none_made([call.state for call in calls]):
        return NONE_MADE[record.complete]
    if record.why == "called" and not record.complete:
        return MORE_CALLS_POSSIBLE
    return RECORD_TEXT[record.why]


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "may_start_again": verdict.may_start_again,
        "reasons": [
            {
                "code": reason.code,
                "text": reason.text,
                "calls": [
                    {
                        "run_id": call.run_id,
                        "call_id": call.call_id,
                        "name": call.name,
                        "state": call.state,
                        "args_summary": call.args_summary,
                        "provenance": call.provenance,
                    }
                    for call in reason.calls
                ],
            }
            for reason in verdict.reasons
        ],
    }


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def _cursor(run: Run) -> str:
    """Where a page ended: the microsecond its last run was made, and its id."""
    micros = (run.created_at - _EPOCH) // _MICROSECOND
    return base64.urlsafe_b64encode(micros.to_bytes(8, "big") + run.id.bytes).decode()


def _place(cursor: str) -> tuple[datetime, UUID]:
    try:
        packed = base64.b64decode(cursor, altchars=b"-_", validate=True)
        if len(packed) != 24:
            raise ValueError
        return _EPOCH + int.from_bytes(packed[:8], "big") * _MICROSECOND, UUID(bytes=packed[8:])
    except (ValueError, OverflowError, binascii.Error):
        raise Invalid("after", "This is not a place in the list; send the `next` of a page before.") from None
