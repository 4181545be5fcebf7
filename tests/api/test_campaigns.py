"""POST /campaigns and GET /campaigns/{id}: proposing, and asking what became of it."""

from typing import Any

import pytest
from django.db import transaction

from approvals.db.binding import bind
from approvals.models import AudienceRow, Campaign, Delivery, Runtime, Version
from approvals.rules.content import fields_in
from approvals.selectors import lacking as selectors
from approvals.services import proposals
from tests.api.world import Caller, a_caller, a_campaign, a_runtime, stored

pytestmark = pytest.mark.usefixtures("database")

NOBODY_LEFT_OUT = {"duplicate": 0, "suppressed": 0, "refused": 0, "already_sent": 0}
NOBODY_LACKS = {"lacking": 0}
NOTHING_SENT = {"attempting": 0, "sent": 0, "failed": 0, "in_doubt": 0, "skipped": 0}


def recipients(*addresses: str) -> list[dict[str, Any]]:
    return [{"email": address, "vars": {"first_name": "Ann"}} for address in addresses]


def propose(caller: Caller, **changes: Any) -> dict[str, Any]:
    answer = caller.post("/campaigns", a_campaign(**changes))
    assert answer.status == 201, answer.json
    return answer.json


def test_a_campaign_waits_for_a_person(caller: Caller) -> None:
    told = propose(caller)
    assert set(told) == {"id", "status", "version", "digest", "counts", "lacking_fields"}
    assert (told["status"], told["version"]) == ("pending", 1)
    assert len(told["digest"]) == 64
    assert (
        told["counts"]
        == {"total": 2, "addressable": 2, "planned": 2} | NOBODY_LEFT_OUT | NOBODY_LACKS | NOTHING_SENT
    )


def test_it_is_told_with_status_comment_and_counts(caller: Caller) -> None:
    proposed = propose(caller, external_id="spring", name="Spring offers")
    with bind(caller.workspace_id), transaction.atomic():
        Campaign.objects.filter(id=proposed["id"]).update(status="rejected", comment="Too many this week.")
    told = caller.get(f"/campaigns/{proposed['id']}").json
    assert {
        name: told[name] for name in ("external_id", "name", "status", "comment", "digest", "counts")
    } == {
        "external_id": "spring",
        "name": "Spring offers",
        "status": "rejected",
        "comment": "Too many this week.",
        "digest": proposed["digest"],
        "counts": proposed["counts"],
    }
    assert told["send_by"] == "2999-06-01T06:00:00Z"


def test_deliveries_are_counted_by_state(caller: Caller) -> None:
    proposed = propose(caller, recipients=recipients(*(f"a{n}@shop.example.com" for n in range(3))))
    with bind(caller.workspace_id), transaction.atomic():
        Delivery.objects.filter(campaign_id=proposed["id"], position=2).update(state="skipped")
    counts = caller.get(f"/campaigns/{proposed['id']}").json["counts"]
    assert counts == {
        "total": 3,
        "addressable": 3,
        "planned": 2,
    } | NOBODY_LEFT_OUT | NOBODY_LACKS | NOTHING_SENT | {"skipped": 1}


FIELDS = {"subject": "{{ first_name }}", "text": "{{ seat }} {{ time }}", "html": "<p>{{ seat }}</p>"}


def with_values(*values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"email": f"a{n}@shop.example.com", "vars": given} for n, given in enumerate(values)]


@pytest.mark.parametrize(
    ("values", "lacking", "names"),
    [
        ([{"first_name": "A", "seat": 1, "time": ""}], 0, []),
        ([{"first_name": "A", "seat": 0, "time": False, "more": "x"}], 0, []),
        ([{}], 1, ["first_name", "seat", "time"]),
        ([{"first_name": "A", "seat": 1}, {"time": "9", "seat": 1}, {"Seat": 1}], 3, ["first_name", "seat", "time"]),
        ([{"first_name": "A", "seat": 1, "time": "9"}, {"first_name": "A", "seat": 1}], 1, ["time"]),
    ],
)  # fmt: skip
def test_F05_it_tells_how_many_lack_a_value_and_of_which_fields_as_the_page_does(
    caller: Caller, values: list[dict[str, Any]], lacking: int, names: list[str]
) -> None:
    proposed = propose(caller, recipients=with_values(*values), **FIELDS)
    assert (proposed["counts"]["lacking"], proposed["lacking_fields"]) == (lacking, names)
    told = caller.get(f"/campaigns/{proposed['id']}").json
    assert (told["counts"], told["lacking_fields"]) == (proposed["counts"], names)
    with bind(caller.workspace_id), transaction.atomic():
        version = Version.objects.get()
        fields = fields_in(version.subject_line, version.text, version.html)
        assert selectors.lacking(version.id, fields)[0] == lacking


def test_F05_whoever_gets_nothing_lacks_nothing_and_without_fields_nobody_does(caller: Caller) -> None:
    nobody = [
        {"email": "nobody", "vars": {}},
        {"email": "ann@shop.example.com", "vars": {"first_name": "Ann"}},
    ]
    assert propose(caller, recipients=nobody)["counts"]["lacking"] == 0
    plain = {"subject": "Hello", "text": "Hello { name } {{}", "html": None}
    told = propose(caller, recipients=with_values({}), **plain)
    assert (told["counts"]["lacking"], told["lacking_fields"]) == (0, [])


def test_F05_it_is_told_of_the_newest_version_alone(caller: Caller) -> None:
    body = a_campaign(recipients=with_values({}))
    assert caller.post("/campaigns", body).json["counts"]["lacking"] == 1
    better = caller.post("/campaigns", body | {"recipients": with_values({"first_name": "Ann"})}).json
    assert (better["version"], better["counts"]["lacking"], better["lacking_fields"]) == (2, 0, [])


def test_the_same_body_again_is_the_same_campaign(caller: Caller) -> None:
    body = a_campaign()
    first = caller.post("/campaigns", body)
    before = stored(caller.workspace_id)
    again = caller.post("/campaigns", body | {"send_by": "2999-06-01T06:00:00Z"})
    assert (first.status, again.status) == (201, 200)
    assert again.json == first.json
    assert stored(caller.workspace_id) == before


@pytest.mark.parametrize(
    "change",
    [
        {"name": "Summer"},
        {"purpose": None},
        {"send_by": None},
        {"from": "news@shop.example.com"},
        {"reply_to": None},
        {"subject": "Hello"},
        {"text": "Hello"},
        {"html": None},
        {"recipients": recipients("ann@shop.example.com")},
        {"recipients": [{"email": "ann@shop.example.com", "vars": {"first_name": "Eve"}}]},
    ],
    ids=str,
)
def test_D12_another_body_under_the_same_external_id_is_the_next_version(
    caller: Caller, change: dict[str, Any]
) -> None:
    body = a_campaign()
    first = caller.post("/campaigns", body).json
    answer = caller.post("/campaigns", body | change)
    assert answer.status == 201
    assert (answer.json["id"], answer.json["status"], answer.json["version"]) == (first["id"], "pending", 2)
    assert answer.json["digest"] != first["digest"]
    assert caller.get(f"/campaigns/{first['id']}").json["digest"] == answer.json["digest"]


def test_D12_a_body_that_was_replaced_is_refused_and_changes_nothing(caller: Caller) -> None:
    body = a_campaign()
    caller.post("/campaigns", body)
    caller.post("/campaigns", body | {"subject": "Hello"})
    before = stored(caller.workspace_id)
    assert caller.post("/campaigns", body).problem == (409, "version_replaced", "external_id")
    assert stored(caller.workspace_id) == before


OVER = "2001-06-01T06:00:00Z"


def test_a_time_that_is_over_is_refused_at_its_field_and_leaves_nothing(caller: Caller) -> None:
    before = stored(caller.workspace_id)
    answer = caller.post("/campaigns", a_campaign(send_by=OVER))
    assert answer.problem == (422, "invalid", "send_by")
    assert answer.json["detail"] == "This time is over. Choose a later one, or leave it empty."
    assert stored(caller.workspace_id) == before


def test_another_version_with_a_time_that_is_over_changes_nothing(caller: Caller) -> None:
    body = a_campaign()
    first = caller.post("/campaigns", body).json
    before = stored(caller.workspace_id)
    assert caller.post("/campaigns", body | {"send_by": OVER}).problem == (422, "invalid", "send_by")
    assert stored(caller.workspace_id) == before
    assert caller.get(f"/campaigns/{first['id']}").json["version"] == 1


def test_D12_the_same_body_is_known_however_late_it_comes_again(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = a_campaign(send_by=OVER)
    with monkeypatch.context() as then:
        then.setattr(proposals, "refuse_over", lambda *_, **__: None)  # when its time was still to come
        first = caller.post("/campaigns", body)
    again = caller.post("/campaigns", body)
    assert (first.status, again.status) == (201, 200)
    assert again.json == first.json
    assert caller.post("/campaigns", body | {"subject": "Other"}).problem == (422, "invalid", "send_by")
    newer = caller.post("/campaigns", body | {"send_by": None})
    assert newer.json["version"] == 2
    assert caller.post("/campaigns", body).problem == (409, "version_replaced", "external_id")


def test_a_closed_campaign_says_so_before_it_looks_at_the_time(caller: Caller) -> None:
    body = a_campaign()
    first = caller.post("/campaigns", body).json
    with bind(caller.workspace_id), transaction.atomic():
        Campaign.objects.filter(id=first["id"]).update(status="rejected")
    answer = caller.post("/campaigns", body | {"send_by": OVER})
    assert answer.problem == (409, "external_id_conflict", "external_id")


@pytest.mark.parametrize("status", ["rejected", "finished"])
def test_a_closed_campaign_takes_no_other_version_and_says_why(caller: Caller, status: str) -> None:
    body = a_campaign()
    first = caller.post("/campaigns", body).json
    with bind(caller.workspace_id), transaction.atomic():
        mine = Campaign.objects.filter(id=first["id"])
        for step in [status] if status == "rejected" else ["approved", "sending", status]:
            mine.update(status=step)
    before = stored(caller.workspace_id)
    answer = caller.post("/campaigns", body | {"subject": "Hello"})
    assert answer.problem == (409, "external_id_conflict", "external_id")
    assert (answer.json["id"], answer.json["campaign_status"]) == (first["id"], status)
    assert stored(caller.workspace_id) == before
    assert caller.post("/campaigns", body).status == 200


def test_another_runtime_may_use_the_same_external_id(caller: Caller) -> None:
    other = a_caller(a_runtime(caller.workspace_id))
    assert propose(caller, external_id="1")["id"] != propose(other, external_id="1")["id"]


def test_who_cannot_be_addressed_is_excluded_with_the_reason(caller: Caller) -> None:
    given = [
        "ann@shop.example.com",
        "",
        "nobody",
        "two words@shop.example.com",
        "bob@localhost",
        "b\u00fcrgermeister@shop.example.com",
        "eve@shop.example.com\r\nBcc: all@shop.example.com",
        "x" * 300 + "@shop.example.com",
        "x" * 5000,
        "Ann <ann2@shop.example.com>",
        "ann@shop.example.com",
        "ANN@Shop.Example.com",
        "bob@b\u00fccher.example.com",
    ]
    proposed = propose(caller, recipients=recipients(*given))
    assert proposed["counts"] == {
        "total": 13, "addressable": 2, "duplicate": 2, "suppressed": 0, "refused": 9, "already_sent": 0, "planned": 2,
    } | NOBODY_LACKS | NOTHING_SENT  # fmt: skip
    with bind(caller.workspace_id), transaction.atomic():
        rows = list(AudienceRow.objects.order_by("position"))
        deliveries = list(Delivery.objects.order_by("position"))
    assert [row.state for row in rows] == [
        "addressable", *["refused"] * 9, "duplicate", "duplicate", "addressable",
    ]  # fmt: skip
    assert all(row.reason.endswith(".") for row in rows if row.state != "addressable")
    assert "recipient 1" in rows[10].reason
    assert rows[12].address == "bob@xn--bcher-kva.example.com"
    assert all(len(row.email) <= 1000 for row in rows)
    assert [(delivery.position, delivery.address) for delivery in deliveries] == [
        (1, "ann@shop.example.com"),
        (13, "bob@xn--bcher-kva.example.com"),
    ]


@pytest.mark.parametrize(
    "bad", ["\r", "\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
)
def test_F01_no_variable_begins_a_line_of_the_subject(caller: Caller, bad: str) -> None:
    eve = {"email": "eve@shop.example.com", "vars": {"first_name": f"Eve{bad}Bcc: all@shop.example.com"}}
    told = propose(caller, subject="{{ first_name }}", recipients=[*recipients("ann@shop.example.com"), eve])
    assert (told["counts"]["refused"], told["counts"]["planned"]) == (1, 1)
    with bind(caller.workspace_id), transaction.atomic():
        [row] = AudienceRow.objects.filter(state="refused")
    assert (row.position, row.email) == (2, "eve@shop.example.com")
    assert f"The character U+{ord(bad):04X}" in row.reason


def test_a_merge_field_inside_an_address_excludes_its_recipient(caller: Caller) -> None:
    given = ["{{name}}@shop.example.com", "ann@{{domain}}.example.com", "ann}}@shop.example.com"]
    told = propose(caller, recipients=recipients(*given, "ann@shop.example.com"))
    assert (told["counts"]["refused"], told["counts"]["planned"]) == (3, 1)
    with bind(caller.workspace_id), transaction.atomic():
        reasons = set(AudienceRow.objects.filter(state="refused").values_list("reason", flat=True))
    assert reasons == {"The address holds a merge field. Write the address itself."}


def test_a_merge_field_in_the_senders_address_is_refused_and_nothing_is_kept(caller: Caller) -> None:
    before = stored(caller.workspace_id)
    for field in ("from", "reply_to"):
        for value in ("{{shop}}@shop.example.com", "{{ shop }} <news@shop.example.com>"):
            assert caller.post("/campaigns", a_campaign(**{field: value})).problem == (422, "invalid", field)
    assert stored(caller.workspace_id) == before


def test_a_variable_that_would_break_the_subject_excludes_its_recipient(caller: Caller) -> None:
    eve = {"email": "eve@shop.example.com", "vars": {"first_name": "Eve\r\nBcc: all@shop.example.com"}}
    proposed = propose(caller, recipients=[eve, *recipients("ann@shop.example.com")])
    assert (proposed["counts"]["refused"], proposed["counts"]["planned"]) == (1, 1)
    with_lines = propose(caller, subject="Hello", recipients=[eve])
    assert with_lines["counts"]["planned"] == 1, "in the text a line break does no harm"


def test_a_campaign_that_reaches_nobody_is_taken_and_says_so(caller: Caller) -> None:
    proposed = propose(caller, recipients=recipients("nobody", "nowhere"))
    assert (proposed["status"], proposed["counts"]["addressable"], proposed["counts"]["refused"]) == (
        "pending",
        0,
        2,
    )


def test_ten_thousand_recipients_fit_into_one_call(caller: Caller) -> None:
    given = recipients(*(f"a{n}@shop.example.com" for n in range(10_000)))
    assert propose(caller, recipients=given)["counts"]["planned"] == 10_000


def test_each_delivery_has_a_message_id_of_its_own_at_the_senders_domain(caller: Caller) -> None:
    propose(caller)
    with bind(caller.workspace_id), transaction.atomic():
        for delivery in Delivery.objects.all():
            assert delivery.message_id == f"<{delivery.id.hex}@shop.example.com>"


def test_what_was_proposed_is_stored_and_sealed(caller: Caller) -> None:
    body = a_campaign()
    proposed = caller.post("/campaigns", body).json
    with bind(caller.workspace_id), transaction.atomic():
        version = Version.objects.get()
        assert (str(version.campaign_id), version.number, version.digest) == (
            proposed["id"],
            1,
            proposed["digest"],
        )
        assert version.sealed_at is not None
        assert (version.from_address, version.reply_to, version.subject_line, version.text, version.html) == (
            body["from"], body["reply_to"], body["subject"], body["text"], body["html"],
        )  # fmt: skip
        assert list(AudienceRow.objects.order_by("position").values_list("vars", flat=True)) == [
            '{"first_name":"Ann"}',
            '{"first_name":"Bob"}',
        ]


@pytest.mark.parametrize("without", ["purpose", "send_by", "reply_to", "html", "vars"])
def test_what_is_optional_may_be_left_out(caller: Caller, without: str) -> None:
    body = a_campaign()
    body.pop(without, None)
    for recipient in body["recipients"]:
        recipient.pop(without, None)
    assert caller.post("/campaigns", body).status == 201


def test_the_agent_is_that_of_the_run_that_proposes_it(caller: Caller) -> None:
    run_id = caller.open_run(agent="marketing")
    propose(caller, run_id=run_id)
    with bind(caller.workspace_id), transaction.atomic():
        campaign = Campaign.objects.get()
    assert (campaign.agent, str(campaign.run_id)) == ("marketing", run_id)


def test_without_a_run_it_is_the_runtimes_name(caller: Caller) -> None:
    propose(caller)
    with bind(caller.workspace_id), transaction.atomic():
        assert Campaign.objects.get().agent == Runtime.objects.get().name


@pytest.mark.parametrize(
    "change",
    [
        {"from": "Shop <news@shop2.example.com>"},
        {"reply_to": None},
        {"subject": "Hello"},
        {"text": "Hello"},
        {"html": None},
        {"recipients": recipients("ann@shop.example.com")},
        {"recipients": recipients("bob@shop.example.com", "ann@shop.example.com")},
        {"name": "Summer"},
        {"purpose": "Everybody"},
    ],
    ids=str,
)
def test_whatever_a_reviewer_is_shown_is_in_the_digest(caller: Caller, change: dict[str, Any]) -> None:
    assert propose(caller)["digest"] != propose(caller, **change)["digest"]


def test_the_same_content_has_the_same_digest(caller: Caller) -> None:
    assert propose(caller)["digest"] == propose(caller)["digest"]
