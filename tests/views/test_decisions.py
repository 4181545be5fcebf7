"""The decision log and its entries."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import psycopg
import pytest
from django.db import transaction

from approvals.access.actors import Actor, operator
from approvals.db.binding import bind
from approvals.models import Decision, Job, Run
from approvals.rules.decisions import RELEASING
from approvals.services import decisions, replays
from dashboard.presenters.build_decisions import DID
from tests.views.reading import Read
from tests.world import World, answer, call, said, signed_in, stranger

REASON = "The bank says that nothing was booked."


def look(world: World, role: str = "manager", **asked: str) -> Read:
    return Read(world.visit(role).get(world.at("decisions/"), asked))


def entry(world: World, decision: Decision, role: str = "manager") -> Read:
    return Read(world.visit(role).get(world.at(f"decisions/{decision.id}/")))


def decided(world: World, kind: str, about: Run, reason: str = REASON, **more: Any) -> Decision:
    """An entry as a service writes it, for kinds that start nothing."""
    with bind(world.workspace.id), transaction.atomic():
        return decisions.record(
            by=world.actor("support"), kind=kind, target_kind="run", target_id=about.id, item_id=about.lineage_id,
            agent=about.agent, subject=about.subject, evidence={"run": about.external_id, "reason": reason}, **more,
        )  # fmt: skip


def test_the_log_lists_who_decided_what_and_why_newest_first(world: World) -> None:
    run = world.run("refund-1", call("c1", "send_email"))
    world.forced(run, reason=REASON)
    campaign = world.campaign("Winter schedule")
    world.rejected(campaign, comment="The second date is wrong.")

    rows = look(world, show="everything").rows

    assert "Rejected" in rows[0]
    assert "Mia Berg" in rows[0]
    assert "reviewer" in rows[0]
    assert "Winter schedule" in rows[0]
    assert "The second date is wrong." in rows[0]
    assert "Forced replay" in rows[1]
    assert "Sam Okafor" in rows[1]
    assert REASON in rows[1]
    assert "Queued" in rows[1]
    assert "Workspace" in rows[-1]


def test_filters_find_person_kind_agent_period_and_recipient(world: World) -> None:
    refund = world.run("refund-1", said("x"), agent="refunds", subject="ann@example.com")
    booking = world.run("booking-1", said("x"), agent="bookings", subject="bob")
    decided(world, "dismiss", refund)
    decided(world, "reopen", booking)
    world.rejected(world.campaign("Winter schedule", ["Ann@example.com", "zoe@example.com"]))
    today = datetime.now(UTC).date()
    names = ("refund-1", "booking-1", "Winter schedule")

    def found(**asked: str) -> list[str]:
        page = look(world, **asked)
        return [name for name in names if any(name in row for row in page.rows)]

    assert found() == [*names]
    assert found(person=str(world.people["reviewer"].pk)) == ["Winter schedule"]
    assert found(person=str(world.people["support"].pk)) == ["refund-1", "booking-1"]
    assert found(person="operator") == []
    assert found(kind="dismiss") == ["refund-1"]
    assert found(agent="bookings") == ["booking-1"]
    assert found(**{"from": str(today), "until": str(today)}) == [*names]
    assert found(**{"from": str(today + timedelta(days=1))}) == []
    assert found(until=str(today - timedelta(days=1))) == []
    assert found(recipient="ann@EXAMPLE.com") == ["Winter schedule"]
    assert found(recipient="ann@example.com") == ["refund-1", "Winter schedule"]
    assert found(recipient="bob") == ["booking-1"]
    assert found(recipient="nobody@example.com") == []


def test_the_filter_offers_people_and_keeps_what_was_asked(world: World) -> None:
    page = look(world, person=str(world.people["support"].pk), until="2025-11-29")

    assert {"Anybody", "Sam Okafor", "Mia Berg", "The rule (no person)", "Approved"} <= set(page.options)
    assert page.links["Remove the filter Person: Sam Okafor ✕"] == world.at("decisions/?until=2025-11-29")
    assert 'value="2025-11-29"' in page.html
    assert "No decision matches" in page


def test_pages_follow_each_other(world: World) -> None:
    run = world.run("refund-1", said("x"))
    for _ in range(60):
        decided(world, "dismiss", run)
    everything = 60 + 6  # the workspace, four members, the runtime

    first = look(world, show="everything")
    second = Read(world.visit("manager").get(first.links["Older →"]))

    assert (len(first.rows), len(second.rows)) == (50, everything - 50)
    assert second.links["⇤ Back to the first page"] == world.at("decisions/?show=everything")


@pytest.mark.parametrize(
    "asked",
    [
        {"person": "\0"}, {"person": "9" * 50}, {"kind": "x" * 10_000}, {"agent": "\0"}, {"from": "yesterday"},
        {"from": "0001-01-01"}, {"until": "9999-12-31"}, {"until": "2025-13-40"}, {"recipient": "x" * 10_000},
        {"recipient": "a\0@b"}, {"before": "x"}, {"before": "9" * 30}, {"before": "-1"}, {"before": "0"},
        {"before": "²"}, {"from": "2025-12-01", "until": "2025-11-01"},
    ],
    ids=lambda asked: str(asked)[:40],
)  # fmt: skip
def test_nonsense_in_the_address_breaks_nothing(world: World, asked: dict[str, str]) -> None:
    page = look(world, **asked)

    assert page.status == 200
    if asked.keys() == {"from", "until"}:
        assert "The period ends before it begins." in page


def test_an_entry_shows_exactly_what_was_seen_when_a_replay_was_forced(world: World) -> None:
    run = world.run(
        "refund-1",
        call("c1", "look_up", id="C-17"),
        answer("c1"),
        call("c2", "send_email", to="ann@example.com"),
    )
    started = world.forced(run, reason=REASON)
    world.report(run, call("c3", "came_later"))

    page = entry(world, started.decision)

    assert "Sam Okafor forced a replay of refund-1" in page
    assert REASON in page
    for fact in (
        "Roles then support",
        "Signed in with password",
        "Opened",
        "Agent refunds",
        "Customer ann@example.com",
    ):
        assert fact in page
    assert "A person had to decide" in page
    assert 'data-code="tools_called"' in page.html
    assert "look_up Answered ticked" in page
    assert "send_email No answer ticked" in page
    assert '{"to":"ann@example.com"}' in page
    assert "came_later" not in page
    assert "Attempt refund-1 interrupted, called tools" in page
    assert started.decision.digest in page
    assert page.links["refund-1"] == world.at(f"runs/{run.id}/")


def test_an_entry_tells_what_came_of_it(world: World) -> None:
    started = world.forced(world.run("refund-1", call("c1", "send_email")))
    assert "It waits for a worker." in entry(world, started.decision)

    new_run = world.handed_over(started)
    page = entry(world, started.decision)
    assert "The runtime took it; the new run goes on." in page
    assert page.links["The new run: refund-1#2"] == world.at(f"runs/{new_run.id}/")
    assert "Task task-1" in page

    world.settled(started.job, "done", "The new run completed.")
    assert "The new run completed." in entry(world, started.decision)
    assert "Done" in look(world).row("Forced replay")


def test_an_entry_of_a_campaign_shows_the_content_it_was_bound_to(world: World) -> None:
    campaign = world.campaign("Winter schedule")
    decision = world.approved(campaign)

    page = entry(world, decision)

    assert "Mia Berg approved Winter schedule" in page
    assert "Subject Hello {{ name }}" in page
    assert "From Northwind <hello@northwind.example.com>" in page
    assert "The text with its placeholders" in page
    assert "your departure moved." in page
    assert "The HTML part, as source" in page
    assert "People who would get it 2" in page
    assert "Excluded 1" in page
    assert "Looked for 5 min" in page
    assert page.links["Winter schedule"] == world.at(f"campaigns/{campaign.id}/")


def test_an_entry_that_started_nothing_says_so(world: World) -> None:
    run = world.run("refund-1", said("x"))

    assert "It left the queue." in entry(world, decided(world, "dismiss", run))
    assert "Nothing was sent." in entry(world, world.rejected(world.campaign()))


def test_every_kind_of_entry_opens(world: World) -> None:
    run = world.run("refund-1", said("x"))
    with bind(world.workspace.id), transaction.atomic():
        for kind in DID:
            if kind not in {*RELEASING, "outcome"}:  # which need a job
                decided(world, kind, run)
        written = list(Decision.objects.all())

    for decision in written:
        page = entry(world, decision)
        assert page.status == 200
        assert "{x}" not in page
    assert len(look(world, show="everything").rows) == len(written)


def test_what_was_set_up_is_left_out_until_somebody_asks_for_it(world: World) -> None:
    decided(world, "dismiss", world.run("refund-1", said("x")))

    assert len(look(world).rows) == 1
    assert len(look(world, show="everything").rows) > 1
    assert {"Decisions", "Everything"} <= set(look(world).options)


def test_a_decision_is_named_by_what_was_decided_with_the_person_beside_it(world: World) -> None:
    world.forced(world.run("refund-1", call("c1", "send_email")))
    page = look(world)
    assert any(text.startswith("Forced replay refund-1") for text in page.links)
    assert "Sam Okafor support" in page.row("Forced replay")


def test_set_up_is_in_the_log_without_a_link_to_nowhere(world: World) -> None:
    page = look(world, kind="member_added")
    assert any(world.people["reviewer"].email in row for row in page.rows)

    opened = Read(
        world.visit("admin").get(next(url for text, url in page.links.items() if "open the entry" in text))
    )
    assert "added" in opened
    assert 'class="said" href=""' not in opened.html


def test_whatever_stands_in_the_evidence_is_only_text(world: World) -> None:
    run = world.run("<b>run</b>", said("x"))
    odd: list[Any] = [
        {"reason": "<script>alert(1)</script>\u202e", "lineage": "none", "ticked": 5, "verdict": []},
        {
            "reason": 7,
            "lineage": [1, {"calls": [None, {"name": "<i>x</i>"}]}],
            "verdict": {"reasons": [3, {}]},
        },
        {},
    ]
    for evidence in odd:
        with bind(world.workspace.id), transaction.atomic():
            decision = decisions.record(
                by=operator("<u>me</u>"), kind="odd_kind", target_kind="run", target_id=run.id, item_id=run.lineage_id,
                evidence=evidence,
            )  # fmt: skip
        page = entry(world, decision)
        assert page.status == 200
        assert "<script>alert" not in page.html
        assert "<u>me" not in page.html
        assert "\u202e" not in page.html
    assert look(world).status == 200


def test_an_entry_knows_the_way_back_to_the_log_as_it_was(world: World) -> None:
    decided(world, "dismiss", world.run("refund-1", said("x")))
    page = look(world, kind="dismiss", agent="refunds")
    url = next(href for text, href in page.links.items() if "open the entry" in text)
    assert url.endswith("?" + urlencode({"back": "kind=dismiss&agent=refunds"}))

    opened = Read(world.visit("manager").get(url))

    assert opened.links["← Decisions"] == world.at("decisions/?kind=dismiss&agent=refunds")
    assert Read(world.visit("manager").get(url.partition("?")[0], {"back": "\0&&&=" * 2000})).status == 200


def test_another_workspaces_entry_is_not_there(world: World) -> None:
    other = World.create("Harbour")
    theirs = other.rejected(other.campaign("Theirs"))

    assert entry(world, theirs).status == 404
    assert world.visit("manager").get(world.at(f"decisions/{uuid4()}/")).status_code == 404
    assert "Theirs" not in look(world)


def test_a_stranger_is_told_nothing(world: World) -> None:
    assert signed_in(stranger()).get(world.at("decisions/")).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_erased_texts_read_erased_and_the_rest_stays(
    connect_as: Callable[[str], psycopg.Connection],
) -> None:
    world = World.create()
    decision = world.forced(world.run("refund-1", call("c1", "send_email")), reason=REASON).decision
    with connect_as("owner") as owner, owner.transaction():
        owner.execute("select set_config('app.workspace_id', %s, true)", [str(world.workspace.id)])
        owner.execute("delete from approvals_payload where id = %s", [decision.payload_id])

    page = entry(world, decision)
    assert "The texts of this entry were erased." in page
    assert REASON not in page
    assert "Sam Okafor forced a replay of refund-1" in page
    assert decision.digest in page
    assert "Its text was erased." in look(world).row("Forced replay")


def test_a_decision_of_the_rule_names_the_rule(world: World) -> None:
    run = world.run("refund-1", said("x"))
    with bind(world.workspace.id), transaction.atomic():
        started = replays.start(
            by=Actor("rule", "t", "the rule, asked for by token sl_abc…"), run=run, kind="replay", evidence={},
            digest="d" * 64,
        )  # fmt: skip
        assert Job.objects.filter(id=started.job.id).exists()

    assert "the rule, asked for by token sl_abc…" in look(world, person="rule").rows[0]
    assert "the rule, asked for by token sl_abc… started refund-1 again" in entry(world, started.decision)
