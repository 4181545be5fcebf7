"""Asking for a test: one decision and one job, for whoever may, to their own address, and seldom."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from approvals.access.actors import Actor
from approvals.db.binding import bind
from approvals.exceptions import Conflict, NotAllowed, Stale
from approvals.models import Campaign, Decision, Delivery, Job, Member, QueueItem, User, Version
from approvals.rules.shown import Shown
from approvals.rules.trials import AN_HOUR, IN_DOUBT
from approvals.selectors.contacts import contacts_of
from approvals.selectors.job_progress import progress_of
from approvals.selectors.my_decisions import last_of as my_last
from approvals.selectors.payloads import contents_of
from approvals.selectors.trials import last_of
from approvals.services import campaigns, jobs, trials
from tests.views.of_campaign_pages import deliveries
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World.create()


@pytest.fixture
def campaign(world: World) -> Campaign:
    return world.campaign("Spring", ["ann@example.com", "bob@example.com"])


def looked_at(world: World, delivery: Delivery) -> Shown:
    """What a page shows that was opened just now."""
    digest = world.read(lambda: Version.objects.get(id=delivery.version_id).digest)
    return Shown(digest, datetime.now(UTC), {})


def ask(
    world: World, delivery: Delivery, *, by: Actor | None = None, shown: Shown | None = None
) -> tuple[Decision, bool]:
    with bind(world.workspace.id):
        return trials.send_test(
            by=by or world.actor("reviewer"),
            delivery_id=delivery.id,
            shown=shown or looked_at(world, delivery),
        )


def trial_jobs(world: World) -> list[Job]:
    return world.read(lambda: list(Job.objects.filter(kind="test").order_by("created_at")))


def claimed(world: World) -> jobs.Claim:
    with bind(world.workspace.id):
        held = jobs.claim(job_id=trial_jobs(world)[-1].id, task_id="t")
    assert held is not None
    return held


def beside(world: World) -> tuple[Any, ...]:
    """Everything of a campaign that a test must leave as it is."""
    return world.read(
        lambda: (
            list(Campaign.objects.order_by("id").values()),
            list(Delivery.objects.order_by("id").values()),
            list(QueueItem.objects.order_by("id").values("id", "tab", "state", "since")),
            list(Job.objects.exclude(kind="test").order_by("id").values()),
        )
    )


def test_it_is_one_decision_with_one_job_bound_to_what_was_shown(world: World, campaign: Campaign) -> None:
    _, bob = deliveries(world, campaign)
    shown = world.shown(campaign)
    decision, repeated = ask(world, bob, shown=shown)
    [job] = trial_jobs(world)
    assert not repeated
    assert (decision.kind, decision.target_id, decision.digest) == ("send_test", bob.id, shown.digest)
    assert (job.decision_id, job.sample_id, job.status) == (decision.id, bob.id, "queued")
    assert (job.campaign_id, job.delivery_id, job.run_id) == (None, None, None)
    given = world.read(lambda: contents_of([decision.payload_id])[decision.payload_id])
    assert given == {
        "campaign": "Spring",
        "version": 1,
        "recipient": "bob@example.com",
        "to": world.people["reviewer"].email,
    }


@pytest.mark.parametrize("role", ["support", "manager", "admin"])
def test_only_a_reviewer_may(world: World, campaign: Campaign, role: str) -> None:
    with pytest.raises(NotAllowed, match="Only members with the role reviewer may send themselves a test"):
        ask(world, deliveries(world, campaign)[0], by=world.actor(role))
    assert trial_jobs(world) == []


def test_of_another_version_than_the_one_shown_there_is_none(world: World, campaign: Campaign) -> None:
    ann, _ = deliveries(world, campaign)
    with pytest.raises(Stale):
        ask(world, ann, shown=Shown("0" * 64, datetime.now(UTC), {}))
    assert trial_jobs(world) == []


def test_a_double_click_sends_one_and_a_click_on_the_page_after_it_another(
    world: World, campaign: Campaign
) -> None:
    ann, bob = deliveries(world, campaign)
    shown = looked_at(world, ann)
    first, _ = ask(world, ann, shown=shown)
    assert ask(world, ann, shown=shown) == (first, True)
    assert len(trial_jobs(world)) == 1
    _, repeated = ask(world, bob, shown=shown)
    assert not repeated, "it is another message"
    _, repeated = ask(world, ann)
    assert not repeated and len(trial_jobs(world)) == 3


def test_so_many_an_hour_for_each_person_and_workspace(world: World, campaign: Campaign) -> None:
    ann, _ = deliveries(world, campaign)
    for _ in range(AN_HOUR):
        ask(world, ann)
    with pytest.raises(Conflict, match="which is as many as one person may") as refused:
        ask(world, ann)
    assert refused.value.code == "too_many"
    rob = world.person("reviewer", name="Rob")
    ask(world, ann, by=Actor("member", str(rob.pk), "Rob", ("reviewer",), "password"))
    assert len(trial_jobs(world)) == AN_HOUR + 1


@pytest.mark.parametrize("allowed", [["elsewhere.example"], ["EXAMPLE.com"]])
def test_where_mail_may_go_to_some_domains_only_a_test_may_too(
    world: World, campaign: Campaign, settings: Any, allowed: list[str]
) -> None:
    settings.ALLOWED_RECIPIENT_DOMAINS = allowed
    ann, _ = deliveries(world, campaign)
    if allowed == ["EXAMPLE.com"]:
        ask(world, ann)
        return
    with pytest.raises(Conflict, match=r"Only recipients at elsewhere\.example are written to here"):
        ask(world, ann)
    assert trial_jobs(world) == []


def test_an_address_that_cannot_be_written_to_is_said(world: World, campaign: Campaign) -> None:
    ann, _ = deliveries(world, campaign)
    root = User.objects.create_user("root@localhost", name="Root")
    with world.bound():
        Member.objects.create(workspace_id=world.workspace.id, user=root, roles=["reviewer"])
    with pytest.raises(Conflict, match="Your own address cannot be written to: "):
        ask(world, ann, by=Actor("member", str(root.pk), "Root", ("reviewer",), "password"))
    assert trial_jobs(world) == []


def test_nothing_of_the_campaign_moves_whatever_becomes_of_it(world: World, campaign: Campaign) -> None:
    ann, _ = deliveries(world, campaign)
    before = beside(world)
    for status, sentence in (("done", "250"), ("failed", "no"), ("in_doubt", IN_DOUBT)):
        ask(world, ann)
        held = claimed(world)
        with bind(world.workspace.id):
            assert trials.prepare(held=held) is not None
            assert trials.state_intent(held=held)
            assert trials.settle(held=held, status=status, sentence=sentence)
        assert beside(world) == before
    assert [job.status for job in trial_jobs(world)] == ["done", "failed", "in_doubt"]
    kinds = world.read(
        lambda: list(Decision.objects.filter(kind="outcome").values_list("item_id", flat=True))
    )
    assert kinds == [campaign.id] * 3


def test_whoever_takes_back_or_stops_a_campaign_leaves_its_tests_alone(
    world: World, campaign: Campaign
) -> None:
    by, [ann, _] = world.actor("reviewer"), deliveries(world, campaign)
    ask(world, ann)
    for decide in (campaigns.approve, campaigns.take_back, campaigns.approve):
        shown = looked_at(world, ann)
        with bind(world.workspace.id):
            decide(by=by, campaign_id=campaign.id, shown=shown)
    with world.bound():
        Campaign.objects.filter(id=campaign.id).update(status="sending")
    with bind(world.workspace.id):
        campaigns.stop(by=by, campaign_id=campaign.id, shown=world.shown(campaign), reason="It is too early.")
    assert [job.status for job in trial_jobs(world)] == ["queued"]
    with world.bound():
        sending = progress_of(campaign_id=campaign.id)
    assert sending is not None and sending.kind == "send"


def test_a_recipient_whose_message_was_tested_was_not_contacted(world: World, campaign: Campaign) -> None:
    ann, _ = deliveries(world, campaign)
    ask(world, ann)
    held = claimed(world)
    with bind(world.workspace.id):
        trials.prepare(held=held)
        trials.settle(held=held, status="done", sentence="250")
    other = world.campaign("Summer", ["ann@example.com"])
    with world.bound():
        version = Delivery.objects.filter(campaign=other).values_list("version_id", flat=True)[0]
        found = contacts_of(version, campaign_id=other.id, agent=other.agent)
    assert found.written == 0


def test_my_last_test_is_mine_and_of_this_campaign(world: World, campaign: Campaign) -> None:
    ann, _ = deliveries(world, campaign)
    decision, _ = ask(world, ann)
    mia = str(world.people["reviewer"].pk)
    with world.bound():
        found = last_of(mia, campaign.id)
        assert found is not None
        assert (found.address, found.version, found.progress.decision_id) == (
            "ann@example.com", 1, decision.id,
        )  # fmt: skip
        assert (found.progress.campaign_id, found.progress.cancellable) == (campaign.id, False)
        assert last_of("0", campaign.id) is None
        assert last_of(mia, world.workspace.id) is None


def test_it_pushes_no_decision_out_of_reach(world: World, campaign: Campaign) -> None:
    world.approved(campaign)
    for _ in range(4):
        ask(world, deliveries(world, campaign)[0])
    with world.bound():
        [mine] = my_last(str(world.people["reviewer"].pk), at_most=3)
    assert mine.kind == "approve"
