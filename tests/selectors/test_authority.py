"""From an effect back to whoever allowed it, or the plain statement that nobody did."""

from datetime import UTC, datetime
from typing import Any

import pytest

from approvals.access.actors import TokenBearer
from approvals.db.binding import bind
from approvals.models import Campaign, Delivery, Job, Run
from approvals.rules.authority import Effect
from approvals.rules.shown import Shown
from approvals.selectors.authority import effects_of
from approvals.selectors.lineages import judged
from approvals.services import campaigns, deliveries, jobs, replays, runs, trials
from tests.views.of_adk import held_call
from tests.views.of_campaigns import decide
from tests.views.of_versions import half_sent, of_version, renewed
from tests.world import World, answer, call, ended, said

REASON = "The server's log does not have it."


def found(world: World, query: Any) -> list[Effect]:
    return list(world.read(lambda: effects_of(str(query), at_most=50)).effects)


def the(world: World, query: Any) -> Effect:
    [effect] = found(world, query)
    return effect


def kinds(effect: Effect) -> list[str]:
    return [step.kind for step in effect.steps]


# Mail.


def sent(world: World, *states: str) -> list[Delivery]:
    campaign = world.campaign(recipients=[f"guest{n}@example.com" for n, _ in enumerate(states)])
    world.approved(campaign)
    return world.sent(campaign, *states)


def settle(world: World, delivery: Delivery, resolution: str) -> None:
    with bind(world.workspace.id):
        shown = Shown(world.shown(Campaign(id=delivery.campaign_id)).digest, datetime.now(UTC))
        deliveries.resolve(
            by=world.actor("reviewer"),
            delivery_id=delivery.id,
            shown=shown,
            resolution=resolution,
            reason=REASON,
        )


def test_a_message_leads_to_its_approval_by_every_name_it_has(world: World) -> None:
    delivery, _ = sent(world, "sent", "sent")
    for name in (
        delivery.message_id, delivery.message_id.strip("<>"), f"  {delivery.message_id} ", delivery.id,
        str(delivery.id).upper(), delivery.address, delivery.address.upper(),
    ):  # fmt: skip
        effect = the(world, name)
        assert (effect.what, effect.id, effect.state) == ("delivery", delivery.id, "sent")
        assert effect.allowed and kinds(effect) == ["approve"]
        assert effect.answer.startswith("Mia Berg (reviewer) approved this campaign on ")
        assert effect.at is not None and effect.item == "Winter schedule"


def test_each_attempt_has_its_own_decision(world: World) -> None:
    delivery, other = sent(world, "in_doubt", "failed")
    settle(world, delivery, "do_again")
    effect = the(world, delivery.id)
    assert kinds(effect) == ["approve", "send_again"]
    assert [step.job for step in effect.steps] == ["done", "queued"]
    assert "had this sent once more" in effect.answer
    assert kinds(the(world, other.id)) == ["approve"], "it is the decision about the other one"


def test_a_message_of_an_older_version_names_the_approval_of_that_version(world: World) -> None:
    campaign = half_sent(world, "sent", "in_doubt", of=3)
    renewed(world, campaign)
    sent_one, doubtful, skipped = of_version(world, campaign, 1)
    [left] = of_version(world, campaign, 2)
    for delivery in (sent_one, doubtful):
        effect = the(world, delivery.id)
        assert effect.allowed and kinds(effect) == ["approve"]
    assert kinds(the(world, skipped.id)) == ["new_version"]
    assert the(world, skipped.id).answer.startswith(
        "Not sent. token ab12… proposed the next version of this campaign on "
    )
    assert the(world, left.id).answer == "Not sent: nobody has approved this campaign."
    [first] = the(world, sent_one.id).steps
    decide(world, campaign, "approve")
    world.sent(campaign, "sent")
    [second] = the(world, left.id).steps
    assert second.kind == "approve" and second.seq > first.seq
    assert [step.seq for step in the(world, sent_one.id).steps] == [first.seq], (
        "still that of its own version"
    )


def test_of_a_campaign_that_was_returned_or_stopped_before_another_version_the_answer_says_that(
    world: World,
) -> None:
    returned, stopped = world.campaign(), half_sent(world, "sent", of=2)
    decide(world, returned, "return", comment="The second paragraph is wrong.")
    decide(world, stopped, "stop", reason="The wrong list was used.")
    assert kinds(the(world, of_version(world, returned, 1)[0].id)) == ["return_campaign"]
    assert kinds(the(world, of_version(world, stopped, 1)[1].id)) == ["approve", "stop"]
    renewed(world, stopped)
    assert kinds(the(world, of_version(world, stopped, 1)[1].id)) == ["approve", "stop"]


@pytest.mark.parametrize("resolution", ["happened", "leave"])
def test_what_somebody_said_became_of_it_allowed_nothing(world: World, resolution: str) -> None:
    [delivery] = sent(world, "in_doubt")
    settle(world, delivery, resolution)
    assert kinds(the(world, delivery.id)) == ["approve"]


def test_what_was_not_sent_says_so(world: World) -> None:
    campaign = world.campaign(recipients=["ann@example.com"])
    with world.bound():
        delivery = Delivery.objects.get(campaign=campaign)
    waits = the(world, delivery.id)
    assert (waits.answer, waits.allowed, waits.at) == (
        "Not sent: nobody has approved this campaign.",
        False,
        None,
    )
    world.approved(campaign)
    assert the(world, delivery.id).answer.startswith(
        "Not sent yet. Mia Berg (reviewer) approved this campaign on "
    )
    with bind(world.workspace.id):
        campaigns.take_back(by=world.actor("reviewer"), campaign_id=campaign.id, shown=world.shown(campaign))
    assert the(world, delivery.id).answer == "Not sent: nobody has approved this campaign."


def test_of_a_rejected_or_stopped_campaign_it_says_by_whom(world: World) -> None:
    rejected = world.campaign(recipients=["ann@example.com"])
    world.rejected(rejected)
    assert the(world, "ann@example.com").answer.startswith(
        "Not sent. Mia Berg (reviewer) rejected this campaign on "
    )
    stopped = world.campaign(recipients=["bob@example.com"])
    world.approved(stopped)
    with bind(world.workspace.id):
        with world.bound():
            type(stopped).objects.filter(id=stopped.id).update(status="sending")
        campaigns.stop(
            by=world.actor("reviewer"), campaign_id=stopped.id, shown=world.shown(stopped), reason=REASON
        )
    effect = the(world, "bob@example.com")
    assert kinds(effect) == ["approve", "stop"]
    assert effect.answer.startswith("Not sent. Mia Berg (reviewer) approved this campaign")
    assert "Mia Berg (reviewer) stopped this campaign on " in effect.answer


# Tests to oneself.


def trial(world: World) -> Job:
    delivery = sent(world, "sent")[0]
    with bind(world.workspace.id):
        decision, _ = trials.send_test(
            by=world.actor("reviewer"),
            delivery_id=delivery.id,
            shown=world.shown(Campaign(id=delivery.campaign_id)),
        )
    return world.read(lambda: Job.objects.get(decision=decision))


def test_a_test_is_found_by_its_message_id_its_id_and_whoever_got_it(world: World) -> None:
    job = trial(world)
    waits = the(world, job.id)
    assert (waits.what, waits.at, waits.answer.split(". ")[0]) == ("test", None, "Not sent yet")
    with world.bound():
        held = jobs.claim(job_id=job.id, task_id="t")
        assert held is not None and trials.state_intent(held=held)
        trials.settle(held=held, status="done", sentence="250 fine")
    message_id = f"<test-{job.id.hex}@northwind.example.com>"
    for name in (job.id, message_id, message_id.strip("<>"), world.people["reviewer"].email):
        effect = the(world, name)
        assert (effect.what, effect.id, effect.state, effect.name) == ("test", job.id, "done", "Mia Berg")
        assert effect.allowed and kinds(effect) == ["send_test"]
        assert effect.answer.startswith("Mia Berg (reviewer) asked for a test of this message on ")
        assert effect.at is not None and effect.item == "Winter schedule"


def test_the_recipient_whose_message_was_tested_is_not_told_of_a_test(world: World) -> None:
    trial(world)
    assert the(world, "guest0@example.com").what == "delivery"


def test_a_message_id_of_another_sender_is_none_of_ours(world: World) -> None:
    job = trial(world)
    assert found(world, f"<test-{job.id.hex}@elsewhere.example>") == []


# Runs and their calls.


def test_a_run_that_its_runtime_started_was_allowed_by_nobody(world: World) -> None:
    run = world.run("refund-1", call("c1", "send_email"))
    for name in (run.id, "refund-1"):
        itself, its_call = found(world, name)
        assert itself.answer == "Nobody: the runtime started this run by itself."
        assert (its_call.what, its_call.name, its_call.call_id) == ("call", "send_email", "c1")
        assert its_call.answer == (
            "Nobody: the runtime started this run by itself. The agent made this call in it."
        )
        assert not itself.allowed and not its_call.allowed


def test_a_forced_replay_and_its_calls_lead_to_who_forced_it(world: World) -> None:
    started = world.forced(world.run("refund-1", call("c1", "send_email")))
    waiting = the(world, started.run.id)
    assert waiting.answer.startswith(
        "Not started yet. Sam Okafor (support) forced this run to start again on "
    )
    new = world.handed_over(started)
    world.report(new, call("c9", "pay"))
    itself, its_call = found(world, new.external_id)
    assert kinds(itself) == ["force_replay"] and itself.allowed
    assert its_call.answer.startswith("The agent made this call in refund-1#2. Sam Okafor (support) forced ")
    assert its_call.allowed
    assert the(world, "c9") == its_call == the(world, f"{new.id} c9")


def test_a_replay_that_was_taken_back_was_not_started(world: World) -> None:
    started = world.forced(world.run("refund-1", call("c1", "send_email")))
    with bind(world.workspace.id):
        shown = Shown("", datetime.now(UTC))
        replays.cancel(by=world.actor("support"), job_id=started.job.id, shown=shown)
    assert the(world, started.run.id).answer.startswith(
        "Not started: Taken back by Sam Okafor. Sam Okafor (support) "
    )


def test_the_rule_is_named_where_it_let_a_run_start_again(world: World) -> None:
    run = world.run("refund-1", said("x"), ended("failed"))
    with bind(world.workspace.id):
        bearer = TokenBearer(world.workspace.id, world.workspace.id, world.runtime.id, None, "sl_abcd")
        started = replays.request_by_rule(bearer=bearer, run_id=run.id)
    world.handed_over(started)
    effect = the(world, started.run.id)
    assert effect.allowed
    assert effect.answer.startswith(
        "The rule allowed it, because it was certain that nothing had been done: the rule, asked for by token sl_abcd…"
    )


def test_a_replay_that_was_started_once_more_has_both_decisions(world: World) -> None:
    started = world.forced(world.run("refund-1", call("c1", "send_email")))
    with bind(world.workspace.id):
        with world.bound():
            Job.objects.filter(id=started.job.id).update(status="running", fence=1)
            Run.objects.filter(id=started.run.id).update(started_at=datetime.now(UTC))
        world.settled(started.job, "in_doubt", "Lost.")
        with world.bound():
            digest = judged(Run.objects.get(id=started.run.id))[2]
        again, _ = runs.resolve_job(
            by=world.actor("support"), job_id=started.job.id, shown=Shown(digest, datetime.now(UTC)),
            resolution="do_again", reason=REASON,
        )  # fmt: skip
    with world.bound():
        new = Run.objects.get(jobs__decision=again)
    effect = the(world, new.id)
    assert kinds(effect) == ["force_replay", "replay_again"]
    assert "forced this run to start again" in effect.answer and "started once more" in effect.answer


def test_a_call_that_came_late_was_allowed_by_nobody_and_says_why(world: World) -> None:
    broken = world.run("refund-1", said("x"))
    world.report(broken, call("late-1", "pay"))
    assert the(world, "late-1").answer == (
        "Nobody: this call came late, after its run was interrupted."
        " The run itself was started by its runtime."
    )

    over = world.run("refund-2", said("x"), ended("failed"))
    world.report(over, call("late-2", "pay"))
    assert "after its run had reported its end" in the(world, "late-2").answer

    replayed = world.run("refund-3", call("c1", "pay"))
    started = world.forced(replayed)
    world.handed_over(started)
    world.report(replayed, call("late-3", "pay"))
    late = the(world, f"{replayed.id} late-3")
    assert "this call came late, after refund-3#2 had begun as a replay of its run" in late.answer
    assert late.nobody == "late_replay" and not late.allowed
    assert the(world, f"{replayed.id} c1").nobody == "original", "the one before it was in time"


def test_a_call_of_a_replay_that_was_taken_back_was_allowed_by_nobody(world: World) -> None:
    started = world.forced(world.run("refund-1", call("c1", "send_email")))
    with bind(world.workspace.id):
        replays.cancel(by=world.actor("support"), job_id=started.job.id, shown=Shown("", datetime.now(UTC)))
    world.report(started.run, call("ghost", "pay"))
    effect = the(world, "ghost")
    assert effect.nobody == "late_never" and not effect.allowed
    assert effect.answer.startswith("Nobody: this call was reported for a replay that was taken back")
    assert (
        "How the run itself began: Sam Okafor (support) forced this run to start again on " in effect.answer
    )


def test_a_result_without_a_call_and_an_id_that_is_used_again(world: World) -> None:
    run = world.run("refund-1", call("1", "look_up"), answer("1"), call("1", "pay"), answer("7"))
    assert [(e.call_id, e.name) for e in found(world, f"{run.id} 1")] == [("1", "look_up"), ("1 #2", "pay")]
    assert the(world, f"{run.id} 1 #2").name == "pay"
    assert the(world, f"{run.id} 7").nobody == "supplied"


# Around it.


def test_a_customer_leads_to_their_runs_and_their_mail(world: World) -> None:
    world.run("refund-1", said("x"), subject="guest0@example.com")
    sent(world, "sent")
    assert [effect.what for effect in found(world, "guest0@example.com")] == ["delivery", "run"]


@pytest.mark.parametrize(
    "query", ["", "  ", "nothing", "%", "x" * 5_000, "a null \0", "\ud800", "'; drop", "@", "<>"]
)
def test_what_goes_by_no_such_name_is_nothing(world: World, query: str) -> None:
    sent(world, "sent")
    world.run("refund-1", call("c1", "pay"))
    assert found(world, query) == []


def test_nothing_of_another_workspace_is_found(world: World) -> None:
    other = World.create("Harbour")
    [delivery] = sent(other, "sent")
    run = other.run("theirs", call("their-call", "pay"))
    for name in (
        delivery.id, delivery.message_id, delivery.address, run.id, "theirs", "their-call", f"{run.id} their-call",
    ):  # fmt: skip
        assert found(world, name) == []
        assert found(other, name) != []


def test_a_long_list_is_cut_and_says_so(world: World) -> None:
    run = world.run("refund-1", *(call(f"c{n}", "pay") for n in range(10)))
    cut = world.read(lambda: effects_of(str(run.id), at_most=4))
    assert (len(cut.effects), cut.more) == (4, True)
    whole = world.read(lambda: effects_of(str(run.id), at_most=11))
    assert (len(whole.effects), whole.more) == (11, False)


def test_a_call_that_only_asks_was_made_by_nobody(world: World) -> None:
    run = held_call(world)
    [asked] = [effect for effect in found(world, f"{run.id} a1") if effect.what == "call"]
    assert asked.answer == "Not made: it asks for a confirmation, and nobody has given one."
    assert not asked.allowed
