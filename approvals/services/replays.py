"""Starting a run again: by a person, or by the rule. The decision, the new run and its job are one transaction."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

from approvals import faults
from approvals.access.actors import Actor, TokenBearer, rule_for
from approvals.access.desk import job_for
from approvals.exceptions import DECIDED, Conflict, NotFound, Refusal, Stale
from approvals.models import Decision, Job, Run, StoredRow
from approvals.rules import decisions as kinds
from approvals.rules.sessions import session_of_run
from approvals.rules.shown import Shown
from approvals.rules.verdict import OVERRIDABLE, Verdict, forceable
from approvals.services import decisions, lineages
from approvals.services.jobs import WAITING
from approvals.services.lineages import Case

# While an attempt goes on each event makes another digest, and the answer is only "not yet".
NOT_YET = frozenset({"still_running", "replay_in_flight"})
PUT_ASIDE = ("dismiss", "resolve_run")  # the kinds that take a run out of the queue


@dataclass(frozen=True, slots=True)
class Started:
    """What came of asking: `repeated` when the same person had already decided just this."""

    decision: Decision
    job: Job
    run: Run
    repeated: bool = False


class NotSafe(Refusal):
    """The verdict does not allow an automatic replay; no machine can force one."""

    default_code = "not_safe"
    default_status = 409

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(
            "This run does not start again by itself: " + " ".join(reason.text for reason in verdict.reasons),
            extra={
                "reasons": [asdict(reason) for reason in verdict.reasons],
                "calls": [asdict(call) for call in verdict.calls],
            },
        )


def replay(*, by: Actor, run_id: UUID, shown: Shown) -> Started:
    """A person starts a run again that nothing stands in the way of. NotAllowed, Stale, AlreadyDecided, Conflict."""
    return _decide(by=by, run_id=run_id, shown=shown, kind="replay", given={})


def force(
    *, by: Actor, run_id: UUID, shown: Shown, reason: str, ticked: Collection[str], unknown_ticked: bool
) -> Started:
    """A person starts a run again in spite of what it did: with a reason, each call acknowledged. Invalid if not."""
    given = {"reason": reason, "ticked": list(ticked), "unknown_ticked": unknown_ticked}
    return _decide(by=by, run_id=run_id, shown=shown, kind="force_replay", given=given)


def request_by_rule(*, bearer: TokenBearer, run_id: UUID) -> Started:
    """A machine asks; the verdict answers, unless a person did. NotSafe names every reason and every call."""
    answer = _by_rule(bearer, run_id)
    if isinstance(answer, Refusal):
        raise answer
    return answer


@transaction.atomic
def _by_rule(bearer: TokenBearer, run_id: UUID) -> Started | Refusal:
    seen = Run.objects.filter(id=run_id, runtime_id=bearer.runtime_id).first()
    if seen is None:
        raise NotFound()
    case = lineages.judge(lineages.lock(seen))
    refusal: Refusal
    if not case.verdict.may_start_again:
        refusal = NotSafe(case.verdict)
    elif Run.objects.filter(lineage_id=case.run.lineage_id, dismissed_at__isnull=False).exists():
        refusal = Conflict(
            "A person decided that nothing is to be done about this run. It can start again once somebody reopens it.",
            code="dismissed",
        )
    else:
        evidence = lineages.evidence_of(case, {"asked_for_by": bearer.hint})
        return start(by=rule_for(bearer), run=case.run, kind="replay", evidence=evidence, digest=case.digest)
    if not NOT_YET.intersection(case.verdict.codes):
        _keep_refused_once(bearer, case, refusal)
    return refusal


def _keep_refused_once(bearer: TokenBearer, case: Case, refusal: Refusal) -> None:
    """In the log, under the lineage's lock: once a token, run and digest, since an agent may ask every second."""
    by = bearer.actor
    known = Decision.objects.filter(
        target_id=case.run.id, kind="refused", actor_kind=by.kind, actor_id=by.id, digest=case.digest
    )
    if not known.exists():
        decisions.record_refusal(
            by=by, tried="replay", target=("run", case.run.id), refusal=refusal, digest=case.digest
        )


@transaction.atomic
def _decide(*, by: Actor, run_id: UUID, shown: Shown, kind: str, given: dict[str, Any]) -> Started:
    case = lineages.open_case(by, run_id, kind)
    if started := done_before(case, by, kind, shown):
        return started
    if kind == "force_replay":
        _check_force(case.verdict, given)
    elif not case.verdict.may_start_again:
        raise Conflict(" ".join(reason.text for reason in case.verdict.reasons), code="not_safe")
    evidence = lineages.evidence_of(case, given)
    started = start(by=by, run=case.run, kind=kind, evidence=evidence, digest=case.digest, shown=shown)
    faults.point("decide.before_commit")
    return started


def _check_force(verdict: Verdict, given: dict[str, Any]) -> None:
    if verdict.may_start_again:
        raise Conflict(
            "Nothing stands in the way of this run; start it again without forcing it.", code="no_need"
        )
    if not forceable(verdict):
        blocking = [reason for reason in verdict.reasons if reason.code not in OVERRIDABLE]
        raise Conflict(" ".join(reason.text for reason in blocking), code=blocking[0].code)
    given["reason"] = kinds.reason_given(given["reason"])
    kinds.check_acknowledged(verdict, given["ticked"], given["unknown_ticked"])
    # The log keeps what was on the page, and no word that somebody sent along with it.
    keys = [kinds.call_key(call.run_id, call.call_id) for call in verdict.calls]
    given["ticked"] = [key for key in keys if key in given["ticked"]]


def start(
    *,
    by: Actor,
    run: Run,
    kind: str,
    evidence: dict[str, Any],
    digest: str,
    shown: Shown | None = None,
    target: tuple[str, UUID] | None = None,
) -> Started:
    """In the open transaction, under the lineage's lock: the new run, its job, and last the decision.

    `target` is what was decided about (kind and id) where that is not the run itself. A run of an ADK runtime begins in
    a session of its own, so that nothing of the old conversation is in its way; unless it goes on in place.
    """
    id = uuid4()
    fresh = run.runtime.kind == "adk" and kind not in kinds.IN_PLACE
    attempt = Run.objects.filter(lineage_id=run.lineage_id).count() + 1
    root_id = Run.objects.values_list("external_id", flat=True).get(id=run.lineage_id)
    new_run = Run.objects.create(
        id=id,
        workspace_id=run.workspace_id,
        runtime_id=run.runtime_id,
        external_id=f"{root_id}#{attempt}",
        agent=run.agent,
        session_id=session_of_run(id) if fresh else _session_of(run, kind),
        subject=run.subject,
        trigger="replay",
        input_payload_id=run.input_payload_id,
        input_hash=run.input_hash,
        body_digest="",
        replay_of_id=run.id,
        lineage_id=run.lineage_id,
    )
    decision_id = uuid4()
    job = Job.objects.create(
        workspace_id=run.workspace_id,
        decision_id=decision_id,
        kind="replay",
        run_id=new_run.id,
        status="queued",
    )
    target_kind, target_id = target or ("run", run.id)
    decision = decisions.record(
        id=decision_id,
        by=by,
        kind=kind,
        target_kind=target_kind,
        target_id=target_id,
        item_id=run.lineage_id,
        agent=run.agent,
        subject=run.subject,
        digest=digest,
        opened_at=shown.opened_at if shown else None,
        evidence=evidence,
    )
    return Started(decision, job, new_run)


def _session_of(run: Run, kind: str) -> str:
    """Where its runtime keeps what it did last: a turn that was asked for once more has a session of its own."""
    if kind not in kinds.IN_PLACE:
        return run.session_id
    rows = StoredRow.objects.filter(run=run).order_by("-session_id")  # made in the order of the attempts
    return rows.values_list("session__session", flat=True).first() or run.session_id


def done_before(
    case: Case, by: Actor, kind: str, shown: Shown, *, call_id: str | None = None
) -> Started | None:
    """What this person's same decision began already; None where it is still to be decided, as the head of its lineage.

    `call_id` is the call that is decided about, where it is one. AlreadyDecided, Stale, Conflict.
    """
    if "replay_in_flight" in case.verdict.codes:
        return _somebody_was_first(case, by, kind, call_id)
    if case.digest != shown.digest:
        return _decided_meanwhile(case, by, kind, shown, call_id)
    refuse_dismissed(case)
    lineages.refuse_superseded(case)
    return None


def _somebody_was_first(case: Case, by: Actor, kind: str, call_id: str | None) -> Started:
    """A replay of this lineage is under way: harmless when this person asked for just this, else the loser's screen."""
    started = already_started(case, by, kind, call_id=call_id)
    if started is None:
        raise Conflict(
            "Another attempt of this run is under way. Wait until it ends.", code="replay_in_flight"
        )
    return started


def already_started(case: Case, by: Actor, kind: str, *, call_id: str | None = None) -> Started | None:
    """The replay under way, if this person's decision of this kind began it; AlreadyDecided for anybody else's.

    None when no replay of the lineage is under way.
    """
    job = lineages.last_release(case)
    if job is None or job.run is None or job.run.status != "running" or job.run_id == case.run.id:
        return None
    first = decisions.own_or_refused(job.decision, by=by, kind=kind, target_id=case.run.id, call_id=call_id)
    return Started(first, job, job.run, repeated=True)


def _decided_meanwhile(case: Case, by: Actor, kind: str, shown: Shown, call_id: str | None) -> Started:
    """Something changed: was it a replay that already came to its end? The same form once more is harmless."""
    job = lineages.last_release(case)
    if job is None or job.run is None or job.decision.at < shown.opened_at:
        raise Stale(kinds.changes(shown.told, case.facts))
    first = job.decision
    if first.opened_at == shown.opened_at:
        decisions.own_or_refused(first, by=by, kind=kind, target_id=case.run.id, call_id=call_id)
        return Started(first, job, job.run, repeated=True)
    if job.status == "cancelled":
        raise Stale([f"{first.actor_name} {DECIDED[first.kind]}. {job.outcome}"])
    raise decisions.already(first)


def refuse_dismissed(case: Case) -> None:
    """AlreadyDecided for a run that somebody put aside; it can be reopened."""
    if case.run.dismissed_at is None:
        return
    first = lineages.last_decision(case.run.lineage_id, PUT_ASIDE)
    if first is None:
        raise Conflict("This run was dismissed. Reopen it first.")
    raise decisions.already(first)


def refuse_begun(job: Job, run: Run) -> None:
    """Conflict for a paused replay whose runtime tells of it: it was handed over after the backup was taken."""
    if job.status == "paused" and run.max_seq:
        raise Conflict(
            "The new run was heard from meanwhile, so this replay did begin. Reload the page to see it.",
            code="begun",
        )


@transaction.atomic
def cancel(*, by: Actor, job_id: UUID, shown: Shown) -> tuple[Decision, bool]:
    """Take a replay back while it is held, queued or paused; (the decision, whether it only repeats one's own).

    NotFound, NotAllowed, AlreadyDecided, and Conflict once a worker has it.
    """
    job = job_for(by, job_id)
    if job.run_id is None:
        raise NotFound()
    by.require("cancel_replay")
    run = lineages.lock(Run.objects.get(id=job.run_id))
    refuse_begun(job, run)
    taken_back = Job.objects.filter(id=job.id, status__in=WAITING).update(
        status="cancelled", outcome=f"Taken back by {by.name}."
    )
    if not taken_back:
        first = Decision.objects.filter(target_id=job.id, kind="cancel_replay").first()
        if first is not None:
            return decisions.own_or_refused(first, by=by, kind="cancel_replay", target_id=job.id), True
        raise Conflict(
            "A worker already has this replay, so it cannot be taken back any more.", code="too_late"
        )
    Run.objects.filter(id=run.id, status="running").update(status="cancelled")
    about = ("job", job.id)
    return lineages.record(by, "cancel_replay", run, shown, {"run": run.external_id}, target=about), False
