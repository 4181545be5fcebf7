"""Forgetting a person: the texts are gone, what happened stays, and nothing goes out or starts by mistake."""

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction

from approvals.exceptions import Conflict, NotFound
from approvals.models import AudienceRow, Decision, Delivery, Event, Job, Payload
from approvals.selectors import erasure as selected
from approvals.selectors.compared import Lists, lists_changed
from approvals.selectors.lineages import judged
from approvals.services import decisions, erasure, handover, jobs, pauses, sending, trials
from tests import factories as f
from tests.house import OPERATOR
from tests.services import sends
from tests.services.starts import force, replay

ANNA = "anna@example.org"
REASON = "She asked for it by letter."


@pytest.fixture
def erase(desk, as_owner):
    """Erase somebody, as the owner; how much that was, and the entry of the log."""

    def erase(subject=ANNA):
        with as_owner():
            return erasure.erase(by=OPERATOR, subject=subject, reason=REASON)

    return erase


@transaction.atomic
def reason_of(decision):
    return decisions.reason_of(Decision.objects.get(id=decision.id))


def texts():
    return len(f.rows(Payload.objects))


@transaction.atomic
def verdict_on(run):
    return judged(run)[1]


@transaction.atomic
def record_of(run):
    with connection.cursor() as cursor:
        cursor.execute("select kind, why from run_record(%s, %s)", [run.workspace_id, run.id])
        return cursor.fetchone()


@transaction.atomic
def chain_holds():
    with connection.cursor() as cursor:
        cursor.execute(
            "select bool_and(d.hash = decision_hash(d) and d.prev_hash = coalesce(b.hash, ''))"
            " from approvals_decision d left join approvals_decision b"
            " on b.workspace_id = d.workspace_id and b.seq = d.seq - 1"
        )
        return cursor.fetchone()[0]


def test_the_texts_of_the_runs_and_of_the_decisions_about_them_go_and_the_log_says_so(erase, ada):
    run = f.dead_run()
    started = force(ada, run)
    other = f.dead_run(subject="bo@example.org")
    events = len(f.rows(Event.objects))
    before = texts()

    found, entry = erase()

    # The run's input and the replay's are one; the event that says who was written to; the forced replay's reason.
    assert (found.runs, found.inputs, found.events, found.evidence) == (2, 1, 2, 1)
    assert texts() == before - 4 + 1  # and the entry's own
    assert len(f.rows(Event.objects)) == events
    assert reason_of(started.decision) == ""
    assert record_of(other) == ("called", "called")
    logged = f.fresh(entry)
    assert (logged.kind, logged.actor_kind, logged.target_kind, logged.subject) == (
        "erased",
        "operator",
        "workspace",
        ANNA,
    )
    with transaction.atomic():
        evidence = decisions.evidence_of(logged)
    assert (evidence["reason"], evidence["events"]) == (REASON, 2)
    assert chain_holds()


@pytest.mark.parametrize("make", [f.clean_run, f.dead_run], ids=["settled", "unsettled"])
def test_what_an_erased_run_did_is_unknown_and_it_cannot_start_again(erase, make):
    run = make()
    erase()
    assert record_of(run) == ("unknown", "erased")
    verdict = verdict_on(f.fresh(run))
    assert {"unknown_record", "input_missing"} <= set(verdict.codes) and not verdict.may_start_again


def test_every_attempt_of_a_lineage_is_erased(erase, ada):
    run = f.clean_run()
    again = f.tell(f.fresh(replay(ada, run).run), f.called("send_email", "x"), f.ended("failed", "boom"))
    erase()
    assert record_of(run) == record_of(again) == ("unknown", "erased")


def test_a_replay_that_waits_fails_and_says_why(erase, ada):
    started = replay(ada, f.clean_run())
    erase()
    assert handover.prepare(held=jobs.claim(job_id=started.job.id, task_id="t")) is None
    job = f.fresh(started.job)
    assert (job.status, job.outcome) == (
        "failed",
        "The input of this run was erased meanwhile, so nothing was started.",
    )


def test_a_recipient_is_forgotten_in_every_spelling_and_is_not_written_to_any_more(erase, mia):
    to = [("bo@example.com", {"name": "Bo"}), ("Bo@EXAMPLE.com", {"name": "Bo again"}), *f.recipients(1)]
    campaign = f.campaign(to=to)
    digest = f.shown_campaign(campaign).digest
    sends.approve(mia, campaign)

    found, entry = erase("BO@example.com")

    assert (found.recipients, found.planned, found.runs) == (2, 1, 0)
    assert f.fresh(entry).subject == "", "an address does not get into the log by being erased"
    rows = f.rows(AudienceRow.objects.order_by("position"))
    assert [(row.vars, row.email) for row in rows[:2]] == [("{}", ""), ("{}", "")]
    assert rows[2].email == "guest1@example.com"
    assert f.shown_campaign(campaign).digest == digest
    assert sends.states(campaign) == ["skipped", "planned"]
    held = jobs.claim(job_id=sends.the_job().id, task_id="t")
    assert sends.next_intent(held=held, sealed=sending.begin(held=held)).address == "guest1@example.com"


def test_nobody_is_erased_while_they_are_written_to(erase, mia):
    _, held, sealed = sends.begun(mia, to=1)
    intent = sends.next_intent(held=held, sealed=sealed)
    with pytest.raises(Conflict, match="is being sent at this moment, so nothing was erased"):
        erase("guest1@example.com")
    [row] = f.rows(AudienceRow.objects)
    assert row.erased_at is None and row.vars != "{}"
    assert sends.settle(held=held, intent=intent, state="sent", reply="250 OK")
    found, _ = erase("guest1@example.com")
    assert (found.recipients, found.planned, found.addresses) == (1, 0, 0)
    [delivery] = f.rows(Delivery.objects)
    assert (delivery.state, delivery.address) == ("sent", "guest1@example.com"), "the proof of what was sent"


def test_who_was_asked_to_wait_and_is_erased_meanwhile_is_skipped(erase, mia):
    _, held, sealed = sends.begun(mia, to=1)
    intent = sends.next_intent(held=held, sealed=sealed)
    assert sends.settle(held=held, intent=intent, state="planned", reply="try later", counts=False)
    erase("guest1@example.com")
    assert sends.next_intent(held=held, sealed=sealed) is None
    [delivery] = f.rows(Delivery.objects)
    assert (delivery.state, delivery.attempt) == ("skipped", 0)
    assert delivery.reply == "What was known of this recipient was erased."
    assert delivery.address == "guest1@example.com", "it was tried, and that stays provable"
    assert sending.end_batch(held=held) == "done"


@pytest.mark.parametrize("state", ["planned", "skipped"])
def test_of_whom_nothing_was_ever_sent_to_not_even_the_address_is_left(erase, mia, state):
    campaign = f.campaign(to=2)
    if state == "skipped":
        sends.approve(mia, campaign)
        held = jobs.claim(job_id=sends.the_job().id, task_id="t")
        sending.begin(held=held)
        sends.stop(mia, campaign)
    found, _ = erase("guest1@example.com")
    assert (found.planned, found.addresses) == (int(state == "planned"), 1)
    first, other = f.rows(Delivery.objects.order_by("position"))
    assert (first.state, first.address, first.dedupe_key) == ("skipped", "", str(first.id))
    assert (other.state, other.address) == (state, "guest2@example.com")
    assert not erase("guest1@example.com")[0], "the log knows that it was erased, and not who"
    assert chain_holds()


def test_whoever_is_erased_neither_came_nor_went_between_two_lists(erase):
    both = [f.campaign(to=[("ann@example.com", {}), ("bob@example.com", {})]) for _ in range(2)]
    erase("ann@example.com")
    with transaction.atomic():
        newer, older = (campaign.versions.get().id for campaign in both)
        assert lists_changed(newer, older) == Lists(0, [], 0, [])


def test_two_people_of_one_campaign_are_erased_one_after_the_other(erase, mia):
    campaign = f.campaign(to=3)
    erase("guest1@example.com")
    erase("guest2@example.com")
    assert sends.states(campaign) == ["skipped", "skipped", "planned"]


def test_a_refused_recipient_that_spells_them_is_erased_and_one_that_only_looks_alike_is_not(erase):
    to = ["Ann <ann@x.example>, bo@x.example", "joann@x.example, bo@x.example", "ann@x.example.org;"]
    f.campaign(to=[(email, {"name": "N", "time": "1"}) for email in to])
    found, _ = erase("Ann@X.example")
    assert found.recipients == 1
    rows = f.rows(AudienceRow.objects.order_by("position"))
    assert [row.email for row in rows] == ["", *to[1:]]


def test_who_is_left_out_is_found_in_every_spelling_without_judging_everybody_else(erase, monkeypatch):
    spelled = [
        "Zoe@BÜCHER.example",
        "zoe@XN--bcher-kva.EXAMPLE",
        "zoe@ｂücher.example",
        "<zoe@bücher.example>, x",
    ]
    others = [(f"nobody{n}@@example.com", {}) for n in range(50)]
    f.campaign(to=[("zoe@xn--bcher-kva.example", {}), *((email, {}) for email in spelled), *others])
    judged_, real = [], selected.spelling_of
    monkeypatch.setattr(selected, "spelling_of", lambda email: judged_.append(email) or real(email))
    assert erase("zoe@bücher.example")[0].recipients == 1 + len(spelled)
    assert set(judged_) & {email for email, _ in others} == set()


def test_what_failed_for_somebody_erased_is_not_sent_again(erase, mia):

    _, other = sends.in_doubt(mia, state="failed", to=[("eve@example.com", {"name": "E", "time": "1"})])
    erase("eve@example.com")
    with pytest.raises(Conflict, match="Nothing can be sent to them any more; leave it"):
        sends.resolve(mia, other, "do_again")
    sends.resolve(mia, other, "leave")


def test_the_words_about_a_single_delivery_go_with_its_recipient(erase, mia):
    _, delivery = sends.in_doubt(mia)
    decision, _ = sends.resolve(mia, delivery, "happened")
    erase(delivery.address)
    assert reason_of(decision) == ""
    assert f.fresh(delivery).state == "sent"


def test_so_do_those_about_a_job_that_was_to_reach_them(erase, mia):
    campaign, delivery = sends.in_doubt(mia, state="failed", to=1)
    sends.resolve(mia, delivery, "do_again")
    [again] = f.rows(Job.objects.exclude(delivery=None))
    with transaction.atomic():
        Job.objects.filter(id=again.id).update(status="paused")
    given_up, _ = pauses.give_up(by=mia, job_id=again.id, shown=f.shown_campaign(campaign))
    erase(delivery.address)
    with transaction.atomic():
        assert decisions.evidence_of(Decision.objects.get(id=given_up.id)) == {}


@pytest.mark.parametrize("kind", ["refused", "in_doubt"])
def test_so_does_what_a_runtime_answered_about_their_replay(erase, ada, kind):
    jobs_of = {}
    for subject in (ANNA, "bo@example.org"):
        started = replay(ada, f.clean_run(subject=subject))
        held = jobs.claim(job_id=started.job.id, task_id="t")
        assert handover.prepare(held=held)
        said = f"The runtime answered ({subject}): “Anna Berg “of 12 Mill Lane” has moved”."
        assert handover.settle(held=held, kind=kind, detail=said)
        jobs_of[subject] = started.job
    found, _ = erase()
    assert found.answers == 1
    assert f.fresh(jobs_of[ANNA]).outcome == f"The runtime answered ({ANNA}): “…”."
    assert "Mill Lane" in f.fresh(jobs_of["bo@example.org"]).outcome
    assert not erase()[0]


def test_erasing_twice_is_harmless_and_logged_once(erase):
    f.dead_run()
    erase()
    found, entry = erase()
    assert not found and entry is None
    assert [entry.kind for entry in f.rows(Decision.objects)] == ["erased"]


def test_somebody_nobody_knows_is_not_found(erase):
    f.dead_run()
    with pytest.raises(NotFound, match="Nothing in this workspace is about nobody@example"):
        erase("nobody@example.org")


def test_an_erasure_that_is_cut_short_has_erased_nothing(erase, monkeypatch):
    f.dead_run()
    before = texts()
    monkeypatch.setattr(decisions, "record", lambda **entry: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        erase()
    assert texts() == before


def test_only_the_owner_erases(desk):
    f.dead_run()
    with pytest.raises(DatabaseError, match="permission denied"):
        erasure.erase(by=OPERATOR, subject=ANNA, reason=REASON)


@pytest.mark.parametrize(
    "change",
    [
        "set vars = '{}'",
        "set erased_at = now(), vars = '{}', email = ''",
        "set erased_at = now(), vars = '{\"name\":\"Eve\"}', email = '', address = ''",
        "set erased_at = now(), vars = '{}', email = '', address = '', state = 'refused', reason = 'x'",
    ],
)
def test_a_sealed_audience_changes_in_no_other_way(desk, as_owner, change):
    f.campaign()
    with as_owner(), pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"update approvals_audiencerow {change}")


def test_what_is_erased_stays_erased(erase, as_owner):
    f.campaign(to=1)
    erase("guest1@example.com")
    with (
        as_owner(),
        pytest.raises(DatabaseError, match="only ever erased") as refused,
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute('update approvals_audiencerow set erased_at = null, vars = \'{"name":"Bo"}\'')
    assert isinstance(refused.value.__cause__, psycopg.errors.InsufficientPrivilege)


@pytest.mark.parametrize("when", ["before it is asked for", "before it is made", "before it leaves"])
def test_no_test_shows_somebody_who_was_erased(desk, erase, when):
    mia = f.member("Mia", "reviewer", of=desk)
    campaign = f.campaign(to=[(ANNA, {"name": "Anna", "time": "09:40"})])
    [anna] = f.rows(Delivery.objects.filter(campaign_id=campaign.id))

    def ask():
        return trials.send_test(by=mia, delivery_id=anna.id, shown=f.shown_campaign(campaign))[0]

    if when == "before it is asked for":
        erase()
        with pytest.raises(Conflict, match="What was known of this recipient was erased"):
            ask()
        return
    decision = ask()
    [job] = f.rows(Job.objects)
    if when == "before it is made":
        erase()
        held = jobs.claim(job_id=job.id, task_id="t")
        assert trials.prepare(held=held) is None
    else:
        held = jobs.claim(job_id=job.id, task_id="t")
        assert trials.prepare(held=held).variables["name"] == "Anna"
        erase()
        assert trials.state_intent(held=held) is False
    job = f.fresh(job)
    assert (job.status, job.outcome, job.intent_at) == (
        "failed", "What was known of this recipient was erased. Nothing was sent.", None,
    )  # fmt: skip
    entries = f.rows(Decision.objects.filter(kind__in=["send_test", "outcome"]))
    assert [entry.kind for entry in entries if f.rows(Payload.objects.filter(id=entry.payload_id))] == [
        "outcome"
    ], "what named her before is gone; what ended it was written afterwards"
    assert decision.id in f.ids(entries)
