"""What a member may reach, by id. Another workspace's id is the same 404 as one that does not exist."""

from uuid import UUID

from approvals.access.actors import Actor
from approvals.exceptions import NotFound
from approvals.models import Campaign, Decision, Delivery, Job, Run


def run_for(actor: Actor, run_id: UUID) -> Run:
    """The run; NotAllowed without the right to look, NotFound when there is none in the bound workspace."""
    actor.require("view")
    run = Run.objects.select_related("runtime").filter(id=run_id).first()
    if run is None:
        raise NotFound()
    return run


def campaign_for(actor: Actor, campaign_id: UUID) -> Campaign:
    """The campaign; raises like `run_for`."""
    actor.require("view")
    campaign = Campaign.objects.filter(id=campaign_id).first()
    if campaign is None:
        raise NotFound()
    return campaign


def delivery_for(actor: Actor, delivery_id: UUID) -> Delivery:
    """The delivery; raises like `run_for`."""
    actor.require("view")
    delivery = Delivery.objects.filter(id=delivery_id).first()
    if delivery is None:
        raise NotFound()
    return delivery


def job_for(actor: Actor, job_id: UUID) -> Job:
    """The job; raises like `run_for`."""
    actor.require("view")
    job = Job.objects.filter(id=job_id).first()
    if job is None:
        raise NotFound()
    return job


def decision_for(actor: Actor, decision_id: UUID) -> Decision:
    """The log entry; NotAllowed without the right to read the log."""
    actor.require("read_log")
    decision = Decision.objects.filter(id=decision_id).first()
    if decision is None:
        raise NotFound()
    return decision
