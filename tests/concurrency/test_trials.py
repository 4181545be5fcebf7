"""Many clicks of one person at once: each message is tested once, and the limit of an hour holds."""

from datetime import UTC, datetime
from functools import partial

from approvals.exceptions import Conflict
from approvals.models import Delivery, Job
from approvals.rules.shown import Shown
from approvals.rules.trials import AN_HOUR
from approvals.services import trials
from tests.concurrency.test_campaigns import decide


def ask(world, delivery, shown):
    return decide(world, trials.send_test, by=world.actor("reviewer"), delivery_id=delivery.id, shown=shown)


def looked_at(world, campaign):
    shown = world.shown(campaign)
    return Shown(shown.digest, datetime.now(UTC), {})


def test_of_many_clicks_on_one_page_one_is_sent(world, at_once):
    campaign = world.campaign(recipients=["ann@example.com"])
    [ann] = world.read(lambda: list(Delivery.objects.filter(campaign=campaign)))
    answers = at_once([partial(ask, world, ann, looked_at(world, campaign))] * 20)
    assert sorted(repeated for _, repeated in answers) == [False] + [True] * 19
    assert len({decision.id for decision, _ in answers}) == 1
    assert world.read(Job.objects.filter(kind="test").count) == 1


def test_of_many_messages_at_once_no_more_are_sent_than_one_may(world, at_once):
    campaign = world.campaign(recipients=[f"guest{n}@example.com" for n in range(AN_HOUR + 5)])
    everybody = world.read(lambda: list(Delivery.objects.filter(campaign=campaign)))
    shown = looked_at(world, campaign)
    answers = at_once([partial(ask, world, one, shown) for one in everybody])
    assert sum(isinstance(answer, tuple) for answer in answers) == AN_HOUR
    assert sum(isinstance(answer, Conflict) and answer.code == "too_many" for answer in answers) == 5
    assert world.read(Job.objects.filter(kind="test").count) == AN_HOUR
