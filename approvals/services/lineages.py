"""Deciding about a run: its lineage locked, judged, and compared with what the decider was shown."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from approvals.access.actors import Actor
from approvals.access.desk import run_for
from approvals.exceptions import Conflict, Stale
from approvals.models import Decision, Job, Run
from approvals.rules import decisions as kinds
from approvals.rules.shown import Shown
from approvals.rules.verdict import RunFacts, Verdict
from approvals.selectors.lineages import judged
from approvals.services import decisions


@dataclass(frozen=True, slots=True)
class Case:
    """One run, under the locks of its lineage, and what the rules say about it."""

    run: Run
    facts: tuple[RunFacts, ...]
    verdict: Verdict
    digest: str

    @property
    def is_head(self) -> bool:
        """Whether this attempt is the one that counts: the last that began."""
        return next(fact.is_head for fact in self.facts if fact.id == str(self.run.id))


def lock(run: Run) -> Run:
    """Lock every attempt of the lineage and read the run anew.

    Decisions on one lineage come one after the other, and no event of it comes in between what is judged and the
    commit. All attempts, before anything else is touched: the journal's trigger locks a run and then the queue's
    row, and whoever took them the other way round would wait for it in a circle.
    """
    attempts = Run.objects.select_for_update(no_key=True).order_by("created_at", "id")
    attempts.get(id=run.lineage_id)  # first: nobody adds an attempt without it
    list(attempts.filter(lineage_id=run.lineage_id))
    return Run.objects.select_related("runtime").get(id=run.id)


def open_case(by: Actor, run_id: UUID, permission: str) -> Case:
    """The run, locked and judged, for somebody who may. NotFound, NotAllowed."""
    seen = run_for(by, run_id)
    by.require(permission)
    return judge(lock(seen))


def judge(run: Run) -> Case:
    """A run that is locked already."""
    facts, verdict, digest = judged(run)
    return Case(run, facts, verdict, digest)


def refuse_stale(case: Case, shown: Shown) -> None:
    """Stale unless what was shown is still what is there."""
    if case.digest != shown.digest:
        raise Stale(kinds.changes(shown.told, case.facts))


def refuse_superseded(case: Case) -> None:
    """Conflict for an attempt whose place a later one took."""
    if not case.is_head:
        raise Conflict("A later attempt took the place of this run. Decide on that one.", code="superseded")


def last_decision(item_id: UUID, among: Collection[str]) -> Decision | None:
    """The newest decision of these kinds about a lineage or campaign."""
    return Decision.objects.filter(item_id=item_id, kind__in=among).order_by("-seq").first()


def last_release(case: Case) -> Job | None:
    """The job of the lineage's newest replay, with its decision and its run."""
    jobs = Job.objects.select_related("decision", "run").filter(run__lineage_id=case.run.lineage_id)
    return jobs.order_by("-created_at", "-id").first()


def record(
    by: Actor,
    kind: str,
    run: Run,
    shown: Shown,
    evidence: dict[str, Any],
    *,
    target: tuple[str, UUID] | None = None,
) -> Decision:
    """The entry about a run, or about its job or call `target` (kind and id)."""
    target_kind, target_id = target or ("run", run.id)
    return decisions.record(
        by=by,
        kind=kind,
        target_kind=target_kind,
        target_id=target_id,
        item_id=run.lineage_id,
        agent=run.agent,
        subject=run.subject,
        digest=shown.digest,
        opened_at=shown.opened_at,
        evidence=evidence,
    )


def evidence_of(case: Case, given: dict[str, Any]) -> dict[str, Any]:
    """What the decider gave, and what the page told them: the verdict and every attempt."""
    return {
        **given,
        "run": case.run.external_id,
        "verdict": {
            "may_start_again": case.verdict.may_start_again,
            "reasons": [{"code": reason.code, "text": reason.text} for reason in case.verdict.reasons],
        },
        "lineage": [asdict(fact) for fact in case.facts],
    }
