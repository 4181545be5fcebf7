"""The same campaign proposed anew by many at once: one version for each body, and no worker sends what was replaced."""

from collections import Counter
from datetime import UTC, datetime
from functools import partial

from approvals.db.binding import bind
from approvals.exceptions import Conflict
from approvals.models import Campaign, Delivery, Job, Version
from approvals.rules.proposals import Proposal, Recipient
from approvals.rules.shown import Shown
from approvals.services import campaigns, jobs, proposals, sending
from tests.concurrency.test_campaigns import decide, reviewer
from tests.services import sends

GUESTS = [f"guest{n}@example.com" for n in range(30)]


def a_proposal(text, **changes):
    given = {
        "external_id": "spring", "name": "Spring", "purpose": "", "send_by": None, "run_id": None,
        "sender": "Shop <news@shop.example.com>", "reply_to": "", "subject": "Hello", "text": text, "html": "",
        "recipients": [Recipient(address, {}) for address in GUESTS],
    }  # fmt: skip
    return Proposal(**(given | changes))


def propose(world, text):
    return decide(world, proposals.propose, by=world.actor("support"), proposal=a_proposal(text))


def test_D12_two_bodies_at_once_are_one_campaign_with_a_version_of_each(world, at_once):
    answers = at_once([partial(propose, world, text) for text in ("one", "two") * 6])
    told = [answer for answer in answers if not isinstance(answer, Conflict)]
    assert {campaign.id for campaign, _ in told} == {world.read(Campaign.objects.get).id}, answers
    assert Counter(created for _, created in told)[True] == 2
    # Whoever says once more what was replaced meanwhile is told so.
    refused = [answer.code for answer in answers if isinstance(answer, Conflict)]
    assert set(refused) <= {"version_replaced"} and len(told) + len(refused) == 12
    found = world.read(lambda: list(Version.objects.order_by("number").values_list("number", "text")))
    assert [number for number, _ in found] == [1, 2]
    assert {text for _, text in found} == {"one", "two"}


def test_many_clicks_on_one_page_are_one_version(world, at_once):
    campaign, _ = propose(world, "one")
    given = {
        "by": world.actor("support"), "campaign_id": campaign.id, "shown": world.shown(campaign),
        "proposal": a_proposal("two", recipients=(), rest=True),
    }  # fmt: skip
    answers = at_once([partial(decide, world, proposals.revise, **given) for _ in range(8)])
    assert [answer.id for answer in answers] == [campaign.id] * 8
    assert world.read(Version.objects.count) == 2


def test_an_approval_and_a_new_version_at_once_have_one_order(world, at_once):
    for number in range(6):
        proposal = a_proposal("one", external_id=f"spring-{number}")
        campaign, _ = decide(world, proposals.propose, by=world.actor("support"), proposal=proposal)
        given = {"by": reviewer(1), "campaign_id": campaign.id, "shown": world.shown(campaign)}
        other = a_proposal("two", external_id=f"spring-{number}")
        approved, (_, created) = at_once(
            [
                partial(decide, world, campaigns.approve, **given),
                partial(decide, world, proposals.propose, by=world.actor("support"), proposal=other),
            ]
        )
        assert created
        assert isinstance(approved, tuple | Conflict), approved
        # Whoever came first: the new version waits for an approval of its own, and nothing of the old one is left.
        assert world.read(Campaign.objects.filter(id=campaign.id).get).status == "pending"
        assert not world.read(
            Job.objects.filter(campaign_id=campaign.id, status__in=["held", "queued"]).exists
        )


def test_D06_a_new_version_in_the_middle_of_sending_writes_to_nobody_twice(world, at_once):
    campaign, _ = propose(world, "one")
    world.approved(campaign)
    with bind(world.workspace.id):
        held = jobs.claim(job_id=world.read(Job.objects.get).id, task_id="t")
        sealed = sending.begin(held=held)

    def work():
        with bind(world.workspace.id):
            got = []
            while intent := sends.next_intent(held=held, sealed=sealed):
                got.append(intent.address)
                assert sends.settle(held=held, intent=intent, state="sent", reply="")
            return got, sending.end_batch(held=held)

    given = {
        "by": world.actor("support"), "campaign_id": campaign.id, "shown": world.shown(campaign),
        "proposal": a_proposal("two", recipients=(), rest=True),
    }  # fmt: skip
    (first, ended), made = at_once([work, partial(decide, world, proposals.revise, **given)])
    assert ended in ("done", "failed")  # failed, where not one message had begun
    if isinstance(made, Conflict):  # the worker was through with everybody before
        assert first == GUESTS
        return
    seen = Shown(world.shown(campaign).digest, datetime.now(UTC))
    decide(world, campaigns.approve, by=reviewer(1), campaign_id=campaign.id, shown=seen)
    with bind(world.workspace.id):
        job = world.read(Job.objects.filter(status="queued").get)
        again = jobs.claim(job_id=job.id, task_id="t2")
        newer = sending.begin(held=again)
        second = []
        while intent := sends.next_intent(held=again, sealed=newer):
            second.append(intent.address)
            assert sends.settle(held=again, intent=intent, state="sent", reply="")
        assert sending.end_batch(held=again) == "done"
    assert Counter(first + second) == Counter(GUESTS)
    left = world.read(lambda: set(Delivery.objects.values_list("state", flat=True)))
    assert left <= {"sent", "skipped"}
