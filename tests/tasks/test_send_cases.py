"""The cases of public failures, by their ids: crashes, two at once, accounting.

Each is against a server that fails as it did there (those about its answers are in test_send_servers); at the end
ledger and server agree (tests/faults/ledger).
"""

from datetime import UTC, datetime, timedelta
from email import message_from_bytes

import pytest
from django.conf import settings
from django.db import OperationalError, transaction

from approvals.models import Delivery, Version
from approvals.rules.shown import Shown
from approvals.selectors.attachments import content_of
from approvals.selectors.campaigns import recipient_of
from approvals.services import deliveries, jobs, rounds, sending
from approvals.services.suppressions import link_for
from approvals.tasks import batch, leaving
from dashboard.presenters.build_message import message_to
from tests import factories as f
from tests.servers.smtp import Fault, Say
from tests.services import sends
from tests.services.conftest import as_superuser, database, desk, lease_over, mia
from tests.tasks.office import accounted, connections, office, row, sink

__all__ = ["as_superuser", "connections", "database", "desk", "lease_over", "mia", "office", "sink"]


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
    assert sorted(sink.recipients) == ["P1@example.net", "p2@example.net"]


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
        for one in Delivery.objects.filter(campaign_id=campaign.id):
            recipient = recipient_of(version.id, delivery_id=one.id)
            assert recipient is not None
            made = message_to(recipient, content_of(version), f.NOON)
            assert (made.missing, made.problem) == ((), "")
            previews[one.address] = made.raw
    office.send_all()
    assert {one.recipient: undated(one.raw) for one in sink.accepted} == {
        to: undated(raw) for to, raw in previews.items()
    }
    for one in sink.accepted:
        letter = message_from_bytes(one.raw)
        assert letter["List-Unsubscribe"] == f"<{link_for(row(one.recipient).id, settings.BASE_URL)}>"
        assert letter["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert accounted(sink) == {"sent": 7}


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


def test_h06_each_in_doubt_is_answered_by_a_person_one_by_one(office, sink):
    """Of four in doubt the server had one: that one is said to have happened, one is sent again, two are left."""
    campaign, held, sealed = sends.begun(office.by, to=4)
    for _ in range(4):
        intent = sends.next_intent(held=held, sealed=sealed)
        sends.settle(held=held, intent=intent, state="in_doubt", reply="the connection broke")
    sending.end_batch(held=held)
    rows = f.rows(Delivery.objects.order_by("position"))
    for one, answer in zip(rows, ["happened", "do_again", "leave", "leave"], strict=True):
        deliveries.resolve(
            by=office.by,
            delivery_id=one.id,
            shown=f.shown_campaign(campaign),
            resolution=answer,
            reason="The log of the server says so.",
        )
    office.send_all()
    assert sink.recipients == ["guest2@example.com"]
    assert sends.states(campaign) == ["sent", "sent", "in_doubt", "in_doubt"]
    assert sends.entries().count("resolve_delivery") == 3


def undated(raw):
    first, rest = raw.split(b"\r\n", 1)
    assert first.startswith(b"Date: ")
    return rest
