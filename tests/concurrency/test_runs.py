"""Many people, and a worker, and the run itself, at one run: one of them is first, and everybody is told."""

from collections import Counter
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise

import pytest

from approvals.access.actors import Actor, TokenBearer
from approvals.db.binding import bind
from approvals.exceptions import AlreadyDecided, Conflict, Stale
from approvals.models import Decision, Job, Run
from approvals.rules import decisions as kinds
from approvals.rules.shown import Shown
from approvals.selectors.lineages import judged
from approvals.services import handover, jobs, replays, runs
from approvals.services.replays import NotSafe
from tests.views.forms import form_of, send
from tests.views.reading import Read
from tests.world import call, ended, said, signed_in

REASON = "The provider says that no mail went out."


def support(number):
    return Actor("member", f"user-{number}", f"Supporter {number}", ("support",), "password")


def shown(world, run):
    facts, _, digest = world.read(lambda: judged(run))
    return Shown(digest, datetime.now(UTC), kinds.told(facts))


def bound(world, service, **given):
    with bind(world.workspace.id):
        return service(**given)


def dead(world):
    return world.run("", call("c1", "send_email"))


def force(world, run, number, seen):
    ticked = [kinds.call_key(str(run.id), "c1")]
    return bound(
        world,
        replays.force,
        by=support(number),
        run_id=run.id,
        shown=seen,
        reason=REASON,
        ticked=ticked,
        unknown_ticked=False,
    )


def replays_of(world, run):
    return world.read(lambda: list(Run.objects.filter(replay_of_id=run.id)))


def names(answers):
    return Counter(type(answer).__name__ for answer in answers)


def test_two_forced_replays_at_once_are_one(world, at_once):
    for _ in range(5):
        run = dead(world)
        seen = shown(world, run)
        answers = at_once([partial(force, world, run, number, seen) for number in (1, 2)])
        assert names(answers) == {"Started": 1, "AlreadyDecided": 1}
        assert len(replays_of(world, run)) == 1
        loser = next(answer for answer in answers if isinstance(answer, AlreadyDecided))
        assert (loser.what, loser.why) == ("force_replay", REASON)


def test_two_browsers_at_once_see_one_success_and_who_was_first(world, at_once):
    run = dead(world)
    clients = [signed_in(world.person("support", name=f"Supporter {n}")) for n in range(2)]
    forms = [form_of(client.get(world.at(f"runs/{run.id}/")), "/force") for client in clients]
    answers = at_once(
        [
            partial(send, client, form, ack=form.ticks["ack"], reason=REASON)
            for client, form in zip(clients, forms, strict=True)
        ]
    )
    assert sorted(answer.status_code for answer in answers) == [303, 409]
    loser = Read(next(answer for answer in answers if answer.status_code == 409))
    assert "was first" in loser and REASON in loser
    assert len(replays_of(world, run)) == 1


def test_one_persons_many_clicks_start_it_once_and_all_succeed(world, at_once):
    run = dead(world)
    seen = shown(world, run)
    answers = at_once([partial(force, world, run, 1, seen) for _ in range(10)])
    assert names(answers) == {"Started": 10}
    assert sorted(answer.repeated for answer in answers) == [False] + [True] * 9
    assert len(replays_of(world, run)) == world.read(Job.objects.count) == 1


def test_the_rule_and_a_person_at_once_start_it_once(world, at_once):
    for _ in range(5):
        run = world.run("", ended("failed", "quota"))
        bearer = TokenBearer(world.workspace.id, world.workspace.id, world.runtime.id, None, "sl_abcd")
        seen = shown(world, run)
        answers = at_once(
            [
                partial(bound, world, replays.request_by_rule, bearer=bearer, run_id=run.id),
                partial(bound, world, replays.replay, by=support(1), run_id=run.id, shown=seen),
            ]
        )
        assert sum(isinstance(answer, replays.Started) for answer in answers) == 1, answers
        assert sum(isinstance(answer, NotSafe | AlreadyDecided) for answer in answers) == 1, answers
        assert len(replays_of(world, run)) == 1


def test_dismissing_and_forcing_at_once_is_one_or_the_other(world, at_once):
    for _ in range(8):
        run = dead(world)
        seen = shown(world, run)
        answers = at_once(
            [
                partial(bound, world, runs.dismiss, by=support(1), run_id=run.id, shown=seen, reason=REASON),
                partial(force, world, run, 2, seen),
            ]
        )
        assert sum(isinstance(answer, AlreadyDecided) for answer in answers) == 1, answers
        dismissed = world.read(lambda run=run: Run.objects.get(id=run.id)).dismissed_at is not None
        assert dismissed != bool(replays_of(world, run))


def test_taking_back_and_claiming_at_once_is_one_or_the_other(world, at_once):
    for _ in range(12):
        run = dead(world)
        seen = shown(world, run)
        started = force(world, run, 1, seen)
        taken_back, held = at_once(
            [
                partial(bound, world, replays.cancel, by=support(1), job_id=started.job.id, shown=seen),
                partial(bound, world, jobs.claim, job_id=started.job.id, task_id="t"),
            ]
        )
        assert isinstance(taken_back, Conflict) == (held is not None), (taken_back, held)
        status = world.read(lambda started=started: Job.objects.get(id=started.job.id)).status
        assert status == ("running" if held else "cancelled")


def test_one_job_is_claimed_by_one_of_many_workers(world, at_once):
    run = dead(world)
    job = force(world, run, 1, shown(world, run)).job
    claims = at_once([partial(bound, world, jobs.claim, job_id=job.id, task_id=f"t{n}") for n in range(20)])
    assert sum(claim is not None for claim in claims) == 1


@pytest.mark.parametrize("answer", ["happened", "do_again", "leave"])
def test_the_first_event_and_a_person_settle_a_doubt_in_any_order_without_waiting_in_a_circle(
    world, at_once, answer
):
    for _ in range(6):
        run = dead(world)
        started = force(world, run, 1, shown(world, run))
        held = bound(world, jobs.claim, job_id=started.job.id, task_id="t")
        assert bound(world, handover.prepare, held=held)
        assert bound(world, handover.settle, held=held, kind="in_doubt", detail="reset")
        seen = shown(world, started.run)
        resolved, spoke, followed = at_once(
            [
                partial(
                    bound, world, runs.resolve_job, by=support(2), job_id=started.job.id, shown=seen,
                    resolution=answer, reason=REASON,
                ),
                partial(world.report, started.run, said("Here I am."), call("c1", "send_email")),
                partial(bound, world, jobs.follow, job_id=started.job.id),
            ]
        )  # fmt: skip
        assert isinstance(resolved, tuple | Conflict), resolved
        assert spoke is None, spoke
        assert followed is None or isinstance(followed, str), followed
        active = world.read(
            lambda run=run: Run.objects.filter(lineage_id=run.lineage_id, status="running").count()
        )
        assert active <= 1


def test_an_event_in_the_moment_of_a_decision_is_in_it_or_refuses_it_or_comes_after(world, at_once):
    seen_before = 0
    for _ in range(10):
        run = dead(world)
        seen = shown(world, run)
        decided, spoke = at_once(
            [partial(force, world, run, 1, seen), partial(world.report, run, call("c2", "add_note"))]
        )
        assert spoke is None, spoke
        assert isinstance(decided, replays.Started | Stale), decided
        if isinstance(decided, Stale):
            seen_before += 1
            continue
        # The worker looks once more before it hands anything over.
        held = bound(world, jobs.claim, job_id=decided.job.id, task_id="t")
        assert bound(world, handover.prepare, held=held) is None
    assert seen_before <= 10


def test_the_chain_of_the_log_holds_whoever_writes_at_once(world, at_once):
    cases = [world.run("", call("c1", "send_email")) for _ in range(12)]
    pages = [shown(world, run) for run in cases]
    answers = at_once(
        [
            partial(bound, world, runs.dismiss, by=support(n), run_id=run.id, shown=seen, reason=REASON)
            for n, (run, seen) in enumerate(zip(cases, pages, strict=True))
        ]
    )
    assert names(answers) == {"tuple": 12}
    log = world.read(lambda: list(Decision.objects.order_by("seq")))
    assert [entry.seq for entry in log] == list(range(1, len(log) + 1))
    for before, entry in pairwise(log):
        assert bytes(entry.prev_hash) == bytes(before.hash)
