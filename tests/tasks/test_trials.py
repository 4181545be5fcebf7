"""Sending a test: one message to whoever asked for it, and what a mail server can make of it."""

from email import message_from_bytes, policy
from hashlib import sha256

import pytest
from django.conf import settings
from django.core.files.storage import default_storage

from approvals.models import Campaign, Decision, Delivery, Job, QueueItem, User
from approvals.rules.trials import IN_DOUBT, message_id_of_trial
from approvals.selectors.attachments import name_in_storage
from approvals.services import jobs
from approvals.services import trials as services
from approvals.tasks import trials
from tests import factories as f
from tests.servers.smtp import Drop, Fault, Say, SmtpSink
from tests.services.conftest import as_superuser, database, desk, lease_over
from tests.tasks.office import PIPELINING, sink

__all__ = ["as_superuser", "database", "desk", "lease_over", "sink"]


@pytest.fixture(autouse=True)
def files(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture
def mia(desk):
    return f.member("Mia", "reviewer", of=desk)


@pytest.fixture
def address(mia):
    return User.objects.get(id=mia.id).email


@pytest.fixture
def campaign(desk):
    return f.campaign(to=2)


def asked(by, campaign, number=0):
    """The job of a test of this campaign's message to its recipient of that number."""
    delivery = f.rows(Delivery.objects.filter(campaign_id=campaign.id).order_by("position"))[number]
    decision, _ = services.send_test(by=by, delivery_id=delivery.id, shown=f.shown_campaign(campaign))
    return f.rows(Job.objects.filter(decision_id=decision.id))[0]


def sent(job):
    """The job once a worker was woken for it."""
    workspace = str(job.workspace_id)
    trials.execute.apply(args=[str(job.id)], kwargs={"workspace": workspace}, throw=True)
    return f.fresh(job)


def test_the_reviewer_gets_the_message_of_the_recipient_they_looked_at(sink, mia, address, campaign):
    job = sent(asked(mia, campaign, number=1))
    assert job.status == "done" and job.outcome.startswith("The mail server took it: 250")
    [one] = sink.accepted
    message = message_from_bytes(one.raw, policy=policy.default)
    assert one.recipient == message["To"] == address
    assert one.sender == "hello@northwind.example.com"
    assert message["Subject"] == "[Test] Guest 2, your departure moved"
    assert "Dear Guest 2," in message.get_body(("plain",)).get_content()
    assert one.message_id == message_id_of_trial(job.id, f.LETTER["from_address"])
    assert message["List-Unsubscribe"] is None and message["List-Unsubscribe-Post"] is None


def test_woken_twice_it_is_sent_once(sink, mia, address, campaign):
    job = asked(mia, campaign)
    sent(job)
    sent(job)
    assert sink.recipients == [address]


def test_nothing_of_the_campaign_knows_of_it(sink, mia, campaign):
    def stands():
        rows = Delivery.objects.filter(campaign_id=campaign.id).order_by("id")
        return [
            f.fresh(campaign).status,
            [row.state for row in f.rows(rows)],
            f.rows(QueueItem.objects.defer("due")),
        ]

    before = stands()
    sink.faults.append(Fault("dot", 2, Drop(keep=True)))
    assert [sent(asked(mia, campaign)).status for _ in range(2)] == ["done", "in_doubt"]
    assert stands() == before
    assert f.rows(Campaign.objects)[0].status == "pending"


@pytest.mark.parametrize("phase", ["rcpt", "data", "dot"])
def test_a_refusal_is_said_in_the_servers_words(sink, mia, campaign, phase):
    sink.faults.append(Fault(phase, 1, Say(b"550 5.7.1 no such mailbox\r\n")))
    job = sent(asked(mia, campaign))
    assert job.status == "failed"
    assert job.outcome.endswith("It said: 550 5.7.1 no such mailbox")
    assert sink.recipients == []


@pytest.mark.parametrize("phase", ["connect", "mail", "rcpt", "dot"])
def test_asked_to_wait_or_refused_its_sender_it_fails_and_is_not_tried_again(sink, mia, campaign, phase):
    sink.faults.append(Fault(phase, 1, Say(b"451 4.7.1 come back later\r\n")))
    job = sent(asked(mia, campaign))
    assert job.status == "failed"
    assert "Nothing was sent, and it is not tried again by itself." in job.outcome
    assert "451 4.7.1 come back later" in job.outcome
    sent(job)
    assert sink.recipients == []
    assert sent(asked(mia, campaign)).status == "done", "whoever wants it clicks again"


def test_a_server_that_is_not_there_leaves_nobody_in_doubt(desk, mia, campaign, monkeypatch):
    with SmtpSink(extensions=PIPELINING) as server:
        monkeypatch.setitem(settings.SMTP, "port", server.port)
        monkeypatch.setitem(settings.SMTP, "host", "127.0.0.1")
    job = sent(asked(mia, campaign))
    assert (job.status, job.intent_at) == ("failed", None)
    assert job.outcome.startswith("Nothing was sent")


@pytest.mark.parametrize("keeps", [True, False])
def test_lost_at_the_dot_it_may_have_arrived(sink, mia, campaign, keeps):
    sink.faults.append(Fault("dot", 1, Drop(keep=keeps)))
    job = sent(asked(mia, campaign))
    assert job.status == "in_doubt"
    assert job.outcome.endswith(IN_DOUBT)
    sent(job)
    assert len(sink.recipients) == keeps
    [outcome] = f.rows(Decision.objects.filter(kind="outcome"))
    assert (outcome.target_id, outcome.item_id) == (job.id, campaign.id)


def test_a_message_that_cannot_be_written_fails_with_why(sink, mia, desk):
    campaign = f.campaign(to=[("ann@example.com", {"name": "An\x0bn", "time": "9"})])
    job = sent(asked(mia, campaign))
    assert job.status == "failed"
    assert job.outcome.startswith("This message cannot be written, so nothing was sent: The character U+000B")
    assert sink.recipients == []


@pytest.mark.parametrize(
    "taken",
    ["approvals_user set is_active = false where id", "approvals_member set roles = '{admin}' where user_id"],
)
def test_whoever_lost_the_role_or_the_account_meanwhile_gets_nothing(
    sink, mia, campaign, as_superuser, taken
):
    job = asked(mia, campaign)
    as_superuser(f"update {taken} = %s", int(mia.id))
    job = sent(job)
    assert job.status == "failed" and "may not send themselves one any more" in job.outcome
    assert sink.recipients == []


def test_domains_that_were_forbidden_meanwhile_are_asked_again(sink, mia, campaign, monkeypatch):
    job = asked(mia, campaign)
    monkeypatch.setattr(settings, "ALLOWED_RECIPIENT_DOMAINS", ["elsewhere.example"])
    job = sent(job)
    assert job.status == "failed" and "elsewhere.example" in job.outcome
    assert sink.recipients == []


def test_a_worker_lost_before_the_intent_is_followed_by_another(sink, mia, campaign, lease_over):
    job = asked(mia, campaign)
    jobs.claim(job_id=job.id, task_id="t")
    lease_over(job.id)
    assert jobs.expire(job_id=job.id) == "queued"
    assert sent(job).status == "done"


def test_a_worker_lost_after_it_is_not(sink, mia, campaign, lease_over):
    job = asked(mia, campaign)
    held = jobs.claim(job_id=job.id, task_id="t")
    assert services.prepare(held=held) and services.state_intent(held=held)
    lease_over(job.id)
    assert jobs.expire(job_id=job.id) == "in_doubt"
    assert f.fresh(job).outcome.endswith(IN_DOUBT)
    assert services.settle(held=held, status="done", sentence="250") is False
    sent(job)
    assert f.fresh(job).status == "in_doubt" and sink.recipients == []


def test_the_attached_files_come_along(sink, mia, desk):
    campaign = f.campaign(to=1, files=[("Terms.pdf", "application/pdf", b"%PDF-1.7 terms")])
    assert sent(asked(mia, campaign)).status == "done"
    message = message_from_bytes(sink.accepted[0].raw, policy=policy.default)
    [file] = message.iter_attachments()
    assert (file.get_filename(), file.get_content()) == ("Terms.pdf", b"%PDF-1.7 terms")


def test_a_file_that_is_lost_is_said_and_nothing_is_sent(sink, mia, desk):
    data = b"%PDF-1.7 other terms"
    campaign = f.campaign(to=1, files=[("Terms.pdf", "application/pdf", data)])
    job = asked(mia, campaign)
    default_storage.delete(name_in_storage(desk.id, sha256(data).hexdigest()))
    job = sent(job)
    assert job.status == "failed" and "Terms.pdf" in job.outcome
    assert (job.intent_at, sink.recipients) == (None, [])
