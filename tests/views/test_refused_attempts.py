"""What is refused to a person is an entry of the log; what was no attempt to decide is none."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.db import DatabaseError

from approvals.models import Decision, Job, Run
from approvals.selectors.payloads import contents_of
from approvals.services import decisions, jobs
from dashboard.forms.shown import pack
from tests.views.forms import form_of, send
from tests.views.of_runs import REASON, clean, dead, forced
from tests.views.reading import Read
from tests.world import World, call, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World.create()


def refused(world: World) -> list[Decision]:
    return world.read(lambda: list(Decision.objects.filter(kind="refused").order_by("seq")))


def given(world: World, entry: Decision) -> dict[str, Any]:
    contents: dict[str, Any] = world.read(lambda: contents_of([entry.payload_id])[entry.payload_id])
    return contents


def shown(world: World, target: Any, role: str, digest: str = "0" * 64) -> str:
    return pack(target=target, user_id=str(world.people[role].pk), digest=digest)


def forcing(world: World, run: Run) -> Any:
    client = world.visit("support")
    return client, form_of(client.get(world.at(f"runs/{run.id}/")), "/force")


def test_a_stale_attempt_keeps_what_was_tried_on_what_and_what_had_changed(world: World) -> None:
    run = dead(world)
    client, form = forcing(world, run)
    world.report(run, call("c3", "add_note"))
    page = Read(send(client, form, ack=form.ticks["ack"], reason=REASON))

    assert page.status == 409
    assert "Attempt refund-8841 has a new call: add_note." in page
    [entry] = refused(world)
    assert (entry.actor_name, entry.actor_roles, entry.sign_in) == ("Sam Okafor", ["support"], "session")
    assert (entry.target_kind, entry.target_id, entry.item_id) == ("run", run.id, run.lineage_id)
    assert (entry.agent, entry.subject) == (run.agent, run.subject)
    assert entry.opened_at is not None and len(entry.digest) == 64
    kept = given(world, entry)
    assert (kept["tried"], kept["code"], kept["reason"]) == ("force_replay", "stale", REASON)
    assert kept["said"].startswith("This changed after you opened it")
    assert "Attempt refund-8841 has a new call: add_note." in kept["changed"]


def test_whoever_comes_second_is_in_the_log_behind_who_was_first(world: World) -> None:
    campaign = world.campaign()
    late = signed_in(world.person("reviewer", name="Rob Late"))
    form = form_of(late.get(world.at(f"campaigns/{campaign.id}/")), "/reject")
    world.approved(campaign)
    page = Read(send(late, form, comment=REASON))
    assert "The log keeps that you tried." in page
    [entry] = refused(world)
    assert (entry.actor_name, entry.target_kind, entry.target_id) == ("Rob Late", "campaign", campaign.id)
    kept = given(world, entry)
    assert (kept["tried"], kept["code"], kept["reason"]) == ("reject", "already_decided", REASON)
    assert kept["campaign"] == "Winter schedule"


def test_what_the_state_does_not_allow_is_in_the_log(world: World) -> None:
    run = clean(world)
    seen = world.visit("support")
    form = form_of(seen.get(world.at(f"runs/{run.id}/")), "/replay")
    send(seen, form)
    job = world.read(lambda: Job.objects.get(run__replay_of=run))
    page = seen.get(world.at(f"runs/{run.id}/"))
    with world.bound():
        jobs.claim(job_id=job.id, task_id="t")
    assert send(seen, form_of(page, "/cancel")).status_code == 409
    [entry] = refused(world)
    assert (entry.target_kind, entry.target_id, entry.subject) == ("job", job.id, run.subject)
    assert given(world, entry)["code"] == "too_late"


def test_somebody_without_the_right_is_in_the_log_with_or_without_a_form_of_ours(world: World) -> None:
    run = dead(world)
    address = world.at(f"runs/{run.id}/force")
    client = world.visit("reviewer")
    client.post(address, {"shown": shown(world, run.id, "reviewer"), "reason": "no"})
    client.post(address, {"shown": "made up", "reason": "a null \0 in it"})
    ours, made_up = refused(world)
    assert (ours.digest, given(world, ours)["reason"]) == ("0" * 64, "no")
    assert (made_up.digest, made_up.opened_at) == ("", None)
    assert "reason" not in given(world, made_up)


def test_to_do_it_again_is_told_from_any_other_answer(world: World) -> None:
    campaign = world.campaign(recipients=["ann@example.com"])
    world.approved(campaign)
    [delivery] = world.sent(campaign, "in_doubt")
    for resolution in ("do_again", "leave", "x" * 500):
        sent = {"shown": shown(world, delivery.id, "support"), "resolution": resolution}
        world.visit("support").post(world.at(f"deliveries/{delivery.id}/resolve"), sent)
    kept = [given(world, entry) for entry in refused(world)]
    assert [one["tried"] for one in kept] == ["send_again", "resolve_delivery", "resolve_delivery"]
    assert [one.get("resolution") for one in kept] == ["do_again", "leave", None]
    assert kept[0]["recipient"] == "ann@example.com"


def test_what_is_not_there_not_filled_in_or_not_ours_is_no_attempt(world: World) -> None:
    run, client = dead(world), world.visit("support")
    page = client.get(world.at(f"runs/{run.id}/"))
    assert client.post(world.at(f"runs/{uuid4()}/force")).status_code == 404
    form = form_of(page, "/force")
    assert send(client, form, ack=[], reason="short").status_code == 422
    foreign = shown(world, uuid4(), "support")
    assert (
        client.post(world.at(f"runs/{run.id}/force"), {"shown": foreign, "reason": REASON}).status_code == 422
    )
    assert client.get(world.at(f"runs/{run.id}/force")).status_code == 405
    assert refused(world) == []


def test_a_repetition_of_ones_own_decision_is_no_refusal(world: World) -> None:
    run = dead(world)
    client, form, _ = forced(world, run)
    assert send(client, form, ack=form.ticks["ack"], reason=REASON).status_code == 303
    assert refused(world) == []


def test_where_it_cannot_be_written_down_the_person_is_still_told(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(**_: Any) -> None:
        raise DatabaseError("the disk is full")

    monkeypatch.setattr(decisions, "record_refusal", broken)
    page = Read(world.visit("reviewer").post(world.at(f"runs/{dead(world).id}/force")))
    assert page.status == 403
    assert "Only members with the role support may force" in page


def test_the_log_shows_it_among_the_decisions_in_words(world: World) -> None:
    run = dead(world)
    world.visit("reviewer").post(world.at(f"runs/{run.id}/force"), {"reason": "I want to."})
    log = Read(world.visit("manager").get(world.at("decisions/")))
    [row] = log.rows
    assert "Refused: forced replay" in row
    assert "Only members with the role support may force a run to start again" in row
    [entry] = refused(world)
    page = Read(world.visit("manager").get(world.at(f"decisions/{entry.id}/")))
    assert "Mia Berg was refused the forced replay of refund-8841" in page
    assert "I want to." in page
    assert "it was refused, and nothing was done" in page
    assert "Refused: forced replay" in Read(world.visit("support").get(world.at(f"runs/{run.id}/")))
