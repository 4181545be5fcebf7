"""The cases of public failures (their ids are in the names), each against a server that fails as it did there.

At the end of each the ledger and the server agree (tests/faults/ledger). B14, about providers' HTTP calls, waits for
the first such channel: there is none yet.
"""

import json
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from email import message_from_bytes

import pytest
from django.conf import settings
from django.db import OperationalError, transaction

from approvals.models import Delivery, Job, Version
from approvals.rules.content import envelope_for
from approvals.rules.messages import build
from approvals.rules.shown import Shown
from approvals.services import campaigns, jobs, pauses, rounds, sending
from approvals.tasks import batch, leaving, send
from tests import factories as f
from tests.faults.ledger import assert_accounted_for
from tests.servers.smtp import Act, Drop, Fault, Hang, Phase, Say, SmtpSink
from tests.services import sends
from tests.services.conftest import as_superuser, database, desk, lease_over, mia

__all__ = ["as_superuser", "database", "desk", "lease_over", "mia"]

PIPELINING = ["SIZE 10000000", "PIPELINING"]


@pytest.fixture(params=[1, 4], ids=["one connection", "four connections"])
def connections(request, monkeypatch):
    monkeypatch.setattr(settings, "SEND_CONNECTIONS", request.param)
    return request.param


@pytest.fixture(params=[PIPELINING, PIPELINING[:1]], ids=["pipelining", "step by step"])
def sink(request, monkeypatch):
    with SmtpSink(extensions=request.param) as server:
        monkeypatch.setitem(settings.SMTP, "port", server.port)
        monkeypatch.setitem(settings.SMTP, "host", "127.0.0.1")
        yield server


class Office:
    """Somebody who approves, a worker that is woken, and a clock that waits for nobody."""

    def __init__(self, desk, by, as_superuser):
        self.desk, self.by, self._sql = desk, by, as_superuser

    def approved(self, to, **more):
        campaign = f.campaign(to=to, **more)
        sends.approve(self.by, campaign)
        return campaign

    def wake(self, campaign=None):
        """Each job that is queued does one batch."""
        waiting = Job.objects.filter(kind="send", status="queued")
        for job in f.rows(waiting.filter(campaign_id=campaign.id) if campaign else waiting):
            send.execute.apply(args=[str(job.id)], kwargs={"workspace": str(self.desk.id)}, throw=True)

    def later(self, what="1 hour"):
        """Everybody who was asked to wait has waited."""
        self._sql(
            f"update approvals_delivery set settled_at = settled_at - interval '{what}' where workspace_id = %s",
            self.desk.id,
        )
        self._sql("update approvals_job set due_at = now() where workspace_id = %s", self.desk.id)

    def send_all(self, rounds=30):
        for _ in range(rounds):
            self.wake()
            if not f.rows(Job.objects.filter(status="queued")):
                return
            self.later()
        raise AssertionError("it never ends")


@pytest.fixture
def office(desk, mia, as_superuser):
    return Office(desk, mia, as_superuser)


@transaction.atomic
def accounted(sink, **more):
    return assert_accounted_for(sink, **more)


def row(address):
    return f.rows(Delivery.objects.filter(address=address))[0]


def test_a07_f03_c04_one_who_is_refused_asked_to_wait_or_cannot_be_built_undoes_no_other(
    office, sink, connections, as_superuser
):
    campaign = office.approved(20)
    sink.faults += [Fault("rcpt", 5, Say(b"451 later\r\n")), Fault("rcpt", 9, Say(b"550 no\r\n"))]
    as_superuser(
        "update approvals_audiencerow set vars = 'no JSON' where position = 3 and version_id in"
        " (select id from approvals_version where campaign_id = %s)", campaign.id,
    )  # fmt: skip
    office.wake()
    assert accounted(sink) == {"sent": 17, "failed": 2, "planned": 1}
    assert row("guest3@example.com").reply == batch.UNWRITABLE
    [waits] = f.rows(Delivery.objects.filter(state="planned"))
    assert (waits.attempt, waits.reply) == (1, "451 later")
    assert sends.the_job().due_at - waits.settled_at > timedelta(seconds=settings.SEND_RETRY_S - 1)
    office.send_all()
    assert accounted(sink) == {"sent": 18, "failed": 2}


@pytest.mark.parametrize("loss", [Drop(keep=True), Drop(keep=True, rudely=True)], ids=str)
def test_b01_lost_after_the_dot_is_in_doubt_and_the_others_go_out_on_a_new_connection(
    office, sink, connections, loss
):
    office.approved(12)
    sink.faults.append(Fault("dot", 5, loss))
    office.send_all()
    assert accounted(sink) == {"sent": 11, "in_doubt": 1}
    assert len(sink.recipients) == 12


@pytest.mark.parametrize("phase", ["mail", "rcpt", "data"])
def test_b03_a_connection_lost_before_the_dot_costs_only_the_one_under_way_a_wait(
    office, sink, connections, phase: Phase
):
    office.approved(12)
    sink.faults.append(Fault(phase, 5, Drop()))
    office.wake()
    counts = accounted(sink)
    assert counts["failed"] == counts["in_doubt"] == 0
    assert counts["planned"] <= 1
    office.send_all()
    assert accounted(sink) == {"sent": 12}


@pytest.mark.parametrize("farewell", [Drop(), Say(b"421 enough for one connection\r\n", drop=True)], ids=str)
def test_b05_a_server_that_closes_after_some_messages_costs_nobody_anything(
    office, sink, connections, farewell: Act
):
    office.approved(30)
    sink.faults += [Fault("idle", n, farewell) for n in (7, 8, 15)]
    office.wake()
    assert accounted(sink) == {"sent": 30}
    assert {one.attempt for one in f.rows(Delivery.objects)} == {1}


@pytest.mark.parametrize("phase", ["rcpt", "dot"])
def test_b07_b08_asked_to_wait_is_tried_again_after_the_wait_and_not_before(office, sink, phase: Phase):
    office.approved(1)
    sink.faults.append(Fault(phase, 1, Say(b"451 greylisted\r\n")))
    office.wake()
    assert accounted(sink) == {"planned": 1}
    office.later("10 seconds")
    office.wake()
    assert (row("guest1@example.com").attempt, sink.recipients) == (1, [])
    office.later()
    office.wake()
    assert accounted(sink) == {"sent": 1}
    assert row("guest1@example.com").attempt == 2


@pytest.mark.parametrize("refusal", [Fault("mail", 4, Say(b"550 5.7.1 not you\r\n"), on=True)], ids=["mail"])
def test_b10_h02_a_refused_sender_pauses_the_sending_for_a_person_and_nobody_failed(
    office, sink, connections, refusal
):
    campaign = office.approved(12)
    sink.faults.append(refusal)
    office.wake()
    counts, job = accounted(sink), sends.the_job()
    assert (counts["failed"], counts["in_doubt"]) == (0, 0)
    assert (job.status, job.outcome) == ("paused", f"{sending.REFUSED}550 5.7.1 not you")
    assert sends.tab_of(campaign) == "decide"
    sink.faults.clear()
    pauses.resume_send(by=office.by, job_id=job.id, shown=f.shown_campaign(campaign))
    office.send_all()
    assert accounted(sink) == {"sent": 12}


def test_b10_a_refused_sign_in_pauses_it_before_anybody_is_attempted(office, monkeypatch):
    monkeypatch.setitem(settings.SMTP, "username", "secondlook")
    monkeypatch.setitem(settings.SMTP, "password", "wrong")
    with SmtpSink(login=("secondlook", "right")) as sink:
        monkeypatch.setitem(settings.SMTP, "port", sink.port)
        office.approved(2)
        office.wake()
        assert sends.the_job().outcome == f"{sending.REFUSED}535 wrong name or password"
        assert accounted(sink) == {"planned": 2}
        assert {one.attempt for one in f.rows(Delivery.objects)} == {0}


@pytest.mark.parametrize(
    ("phase", "code"), [("mail", b"454"), ("mail", b"450"), ("rcpt", b"421"), ("rcpt", b"450")]
)
def test_b12_too_much_mail_lets_the_whole_channel_rest_and_nobody_fails(
    office, sink, connections, phase: Phase, code
):
    office.approved(40)
    sink.faults.append(Fault(phase, 10, Say(code + b" too much mail\r\n"), on=True))
    office.wake()
    counts, job = accounted(sink), sends.the_job()
    assert counts["failed"] == counts["in_doubt"] == 0
    assert job.outcome.endswith(f"{code.decode()} too much mail")
    assert job.due_at - job.queued_at > timedelta(seconds=settings.SEND_RETRY_S - 1)
    assert sink.messages <= 9 + batch.STREAK + 2 * connections
    sink.faults.clear()
    office.send_all()
    assert accounted(sink) == {"sent": 40}


def test_b17_f07_f13_each_message_is_for_one_and_has_a_name_of_its_own_that_stays(office, sink, connections):
    office.approved(8)
    sink.faults.append(Fault("dot", 2, Say(b"451 later\r\n")))
    office.send_all()
    verbs = Counter(line.split(" ")[0] for _, line in sink.said)
    assert verbs["RCPT"] == verbs["MAIL"] == 9
    assert all(message_from_bytes(one.raw).get_all("To") == [one.recipient] for one in sink.accepted)
    names = {one.address: one.message_id for one in f.rows(Delivery.objects)}
    assert {one.recipient: one.message_id for one in sink.accepted} == names
    assert len(set(names.values())) == 8
    assert accounted(sink) == {"sent": 8}


def test_b19_an_address_that_cannot_be_written_plainly_fails_without_a_word_to_the_server(
    office, sink, as_superuser
):
    campaign = office.approved(2)
    as_superuser(
        "update approvals_delivery set address = 'dvořák@example.com' where position = 1 and campaign_id = %s",
        campaign.id,
    )
    office.send_all()
    assert accounted(sink) == {"sent": 1, "failed": 1}
    assert sink.recipients == ["guest2@example.com"]
    assert not [line for _, line in sink.said if "=?" in line or not line.isascii()]


def test_c07_a_stop_lets_go_of_no_more_than_is_under_way(office, sink, connections, monkeypatch):
    campaign = office.approved(60)
    turn = rounds.turn

    def stops_at_20(**given):
        if len(sink.recipients) >= 20 and f.fresh(campaign).status == "sending":
            sends.stop(office.by, campaign)
        return turn(**given)

    monkeypatch.setattr(rounds, "turn", stops_at_20)
    office.wake()
    counts = accounted(sink)
    assert 20 <= counts["sent"] <= 20 + connections
    assert counts["sent"] + counts["skipped"] == 60
    assert sends.the_job().outcome == f"Stopped: {counts['sent']} sent, 0 failed, 0 in doubt."


def test_a_message_whose_intent_is_refused_after_354_never_gets_its_dot(office, sink, monkeypatch):
    """It was begun up to its body while its round was committed, and the campaign was stopped before."""
    campaign = office.approved(3)
    turn = rounds.turn

    def stopped_first(**given):
        time.sleep(0.2)  # the server has asked for the message
        sends.stop(office.by, campaign)
        return turn(**given)

    monkeypatch.setattr(rounds, "turn", stopped_first)
    office.wake()
    assert [line for _, line in sink.said if line == "DATA"] or sink.extensions == PIPELINING[:1]
    assert accounted(sink) == {"skipped": 3}


def test_a17_an_outcome_that_could_not_be_written_down_is_in_doubt_and_nobody_sends_again(
    office, sink, connections, monkeypatch, lease_over
):
    office.approved(3)
    turn = rounds.turn

    def database_is_gone(*, endings=(), **given):
        if endings:
            raise OperationalError("the server closed the connection")
        return turn(endings=endings, **given)

    monkeypatch.setattr(rounds, "turn", database_is_gone)
    with pytest.raises(OperationalError):
        office.wake()
    monkeypatch.undo()
    monkeypatch.setitem(settings.SMTP, "port", sink.port)
    job = sends.the_job()
    lease_over(job.id)
    assert jobs.expire(job_id=job.id) == "queued"
    office.send_all()
    counts = accounted(sink)
    assert 1 <= counts["in_doubt"] <= connections
    assert counts["in_doubt"] + counts["sent"] == 3


def test_a22_a23_what_a_dead_worker_held_for_days_is_in_doubt_and_never_sent_by_itself(
    office, sink, lease_over
):
    _, held, sealed = sends.begun(office.by, to=2)
    lost = sends.next_intent(held=held, sealed=sealed)
    lease_over(held.job_id)
    jobs.expire(job_id=held.job_id)
    office.later("2 days")
    office.send_all()
    assert accounted(sink) == {"sent": 1, "in_doubt": 1}
    assert (row(lost.address).state, sink.recipients) == ("in_doubt", ["guest2@example.com"])


def test_c01_c08_c09_one_campaign_and_one_row_however_often_somebody_stands_in_it(office, sink):
    to = [
        (name, {"name": "P", "time": "1"}) for name in ("P1@Example.net", "p1@example.net", "p2@example.net")
    ]
    campaign = office.approved(to)
    again = sends.approve(office.by, campaign, Shown("", datetime.now(UTC), {}))
    assert again[1], "the second click only repeats the first"
    office.send_all()
    assert accounted(sink) == {"sent": 2}
    assert sink.recipients == ["P1@example.net", "p2@example.net"]


def test_g06_before_the_hold_is_over_nothing_leaves(office, sink, as_superuser):
    as_superuser("update approvals_workspace set hold_s = 86400 where id = %s", office.desk.id)
    office.approved(2)
    assert not jobs.release(job_id=sends.the_job().id)
    office.wake()
    assert accounted(sink) == {"planned": 2}


def test_h01_everybody_who_was_not_sent_anything_has_a_reason(office, sink, monkeypatch):
    monkeypatch.setattr(settings, "ALLOWED_RECIPIENT_DOMAINS", ["example.com"])
    to = [
        (f"guest{n}@example.{top}", {"name": "P", "time": "1"}) for n, top in enumerate(["com", "org", "com"])
    ]
    office.approved(to)
    sink.faults.append(Fault("rcpt", 2, Say(b"550 no\r\n")))
    office.send_all()
    assert accounted(sink) == {"sent": 1, "failed": 1, "skipped": 1}
    assert row("guest1@example.org").reply == rounds.NOT_ALLOWED.format(domains="example.com")
    assert all(one.reply for one in f.rows(Delivery.objects.exclude(state="sent")))


def test_h05_the_envelope_names_who_stands_in_the_ledger(office, sink, connections):
    office.approved(8)
    office.send_all()
    ledger = {one.message_id: one.address for one in f.rows(Delivery.objects)}
    assert {one.message_id: one.recipient for one in sink.accepted} == ledger


def test_f06_what_the_reviewer_saw_is_what_was_sent_byte_for_byte_but_for_the_date(office, sink, connections):
    to = [(f"g{n}@example.com", {"name": f"Zoë {n} <&>", "time": "09:40\n.\nČ"}) for n in range(1, 8)]
    campaign = office.approved(to)
    previews = {}
    with transaction.atomic():
        version = Version.objects.get(campaign_id=campaign.id)
        for one in Delivery.objects.filter(campaign_id=campaign.id).select_related("audience_row"):
            envelope, missing = envelope_for(
                sending.content_of(version), delivery_id=str(one.id), to=one.address, message_id=one.message_id,
                variables=json.loads(one.audience_row.vars), date=f.NOON,
            )  # fmt: skip
            assert not missing
            previews[one.address] = build(envelope)
    office.send_all()
    assert {one.recipient: undated(one.raw) for one in sink.accepted} == {
        to: undated(raw) for to, raw in previews.items()
    }
    assert accounted(sink) == {"sent": 7}


def undated(raw):
    first, rest = raw.split(b"\r\n", 1)
    assert first.startswith(b"Date: ")
    return rest


def test_a05_a_worker_that_waits_for_the_pace_leaves_when_it_is_asked_to(
    office, sink, monkeypatch, as_superuser
):
    as_superuser("update approvals_workspace set messages_per_minute = 6 where id = %s", office.desk.id)
    office.approved(3)
    naps = []

    def nap(seconds):
        naps.append(seconds)
        monkeypatch.setattr(leaving, "asked", lambda: True)

    monkeypatch.setattr(batch.time, "sleep", nap)
    office.wake()
    assert (accounted(sink), len(naps)) == ({"sent": 1, "planned": 2}, 1)
    assert naps[0] <= batch.NAP_S
    assert sends.the_job().status == "queued"


def test_the_pace_is_kept_over_batches_and_workers(office, sink, as_superuser):
    as_superuser("update approvals_workspace set messages_per_minute = 1 where id = %s", office.desk.id)
    campaign = office.approved(3)
    office.wake()
    job = sends.the_job()
    assert accounted(sink) == {"sent": 1, "planned": 2}
    assert timedelta(seconds=55) < job.due_at - job.queued_at < timedelta(seconds=61)
    office.later()
    office.wake()
    assert accounted(sink) == {"sent": 1, "planned": 2}
    as_superuser("update approvals_workspace set next_message_at = now() where id = %s", office.desk.id)
    office.later()
    office.wake()
    assert accounted(sink) == {"sent": 2, "planned": 1}
    assert f.fresh(campaign).status == "sending"


def test_one_connection_that_says_nothing_keeps_the_others_waiting_no_longer_than_a_round(
    office, sink, monkeypatch
):
    monkeypatch.setattr(settings, "SEND_CONNECTIONS", 4)
    monkeypatch.setattr(send, "SEND_S", 3.0)
    office.approved(40)
    sink.faults.append(Fault("dot", 6, Hang()))
    office.wake()
    assert accounted(sink) == {"sent": 39, "in_doubt": 1}
    assert [one.connection for one in sink.accepted].count(sink.accepted[5].connection) < 10


def test_a_server_that_takes_fewer_connections_gets_fewer(office, sink, monkeypatch):
    monkeypatch.setattr(settings, "SEND_CONNECTIONS", 4)
    office.approved(20)
    sink.faults.append(Fault("connect", 3, Say(b"421 too many connections from you\r\n"), on=True))
    office.wake()
    assert accounted(sink) == {"sent": 20}
    assert {one.connection for one in sink.accepted} <= {1, 2}


def test_h06_each_in_doubt_is_answered_by_a_person_one_by_one(office, sink):
    """Of four in doubt the server had one: that one is said to have happened, one is sent again, two are left."""
    campaign, held, sealed = sends.begun(office.by, to=4)
    for _ in range(4):
        intent = sends.next_intent(held=held, sealed=sealed)
        sends.settle(held=held, intent=intent, state="in_doubt", reply="the connection broke")
    sending.end_batch(held=held)
    rows = f.rows(Delivery.objects.order_by("position"))
    for one, answer in zip(rows, ["happened", "do_again", "leave", "leave"], strict=True):
        campaigns.resolve_delivery(
            by=office.by,
            delivery_id=one.id,
            shown=f.shown_campaign(campaign),
            resolution=answer,
            reason="Its log.",
        )
    office.send_all()
    assert sink.recipients == ["guest2@example.com"]
    assert sends.states(campaign) == ["sent", "sent", "in_doubt", "in_doubt"]
    assert sends.entries().count("resolve_delivery") == 3
