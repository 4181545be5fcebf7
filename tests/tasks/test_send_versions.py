"""Versions and pauses while a real worker sends: A03, D01, D06, D12. At the end ledger and server agree."""

from collections import Counter
from dataclasses import replace

from django.db import transaction

from approvals.models import Campaign, Delivery, Version
from approvals.rules.proposals import Proposal, Recipient
from approvals.services import jobs, proposals, rounds, sending
from approvals.tasks import batch
from tests import factories as f
from tests.servers.smtp import Fault, Say
from tests.services import sends
from tests.services.conftest import as_superuser, database, desk, lease_over, mia, rob
from tests.tasks.office import accounted, connections, office, sink

__all__ = ["as_superuser", "connections", "database", "desk", "lease_over", "mia", "office", "rob", "sink"]

ELSEWHERE = "Dear {{ name }},\n\nyou leave at {{ time }}, from platform 2.\n"


def anew(campaign, by, to=60, **more):
    """The same campaign proposed with other words; its newest version."""
    proposal = Proposal(
        external_id=campaign.external_id,
        name=campaign.name,
        purpose="",
        send_by=None,
        run_id=None,
        sender=f.LETTER["from_address"],
        reply_to="",
        subject=f.LETTER["subject_line"],
        text=ELSEWHERE,
        html="",
        recipients=[Recipient(email, variables) for email, variables in f.recipients(to)],
    )
    proposals.propose(by=replace(by, roles=("support",)), proposal=replace(proposal, **more))
    return f.rows(Version.objects.filter(campaign_id=campaign.id).order_by("number"))[-1]


def when_accepted(sink, count, what, monkeypatch):
    """Do it once between two rounds, when the server has so many messages."""
    turn, done = rounds.turn, []

    def looks_first(**given):
        if len(sink.recipients) >= count and not done:
            done.append(what())
        return turn(**given)

    monkeypatch.setattr(rounds, "turn", looks_first)
    return done


def nobody_twice(sink):
    assert [address for address, copies in Counter(sink.recipients).items() if copies > 1] == []


def test_A03_paused_in_the_middle_of_a_batch_and_let_go_on_everybody_gets_one(
    office, sink, connections, monkeypatch
):
    monkeypatch.setattr(batch, "CHUNK", 50)  # so that rows are read ahead of the pause, and thrown away
    campaign = office.approved(400)
    when_accepted(sink, 150, lambda: sends.pause(office.by, campaign), monkeypatch)
    office.wake()
    counts = accounted(sink)
    assert 150 <= counts["sent"] <= 150 + connections
    assert (counts["sent"] + counts["planned"], sends.the_job().status) == (400, "paused")
    office.wake()
    assert accounted(sink) == counts, "nothing moves while it is paused"
    sends.go_on(office.by, campaign)
    office.send_all()
    assert accounted(sink) == {"sent": 400}
    assert (len(set(sink.recipients)), f.fresh(campaign).status) == (400, "finished")


def test_D06_another_version_while_it_is_sent_is_for_the_rest_and_needs_an_approval(
    office, sink, connections, monkeypatch, rob
):
    campaign = office.approved(60)
    made = when_accepted(sink, 20, lambda: anew(campaign, rob), monkeypatch)
    office.wake()
    counts = accounted(sink)
    assert 20 <= counts["sent"] <= 20 + connections, "no more than what was under way"
    assert f.fresh(campaign).status == "pending"
    office.wake()
    assert accounted(sink) == counts, "nothing goes out before somebody approves"
    [version] = made
    sends.approve(office.by, campaign)
    office.send_all()
    nobody_twice(sink)
    assert len(set(sink.recipients)) == 60
    assert f.fresh(campaign).status == "finished"
    of_second = f.rows(Delivery.objects.filter(version_id=version.id))
    assert {delivery.state for delivery in of_second} <= {"sent", "skipped"}
    words = [message.raw.count(b"platform 2") for message in sink.accepted]
    assert sum(words) == 60 - counts["sent"], "whoever was left got the new words"


def test_D06_what_is_under_way_when_the_version_comes_is_not_sent_twice_whatever_becomes_of_it(
    office, sink, lease_over, rob
):
    campaign, held, sealed = sends.begun(office.by, to=3)
    lost = sends.next_intent(held=held, sealed=sealed)  # its worker is never heard of again
    anew(campaign, rob, to=3)
    sends.approve(office.by, campaign)
    office.wake()
    assert lost.address not in sink.recipients
    lease_over(held.job_id)
    assert jobs.expire(job_id=held.job_id) == "queued"
    office.send_all()
    assert sorted(sink.recipients) == ["guest2@example.com", "guest3@example.com"]
    states = Counter(delivery.state for delivery in f.rows(Delivery.objects.filter(dedupe_key=lost.address)))
    assert states == {"in_doubt": 1, "skipped": 1}
    assert f.fresh(campaign).status == "finished"


def test_D06_whoever_was_asked_to_wait_by_the_old_version_gets_the_new_one(office, sink, connections, rob):
    campaign = office.approved(5)
    sink.faults.append(Fault("rcpt", 3, Say(b"451 later\r\n")))
    office.wake()
    anew(campaign, rob, to=5)
    sends.approve(office.by, campaign)
    office.later()
    office.send_all()
    nobody_twice(sink)
    assert len(set(sink.recipients)) == 5
    assert f.fresh(campaign).status == "finished"


def test_D01_what_was_approved_and_changed_before_it_began_is_not_sent(office, sink, rob):
    campaign = office.approved(3)
    held = jobs.claim(job_id=sends.the_job().id, task_id="t")
    anew(campaign, rob, to=3)
    assert sending.begin(held=held) is None
    assert (sends.the_job().status, sends.the_job().outcome) == ("failed", sending.CHANGED)
    office.send_all()
    assert (sink.recipients, f.fresh(campaign).status) == ([], "pending")


def test_D01_the_approval_of_a_newer_version_is_not_undone_by_an_older_ones_worker(office, sink, rob):
    campaign = office.approved(3)
    held = jobs.claim(job_id=sends.the_job().id, task_id="t")
    anew(campaign, rob, to=3)
    sends.approve(office.by, campaign)
    assert sending.begin(held=held) is None
    assert f.fresh(campaign).status == "approved"
    office.send_all()
    assert (len(sink.recipients), f.fresh(campaign).status) == (3, "finished")


def test_D12_an_agent_that_words_its_text_anew_after_a_crash_has_one_campaign(office, sink, rob):
    campaign = office.approved(2)
    sends.take_back(office.by, campaign)
    version = anew(campaign, rob, to=2)
    assert anew(campaign, rob, to=2).id == version.id, "the same words again change nothing"
    sends.approve(office.by, campaign)
    office.send_all()
    assert sorted(sink.recipients) == ["guest1@example.com", "guest2@example.com"]
    assert [one.id for one in f.rows(Campaign.objects)] == [campaign.id]


def test_D06_a_stopped_campaign_goes_on_as_another_version_for_those_who_got_nothing(
    office, sink, connections, monkeypatch, rob
):
    campaign = office.approved(40)
    when_accepted(sink, 10, lambda: sends.stop(office.by, campaign), monkeypatch)
    office.wake()
    had = set(sink.recipients)
    version = anew(campaign, rob, rest=True, recipients=())
    with transaction.atomic():
        rows = Counter(version.audience.values_list("state", flat=True))
    assert rows == {"already_sent": len(had), "addressable": 40 - len(had)}
    sends.approve(office.by, campaign)
    office.send_all()
    nobody_twice(sink)
    assert len(set(sink.recipients)) == 40
