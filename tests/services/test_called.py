"""What a run calls to be proposed is proposed once, as a version of one campaign, or said to be unusable."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from approvals.models import (
    AudienceRow,
    Campaign,
    Decision,
    Event,
    Payload,
    Version,
)
from approvals.selectors.called import Called
from approvals.services import called, campaign_tools, erasure
from tests.api.world import with_subject
from tests.services.shop import ADA, ARGS, Owner, Shop, a_call, approve, reject


@pytest.fixture
def shop(database: str) -> Shop:
    del database
    return Shop()


def test_what_a_call_asks_for_is_proposed_for_the_run_and_its_agent(shop: Shop) -> None:
    run = shop.run()
    shop.call(run)
    campaign = shop.read(Campaign.objects.get)
    assert (campaign.name, campaign.agent, str(campaign.run_id)) == ("Hello {{ name }}", "writer", run)
    assert (campaign.status, campaign.runtime_id) == ("pending", shop.runtime.id)
    assert shop.read(lambda: [row.state for row in AudienceRow.objects.order_by("position")]) == [
        "addressable",
        "refused",
    ]
    version = shop.read(Version.objects.get)
    assert (version.proposer_kind, version.proposer_id) == ("run", run)
    assert shop.became(run) == {1: Called("proposed", campaign.id, "Hello {{ name }}", 1)}


def test_a_call_of_another_tool_proposes_nothing(shop: Shop) -> None:
    run = shop.run()
    shop.call(run, name="send_email")
    assert (shop.campaigns(), shop.became(run), shop.waiting()) == ([], {}, [])


def test_a_tool_counts_from_its_declaration_on_and_until_it_is_taken_away(shop: Shop) -> None:
    run = shop.run()
    shop.call(run, name="write_to_all")
    shop.read(lambda: campaign_tools.declare(by=ADA, runtime="shop", tool="write_to_all"))
    shop.work(run)
    assert shop.campaigns() == []
    shop.call(run, 2, name="write_to_all")
    assert len(shop.campaigns()) == 1
    shop.read(lambda: campaign_tools.withdraw(by=ADA, runtime="shop", tool="write_to_all"))
    shop.call(run, 3, name="write_to_all")
    assert list(shop.became(run)) == [2]


def test_the_same_event_again_and_a_worker_that_is_woken_again_propose_nothing_more(shop: Shop) -> None:
    run = shop.run()
    shop.call(run)
    shop.call(run)
    shop.work(run)
    assert shop.campaigns() == [("Hello {{ name }}", 1)]
    assert shop.waiting() == []


def test_D12_a_replay_with_other_words_proposes_another_version_and_no_second_campaign(shop: Shop) -> None:
    run = shop.run()
    shop.call(run)
    shop.end(run, 2)
    again = shop.replay(run)
    shop.call(again, 3, args=ARGS | {"text": "Dear {{ name }}, once more"})
    shop.call(again, 1, name="look_up", args={})
    shop.call(again, 2, name="look_up", args={})
    shop.work(again)
    assert shop.campaigns() == [("Hello {{ name }}", 2)]
    assert shop.became(again)[3].version == 2
    campaign = shop.read(Campaign.objects.get)
    assert str(campaign.run_id) == again
    entry = shop.read(lambda: Decision.objects.get(kind="new_version"))
    assert (entry.actor_kind, entry.actor_id) == ("run", again)


def test_a_replay_with_the_same_words_leaves_campaign_and_approval_as_they_are(shop: Shop) -> None:
    run = shop.run()
    shop.call(run)
    shop.end(run, 2)
    approve(shop)
    again = shop.replay(run)
    shop.call(again)
    assert shop.campaigns() == [("Hello {{ name }}", 1)]
    assert shop.read(Campaign.objects.get).status == "approved"
    assert shop.became(again)[1].version == 1


def test_D12_a_replay_that_calls_the_same_when_its_time_is_over_is_known(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = ARGS | {"send_by": "2001-05-04T13:30:00Z"}
    run = shop.run()
    with monkeypatch.context() as then:
        then.setattr(called.proposals, "refuse_over", lambda *_, **__: None)  # when it was still to come
        shop.call(run, args=over)
    shop.end(run, 2)
    again = shop.replay(run)
    shop.call(again, args=over)
    assert shop.became(again)[1].version == 1
    shop.call(again, 2, args=over | {"text": "Other"})
    assert shop.became(again)[2].field == "send_by"


def test_an_external_id_of_its_own_is_the_key_whatever_run_says_it(shop: Shop) -> None:
    shop.call(shop.run(), args=ARGS | {"external_id": "spring"})
    shop.call(shop.run(), args=ARGS | {"external_id": "spring", "text": "again"})
    assert shop.campaigns() == [("Hello {{ name }}", 2)]


def test_a_call_waits_for_what_came_before_it(shop: Shop) -> None:
    run = shop.run()
    shop.call(run, 2, args=ARGS | {"name": "Second"})
    assert (shop.campaigns(), shop.waiting(), shop.became(run)) == ([], [], {2: Called("pending")})
    shop.call(run, 1, args=ARGS | {"name": "First"})
    assert shop.campaigns() == [("First", 1), ("Second", 1)]


def test_and_no_longer_than_until_its_run_is_over(shop: Shop) -> None:
    run = shop.run()
    shop.call(run, 2)
    shop.end(run, 9)
    assert shop.waiting() == [UUID(run)]
    shop.work(run)
    assert shop.campaigns() == [("Hello {{ name }}", 1)]


def test_a_call_that_comes_late_is_proposed_once_and_never_over_a_later_attempt(shop: Shop) -> None:
    run = shop.run()
    shop.end(run, 1)
    shop.call(run, 2, args=ARGS | {"name": "Late"})
    assert shop.campaigns() == [("Late", 1)]
    again = shop.replay(run)
    shop.call(again, 1, args=ARGS | {"name": "Later"})
    shop.call(again, 2, args=ARGS | {"name": "Second"})
    shop.call(run, 3, args=ARGS | {"name": "Second, of the first attempt"})
    assert shop.campaigns() == [("Later", 2), ("Second", 1)]
    assert shop.became(run)[3].why == called.OVERTAKEN


def test_what_a_run_did_not_live_through_proposes_nothing(shop: Shop) -> None:
    run = shop.run()
    shop.call(run, origin="restored")
    assert (shop.campaigns(), shop.became(run)) == ([], {})


def test_a_token_of_one_customer_proposes_nothing_by_a_call_either(shop: Shop) -> None:
    run = shop.run(subject="customer-17")
    shop.call(run, by=with_subject(shop.caller, "customer-17"))
    assert shop.campaigns() == []
    assert shop.became(run)[1].why == called.BY_SUBJECT


@pytest.mark.parametrize(
    ("spoiled", "field", "words"),
    [
        ({"recipients": [{"email": "a@x.example.com"}, {"email": 7}]}, "recipients[1].email", "must be text"),
        ({"recipients": []}, "recipients", "at least 1 entry"),
        ({"recipients": "everybody"}, "recipients", "must be a list"),
        (
            {"recipients": [{"email": "a@x.example.com", "vars": {"n": None}}]},
            "recipients[0].vars.n",
            "number",
        ),
        ({"dataset_id": str(uuid4())}, "recipients", "Name either"),
        ({"where": {"city": "Bonn"}}, "where", "Only a list"),
        ({"subject": "Hello\x0bBcc: eve@x.example.com"}, "subject", "U+000B"),
        ({"from": "Eve <eve@x.example.com>, Bo <bo@x.example.com>"}, "from", ""),
        ({"from": None}, "from", "must be text"),
        ({"text": "  "}, "text", "not a space"),
        ({"send_by": "tomorrow"}, "send_by", "ISO 8601"),
        ({"send_by": "2001-05-04T13:30:00Z"}, "send_by", "This time is over."),
        ({"run_id": str(uuid4())}, "run_id", "no such field"),
        ({"tone": "friendly"}, "tone", "no such field"),
        ({"external_id": ""}, "external_id", "must not be empty"),
    ],
)
def test_what_cannot_be_used_is_said_at_the_call_and_nothing_is_half_made(
    shop: Shop, spoiled: dict[str, Any], field: str, words: str
) -> None:
    run = shop.run()
    shop.call(run, args=ARGS | spoiled)
    [became] = shop.became(run).values()
    assert (became.state, became.field) == ("refused", field)
    assert words in (became.why or "")
    assert shop.campaigns() == [] == shop.read(lambda: list(Version.objects.all()))
    assert shop.waiting() == []


def test_a_list_that_is_not_there_is_named(shop: Shop) -> None:
    run = shop.run()
    args = {name: ARGS[name] for name in ("from", "subject", "text")} | {"dataset_id": str(uuid4())}
    shop.call(run, args=args)
    assert shop.became(run)[1].field == "dataset_id"


def test_a_campaign_that_was_rejected_takes_no_other_version_from_a_replay(shop: Shop) -> None:
    run = shop.run()
    shop.call(run)
    shop.end(run, 2)
    reject(shop)
    again = shop.replay(run)
    shop.call(again, args=ARGS | {"text": "please"})
    assert shop.became(again)[1].why == (
        "This campaign was rejected. Propose another one under an external_id of its own."
    )
    shop.call(again, 2, args=ARGS | {"name": "Another"})
    assert [versions for _, versions in shop.campaigns()] == [1, 1]


def test_a_call_whose_arguments_were_erased_proposes_nothing(shop: Shop, as_owner: Owner) -> None:
    run = shop.run()
    shop.caller.report(run, a_call(1))
    with as_owner():
        shop.read(lambda: Payload.objects.filter(id__in=Event.objects.values("payload_id")).delete())
    shop.work(run)
    assert (shop.campaigns(), shop.became(run)[1].why) == ([], called.ERASED)


def test_what_was_wrong_is_erased_with_the_customer_and_the_call_stays_refused(
    shop: Shop, as_owner: Owner
) -> None:
    run = shop.run(subject="C-17")
    shop.call(run, args=ARGS | {"C-17's secret": 1})
    assert "secret" in shop.became(run)[1].field
    with as_owner():
        shop.read(lambda: erasure.erase(by=ADA, subject="C-17", reason="asked for by letter"))
    assert shop.became(run) == {1: Called("refused", why=None)}


@pytest.mark.parametrize("text", ["half \ud800", "nul \x00", 1e400, 2**70])
def test_what_no_json_of_the_api_could_say_is_refused_from_a_store_too(shop: Shop, text: Any) -> None:
    from approvals.exceptions import Invalid
    from approvals.rules.proposal_body import read_arguments

    del shop
    with pytest.raises(Invalid):
        read_arguments(ARGS | {"text": text})


def test_whatever_goes_wrong_here_is_said_and_keeps_no_other_call_waiting(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = shop.run()
    shop.caller.report(run, a_call(1, args=ARGS | {"name": "Bad"}), a_call(2))
    propose_ = called.proposals.propose

    def broken(*, by: Any, proposal: Any) -> Any:
        if proposal.name == "Bad":
            raise ZeroDivisionError
        return propose_(by=by, proposal=proposal)

    monkeypatch.setattr(called.proposals, "propose", broken)
    shop.work(run)
    assert shop.became(run)[1].why == called.UNEXPECTED
    assert shop.became(run)[2].state == "proposed"


def test_a_call_that_cannot_even_be_read_keeps_no_other_waiting_either(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = shop.run()
    shop.caller.report(run, a_call(1), a_call(2))
    read_ = called._content_of

    def broken(call: Any) -> Any:
        if call.seq == 1:
            raise ZeroDivisionError
        return read_(call)

    monkeypatch.setattr(called, "_content_of", broken)
    shop.work(run)
    assert shop.became(run)[1].why == called.UNEXPECTED
    assert shop.became(run)[2].state == "proposed"


def test_the_call_counts_as_a_call_like_any_other(shop: Shop) -> None:
    run = shop.run()
    shop.call(run)
    shop.end(run, 2)
    assert shop.caller.run(run)["record"]["kind"] == "called"
