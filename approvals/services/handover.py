"""Handing a replay over to its runtime: the check before, the intent, and what came of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models.functions import Now

from approvals.db.binding import current_workspace
from approvals.models import Decision, Observation, Run
from approvals.rules.decisions import IN_PLACE
from approvals.rules.digests import canonical
from approvals.selectors.lineages import judged
from approvals.selectors.payloads import contents_of
from approvals.selectors.runtimes import allowed_hosts
from approvals.services import jobs, lineages, runs, secrets
from approvals.services.jobs import Claim

CONFIRMING = {"confirm_call": True, "reject_call": False}  # what each of these answers a confirmation with
_AGAIN = re.compile(r" #\d+\Z")
_CONFIRMATION = "adk_request_confirmation"  # the name of the call by which ADK asks a person

INPUT_ERASED = "The input of this run was erased meanwhile, so nothing was started."
ANSWERS_ERASED = "What was to be answered was erased meanwhile, so nothing was started. Decide again."
NO_MESSAGE = "The input of this run holds no message that could be sent again, so nothing was started."
CHANGED = "What this run did changed after the decision, so nothing was started. Decide again."
SESSION_IN_USE = (
    "Another run is using this session, and two at once would lose what one of them did, so nothing was started."
    " Wait until it ends, then decide again."
)


@dataclass(frozen=True, slots=True)
class Order:
    """What a runtime that speaks the machine API is asked to do."""

    base_url: str
    secret: str
    allowed_hosts: frozenset[str]
    job_id: UUID
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call is answered with from outside: `response` is a JSON object."""

    call_id: str
    name: str
    response: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOrder:
    """What a runtime that streams is asked to do: one turn of an agent in one session.

    `message` is the turn's message as the runtime takes it. In place, it goes into the session of an earlier run; else
    `session_id` is to be made. `supplied` are the calls that the message answers with their results. `version` is what
    its service said of itself last, empty where it said nothing yet.
    """

    base_url: str
    allowed_hosts: frozenset[str]
    run_id: UUID
    app: str
    user: str
    session_id: str
    in_place: bool
    message: dict[str, Any] = field(repr=False)
    supplied: tuple[Answer, ...] = field(default=(), repr=False)
    time_limit_s: int
    silence_s: int
    version: str = ""


class _Refused(Exception):
    """Nothing can be handed over; the text is one sentence that says why."""


@transaction.atomic
def prepare(*, held: Claim) -> Order | StreamOrder | None:
    """Check that what was decided about is still so, then commit the intent. None: ended with why, or lost."""
    run = lineages.lock(Run.objects.get(id=held.target_id))
    try:
        order = _checked(held, run)
    except _Refused as refused:
        jobs.finish(held, "failed", str(refused), then=lambda: runs.never_began(run))
        return None
    if not jobs.state_intent(held):
        return None
    Run.objects.filter(id=run.id).update(started_at=Now())
    return order


def _checked(held: Claim, run: Run) -> Order | StreamOrder:
    """The order, if what was decided about is still so; raises _Refused."""
    contents = contents_of([run.input_payload_id])
    if run.input_payload_id not in contents:  # which changes the digest too, and is the better reason
        raise _Refused(INPUT_ERASED)
    decision = Decision.objects.get(jobs__id=held.job_id)
    _facts, _verdict, digest = judged(Run.objects.get(id=run.replay_of_id or run.id), without=run.id)
    if digest != decision.digest:
        raise _Refused(CHANGED)
    given = contents[run.input_payload_id]["input"]
    if run.runtime.kind == "adk":
        return _stream_order(run, decision, given)
    return _order(held, run, given)


def _order(held: Claim, run: Run, given: Any) -> Order:
    secret = secrets.signing(bytes(run.runtime.signing_secret))
    if secret is None:  # however often a worker tries
        raise _Refused(f"{secrets.UNREADABLE} Nothing was started; then decide again.")
    return Order(
        base_url=run.runtime.base_url,
        secret=secret,
        allowed_hosts=allowed_hosts(),
        job_id=held.job_id,
        payload={
            "job_id": str(held.job_id),
            "run_id": str(run.id),
            "replay_of": str(run.replay_of_id or run.id),
            "agent": run.agent,
            "session_id": run.session_id,
            "subject": run.subject,
            "input": given,
        },
    )


def _stream_order(run: Run, decision: Decision, given: Any) -> StreamOrder:
    _refuse_second_in_session(run)
    in_place = decision.kind in IN_PLACE
    message, supplied = _answering(decision) if in_place else (_sent(given), ())
    return StreamOrder(
        base_url=run.runtime.base_url,
        allowed_hosts=allowed_hosts(),
        run_id=run.id,
        app=run.agent,
        user=run.subject,
        session_id=run.session_id,
        in_place=in_place,
        message=message,
        supplied=supplied,
        time_limit_s=run.runtime.time_limit_s,
        silence_s=run.runtime.silence_s,
        version=Observation.objects.values_list("version", flat=True).filter(runtime=run.runtime).first()
        or "",
    )


def _sent(given: Any) -> dict[str, Any]:
    """The message that the run was started with."""
    message = given.get("message") if isinstance(given, dict) else None
    if not isinstance(message, dict):
        raise _Refused(NO_MESSAGE)
    return message


def _answering(decision: Decision) -> tuple[dict[str, Any], tuple[Answer, ...]]:
    """(the message that answers what a person decided about, the calls that it gives results for)."""
    evidence = contents_of([decision.payload_id]).get(decision.payload_id)
    if evidence is None:
        raise _Refused(ANSWERS_ERASED)
    if decision.kind in CONFIRMING:
        response = {"confirmed": CONFIRMING[decision.kind]}
        return _message([Answer(evidence["confirmation"]["id"], _CONFIRMATION, response)]), ()
    # An id that an agent used again has a number behind it here (sql/0004_record), which the agent does not know.
    given = {_AGAIN.sub("", one["call_id"]): one for one in evidence["answers"]}
    answers = tuple(Answer(call_id, one["name"], one["response"]) for call_id, one in given.items())
    return _message(answers), answers


def _message(answers: Sequence[Answer]) -> dict[str, Any]:
    parts = [
        {"functionResponse": {"id": answer.call_id, "name": answer.name, "response": answer.response}}
        for answer in answers
    ]
    return {"role": "user", "parts": parts}


def _refuse_second_in_session(run: Run) -> None:
    """One run per session at a time: whoever comes second is refused, also at the same moment."""
    key = [str(current_workspace()), str(run.runtime_id), run.agent, run.subject, run.session_id]
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(hashtextextended(%s, 0))", [canonical(key)])
    others = Run.objects.filter(
        runtime_id=run.runtime_id,
        agent=run.agent,
        subject=run.subject,
        session_id=run.session_id,
        status="running",
        started_at__isnull=False,
    )
    if others.exclude(id=run.id).exists():
        raise _Refused(SESSION_IN_USE)


@transaction.atomic
def settle(*, held: Claim, kind: str, detail: str) -> bool:
    """Write down what the runtime said: accepted, refused or in_doubt. False if the lease was lost meanwhile."""
    run = lineages.lock(Run.objects.get(id=held.target_id))
    if kind == "accepted":
        if not jobs.accepted(held, detail):
            return False
        runs.watch(run)
        return True
    if kind == "refused":
        return jobs.finish(held, "failed", detail, then=lambda: runs.never_began(run))
    return jobs.finish(held, "in_doubt", detail)
