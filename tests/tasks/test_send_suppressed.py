"""Whoever is not to be written to is not, however late they said so."""

import pytest
from django.conf import settings

from approvals.services import rounds, suppressions
from tests.services import sends
from tests.services.conftest import as_superuser, database, desk, lease_over, mia
from tests.tasks.office import accounted, connections, office, row, sink

__all__ = ["as_superuser", "connections", "database", "desk", "lease_over", "mia", "office", "sink"]


def unsubscribes(address):
    """They follow the link of the message that they get, or will get."""
    link = suppressions.link_for(row(address).id, settings.BASE_URL)
    assert suppressions.unsubscribe(link.rpartition("/")[2])


def suppressed(by, address, **more):
    return suppressions.suppress(by=by, address=address, reason="They wrote to us.", **more)


def test_e01_whoever_unsubscribes_while_it_is_sent_gets_nothing(office, sink, connections, monkeypatch):
    """At half of it, while those who are next have been read already."""
    office.approved(20)
    turn, late = rounds.turn, ["guest18@example.com", "guest20@example.com"]

    def at_half(**given):
        while len(sink.recipients) >= 10 and late:
            unsubscribes(late.pop())
        return turn(**given)

    monkeypatch.setattr(rounds, "turn", at_half)
    office.send_all()
    assert accounted(sink) == {"sent": 18, "skipped": 2}
    assert {row(f"guest{n}@example.com").reply for n in (18, 20)} == {rounds.UNSUBSCRIBED}
    assert sends.the_job().outcome == "18 sent, 0 failed, 0 in doubt."


def test_e01_the_statement_that_opens_a_row_asks_for_itself(office):
    """Whatever was known when the recipient was read."""
    _, held, sealed = sends.begun(office.by, to=2)
    first, second = rounds.upcoming(held=held, sealed=sealed, after=-1, at_most=2)
    unsubscribes(first.address)
    opened = rounds.turn(held=held, sealed=sealed, wanted=[first, second]).opened
    assert opened == {second.delivery_id}
    assert row(first.address).state == "planned"


def test_e01_whoever_unsubscribed_is_not_sent_anything_again_either(office, sink):
    _, delivery = sends.in_doubt(office.by, to=1)
    unsubscribes(delivery.address)
    sends.resolve(office.by, delivery, "do_again")
    office.send_all()
    assert (row(delivery.address).state, sink.recipients) == ("skipped", [])


@pytest.mark.parametrize("spelling", ["P1@EXAMPLE.net", "p1@example.net", " P1@example.NET "])
def test_e09_an_address_is_suppressed_in_every_spelling(office, sink, spelling):
    suppressed(office.by, spelling)
    known = {"name": "P", "time": "1"}
    office.approved([("p1@Example.net", known), ("p2@example.net", known)])
    office.send_all()
    assert accounted(sink) == {"sent": 1, "skipped": 1}
    assert row("p1@example.net").reply == rounds.SUPPRESSED


def test_e09_the_campaign_may_be_the_one_that_spells_it_otherwise(office, sink):
    suppressed(office.by, "p1@example.net")
    office.approved([("P1@EXAMPLE.net", {"name": "P", "time": "1"})])
    office.send_all()
    assert accounted(sink) == {"skipped": 1}


def test_an_entry_for_one_agent_stops_no_other(office, sink):
    suppressed(office.by, "guest1@example.com", scope="another-writer")
    suppressed(office.by, "guest2@example.com", scope="outreach-writer")
    office.approved(2)
    office.send_all()
    assert accounted(sink) == {"sent": 1, "skipped": 1}
    assert sink.recipients == ["guest1@example.com"]


def test_whoever_was_released_is_written_to(office, sink):
    entry = suppressed(office.by, "guest1@example.com")
    suppressions.release(by=office.by, suppression_id=entry.id, reason="They asked us to write again.")
    office.approved(1)
    office.send_all()
    assert accounted(sink) == {"sent": 1}
