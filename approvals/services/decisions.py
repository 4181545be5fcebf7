"""The decision log's only writer."""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

from approvals.access.actors import Actor
from approvals.db.binding import current_workspace
from approvals.exceptions import AlreadyDecided, NotFound, Refusal, Stale
from approvals.models import Decision
from approvals.rules.decisions import RESOLUTIONS, as_typed
from approvals.rules.shown import Shown
from approvals.selectors.payloads import proven
from approvals.selectors.targets import where_of
from approvals.services import payloads


def record(
    *,
    by: Actor,
    kind: str,
    target_kind: str,
    target_id: UUID,
    evidence: dict[str, Any],
    item_id: UUID | None = None,
    agent: str = "",
    subject: str = "",
    digest: str = "",
    opened_at: datetime | None = None,
    id: UUID | None = None,
) -> Decision:
    """Append one entry in the open transaction, as its last write: the chain's lock is held to the commit.

    `evidence` is what the decider gave and was shown (reason, verdict, calls ...): JSON, erasable, its hash is not.
    `item_id` is the lineage or campaign on whose page it stands. `id` where a job already cites the decision.
    """
    stored = payloads.store(evidence)
    return Decision.objects.create(
        id=id or uuid4(),
        workspace_id=current_workspace(),
        kind=kind,
        actor_kind=by.kind,
        actor_id=by.id,
        actor_name=by.name,
        actor_roles=list(by.roles),
        sign_in=by.sign_in,
        opened_at=opened_at,
        target_kind=target_kind,
        target_id=target_id,
        item_id=item_id,
        agent=agent,
        subject=subject,
        digest=digest,
        payload_id=stored.id,
        payload_hash=stored.hash,
    )


@transaction.atomic
def record_refusal(
    *,
    by: Actor,
    tried: str,
    target: tuple[str, UUID],
    refusal: Refusal,
    shown: Shown | None = None,
    digest: str = "",
    reason: str = "",
    resolution: str = "",
) -> Decision:
    """An attempt to decide that was refused, after it was rolled back: what was tried, on what, and what was said.

    `shown` is what the form said that its page had shown; None where no page of ours was made for this person. A
    machine is shown nothing: then `digest` is of what there is. NotFound where the target is not there.
    """
    kind, target_id = target
    where = where_of(kind, target_id)
    if where is None:
        raise NotFound()
    given = {
        "tried": tried,
        "code": refusal.code,
        "said": refusal.text,
        "reason": as_typed(reason),
        "resolution": resolution,
        "meaning": RESOLUTIONS.get(resolution, ""),
        "changed": refusal.changed if isinstance(refusal, Stale) else [],
    }
    return record(
        by=by,
        kind="refused",
        target_kind=kind,
        target_id=target_id,
        item_id=where.item_id,
        agent=where.agent,
        subject=where.subject,
        digest=shown.digest if shown else digest,
        opened_at=shown.opened_at if shown else None,
        evidence={**where.named, **{name: value for name, value in given.items() if value}},
    )


def evidence_of(decision: Decision) -> dict[str, Any]:
    """What the decider gave and was shown; empty once it was erased, or where it was altered."""
    contents, _altered = proven({decision.payload_id: decision.payload_hash})
    return contents.get(decision.payload_id) or {}


def reason_of(decision: Decision) -> str:
    """The reason or comment that was given, or an empty text where there was none or it was erased."""
    evidence = evidence_of(decision)
    return str(evidence.get("reason") or evidence.get("comment") or "")


def own_or_refused(
    first: Decision,
    *,
    by: Actor,
    kind: str,
    target_id: UUID,
    resolution: str | None = None,
    call_id: str | None = None,
) -> Decision:
    """`first` stands in the way of a decision: harmless when this person had decided just this, else AlreadyDecided.

    `resolution` is the answer that is given now, where the kind alone does not say it; `call_id` the call of the run
    that it is about, where it is one.
    """
    own = (first.actor_kind, first.actor_id, first.kind, first.target_id) == (by.kind, by.id, kind, target_id)
    now = {"resolution": resolution, "call_id": call_id}
    asked = {name: value for name, value in now.items() if value is not None}
    if own and (not asked or asked.items() <= evidence_of(first).items()):
        return first
    raise already(first)


def already(first: Decision) -> AlreadyDecided:
    """The refusal for whoever came after this decision."""
    return AlreadyDecided(
        first.actor_name, first.kind, first.at, reason_of(first), who_id=str(first.actor_id)
    )
