"""Deciding about campaigns in tests: the services with what a page would send along."""

from uuid import uuid4

from django.db import transaction

from approvals.models import Decision, Delivery, Job, QueueItem
from approvals.rules.content import Content
from approvals.selectors.attachments import content_of
from approvals.services import campaigns, deliveries, jobs, rounds, sending
from approvals.services.jobs import Claim
from approvals.services.sending import Sealed
from tests import factories as f

REASON = "The second paragraph promises a refund."


def approve(by, campaign, shown=None, **when):
    shown = shown or f.shown_campaign(campaign)
    return campaigns.approve(by=by, campaign_id=campaign.id, shown=shown, **when)


def reject(by, campaign, shown=None, comment=REASON):
    shown = shown or f.shown_campaign(campaign)
    return campaigns.reject(by=by, campaign_id=campaign.id, shown=shown, comment=comment)


def take_back(by, campaign, shown=None):
    return campaigns.take_back(by=by, campaign_id=campaign.id, shown=shown or f.shown_campaign(campaign))


def return_(by, campaign, shown=None, comment=REASON):
    shown = shown or f.shown_campaign(campaign)
    return campaigns.return_(by=by, campaign_id=campaign.id, shown=shown, comment=comment)


def pause(by, campaign, shown=None):
    return campaigns.pause(by=by, campaign_id=campaign.id, shown=shown or f.shown_campaign(campaign))


def go_on(by, campaign, shown=None):
    return campaigns.go_on(by=by, campaign_id=campaign.id, shown=shown or f.shown_campaign(campaign))


def stop(by, campaign, shown=None, reason=REASON):
    shown = shown or f.shown_campaign(campaign)
    return campaigns.stop(by=by, campaign_id=campaign.id, shown=shown, reason=reason)


def resolve(by, delivery, resolution, *, shown=None, reason=REASON):
    shown = shown or f.shown_delivery(delivery)
    return deliveries.resolve(
        by=by, delivery_id=delivery.id, shown=shown, resolution=resolution, reason=reason
    )


def entries():
    return [entry.kind for entry in f.rows(Decision.objects.order_by("seq"))]


def the_job():
    [job] = f.rows(Job.objects)
    return job


def states(campaign):
    found = Delivery.objects.filter(campaign_id=campaign.id).order_by("position")
    return [delivery.state for delivery in f.rows(found)]


def tab_of(campaign):
    return f.rows(QueueItem.objects.defer("due").filter(id=campaign.id))[0].tab


def next_intent(*, held, sealed):
    """The next recipient whose message may leave; None when there is none, or the job is no longer ours."""
    tried = set()
    after = -1
    while rows := rounds.upcoming(held=held, sealed=sealed, after=after, at_most=1):
        [planned] = rows
        if planned.delivery_id in tried:
            return None
        tried.add(planned.delivery_id)
        after = max(after, planned.position)
        if planned.delivery_id in rounds.turn(held=held, sealed=sealed, wanted=[planned]).opened:
            return planned
    return None


def settle(*, held, intent, state, reply, counts=True):
    """Write down what became of one message; False if it was no longer ours."""
    ending = rounds.Ending(intent.delivery_id, state, reply, counts)
    return bool(
        rounds.turn(
            held=held, sealed=Sealed(uuid4(), "", Content("", "", "", "", "")), endings=[ending]
        ).settled
    )


def begun(mia, **more):
    """(a campaign that is being sent, the worker's claim, the sealed version)."""
    campaign = f.campaign(**more)
    approve(mia, campaign)
    held = jobs.claim(job_id=the_job().id, task_id="t")
    return campaign, held, sending.begin(held=held)


def in_doubt(mia, state="in_doubt", **more):
    """(a campaign whose first message is in doubt or failed while the rest is still to go, that delivery)."""
    campaign, held, sealed = begun(mia, **more)
    intent = next_intent(held=held, sealed=sealed)
    assert settle(held=held, intent=intent, state=state, reply="the connection broke")
    return campaign, f.rows(Delivery.objects.filter(id=intent.delivery_id))[0]


def claimed(job):
    """The claim of whoever holds this job now."""
    return Claim(job.id, job.fence, job.kind, job.run_id, job.campaign_id, job.version_id, job.delivery_id)


def sealed_of(campaign):
    """What is sent to everybody."""
    with transaction.atomic():
        version = campaign.versions.get()
        return Sealed(version.id, version.digest, content_of(version))
