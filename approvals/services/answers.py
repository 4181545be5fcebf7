"""Going on with a run of an ADK runtime in its own session: what a person says of its open calls, or of a held one.

Each is a release like a replay: the decision, the new run and its job are one transaction, bound to what was shown.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction

from approvals import faults
from approvals.access.actors import Actor
from approvals.exceptions import Conflict, NotFound, Stale
from approvals.rules import in_place
from approvals.rules.decisions import reason_given, text_given
from approvals.rules.in_place import Said
from approvals.rules.shown import Shown
from approvals.rules.verdict import RunFacts
from approvals.selectors.confirmations import confirmation_of
from approvals.services import lineages, replays
from approvals.services.lineages import Case
from approvals.services.replays import Started


@transaction.atomic
def answer_calls(*, by: Actor, run_id: UUID, shown: Shown, said: Mapping[str, Said], reason: str) -> Started:
    """A person says of every call that the run left open whether it happened (by call id), and the agent goes on.

    Here and below: NotFound, NotAllowed, Stale, AlreadyDecided, Conflict, Invalid.
    """
    case = lineages.open_case(by, run_id, "answer_calls")
    if started := replays.done_before(case, by, "answer_calls", shown):
        return started
    own = _own(case)
    if why := in_place.why_no_answers(case.run.runtime.kind, own):
        raise Conflict(why)
    answers = in_place.answers_given(in_place.unanswered(own), said)
    given = {"reason": reason_given(reason), "answers": answers}
    return _start(by, "answer_calls", case, shown, given, target=("run", run_id))


@transaction.atomic
def confirm_call(*, by: Actor, run_id: UUID, call_id: str, shown: Shown, comment: str) -> Started:
    """A person lets a held call be made, as it was asked for."""
    return _answer_held("confirm_call", by=by, run_id=run_id, call_id=call_id, shown=shown, typed=comment)


@transaction.atomic
def reject_call(*, by: Actor, run_id: UUID, call_id: str, shown: Shown, reason: str) -> Started:
    """A person refuses a held call; its agent is told and goes on without it."""
    return _answer_held("reject_call", by=by, run_id=run_id, call_id=call_id, shown=shown, typed=reason)


def _answer_held(kind: str, *, by: Actor, run_id: UUID, call_id: str, shown: Shown, typed: str) -> Started:
    case = lineages.open_case(by, run_id, kind)
    own = _own(case)
    call = next((call for call in own.calls if call.call_id == call_id), None)
    if call is None:
        raise NotFound()
    why = in_place.why_not_held(case.run.runtime.kind, own, call)
    try:
        if started := replays.done_before(case, by, kind, shown, call_id=call_id):
            return started
    except Stale:
        if call.state == "awaiting":
            raise
        raise Conflict(why, code="not_held") from None  # which says more than that something changed
    confirmation = confirmation_of(run_id, call_id)
    if why := why or _unreadable(confirmation):
        raise Conflict(why, code="not_held")
    given = {"call_id": call_id, "name": call.name, "confirmation": confirmation, **_checked(kind, typed)}
    return _start(by, kind, case, shown, given, target=("call", run_id))


def _checked(kind: str, typed: str) -> dict[str, str]:
    """The reason of a rejection, or a comment where one was given."""
    if kind == "reject_call":
        return {"reason": reason_given(typed)}
    comment = text_given(typed, field="comment")
    return {"comment": comment} if comment else {}


def _unreadable(confirmation: Mapping[str, str] | None) -> str:
    if confirmation is not None:
        return ""
    return (
        "What was asked for this call is not known any more, so it cannot be answered here. Answer it in ADK."
    )


def _own(case: Case) -> RunFacts:
    return next(fact for fact in case.facts if fact.id == str(case.run.id))


def _start(
    by: Actor,
    kind: str,
    case: Case,
    shown: Shown,
    given: dict[str, Any],
    *,
    target: tuple[str, UUID],
) -> Started:
    started = replays.start(
        by=by,
        run=case.run,
        kind=kind,
        evidence=lineages.evidence_of(case, given),
        digest=case.digest,
        shown=shown,
        target=target,
    )
    faults.point("decide.before_commit")
    return started
