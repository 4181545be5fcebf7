"""Many reviewers, one campaign: one decision, one job, and a clear answer to everybody."""

from collections import Counter
from functools import partial

from approvals.access.actors import Actor
from approvals.db.binding import bind
from approvals.exceptions import AlreadyDecided, Conflict
from approvals.models import Decision, Delivery, Job
from approvals.services import campaigns, deliveries, jobs, sending
from tests.services import sends
from tests.views.forms import form_of, send
from tests.views.reading import Read
from tests.world import signed_in

FIFTY = 50
COMMENT = "The second paragraph promises a refund."


def reviewer(number):
    return Actor("member", f"user-{number}", f"Reviewer {number}", ("reviewer",), "password")


def decide(world, service, **given):
    """One call of a service, as one thread makes it."""
    with bind(world.workspace.id):
        return service(**given)


def logged(world):
    entries = Decision.objects.exclude(actor_kind="operator").order_by("seq")
    return world.read(lambda: list(entries))


def test_fifty_approvals_at_once_are_one_decision_one_job_and_49_clear_answers(world, at_once):
    campaign = world.campaign()
    shown = world.shown(campaign)
    answers = at_once(
        [
            partial(decide, world, campaigns.approve, by=reviewer(n), campaign_id=campaign.id, shown=shown)
            for n in range(FIFTY)
        ]
    )
    taken = [answer for answer in answers if isinstance(answer, tuple)]
    told = [answer for answer in answers if isinstance(answer, AlreadyDecided)]
    assert (len(taken), len(told)) == (1, FIFTY - 1), Counter(type(answer) for answer in answers)
    [entry] = logged(world)
    assert entry.id == taken[0][0].id and not taken[0][1]
    assert {(answer.who, answer.what, answer.when) for answer in told} == {
        (entry.actor_name, "approve", entry.at)
    }
    assert world.read(Job.objects.count) == 1


def test_fifty_browsers_see_one_success_and_49_pages_that_say_who_was_first(world, at_once):
    campaign = world.campaign()
    clients = [signed_in(world.person("reviewer", name=f"Reviewer {n}")) for n in range(FIFTY)]
    address = world.at(f"campaigns/{campaign.id}/")
    forms = [form_of(client.get(address), "/approve") for client in clients]
    answers = at_once([partial(send, client, form) for client, form in zip(clients, forms, strict=True)])
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    assert Counter(answer.status_code for answer in answers) == {303: 1, 409: FIFTY - 1}
    [entry, *refused] = logged(world)
    assert [other.kind for other in refused] == ["refused"] * (FIFTY - 1)
    assert len({other.actor_id for other in logged(world)}) == FIFTY
    for answer in answers:
        if answer.status_code == 409:
            read = Read(answer)
            assert f"{entry.actor_name} was first" in read and "Nothing of yours happened." in read
    assert world.read(Job.objects.count) == 1


def test_one_persons_many_clicks_are_one_decision_and_all_succeed(world, at_once):
    campaign, client = world.campaign(), world.visit("reviewer")
    form = form_of(client.get(world.at(f"campaigns/{campaign.id}/")), "/approve")
    answers = at_once([partial(send, client, form) for _ in range(10)])
    assert [getattr(answer, "status_code", answer) for answer in answers] == [303] * 10
    assert len(logged(world)) == world.read(Job.objects.count) == 1


def test_approving_and_rejecting_at_once_has_one_winner(world, at_once):
    for _ in range(5):
        campaign = world.campaign()
        shown = world.shown(campaign)
        given = {"campaign_id": campaign.id, "shown": shown}
        answers = at_once(
            [
                partial(decide, world, campaigns.approve, by=reviewer(1), **given),
                partial(decide, world, campaigns.reject, by=reviewer(2), comment=COMMENT, **given),
            ]
        )
        assert sorted(isinstance(answer, AlreadyDecided) for answer in answers) == [False, True]


def test_taking_back_and_beginning_at_once_is_one_or_the_other(world, at_once):
    outcomes = set()
    for _ in range(12):
        campaign = world.campaign()
        world.approved(campaign)
        job = world.read(lambda campaign=campaign: Job.objects.get(campaign_id=campaign.id))

        def work(job=job):
            with bind(world.workspace.id):
                held = jobs.claim(job_id=job.id, task_id="t")
                return sending.begin(held=held) if held else None

        taken_back, begun = at_once(
            [
                partial(
                    decide, world, campaigns.take_back, by=reviewer(1), campaign_id=campaign.id,
                    shown=world.shown(campaign),
                ),
                work,
            ]
        )  # fmt: skip
        assert isinstance(taken_back, Conflict) != (begun is None), (taken_back, begun)
        outcomes.add(begun is None)
    assert outcomes


def test_a_stop_in_the_middle_of_sending_loses_no_message_and_leaves_none_planned(world, at_once):
    names = [f"guest{n}@example.com" for n in range(30)]
    campaign = world.campaign(recipients=names)
    world.approved(campaign)
    with bind(world.workspace.id):
        held = jobs.claim(job_id=world.read(Job.objects.get).id, task_id="t")
        sealed = sending.begin(held=held)

    def work():
        with bind(world.workspace.id):
            number = 0
            while intent := sends.next_intent(held=held, sealed=sealed):
                state = "planned" if number % 5 == 4 else "sent"  # every fifth server asks to wait
                assert sends.settle(held=held, intent=intent, state=state, reply="")
                number += 1
            return sending.end_batch(held=held)

    given = {"campaign_id": campaign.id, "shown": world.shown(campaign), "reason": COMMENT}
    worked, stopped = at_once([work, partial(decide, world, campaigns.stop, by=reviewer(1), **given)])
    assert worked in ("done", "queued") and isinstance(stopped, tuple), (worked, stopped)
    rows = world.read(lambda: list(Delivery.objects.filter(campaign_id=campaign.id)))
    assert {row.state for row in rows} <= {"sent", "skipped"}
    assert all(row.attempt == 1 for row in rows if row.state == "sent")


def test_one_delivery_resolved_by_many_at_once_is_sent_again_once(world, at_once):
    campaign = world.campaign(recipients=["ann@example.com"])
    world.approved(campaign)
    [delivery] = world.sent(campaign, "failed")
    given = {"delivery_id": delivery.id, "shown": world.shown(campaign), "reason": COMMENT}
    answers = at_once(
        [
            partial(
                decide, world, deliveries.resolve, by=reviewer(n),
                resolution="do_again" if n % 2 else "leave", **given,
            )
            for n in range(10)
        ]
    )  # fmt: skip
    assert Counter(type(answer).__name__ for answer in answers) == {"tuple": 1, "AlreadyDecided": 9}
    assert world.read(lambda: Job.objects.filter(delivery_id=delivery.id).count()) <= 1


def test_two_workers_never_hold_the_same_recipient(world, at_once):
    campaign = world.campaign(recipients=[f"guest{n}@example.com" for n in range(20)])
    world.approved(campaign)
    with bind(world.workspace.id):
        held = jobs.claim(job_id=world.read(Job.objects.get).id, task_id="t")
        sealed = sending.begin(held=held)

    def work():
        with bind(world.workspace.id):
            mine = []
            while intent := sends.next_intent(held=held, sealed=sealed):
                mine.append(intent.delivery_id)
            return mine

    lists = at_once([work, work, work])
    ids = [id for mine in lists for id in mine]
    assert len(ids) == len(set(ids)) == 20
