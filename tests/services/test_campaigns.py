"""Decisions about a campaign: approve exactly what was shown, reject, take back; and what holds for all of them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from approvals.db.binding import bind
from approvals.exceptions import AlreadyDecided, Conflict, Invalid, NotAllowed, NotFound, Stale
from approvals.models import Delivery, Job, Workspace
from approvals.selectors.payloads import contents_of
from approvals.services import decisions, jobs
from tests import factories as f
from tests.services.sends import (
    REASON,
    approve,
    begun,
    entries,
    in_doubt,
    reject,
    resolve,
    stop,
    tab_of,
    take_back,
    the_job,
)
from tests.shared import slug

pytestmark = pytest.mark.usefixtures("desk")

# Approving and rejecting.


def test_an_approval_releases_one_job_and_names_the_digest_that_was_shown(mia):
    campaign = f.campaign(to=[*f.recipients(2), ("nobody", {})])
    shown = f.shown_campaign(campaign)
    decision, repeated = approve(mia, campaign, shown)
    entry = f.fresh(decision)
    assert not repeated
    assert (the_job().status, the_job().decision_id, the_job().kind) == ("queued", entry.id, "send")
    assert (entry.digest, entry.opened_at, entry.actor_roles) == (shown.digest, shown.opened_at, ["reviewer"])
    assert (f.fresh(campaign).status, tab_of(campaign)) == ("approved", "progress")
    with transaction.atomic():
        evidence = contents_of([entry.payload_id])[entry.payload_id]
    assert (evidence["to_send"], evidence["excluded"], evidence["version"]) == (2, 1, 1)


def test_a_campaign_whose_time_is_over_is_not_approved_and_can_be_rejected(mia):
    campaign = f.campaign(send_by=datetime.now(UTC) - timedelta(minutes=1))
    with pytest.raises(Conflict) as refused:
        approve(mia, campaign)
    assert refused.value.code == "send_by_passed"
    assert entries() == []
    reject(mia, campaign)
    assert f.fresh(campaign).status == "rejected"


def test_an_approval_is_held_for_as_long_as_the_workspace_says(desk, mia, as_superuser):
    as_superuser("update approvals_workspace set hold_s = 60 where id = %s", desk.id)
    approve(mia, f.campaign())
    assert the_job().status == "held"
    assert jobs.claim(job_id=the_job().id, task_id="t") is None
    assert not jobs.release(job_id=the_job().id)
    assert (the_job().due_at - the_job().created_at).total_seconds() == pytest.approx(60, abs=2)


def test_a_rejection_keeps_the_comment_for_the_proposer_and_sends_nothing(mia):
    campaign = f.campaign()
    decision, _ = reject(mia, campaign)
    assert (f.fresh(campaign).status, f.fresh(campaign).comment) == ("rejected", REASON)
    assert (f.rows(Job.objects), entries(), tab_of(campaign)) == ([], ["reject"], "history")
    assert f.fresh(decision).opened_at is not None


@pytest.mark.parametrize("comment", ["", "no", "  short  ", "x" * 2001, "a null \0 in it"])
def test_a_rejection_without_a_comment_is_unkind_and_refused(mia, comment):
    campaign = f.campaign()
    with pytest.raises(Invalid) as refused:
        reject(mia, campaign, comment=comment)
    assert refused.value.field == "comment"
    assert (f.fresh(campaign).status, entries()) == ("pending", [])


@pytest.mark.parametrize("decide", [approve, reject])
def test_a_double_click_is_a_harmless_success(mia, decide):
    campaign = f.campaign()
    shown = f.shown_campaign(campaign)
    first, _ = decide(mia, campaign, shown)
    second, repeated = decide(mia, campaign, shown)
    assert repeated and second.id == first.id
    assert len(entries()) == 1


@pytest.mark.parametrize("second", [approve, reject])
def test_the_second_of_two_reviewers_sees_who_decided_what_when_and_why(mia, rob, second):
    campaign = f.campaign()
    shown = f.shown_campaign(campaign)
    first, _ = reject(mia, campaign, shown)
    with pytest.raises(AlreadyDecided) as refused:
        second(rob, campaign, shown)
    told = refused.value
    assert (told.who, told.what, told.when, told.why) == ("Mia", "reject", f.fresh(first).at, REASON)
    assert entries() == ["reject"]


def test_an_approval_is_not_turned_into_a_rejection_by_the_same_person(mia):
    campaign = f.campaign()
    approve(mia, campaign)
    with pytest.raises(AlreadyDecided, match="Mia already approved"):
        reject(mia, campaign)


@pytest.mark.parametrize("decide", [approve, reject])
def test_another_content_than_the_one_shown_is_refused(mia, decide):
    campaign = f.campaign()
    with pytest.raises(Stale) as refused:
        decide(mia, campaign, replace(f.shown_campaign(campaign), digest="0" * 64))
    assert "took the place" in refused.value.changed[0]
    assert (f.fresh(campaign).status, entries()) == ("pending", [])


def test_what_was_approved_and_taken_back_meanwhile_is_looked_at_anew(mia, rob):
    campaign = f.campaign()
    shown = f.shown_campaign(campaign)
    approve(rob, campaign)
    take_back(rob, campaign)
    with pytest.raises(Stale) as refused:
        approve(mia, campaign, shown)
    assert refused.value.changed == ["Rob took this approval back after you opened this page."]
    later = replace(shown, opened_at=datetime.now(UTC) + timedelta(seconds=1))
    assert not approve(mia, campaign, later)[1]


def test_a_campaign_that_reaches_nobody_cannot_be_approved(mia):
    campaign = f.campaign(to=[("nobody", {})])
    with pytest.raises(Conflict, match="Nobody in the list can be reached"):
        approve(mia, campaign)
    reject(mia, campaign)


# Taking an approval back.


def test_an_approval_is_taken_back_while_nobody_has_begun(mia, rob):
    campaign = f.campaign()
    approve(mia, campaign)
    take_back(rob, campaign)
    assert (the_job().status, the_job().outcome) == ("cancelled", "Taken back by Rob.")
    assert (f.fresh(campaign).status, tab_of(campaign)) == ("pending", "decide")
    assert jobs.claim(job_id=the_job().id, task_id="t") is None


def test_what_was_taken_back_can_be_approved_once_more(mia):
    campaign = f.campaign()
    approve(mia, campaign)
    take_back(mia, campaign)
    approve(mia, campaign)
    assert sorted(job.status for job in f.rows(Job.objects)) == ["cancelled", "queued"]
    assert entries() == ["approve", "cancel_send", "approve"]


def test_taking_it_back_twice_is_harmless_and_the_second_person_sees_who_was_first(mia, rob):
    campaign = f.campaign()
    approve(mia, campaign)
    take_back(mia, campaign)
    assert take_back(mia, campaign)[1]
    with pytest.raises(AlreadyDecided, match="Mia already took this approval back"):
        take_back(rob, campaign)
    assert len(entries()) == 2


def test_it_is_too_late_once_a_worker_has_begun(mia):
    campaign, _, _ = begun(mia)
    with pytest.raises(Conflict) as refused:
        take_back(mia, campaign)
    assert refused.value.code == "too_late"


def test_it_is_too_late_in_the_moment_a_worker_has_claimed_it(mia):
    campaign = f.campaign()
    approve(mia, campaign)
    jobs.claim(job_id=the_job().id, task_id="t")
    with pytest.raises(Conflict, match="cannot be taken back"):
        take_back(mia, campaign)


def test_what_a_lost_worker_never_began_can_still_be_taken_back(mia, lease_over):
    campaign = f.campaign()
    approve(mia, campaign)
    jobs.claim(job_id=the_job().id, task_id="t")
    lease_over(the_job().id)
    assert jobs.expire(job_id=the_job().id) == "queued"
    take_back(mia, campaign)
    assert f.fresh(campaign).status == "pending"


def test_a_campaign_nobody_approved_has_nothing_to_take_back(mia):
    with pytest.raises(Conflict):
        take_back(mia, f.campaign())


# What holds for all of them.


def pending(mia):
    return f.campaign()


def approved(mia):
    campaign = f.campaign()
    approve(mia, campaign)
    return campaign


def sent_in_part(mia):
    return begun(mia)[0]


def one_in_doubt(mia):
    return in_doubt(mia)[1]


CASES = {
    "approve": (pending, approve),
    "reject": (pending, reject),
    "cancel_send": (approved, take_back),
    "stop": (sent_in_part, stop),
    "happened": (one_in_doubt, lambda by, row: resolve(by, row, "happened")),
    "do_again": (one_in_doubt, lambda by, row: resolve(by, row, "do_again")),
    "leave": (one_in_doubt, lambda by, row: resolve(by, row, "leave")),
}


@pytest.mark.parametrize(("make", "decide"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("role", ["support", "manager", "admin"])
def test_only_a_reviewer_decides_about_campaigns(mia, make, decide, role):
    row = make(mia)
    before = entries()
    with pytest.raises(NotAllowed, match="role reviewer"):
        decide(f.actor("Sam", role), row)
    assert entries() == before


@pytest.mark.parametrize(("make", "decide"), CASES.values(), ids=CASES)
def test_nothing_is_saved_when_the_entry_cannot_be_written(mia, monkeypatch, make, decide):
    row = make(mia)
    before = (f.fresh(row), entries(), len(f.rows(Job.objects)))
    monkeypatch.setattr(decisions, "record", lambda **_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        decide(mia, row)
    after = f.fresh(row)
    assert (after, entries(), len(f.rows(Job.objects))) == before
    assert getattr(after, "status", None) == getattr(before[0], "status", None)
    assert getattr(after, "state", None) == getattr(before[0], "state", None)


def test_another_workspaces_campaign_is_as_unknown_as_one_that_does_not_exist(mia):
    with bind(f.workspace(slug()).id):
        theirs = f.campaign()
        shown = f.shown_campaign(theirs)
        [row, *_] = f.rows(Delivery.objects.filter(campaign_id=theirs.id))
    for decide in (approve, reject, take_back, stop):
        with pytest.raises(NotFound):
            decide(mia, theirs, shown)
    with pytest.raises(NotFound):
        resolve(mia, row, "leave", shown=shown)
    assert len(f.rows(Workspace.objects)) == 1
