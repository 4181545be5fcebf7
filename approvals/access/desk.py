"""What a member may reach, by id. Another workspace's id is the same 404 as one that does not exist."""

from typing import TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet

from approvals.access.actors import Actor
from approvals.exceptions import NotFound
from approvals.models import Campaign, Decision, Delivery, Job, Run, Runtime

_Row = TypeVar("_Row", bound=Model)


def run_for(actor: Actor, run_id: UUID) -> Run:
    """The run with its runtime; NotAllowed without the right to look, NotFound when the workspace has none."""
    return _one(actor, "view", Run.objects.select_related("runtime"), run_id)


def campaign_for(actor: Actor, campaign_id: UUID) -> Campaign:
    """The campaign; raises like `run_for`."""
    return _one(actor, "view", Campaign.objects.all(), campaign_id)


def delivery_for(actor: Actor, delivery_id: UUID) -> Delivery:
    """The delivery; raises like `run_for`."""
    return _one(actor, "view", Delivery.objects.all(), delivery_id)


def job_for(actor: Actor, job_id: UUID) -> Job:
    """The job; raises like `run_for`."""
    return _one(actor, "view", Job.objects.all(), job_id)


def decision_for(actor: Actor, decision_id: UUID) -> Decision:
    """The log entry; NotAllowed without the right to read the log."""
    return _one(actor, "read_log", Decision.objects.all(), decision_id)


def runtime_for(actor: Actor, runtime_id: UUID) -> Runtime:
    """The runtime; raises like `run_for`."""
    return _one(actor, "view", Runtime.objects.all(), runtime_id)


def _one(actor: Actor, permission: str, rows: QuerySet[_Row], id: UUID) -> _Row:
    actor.require(permission)
    row = rows.filter(pk=id).first()
    if row is None:
        raise NotFound()
    return row
