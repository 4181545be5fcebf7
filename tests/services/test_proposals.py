"""Proposals are stored whole or not at all, and sealed with the digest of what a reviewer is shown."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import QuerySet

from approvals.access.actors import TokenBearer
from approvals.db.binding import bind
from approvals.exceptions import Invalid
from approvals.models import AudienceRow, Campaign, Delivery, QueueItem, Version
from approvals.rules.digests import version_digest
from approvals.rules.proposals import Proposal, Recipient
from approvals.services import proposals, versions
from tests.api.world import a_caller, a_runtime, stored

pytestmark = pytest.mark.django_db(databases=["default", "ingest"], transaction=True)


@pytest.fixture
def by() -> Iterator[TokenBearer]:
    """A bearer whose workspace is bound."""
    bearer = a_caller(a_runtime(name="shop")).bearer
    with bind(bearer.workspace_id):
        yield bearer


def a_proposal(**changes: Any) -> Proposal:
    given: dict[str, Any] = {
        "external_id": "spring",
        "name": "Spring offers",
        "purpose": "",
        "send_by": None,
        "run_id": None,
        "sender": "Shop <news@shop.example.com>",
        "reply_to": "",
        "subject": "Hello {{ name }}",
        "text": "Dear {{ name }}",
        "html": "",
        "recipients": [
            Recipient("ann@shop.example.com", {"name": "Ann", "n": 1}),
            Recipient("nobody", {}),
            Recipient("Ann@shop.example.com", {"name": "Ann"}),
            Recipient("bob@shop.example.com", {"name": "Bob", "vip": True}),
        ],
    }
    return Proposal(**(given | changes))


def test_the_digest_is_that_of_the_rows_that_are_stored(by: TokenBearer) -> None:
    campaign, created = proposals.propose(by=by, proposal=a_proposal())
    assert created
    with transaction.atomic():
        version = Version.objects.get(campaign_id=campaign.id)
        rows = AudienceRow.objects.filter(version_id=version.id, state="addressable").order_by("position")
        assert version.digest == version_digest(
            headers={
                "version": "1",
                "name": campaign.name,
                "purpose": campaign.purpose,
                "send_by": None,
                "from": version.from_address,
                "reply_to": None,
                "subject": version.subject_line,
            },
            text=version.text,
            html=None,
            recipients=rows.values_list("position", "address", "vars"),
        )
        assert [json.loads(row.vars) for row in rows] == [
            {"name": "Ann", "n": 1},
            {"name": "Bob", "vip": True},
        ]


def test_it_stands_in_the_queue(by: TokenBearer) -> None:
    campaign, _ = proposals.propose(by=by, proposal=a_proposal())
    with transaction.atomic():
        items = list(QueueItem.objects.values_list("id", "kind", "tab", "agent", "title"))
    assert items == [(campaign.id, "campaign", "decide", "shop", "Spring offers")]


def test_what_was_proposed_cannot_be_changed_any_more(by: TokenBearer) -> None:
    proposals.propose(by=by, proposal=a_proposal())
    with transaction.atomic():
        version = Version.objects.get()
    with pytest.raises(DatabaseError), transaction.atomic():
        Version.objects.update(text="Something else")
    with pytest.raises(DatabaseError, match="sealed"), transaction.atomic():
        AudienceRow.objects.create(
            workspace_id=by.workspace_id,
            version=version,
            position=9,
            email="eve",
            state="refused",
            reason="late",
        )


@pytest.mark.parametrize("broken", ["version_digest", "message_id_of", "canonical", "_seal"])
def test_what_fails_half_way_leaves_nothing(
    by: TokenBearer, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("broken")

    before = stored(by.workspace_id)
    monkeypatch.setattr(versions, broken, fail)
    with pytest.raises(RuntimeError):
        proposals.propose(by=by, proposal=a_proposal())
    assert stored(by.workspace_id) == before


def test_a_campaign_that_somebody_else_stored_meanwhile_is_the_one(
    by: TokenBearer, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = proposals.propose(by=by, proposal=a_proposal())
    look, looks = proposals.campaigns_of, []

    def look_too_early(*args: Any) -> QuerySet[Campaign]:
        looks.append(1)
        return look(*args) if len(looks) > 1 else Campaign.objects.none()

    monkeypatch.setattr(proposals, "campaigns_of", look_too_early)
    assert proposals.propose(by=by, proposal=a_proposal()) == (first, False)
    looks.clear()
    assert proposals.propose(by=by, proposal=a_proposal(name="Other")) == (first, True)
    with transaction.atomic():
        assert [version.number for version in Version.objects.order_by("number")] == [1, 2]


def test_another_fault_of_the_database_is_no_conflict(
    by: TokenBearer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proposals, "_agent", lambda *_: None)
    with pytest.raises(IntegrityError, match="agent"):
        proposals.propose(by=by, proposal=a_proposal())


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"sender": "nobody"}, "from"),
        ({"sender": "a@shop.example.com, b@shop.example.com"}, "from"),
        ({"sender": "Shop\r\n <a@shop.example.com>"}, "from"),
        ({"sender": "{{shop}}@shop.example.com"}, "from"),
        ({"sender": "{{ shop }} <news@shop.example.com>"}, "from"),
        ({"reply_to": "nobody"}, "reply_to"),
        ({"reply_to": "{{shop}}@shop.example.com"}, "reply_to"),
        ({"name": "Spring\x1coffers"}, "name"),
        ({"name": "  "}, "name"),
        ({"subject": " "}, "subject"),
        ({"purpose": "a\x00b"}, "purpose"),
        ({"text": "a\x00b"}, "text"),
        ({"text": "a\ud800b"}, "text"),
        ({"text": " \n "}, "text"),
        ({"html": "a\udfffb"}, "html"),
        ({"subject": "Hello\nBcc: eve@shop.example.com"}, "subject"),
        ({"subject": "Hello\x0bBcc: eve@shop.example.com"}, "subject"),
        ({"run_id": UUID(int=1)}, "run_id"),
    ],
    ids=str,
)
def test_a_header_field_that_cannot_be_written_is_named(
    by: TokenBearer, change: dict[str, Any], field: str
) -> None:
    before = stored(by.workspace_id)
    with pytest.raises(Invalid) as refused:
        proposals.propose(by=by, proposal=a_proposal(**change))
    assert refused.value.field == field
    assert stored(by.workspace_id) == before


def test_only_who_can_be_addressed_gets_a_delivery(by: TokenBearer) -> None:
    proposals.propose(by=by, proposal=a_proposal())
    with transaction.atomic():
        deliveries = Delivery.objects.order_by("position").values_list(
            "position", "address", "dedupe_key", "state"
        )
        assert list(deliveries) == [
            (1, "ann@shop.example.com", "ann@shop.example.com", "planned"),
            (4, "bob@shop.example.com", "bob@shop.example.com", "planned"),
        ]
