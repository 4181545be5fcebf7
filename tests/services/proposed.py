"""Proposing a campaign once more in tests of the services, and what became of its versions."""

from django.db import transaction

from approvals.models import AudienceRow, Delivery, Job, Version
from approvals.rules.proposals import Proposal, Recipient
from approvals.services import jobs, proposals, sending
from tests import factories as f
from tests.services import sends

GUESTS = ["guest1@example.com", "guest2@example.com", "guest3@example.com"]


def a_proposal(campaign, **changes):
    """Everybody of `f.campaign`, in other words, unless something else is said."""
    given = {
        "external_id": campaign.external_id, "name": "Winter schedule", "purpose": "", "send_by": None,
        "run_id": None, "sender": "Northwind <hello@northwind.example.com>", "reply_to": "",
        "subject": "Corrected: {{ name }}", "text": "Dear {{ name }}, sorry.", "html": "",
        "recipients": [Recipient(email, values) for email, values in f.recipients(3)],
    }  # fmt: skip
    return Proposal(**(given | changes))


def anew(by, campaign, **changes):
    """Proposed once more, as a runtime does that crashed: (the campaign, whether that is a new version)."""
    return proposals.propose(by=by, proposal=a_proposal(campaign, **changes))


def the_rest(by, campaign, shown=None, **changes):
    """Another version to whoever got nothing yet, as a member proposes it on the page."""
    proposal = a_proposal(campaign, **({"recipients": (), "rest": True} | changes))
    shown = shown or f.shown_campaign(campaign)
    return proposals.revise(by=by, campaign_id=campaign.id, shown=shown, proposal=proposal)


def numbers(campaign):
    return [
        version.number
        for version in f.rows(Version.objects.filter(campaign_id=campaign.id).order_by("number"))
    ]


@transaction.atomic
def deliveries(campaign, number):
    """The state of each delivery of one version, by address."""
    of_version = Delivery.objects.filter(campaign_id=campaign.id, version__number=number)
    return dict(of_version.order_by("position").values_list("address", "state"))


@transaction.atomic
def left_out(campaign, number):
    rows = AudienceRow.objects.filter(version__campaign_id=campaign.id, version__number=number)
    return dict(rows.exclude(state="addressable").values_list("address", "state"))


def send_some(held, sealed, *given):
    """What the server did with the next messages."""
    for state in given:
        intent = sends.next_intent(held=held, sealed=sealed)
        assert sends.settle(held=held, intent=intent, state=state, reply="")


def send_all(mia, campaign):
    """Approve the newest version and send all of it; the addresses that got it."""
    sends.approve(mia, campaign)
    job = f.rows(Job.objects.filter(campaign_id=campaign.id, status="queued"))[0]
    held = jobs.claim(job_id=job.id, task_id="t2")
    sealed = sending.begin(held=held)
    got = []
    while intent := sends.next_intent(held=held, sealed=sealed):
        got.append(intent.address)
        assert sends.settle(held=held, intent=intent, state="sent", reply="")
    assert sending.end_batch(held=held) == "done"
    return got
