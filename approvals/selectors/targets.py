"""Where an entry of the log belongs, from what it is about."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from approvals.models import Campaign, Delivery, Job, Run, Runtime, Suppression, Workspace


@dataclass(frozen=True, slots=True)
class Where:
    """The lineage or campaign on whose page an entry stands, whose it is, and what the thing is called.

    What is set up stands on no such page and belongs to no agent.
    """

    item_id: UUID | None = None
    agent: str = ""
    subject: str = ""
    named: Mapping[str, str] = field(default_factory=dict)


def where_of(kind: str, target_id: UUID) -> Where | None:
    """Where an entry belongs that is about this run, call (by its run), campaign, delivery or job, or about what is
    set up (the workspace or a runtime) or suppressed. None where there is no such thing.
    """
    match kind:
        case "run" | "call":
            return _of(run=Run.objects.filter(id=target_id).first())
        case "campaign":
            return _of(campaign=Campaign.objects.filter(id=target_id).first())
        case "delivery":
            delivery = Delivery.objects.select_related("campaign").filter(id=target_id).first()
            return _of(campaign=delivery.campaign, recipient=delivery.address) if delivery else None
        case "job":
            job = Job.objects.select_related(*OF_A_JOB).filter(id=target_id).first()
            return where_of_job(job) if job else None
        case "workspace" | "runtime" | "suppression":
            return _named(_MODELS[kind].objects.filter(id=target_id).first())
        case _:
            raise ValueError(f"nothing is decided about a {kind}")


_MODELS: Mapping[str, Any] = {"workspace": Workspace, "runtime": Runtime, "suppression": Suppression}


def _named(thing: Workspace | Runtime | Suppression | None) -> Where | None:
    if isinstance(thing, Suppression):
        return Where(agent=thing.scope, named={"email": thing.dedupe_key})
    return Where(named={"name": thing.name}) if thing else None


OF_A_JOB = ("run", "campaign", "delivery", "sample__campaign")  # what `where_of_job` looks at


def where_of_job(job: Job) -> Where | None:
    """The same for a job that was read with OF_A_JOB."""
    if job.sample is not None:
        return _of(campaign=job.sample.campaign, recipient=job.sample.address)
    return _of(
        run=job.run, campaign=job.campaign, recipient=job.delivery.address if job.delivery is not None else ""
    )


def _of(*, run: Run | None = None, campaign: Campaign | None = None, recipient: str = "") -> Where | None:
    if run is not None:
        return Where(run.lineage_id, run.agent, run.subject, {"run": run.external_id})
    if campaign is not None:
        named = {"campaign": campaign.name, "recipient": recipient}
        return Where(
            campaign.id, campaign.agent, named={name: value for name, value in named.items() if value}
        )
    return None
