"""Handing a replay over to its runtime: the check before, the intent, and what came of it."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from approvals.models import Decision, Run, Runtime
from approvals.selectors.lineages import judged
from approvals.selectors.payloads import contents_of
from approvals.services import jobs, lineages, runs, secrets
from approvals.services.jobs import Claim


@dataclass(frozen=True, slots=True)
class Order:
    """What the runtime is asked to do."""

    base_url: str
    secret: str
    allowed_hosts: frozenset[str]
    job_id: UUID
    payload: dict[str, Any]


@transaction.atomic
def prepare(*, held: Claim) -> Order | None:
    """Check that what was decided about is still so, then commit the intent. None: ended with why, or lost."""
    run = lineages.lock(Run.objects.get(id=held.target_id))
    original = Run.objects.get(id=run.replay_of_id or run.id)
    contents = contents_of([run.input_payload_id])
    if run.input_payload_id not in contents:  # which changes the digest too, and is the better reason
        _refuse(held, run, "The input of this run was erased meanwhile, so nothing was started.")
        return None
    decided = Decision.objects.filter(jobs__id=held.job_id).values_list("digest", flat=True).get()
    _facts, _verdict, digest = judged(original, without=run.id)
    if digest != decided:
        _refuse(
            held, run, "What this run did changed after the decision, so nothing was started. Decide again."
        )
        return None
    if not jobs.state_intent(held):
        return None
    Run.objects.filter(id=run.id).update(started_at=Now())
    runtime = Runtime.objects.get(id=run.runtime_id)
    hosts = {
        urlsplit(url).netloc
        for url in Runtime.objects.exclude(base_url="").values_list("base_url", flat=True)
    }
    return Order(
        base_url=runtime.base_url,
        secret=secrets.unseal(bytes(runtime.signing_secret)),
        allowed_hosts=frozenset(hosts),
        job_id=held.job_id,
        payload={
            "job_id": str(held.job_id),
            "run_id": str(run.id),
            "replay_of": str(original.id),
            "agent": run.agent,
            "session_id": run.session_id,
            "subject": run.subject,
            "input": contents[run.input_payload_id]["input"],
        },
    )


def _refuse(held: Claim, run: Run, why: str) -> None:
    jobs.finish(held, "failed", why, then=lambda: runs.never_began(run))


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
