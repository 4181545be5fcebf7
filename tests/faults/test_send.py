"""A worker that is killed while it sends a campaign."""

from collections import Counter
from collections.abc import Iterator

import pytest

from approvals.db.binding import bind
from approvals.models import Campaign, Decision, Delivery, Job
from approvals.services import deliveries
from tests.faults.lab import ADA, Lab
from tests.servers.smtp import SmtpSink

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]

RECIPIENTS = 5


@pytest.fixture
def sink() -> Iterator[SmtpSink]:
    with SmtpSink() as server:
        yield server


@pytest.fixture
def lab(process_env: dict[str, str], sink: SmtpSink) -> Lab:
    return Lab({**process_env, "EMAIL_URL": f"smtp://127.0.0.1:{sink.port}"})


def states(lab: Lab) -> Counter[str]:
    return Counter(lab.read(lambda: list(Delivery.objects.values_list("state", flat=True))))


def job_of(lab: Lab, campaign: Campaign) -> Job:
    return lab.read(lambda: Job.objects.filter(campaign=campaign).latest("created_at"))


@pytest.mark.parametrize(
    ("fault", "in_doubt", "accepted"),
    [
        ("send.claimed", 0, 5),
        ("send.intent", 1, 4),  # nothing had gone out, but nobody can know that
        ("send.handed_over", 1, 5),  # it had gone out, but nobody can know that
        ("send.settled", 1, 4),  # the same commit had begun the next one
        ("send.batch_done", 0, 5),
    ],
)
def test_killed_at_any_point_nobody_is_written_to_twice_and_nobody_is_lost(
    lab: Lab, sink: SmtpSink, fault: str, in_doubt: int, accepted: int
) -> None:
    campaign = lab.approved_campaign(RECIPIENTS)
    assert lab.work(job_of(lab, campaign), fault=fault) == -9
    lab.pass_lease()
    lab.work_until_quiet()
    assert states(lab) == Counter({"sent": RECIPIENTS - in_doubt, "in_doubt": in_doubt}) - Counter()
    assert len(sink.recipients) == len(set(sink.recipients)) == accepted
    assert lab.read(lambda: Campaign.objects.get(id=campaign.id).status) == "finished"


def test_what_is_in_doubt_is_sent_again_only_when_a_person_says_so(lab: Lab, sink: SmtpSink) -> None:
    campaign = lab.approved_campaign(RECIPIENTS)
    lab.work(job_of(lab, campaign), fault="send.intent")
    lab.pass_lease()
    lab.work_until_quiet()
    lost = lab.read(lambda: Delivery.objects.get(state="in_doubt"))
    with bind(lab.workspace_id):
        deliveries.resolve(
            by=ADA,
            delivery_id=lost.id,
            shown=lab.shown_campaign(),
            resolution="do_again",
            reason="the server's log does not have it",
        )
    lab.work_until_quiet()
    assert states(lab) == {"sent": RECIPIENTS}
    assert sorted(sink.recipients) == sorted(f"p{n}@example.com" for n in range(1, RECIPIENTS + 1))


def test_a_batch_ends_and_the_next_one_goes_on(lab: Lab, sink: SmtpSink) -> None:
    campaign = lab.approved_campaign(RECIPIENTS)
    lab.env["SEND_BATCH"] = "2"
    lab.work(job_of(lab, campaign))
    assert states(lab) == {"sent": 2, "planned": 3}
    lab.work_until_quiet()
    assert states(lab) == {"sent": RECIPIENTS}
    assert len(sink.recipients) == RECIPIENTS


def test_killed_while_approving_nothing_is_approved(lab: Lab, sink: SmtpSink) -> None:
    campaign = lab.pending_campaign(RECIPIENTS)
    before = lab.read(Decision.objects.count)
    assert lab.decide_in_a_process(campaign, fault="decide.before_commit") == -9
    assert lab.read(Decision.objects.count) == before
    assert lab.read(Job.objects.count) == 0
    assert lab.read(lambda: Campaign.objects.get(id=campaign.id).status) == "pending"
    lab.work_until_quiet()
    assert sink.recipients == []
