"""A worker that is killed while it sends a reviewer their test."""

from collections.abc import Iterator

import pytest

from approvals.models import Campaign, Delivery, Job
from approvals.rules.trials import IN_DOUBT
from tests.faults.lab import Lab
from tests.servers.smtp import SmtpSink

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def sink() -> Iterator[SmtpSink]:
    with SmtpSink() as server:
        yield server


@pytest.fixture
def lab(process_env: dict[str, str], sink: SmtpSink) -> Lab:
    return Lab({**process_env, "EMAIL_URL": f"smtp://127.0.0.1:{sink.port}"})


@pytest.mark.parametrize(
    ("fault", "status", "accepted"),
    [
        ("test.claimed", "done", 1),  # nothing had begun, so another worker does it
        ("test.intent", "in_doubt", 0),  # nothing had gone out, but nobody can know that
        ("test.handed_over", "in_doubt", 1),  # it had gone out, but nobody can know that
        ("test.settled", "done", 1),
    ],
)
def test_killed_at_any_point_no_test_is_sent_twice_and_the_campaign_knows_of_none(
    lab: Lab, sink: SmtpSink, fault: str, status: str, accepted: int
) -> None:
    campaign = lab.pending_campaign(1)
    job = lab.asked_for_a_test(campaign)
    assert lab.work(job, fault=fault) == -9
    lab.pass_lease()
    lab.work_until_quiet()
    job = lab.read(lambda: Job.objects.get(id=job.id))
    assert (job.status, len(sink.recipients)) == (status, accepted)
    assert job.outcome.endswith(IN_DOUBT) == (status == "in_doubt")
    assert lab.read(lambda: Delivery.objects.get(campaign=campaign).state) == "planned"
    assert lab.read(lambda: Campaign.objects.get(id=campaign.id).status) == "pending"
    assert lab.read(Job.objects.count) == 1
