"""Starting a run again: by a person, or by the rule. The decision, the new run and its job are one transaction."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

from approvals import faults
from approvals.access.actors import Actor, TokenBearer, rule_for
from approvals.access.desk import run_for
from approvals.exceptions import AlreadyDecided, Conflict, NotFound, Refusal, Stale
from approvals.models import Decision, Job, Run
from approvals.rules import decisions as kinds
from approvals.rules.shown import Shown
from approvals.rules.verdict import OVERRIDABLE, RunFacts, Verdict, forceable
from approvals.selectors.lineages import judged
from approvals.services import decisions


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


@transaction.atomic
def request_by_rule(*, bearer: TokenBearer, run_id: UUID) -> Started:
    """A machine asks; the verdict alone answers. NotSafe names every reason and every call."""
    seen = Run.objects.filter(id=run_id, runtime_id=bearer.runtime_id).first()
    if seen is None:
        raise NotFound()
    run = lock_lineage(seen)
    facts, verdict, digest = judged(run)
    if not verdict.may_start_again:
        raise NotSafe(verdict)
    return start(
        by=rule_for(bearer),
        run=run,
        kind="replay",
        evidence=_evidence(run, facts, verdict, {"asked_for_by": bearer.hint}),
        digest=digest,
    )


@transaction.atomic
def _decide(*, by: Actor, run_id: UUID, shown: Shown, kind: str, given: dict[str, Any]) -> Started:
    seen = run_for(by, run_id)
    by.require(kind)
    run = lock_lineage(seen)
    facts, verdict, digest = judged(run)
    if "replay_in_flight" in verdict.codes:
        return _somebody_was_first(run, by, kind)
    if digest != shown.digest:
        raise Stale(kinds.changes(shown.told, facts))
    if kind == "force_replay":
        _check_force(verdict, given)
    elif not verdict.may_start_again:
        raise Conflict(" ".join(reason.text for reason in verdict.reasons), code="not_safe")
    started = start(
        by=by, run=run, kind=kind, evidence=_evidence(run, facts, verdict, given), digest=digest, shown=shown
    )
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


def lock_lineage(run: Run) -> Run:
    """Lock every attempt and read the run anew: decisions on one lineage come one after the other.

    All attempts, before anything else is touched: the journal's trigger locks a run and then the queue's row, and
    whoever took them the other way round would wait for it in a circle.
    """
    attempts = Run.objects.select_for_update(no_key=True).filter(lineage_id=run.lineage_id)
    return {attempt.id: attempt for attempt in attempts.order_by("created_at", "id")}[run.id]


def start(
    *, by: Actor, run: Run, kind: str, evidence: dict[str, Any], digest: str, shown: Shown | None = None
) -> Started:
    """In the open transaction, under the lineage's lock: the new run, its job, and last the decision."""
    attempt = Run.objects.filter(lineage_id=run.lineage_id).count() + 1
    root_id = Run.objects.values_list("external_id", flat=True).get(id=run.lineage_id)
    new_run = Run.objects.create(
        workspace_id=run.workspace_id,
        runtime_id=run.runtime_id,
        external_id=f"{root_id}#{attempt}",
        agent=run.agent,
        session_id=run.session_id,
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
    decision = decisions.record(
        id=decision_id,
        by=by,
        kind=kind,
        target_kind="run",
        target_id=run.id,
        item_id=run.lineage_id,
        agent=run.agent,
        subject=run.subject,
        digest=digest,
        opened_at=shown.opened_at if shown else None,
        evidence=evidence,
    )
    return Started(decision, job, new_run)


def _evidence(
    run: Run, facts: tuple[RunFacts, ...], verdict: Verdict, given: dict[str, Any]
) -> dict[str, Any]:
    return {
        **given,
        "run": run.external_id,
        "verdict": {
            "may_start_again": verdict.may_start_again,
            "reasons": [{"code": reason.code, "text": reason.text} for reason in verdict.reasons],
        },
        "lineage": [asdict(fact) for fact in facts],
    }


def _somebody_was_first(run: Run, by: Actor, kind: str) -> Started:
    """A replay of this lineage is under way: harmless when this person asked for just this, else the loser's screen."""
    job = (
        Job.objects.select_related("decision", "run")
        .filter(run__lineage_id=run.lineage_id, run__status="running")
        .order_by("-created_at")
        .first()
    )
    if job is None or job.run is None:
        raise Conflict(
            "Another attempt of this run is under way. Wait until it ends.", code="replay_in_flight"
        )
    first = job.decision
    if (first.actor_kind, first.actor_id, first.kind, first.target_id) == (by.kind, by.id, kind, run.id):
        return Started(first, job, job.run, repeated=True)
    raise AlreadyDecided(first.actor_name, first.kind, first.at, decisions.reason_of(first))


@transaction.atomic
def cancel(*, by: Actor, job_id: UUID) -> Decision:
    """Take a replay back while it is held or queued; Conflict once a worker has it."""
    job = Job.objects.select_related("run").filter(id=job_id, kind="replay").first()
    if job is None or job.run is None:
        raise NotFound()
    by.require("cancel_replay")
    run = lock_lineage(job.run)
    taken_back = Job.objects.filter(id=job.id, status__in=["held", "queued"]).update(
        status="cancelled", outcome=f"Taken back by {by.name}."
    )
    if not taken_back:
        raise Conflict(
            "A worker already has this replay, so it cannot be taken back any more.", code="too_late"
        )
    Run.objects.filter(id=run.id, status="running").update(status="cancelled")
    return decisions.record(
        by=by,
        kind="cancel_replay",
        target_kind="job",
        target_id=job.id,
        item_id=run.lineage_id,
        agent=run.agent,
        subject=run.subject,
        evidence={"run": run.external_id},
    )
