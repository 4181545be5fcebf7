"""Going on in place: answering what a run left open, and confirming or rejecting a held call."""

import pytest
from django.db import transaction

from approvals.exceptions import AlreadyDecided, Conflict, Invalid, NotAllowed, NotFound, Stale
from approvals.models import Decision, Job, QueueItem, Run
from approvals.rules.in_place import DID_NOT_HAPPEN, Said
from approvals.selectors.resolutions import resolutions_in
from approvals.services import answers, handover, jobs
from tests import factories as f
from tests.services.starts import REASON, evidence_of, force, replay, resolve_call, resolve_job, tab_of

pytestmark = pytest.mark.usefixtures("desk")

DONE = {"a2": Said(happened=True, result='{"status": "sent"}', receipt="smtp-9")}


@pytest.fixture
def adk():
    return f.adk_runtime()


def answer(by, run, said=None, *, shown=None, reason=REASON):
    return answers.answer_calls(
        by=by,
        run_id=run.id,
        shown=shown or f.shown_run(run),
        said=DONE if said is None else said,
        reason=reason,
    )


def confirm(by, run, call_id="a1", *, shown=None, comment=""):
    return answers.confirm_call(
        by=by, run_id=run.id, call_id=call_id, shown=shown or f.shown_run(run), comment=comment
    )


def reject(by, run, call_id="a1", *, shown=None, reason=REASON):
    return answers.reject_call(
        by=by, run_id=run.id, call_id=call_id, shown=shown or f.shown_run(run), reason=reason
    )


# Open calls.


def test_an_answer_releases_a_replay_in_the_same_session_and_keeps_what_the_agent_is_told(ada, adk):
    dead = f.broken_off(of=adk)
    started = answer(ada, dead)
    evidence = evidence_of(started.decision)
    assert evidence["answers"] == [
        {
            "call_id": "a2",
            "name": "send_email",
            "happened": True,
            "response": {"status": "sent"},
            "receipt": "smtp-9",
        }
    ]
    assert (started.decision.kind, started.decision.target_id, evidence["reason"]) == (
        "answer_calls",
        dead.id,
        REASON,
    )
    assert (started.job.kind, started.job.status) == ("replay", "queued")
    assert (started.run.replay_of_id, started.run.session_id) == (dead.id, dead.session_id)


def test_a_text_becomes_the_result_and_what_did_not_happen_is_said_to_the_agent(ada, adk):
    dead = f.interrupted(
        f.observe(
            f.adk_run(of=adk), f.made("send_email", "a1"), f.made("refund", "a2"), f.came("a2", "aborted")
        )
    )
    started = answer(
        ada, dead, {"a1": Said(happened=True, result=" sent at noon "), "a2": Said(happened=False)}
    )
    assert [told["response"] for told in evidence_of(started.decision)["answers"]] == [
        {"result": "sent at noon"},
        DID_NOT_HAPPEN,
    ]


def test_what_was_said_stands_beside_the_calls_with_what_the_agent_was_told(ada, adk):
    lines = (f.made("send_email", "a1"), f.made("refund", "a2"))
    dead = f.interrupted(f.observe(f.adk_run(of=adk), *lines))
    answer(ada, dead, {"a1": Said(happened=True, result="sent"), "a2": Said(happened=False)})
    with transaction.atomic():
        known = resolutions_in([dead.id])
    sent, refund = known[dead.id, "a1"], known[dead.id, "a2"]
    assert sent.words == f'Ada: it happened; its agent was told {{"result":"sent"}}. “{REASON}”'
    assert (sent.resolution, refund.resolution) == ("happened", "did_not_happen")


def test_whoever_did_not_see_that_it_was_answered_may_still_say_what_became_of_it(ada, ben, adk):
    dead = f.broken_off(of=adk)
    shown = f.shown_run(dead)
    answer(ada, dead)
    decision, repeated = resolve_call(ben, dead, call_id="a2", shown=shown)
    assert (decision.actor_name, repeated) == ("Ben", False)


def test_every_open_call_needs_its_answer(ada, adk):
    dead = f.interrupted(f.observe(f.adk_run(of=adk), f.made("send_email", "a1"), f.made("refund", "a2")))
    with pytest.raises(Invalid, match="whether it happened: refund") as refused:
        answer(ada, dead, {"a1": Said(happened=False), "a9": Said(happened=False)})
    assert refused.value.field == "answers"
    assert f.rows(Job.objects) == []


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (Said(happened=True, result="  "), "Say what send_email gave back"),
        (Said(happened=True, result="{broken"), "begins like a JSON object and is none"),
        (Said(happened=True, result='{"a": 1, "a": 2}'), "begins like a JSON object and is none"),
        (Said(happened=True, result="a null \0"), "cannot be stored"),
        (Said(happened=True, result="x" * 20_001), "Keep the result of send_email"),
    ],
)
def test_a_result_that_the_agent_could_not_be_given_is_refused(ada, adk, said, why):
    with pytest.raises(Invalid, match=why):
        answer(ada, f.broken_off(of=adk), {"a2": said})


def test_it_needs_a_reason(ada, adk):
    with pytest.raises(Invalid) as refused:
        answer(ada, f.broken_off(of=adk), reason="short")
    assert refused.value.field == "reason"


@pytest.mark.parametrize(
    ("lines", "status", "why"),
    [
        ([f.made("a", "a1"), f.came("a1")], "interrupted", "It left no call open"),
        ([f.made("a", "a1"), f.asks("a1"), f.made("b", "a2")], "interrupted", "asks first whether a may run"),
        ([f.made("a", "a1"), f.over()], "completed", "It is completed"),
        *(
            ([f.made("a", "a1"), f.line("finding", origin=origin)], "interrupted", word)
            for origin, word in {
                "edited": "was edited",
                "deleted": "was deleted",
                "unreadable": "cannot be read",
                "restored": "taken over",
            }.items()
        ),
    ],
)
def test_where_it_makes_no_sense_one_sentence_says_why(ada, adk, lines, status, why):
    run = f.observe(f.adk_run(of=adk), *lines)
    run = f.interrupted(run) if status == "interrupted" else run
    said = {call_id: Said(happened=False) for call_id in ("a1", "a2")}
    with pytest.raises(Conflict, match=why):
        answer(ada, run, said)


def test_only_an_adk_run_goes_on_in_place(ada):
    with pytest.raises(Conflict, match="only a run of an ADK runtime can"):
        answer(ada, f.dead_run(), {"c1": Said(happened=False)})


def test_the_same_answer_twice_is_harmless_and_the_second_person_is_told(ada, ben, adk):
    dead = f.broken_off(of=adk)
    shown = f.shown_run(dead)
    first = answer(ada, dead, shown=shown)
    assert answer(ada, dead, shown=shown).repeated
    with pytest.raises(AlreadyDecided, match="Ada already answered the open calls of this run"):
        answer(ben, dead, shown=shown)
    assert [job.id for job in f.rows(Job.objects)] == [first.job.id]


def test_what_came_meanwhile_is_told_instead(ada, adk):
    dead = f.broken_off(of=adk)
    shown = f.shown_run(dead)
    f.observe(dead, f.came("a2"))
    with pytest.raises(Stale):
        answer(ada, dead, shown=shown)


def test_a_reviewer_answers_no_open_calls(mia, adk):
    with pytest.raises(NotAllowed):
        answer(mia, f.broken_off(of=adk))


def test_an_answer_in_doubt_that_did_not_happen_leaves_the_run_to_be_answered_anew(ada, adk):
    dead = f.broken_off(of=adk)
    started = answer(ada, dead)
    held = jobs.claim(job_id=started.job.id, task_id="t")
    assert handover.prepare(held=held)
    handover.settle(held=held, kind="in_doubt", detail="The connection was reset.")
    with pytest.raises(Invalid, match="did not happen, or is to be left"):
        resolve_job(ada, started.job, "do_again")
    decision, _ = resolve_job(ada, started.job, "did_not_happen")
    assert (decision.kind, f.fresh(started.job).status, tab_of(dead)) == ("resolve_run", "failed", "decide")
    assert not answer(ada, dead).repeated


# A fresh start.


def test_a_replay_of_an_adk_run_gets_a_session_of_its_own(ada, adk):
    clean = f.observe(f.adk_run(of=adk), f.spoke("Done!"), f.over("failed"))
    started = replay(ada, clean)
    assert started.run.session_id == f"secondlook-{started.run.id}"


def test_a_forced_one_too_and_another_runtime_keeps_the_session(ada, adk):
    dead = f.broken_off(of=adk)
    forced = force(ada, dead, ticked=[f"{dead.id} a1", f"{dead.id} a2"])
    assert forced.run.session_id == f"secondlook-{forced.run.id}"
    assert force(ada, f.dead_run()).run.session_id == "s-1"


# A held call.


def test_a_held_call_waits_for_a_decision(adk):
    waits = f.held_call(of=adk)
    [item] = f.rows(QueueItem.objects.defer("due").filter(id=waits.lineage_id))
    assert (item.tab, item.state) == ("decide", "awaiting")


def test_a_confirmation_goes_on_in_place_with_the_request_that_it_answers(mia, adk):
    waits = f.held_call(of=adk)
    started = confirm(mia, waits, comment="As agreed.")
    evidence = evidence_of(started.decision)
    assert (started.decision.kind, started.decision.target_kind, started.decision.target_id) == (
        "confirm_call",
        "call",
        waits.id,
    )
    assert (evidence["call_id"], evidence["name"], evidence["comment"]) == ("a1", "send_email", "As agreed.")
    assert evidence["confirmation"] == {"id": "ask-a1", "hint": "Please approve or reject send_email()."}
    assert started.run.session_id == waits.session_id


def test_a_rejection_needs_a_reason_and_goes_on_in_place_too(mia, adk):
    waits = f.held_call(of=adk)
    with pytest.raises(Invalid):
        reject(mia, waits, reason="no")
    started = reject(mia, waits)
    assert (started.decision.kind, evidence_of(started.decision)["reason"]) == ("reject_call", REASON)
    assert (started.job.status, started.run.session_id) == ("queued", waits.session_id)


def test_the_newest_request_is_the_one_that_is_answered(mia, adk):
    again = f.came("a1", "awaiting", confirmation={"id": "ask-2", "hint": ""})
    waits = f.observe(f.adk_run(of=adk), f.made("send_email", "a1"), f.asks("a1"), again, f.over())
    assert evidence_of(confirm(mia, waits).decision)["confirmation"]["id"] == "ask-2"


def test_support_confirms_and_rejects_nothing(ada, adk):
    waits = f.held_call(of=adk)
    for decide in (confirm, reject):
        with pytest.raises(NotAllowed):
            decide(ada, waits)


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        ("withdrawn", "no longer asked about"),
        ("rejected", "rejected meanwhile"),
        (None, "confirmed and made"),
    ],
)
def test_a_request_that_was_answered_elsewhere_is_inert(mia, adk, outcome, why):
    waits = f.held_call(of=adk)
    shown = f.shown_run(waits)
    f.observe(waits, f.came("a1", outcome))
    for seen in (shown, f.shown_run(waits)):
        with pytest.raises(Conflict, match=why):
            confirm(mia, waits, shown=seen)
    assert f.rows(Decision.objects) == []
    assert tab_of(waits) == "history"


def test_a_call_that_is_not_there_is_not_found(mia, adk):
    with pytest.raises(NotFound):
        confirm(mia, f.held_call(of=adk), "a9")


def test_two_people_confirm_once(mia, rob, adk):
    waits = f.held_call(of=adk)
    shown = f.shown_run(waits)
    confirm(mia, waits, shown=shown)
    assert confirm(mia, waits, shown=shown).repeated
    with pytest.raises(AlreadyDecided, match="Mia already confirmed a tool call of this run"):
        reject(rob, waits, shown=shown)
    assert len(f.rows(Run.objects)) == 2


def test_confirming_one_call_does_not_count_as_confirming_another(mia, adk):
    waits = f.observe(
        f.adk_run(of=adk), f.made("a", "a1"), f.asks("a1"), f.made("b", "a2"), f.asks("a2"), f.over()
    )
    shown = f.shown_run(waits)
    confirm(mia, waits, "a1", shown=shown)
    with pytest.raises(AlreadyDecided):
        confirm(mia, waits, "a2", shown=shown)
