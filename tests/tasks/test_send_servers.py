"""The cases of public failures, by their ids: what mail servers answer, and how connections are lost.

At the end of each the ledger and the server agree (tests/faults/ledger). B14, about providers' HTTP calls, waits for
the first such channel: there is none yet.
"""

import time
from collections import Counter
from datetime import timedelta
from email import message_from_bytes

import pytest
from django.conf import settings

from approvals.models import Delivery
from approvals.services import pauses, rounds, sending
from approvals.tasks import batch, send
from tests import factories as f
from tests.servers.smtp import Act, Drop, Fault, Hang, Late, Phase, Say, SmtpSink
from tests.services import sends
from tests.services.conftest import as_superuser, database, desk, lease_over, mia
from tests.tasks.office import PIPELINING, accounted, connections, office, row, sink

__all__ = ["as_superuser", "connections", "database", "desk", "lease_over", "mia", "office", "sink"]


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


def test_a07_whoever_is_refused_does_not_end_the_batch_of_the_others(office, sink, connections):
    office.approved(30)
    refused = (3, 9, 10, 17)
    sink.faults += [Fault("rcpt", n, Say(b"550 no such box\r\n")) for n in refused]
    sink.faults += [Fault("rset", n, Late(0.02)) for n in refused]
    office.wake()
    assert accounted(sink) == {"sent": 26, "failed": 4}
    assert sends.the_job().status == "done", "in one batch"
    if "PIPELINING" not in sink.extensions:  # else it had said DATA already, and goes
        assert sink.connections == connections


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


def test_a_message_whose_intent_is_refused_after_354_never_gets_its_dot(office, sink, monkeypatch):
    """It was begun up to its body while its round was committed, and the campaign was stopped before."""
    campaign = office.approved(3)
    turn = rounds.turn

    def stopped_first(*, meanwhile, **given):
        def begin():
            meanwhile()
            time.sleep(0.2)  # the server has asked for the message

        sends.stop(office.by, campaign)
        return turn(meanwhile=begin, **given)

    monkeypatch.setattr(rounds, "turn", stopped_first)
    office.wake()
    assert [line for _, line in sink.said if line == "DATA"] or sink.extensions == PIPELINING[:1]
    assert accounted(sink) == {"skipped": 3}


def test_one_connection_that_says_nothing_keeps_the_others_waiting_no_longer_than_a_round(
    office, sink, monkeypatch
):
    monkeypatch.setattr(settings, "SEND_CONNECTIONS", 4)
    monkeypatch.setattr(send, "SEND_S", 3.0)
    office.approved(40)
    sink.faults.append(Fault("dot", 6, Hang()))
    office.wake()
    assert accounted(sink) == {"sent": 39, "in_doubt": 1}


def test_a_server_that_takes_fewer_connections_gets_fewer(office, sink, monkeypatch):
    monkeypatch.setattr(settings, "SEND_CONNECTIONS", 4)
    office.approved(20)
    sink.faults.append(Fault("connect", 3, Say(b"421 too many connections from you\r\n"), on=True))
    office.wake()
    assert accounted(sink) == {"sent": 20}
    assert {one.connection for one in sink.accepted} <= {1, 2}
