"""Starting a run again by a person or by the rule, and taking it back."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from approvals.access.actors import TokenBearer
from approvals.db.binding import bind
from approvals.exceptions import AlreadyDecided, Conflict, NotAllowed, NotFound, Stale
from approvals.models import Decision, Job, Payload, QueueItem, Run
from approvals.services import campaigns, decisions, jobs, replays, runs
from approvals.services.replays import NotSafe
from tests import factories as f
from tests.services.starts import (
    LATER,
    REASON,
    dismiss,
    evidence_of,
    force,
    nothing_was_saved,
    reopen,
    replay,
)
from tests.shared import slug

pytestmark = pytest.mark.usefixtures("desk")

# Replay.


def test_a_run_that_did_nothing_is_started_again_by_one_decision_with_one_job_and_one_new_run(ada):
    old = f.clean_run(external_id="rebook-7")
    shown = f.shown_run(old)
    started = replay(ada, old, shown)
    [job] = f.rows(Job.objects)
    [new] = f.rows(Run.objects.exclude(id=old.id))
    [decision] = f.rows(Decision.objects)
    assert not started.repeated
    assert (job.id, job.status, job.run_id, job.decision_id) == (
        started.job.id,
        "queued",
        new.id,
        decision.id,
    )
    assert (new.external_id, new.status, new.replay_of_id, new.started_at) == (
        "rebook-7#2",
        "running",
        old.id,
        None,
    )
    assert (new.input_payload_id, new.subject, new.agent) == (old.input_payload_id, old.subject, old.agent)
    assert (decision.kind, decision.target_kind, decision.target_id, decision.item_id) == (
        "replay",
        "run",
        old.id,
        old.lineage_id,
    )


def test_the_entry_freezes_who_decided_how_they_signed_in_what_they_were_shown_and_when(ada):
    old = f.clean_run()
    shown = f.shown_run(old)
    decision = f.fresh(replay(ada, old, shown).decision)
    assert (decision.actor_name, decision.actor_roles, decision.sign_in) == ("Ada", ["support"], "password")
    assert (decision.digest, decision.opened_at) == (shown.digest, shown.opened_at)
    assert evidence_of(decision)["verdict"] == {"may_start_again": True, "reasons": []}
    assert evidence_of(decision)["lineage"][0]["id"] == str(old.id)


@pytest.mark.parametrize("role", ["reviewer", "manager", "admin"])
def test_only_support_may_start_a_run_again(role):
    old = f.clean_run()
    with pytest.raises(NotAllowed, match="role support"):
        replay(f.actor("Rita", role), old)
    assert nothing_was_saved()


def test_somebody_without_any_role_may_not_even_look():
    old = f.clean_run()
    with pytest.raises(NotAllowed):
        replay(f.actor("Nobody"), old)


def test_another_workspaces_run_is_as_unknown_as_one_that_does_not_exist(ada):
    other = f.workspace(slug())
    with bind(other.id):
        theirs = f.clean_run()
    for id in (theirs.id, other.id):
        with pytest.raises(NotFound) as refused:
            replays.replay(by=ada, run_id=id, shown=LATER)
        assert str(refused.value) == str(NotFound())


def test_a_run_that_called_tools_is_not_started_again_without_force(ada):
    dead = f.dead_run()
    with pytest.raises(Conflict, match="already called tools"):
        replay(ada, dead)
    assert nothing_was_saved()


def test_what_changed_since_the_page_was_opened_is_told_and_nothing_is_decided(ada):
    old = f.clean_run()
    shown = f.shown_run(old)
    f.tell(old, f.called("send_email", "c9"))
    with pytest.raises(Stale) as refused:
        replay(ada, old, shown)
    assert any("has a new call: send_email." in sentence for sentence in refused.value.changed)
    assert nothing_was_saved()


def test_a_heartbeat_changes_nothing_for_a_decider(ada):
    old = f.clean_run()
    shown = f.shown_run(old)
    f.tell(old, {"type": "heartbeat"})
    with pytest.raises(Conflict, match="arrived after its record was settled"):
        replay(ada, old, f.shown_run(old))  # late, and late events always count
    with pytest.raises(Stale):
        replay(ada, old, shown)


def test_the_second_of_two_people_sees_who_was_first_when_and_why(ada, ben):
    dead = f.dead_run()
    shown = f.shown_run(dead)
    first = force(ben, dead, shown=shown)
    with pytest.raises(AlreadyDecided) as refused:
        force(ada, dead, shown=shown)
    assert (refused.value.who, refused.value.what, refused.value.why) == ("Ben", "force_replay", REASON)
    assert refused.value.when == f.fresh(first.decision).at
    assert len(f.rows(Decision.objects)) == len(f.rows(Job.objects)) == 1


def test_a_double_click_is_a_harmless_success(ada):
    old = f.clean_run()
    shown = f.shown_run(old)
    first, second = replay(ada, old, shown), replay(ada, old, shown)
    assert second.repeated
    assert (second.decision.id, second.job.id, second.run.id) == (
        first.decision.id,
        first.job.id,
        first.run.id,
    )
    assert len(f.rows(Decision.objects)) == len(f.rows(Job.objects)) == 1


def test_the_same_person_in_a_second_tab_has_already_decided_this(ada):
    old = f.clean_run()
    replay(ada, old, f.shown_run(old))
    later = replace(f.shown_run(old), opened_at=datetime.now(UTC) + timedelta(seconds=1))
    assert replay(ada, old, later).repeated
    assert len(f.rows(Job.objects)) == 1


def test_a_form_that_is_sent_once_more_after_the_replay_ended_is_harmless(ada):
    dead = f.dead_run()
    shown = f.shown_run(dead)
    first = force(ada, dead, shown=shown)
    f.tell(first.run, f.ended("completed"))
    again = force(ada, dead, shown=shown)
    assert again.repeated and again.decision.id == first.decision.id
    assert len(f.rows(Job.objects)) == 1


def test_the_second_person_learns_who_was_first_even_after_the_replay_ended(ada, ben):
    dead = f.dead_run()
    shown_to_ada = f.shown_run(dead)
    f.tell(force(ben, dead).run, f.ended("completed"))
    with pytest.raises(AlreadyDecided, match="Ben already forced"):
        force(ada, dead, shown=shown_to_ada)


def test_a_replay_that_was_taken_back_meanwhile_is_a_change_to_look_at(ada, ben):
    old = f.clean_run()
    shown = f.shown_run(old)
    started = replay(ben, old)
    replays.cancel(by=ben, job_id=started.job.id, shown=shown)
    with pytest.raises(Stale) as refused:
        replay(ada, old, shown)
    assert refused.value.changed == ["Ben let this run start again. Taken back by Ben."]
    assert not replay(ada, old).repeated


def test_a_dismissed_run_is_reopened_before_anybody_starts_it_again(ada, ben):
    old = f.clean_run()
    shown = f.shown_run(old)
    runs.dismiss(by=ben, run_id=old.id, shown=shown, reason="The customer called it off.")
    with pytest.raises(AlreadyDecided, match="Ben already dismissed this"):
        replay(ada, old, shown)
    runs.reopen(by=ben, run_id=old.id, shown=shown, reason="The customer came back.")
    assert not replay(ada, old, shown).repeated


def test_only_the_attempt_that_counts_is_decided_about(ada):
    first = f.clean_run()
    second = f.tell(replay(ada, first).run, f.ended("failed"))
    with pytest.raises(Conflict, match="later attempt") as refused:
        replay(ada, f.fresh(first))
    assert refused.value.code == "superseded"
    assert replay(ada, second).run.replay_of_id == second.id


def test_a_run_without_its_input_cannot_start_again(ada, as_superuser):
    old = f.clean_run()
    as_superuser("delete from approvals_payload where id = %s", old.input_payload_id)
    with pytest.raises(Conflict, match="input of this run is gone"):
        replay(ada, old)


def test_nothing_is_saved_when_the_entry_cannot_be_written(ada, monkeypatch):
    old = f.clean_run()
    shown = f.shown_run(old)

    def broken(**_):
        raise RuntimeError("no log, no decision")

    monkeypatch.setattr(decisions, "record", broken)
    with pytest.raises(RuntimeError):
        replay(ada, old, shown)
    assert nothing_was_saved()
    assert [item.tab for item in f.rows(QueueItem.objects.defer("due"))] == ["decide"]


# By the rule.


def bearer(desk):
    with transaction.atomic():
        runtime_id = f.Runtime.objects.values_list("id", flat=True)[0]
    return TokenBearer(desk.id, desk.id, runtime_id, None, "sl_abcd")


def test_a_machine_starts_nothing_that_a_person_put_aside(desk, ada):
    old = f.clean_run()
    dismiss(ada, old)
    with pytest.raises(Conflict, match="nothing is to be done") as refused:
        replays.request_by_rule(bearer=bearer(desk), run_id=old.id)
    assert refused.value.code == "dismissed"
    assert f.rows(Job.objects) == []
    reopen(ada, old)
    assert replays.request_by_rule(bearer=bearer(desk), run_id=old.id).run.lineage_id == old.id


def test_the_rule_starts_what_did_nothing_and_the_log_says_who_asked(desk):
    old = f.clean_run()
    started = replays.request_by_rule(bearer=bearer(desk), run_id=old.id)
    decision = f.fresh(started.decision)
    assert (decision.actor_kind, decision.kind) == ("rule", "replay")
    assert evidence_of(decision)["asked_for_by"] == "sl_abcd"
    assert len(f.rows(Job.objects)) == 1


def test_the_rule_names_every_reason_and_call_and_starts_nothing(desk):
    dead = f.dead_run()
    with pytest.raises(NotSafe) as refused:
        replays.request_by_rule(bearer=bearer(desk), run_id=dead.id)
    assert [reason["code"] for reason in refused.value.extra["reasons"]] == ["tools_called"]
    assert [call["name"] for call in refused.value.extra["calls"]] == ["send_email"]
    assert (f.rows(Job.objects), len(f.rows(Run.objects))) == ([], 1)


def test_that_a_machine_asked_and_was_refused_is_one_entry_however_often_it_asks(desk):
    dead = f.dead_run()
    for _ in range(3):
        with pytest.raises(NotSafe) as refusal:
            replays.request_by_rule(bearer=bearer(desk), run_id=dead.id)
    [entry] = f.rows(Decision.objects)
    assert (entry.kind, entry.actor_kind, entry.target_id, entry.item_id) == (
        "refused",
        "token",
        dead.id,
        dead.id,
    )
    given = evidence_of(entry)
    assert (given["tried"], given["code"], given["said"]) == ("replay", "not_safe", str(refusal.value))
    # Something new is known, so it is another question.
    f.tell(dead, f.called("add_note", "c2"))
    with pytest.raises(NotSafe):
        replays.request_by_rule(bearer=bearer(desk), run_id=dead.id)
    assert len(f.rows(Decision.objects)) == 2


def test_a_machine_that_asks_while_an_attempt_goes_on_is_only_told_to_wait(desk):
    alive = f.run()
    for name in ("c1", "c2"):
        f.tell(alive, f.called("look_up", name))
        with pytest.raises(NotSafe):
            replays.request_by_rule(bearer=bearer(desk), run_id=alive.id)
    assert f.rows(Decision.objects) == []


def test_a_machine_that_asks_twice_starts_one_replay(desk):
    old = f.clean_run()
    replays.request_by_rule(bearer=bearer(desk), run_id=old.id)
    with pytest.raises(NotSafe, match="under way"):
        replays.request_by_rule(bearer=bearer(desk), run_id=old.id)
    assert len(f.rows(Job.objects)) == 1


# Taking it back.


def test_a_queued_replay_can_be_taken_back_and_counts_for_nothing(ada, ben):
    old = f.clean_run()
    started = replay(ada, old)
    shown = f.shown_run(old)
    decision, repeated = replays.cancel(by=ben, job_id=started.job.id, shown=shown)
    assert not repeated
    assert (f.fresh(started.job).status, f.fresh(started.run).status) == ("cancelled", "cancelled")
    assert (decision.kind, f.fresh(decision).opened_at) == ("cancel_replay", shown.opened_at)
    assert jobs.claim(job_id=started.job.id, task_id="late") is None
    assert not replay(ada, old).repeated


def test_taking_it_back_twice_is_harmless_and_the_second_person_sees_who_was_first(ada, ben):
    started = replay(ada, f.clean_run())
    replays.cancel(by=ada, job_id=started.job.id, shown=LATER)
    assert replays.cancel(by=ada, job_id=started.job.id, shown=LATER)[1]
    with pytest.raises(AlreadyDecided, match="Ada already took this replay back"):
        replays.cancel(by=ben, job_id=started.job.id, shown=LATER)
    assert len(f.rows(Decision.objects)) == 2


def test_it_is_too_late_once_a_worker_has_it(ada):
    started = replay(ada, f.clean_run())
    assert jobs.claim(job_id=started.job.id, task_id="t")
    with pytest.raises(Conflict) as refused:
        replays.cancel(by=ada, job_id=started.job.id, shown=LATER)
    assert refused.value.code == "too_late"
    assert f.fresh(started.job).status == "running"


def test_only_support_takes_a_replay_back(ada):
    started = replay(ada, f.clean_run())
    with pytest.raises(NotAllowed, match="take a replay back"):
        replays.cancel(by=f.actor("Mia", "reviewer"), job_id=started.job.id, shown=LATER)


def test_taking_back_saves_nothing_when_the_entry_cannot_be_written(ada, monkeypatch):
    started = replay(ada, f.clean_run())
    monkeypatch.setattr(decisions, "record", lambda **_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        replays.cancel(by=ada, job_id=started.job.id, shown=LATER)
    assert (f.fresh(started.job).status, f.fresh(started.run).status) == ("queued", "running")


def test_a_job_that_sends_is_no_replay_to_take_back(ada):
    campaign = f.campaign()
    mia = f.actor("Mia", "reviewer")
    campaigns.approve(by=mia, campaign_id=campaign.id, shown=f.shown_campaign(campaign))
    [job] = f.rows(Job.objects)
    with pytest.raises(NotFound):
        replays.cancel(by=ada, job_id=job.id, shown=LATER)


def test_no_text_of_a_decision_is_kept_in_the_structure_of_the_log(ada):
    force(ada, f.dead_run())
    with transaction.atomic():
        entry = Decision.objects.values().get()
        bodies = list(Payload.objects.values_list("body", flat=True))
    assert REASON not in str(entry) and any(REASON in body for body in bodies)
