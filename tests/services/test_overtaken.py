"""Whoever failed under a version and was written to by a newer one: nobody has to settle the older failure any more."""

import pytest
from django.db import transaction

from approvals.exceptions import Conflict
from approvals.models import Delivery, Job
from approvals.rules.proposals import Recipient
from approvals.selectors import campaigns as selectors
from approvals.selectors import recipients
from approvals.selectors.attachments import content_of
from approvals.selectors.did import mailings_of
from approvals.selectors.recipients import Of, Wanted
from approvals.services import jobs, sending
from dashboard.presenters.build_sending import earlier_of, state_of
from tests import factories as f
from tests.services import sends
from tests.services.proposed import GUESTS, anew, deliveries, send_some, the_rest
from tests.services.sends import approve, begun, resolve, stop, tab_of

pytestmark = pytest.mark.usefixtures("desk")

ONE, TWO, THREE = GUESTS
SINCE = "(Version 2 of this campaign wrote to them since.)"


@pytest.fixture
def half(mia, ada):
    """A campaign whose first version reached the first guest and failed at the second; the rest is version 2."""
    campaign, held, sealed = begun(mia)
    send_some(held, sealed, "sent", "failed")
    the_rest(ada, campaign)
    assert sending.end_batch(held=held) == "done"
    return campaign


def send(mia, campaign, *outcomes):
    """Approve the newest version, and what the server did with each of its messages; the worker's claim."""
    approve(mia, campaign)
    [job] = f.rows(Job.objects.filter(campaign_id=campaign.id, status="queued", delivery=None))
    held = jobs.claim(job_id=job.id, task_id="t2")
    sealed = sending.begin(held=held)
    send_some(held, sealed, *outcomes)
    return held


def end(held):
    return sending.end_batch(held=held)


def delivery(campaign, number, address=TWO):
    rows = Delivery.objects.filter(campaign_id=campaign.id, version__number=number, address=address)
    return f.rows(rows)[0]


@transaction.atomic
def facts(campaign, number=None):
    return selectors.facts_of(f.fresh(campaign), number)


@transaction.atomic
def told(campaign):
    """What each place says: those to settle on the campaign's page, on version 1's and in its list, and the runs'."""
    of = selectors.facts_of(campaign, 1)
    listed, _ = selectors.troubled(of.version_id, "failed", size=9)
    return (
        of.open_troubles,
        sum(of.waiting.values()),
        len(listed),
        mailings_of([campaign.id])[campaign.id].earlier["failed"],
    )


def test_until_the_newer_version_wrote_to_them_somebody_is_asked(mia, half):
    assert deliveries(half, 2) == {TWO: "planned", THREE: "planned"}
    assert told(half) == (1, 1, 1, 1)
    end(send(mia, half))
    assert told(half) == (1, 1, 1, 1)


def test_once_it_did_there_is_nothing_to_settle_and_the_campaign_is_finished_without_problems(mia, half):
    end(send(mia, half, "sent", "sent"))
    assert told(half) == (0, 0, 0, 0)
    assert (f.fresh(half).status, tab_of(half)) == ("finished", "history")
    assert state_of(facts(half)).label == "Finished"
    assert "Version 1 before it: 1 sent, 1 failed (written to since)." in earlier_of(facts(half))


def test_the_list_of_the_older_version_says_who_wrote_since_and_keeps_what_the_server_said(mia, half):
    with transaction.atomic():
        Delivery.objects.filter(id=delivery(half, 1).id).update(reply="550 no such user")
    end(send(mia, half, "sent", "sent"))
    one = facts(half, 1)
    with transaction.atomic():
        rows, _ = recipients.page_of(Of(half.id, one.version_id, one.agent), Wanted(show="failed"), size=9)
    assert [(row.address, row.state, row.answer) for row in rows] == [
        (TWO, "failed", f"550 no such user {SINCE}")
    ]


@pytest.mark.parametrize("became", ["failed", "in_doubt"])
def test_what_became_of_the_newer_message_is_asked_of_that_alone(mia, half, became):
    end(send(mia, half, became, "sent"))
    assert told(half)[1:] == (0, 0, 0)
    assert (facts(half).open_troubles, facts(half).waiting) == (1, {became: 1})
    assert state_of(facts(half)).label == "Finished with problems"
    assert tab_of(half) == "decide"


def test_whom_the_newer_version_never_came_to_stays_to_be_settled(mia, half):
    held = send(mia, half)
    stop(mia, half)
    end(held)
    assert deliveries(half, 2) == {TWO: "skipped", THREE: "skipped"}
    assert told(half) == (1, 1, 1, 1)
    resolve(mia, delivery(half, 1), "leave")
    assert told(half) == (0, 0, 0, 0)


def test_whoever_is_not_in_the_newer_version_stays_to_be_settled(mia, ada):
    campaign, held, sealed = begun(mia)
    send_some(held, sealed, "sent", "failed")
    anew(ada, campaign, recipients=[Recipient(THREE, {"name": "Guest 3"})])
    end(held)
    end(send(mia, campaign, "sent"))
    assert told(campaign) == (1, 1, 1, 1)
    assert state_of(facts(campaign)).label == "Finished with problems"


def test_what_fails_under_the_older_version_while_the_newer_waits_is_settled_by_that_too(mia, ada):
    campaign, held, sealed = begun(mia)
    under_way = sends.next_intent(held=held, sealed=sealed)
    the_rest(ada, campaign)
    assert sends.settle(held=held, intent=under_way, state="failed", reply="550 no")
    end(held)
    assert told(campaign)[:3] == (1, 1, 1)
    end(send(mia, campaign, "sent", "sent", "sent"))
    assert told(campaign) == (0, 0, 0, 0)


def test_the_newest_of_three_settles_both_before_it(mia, ada, half):
    held = send(mia, half, "failed")
    the_rest(ada, half, text="Once more")
    end(held)
    assert (told(half)[1], facts(half, 2).waiting) == (0, {"failed": 1})
    end(send(mia, half, "sent", "sent"))
    assert facts(half).open_troubles == 0
    assert delivery(half, 1).reply.endswith(SINCE)
    assert delivery(half, 2).reply.endswith("(Version 3 of this campaign wrote to them since.)")


def test_the_older_failure_can_be_settled_by_nobody_any_more(mia, half):
    end(send(mia, half, "failed", "sent"))
    for resolution in ("do_again", "leave"):
        with pytest.raises(Conflict, match="does not wait for a decision any more"):
            resolve(mia, delivery(half, 1), resolution)


@pytest.mark.parametrize("then", [stop, lambda mia, campaign: the_rest(mia, campaign, text="Once more")])
@pytest.mark.parametrize("expired", [True, False])
def test_a_worker_that_was_lost_before_it_said_so_leaves_it_to_whoever_comes_next(
    mia, half, lease_over, then, expired
):
    held = send(mia, half, "sent")
    lease_over(held.job_id)
    if expired:
        assert jobs.expire(job_id=held.job_id) == "queued"
    then(mia, half)
    if not expired:
        assert jobs.expire(job_id=held.job_id) == "queued"
        assert sending.begin(held=jobs.claim(job_id=held.job_id, task_id="t3")) is None
    assert told(half) == (0, 0, 0, 0)


def test_nor_is_anybody_asked_whose_newer_message_is_in_doubt_by_that(mia, half, lease_over):
    held = send(mia, half)
    with transaction.atomic():
        sealed = sends.Sealed(*sealed_of_newest(half))
    assert sends.next_intent(held=held, sealed=sealed).address == TWO
    lease_over(held.job_id)
    assert jobs.expire(job_id=held.job_id) == "queued"
    stop(mia, half)
    assert (facts(half).waiting, told(half)[1]) == ({"in_doubt": 1}, 0)


def test_what_a_person_answered_before_stays_as_they_said(mia, half):
    resolve(mia, delivery(half, 1), "leave")
    at = delivery(half, 1).resolved_at
    end(send(mia, half, "sent", "sent"))
    assert (delivery(half, 1).resolved_at, SINCE in delivery(half, 1).reply) == (at, False)


def sealed_of_newest(campaign):
    version = campaign.versions.latest("number")
    return version.id, version.digest, content_of(version)
