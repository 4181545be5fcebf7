"""The page of an ADK run: the ways to go on side by side, and what was asked again."""

import pytest

from approvals.models import Job, Run
from approvals.rules.permissions import why_not
from approvals.services.replays import Started
from dashboard.presenters import chips
from tests import factories as f
from tests.views.forms import form_of, offered, send
from tests.views.of_adk import adk, broken_off, handed_on, held_call, observed, seen
from tests.views.of_runs import REASON, entries, kinds, page
from tests.views.reading import Read
from tests.world import call

# The ways.


def test_a_run_with_an_open_call_shows_every_way_with_what_it_would_do(world):
    answered = page(world, broken_off(world))
    read = Read(answered)
    for words in (
        "Answer the open calls",
        "ADK goes on in place. These calls are not made again: send_email.",
        "Start in a fresh session with the last message",
        "The old conversation is not known to its agent.",
        "look_up and send_email may be called again.",
        "No tool of this app is known to hide its calls.",
        "Dismiss it",
    ):
        assert words in read
    assert offered(answered) == {"answer-calls", "force", "dismiss", "resolve-call"}


def test_a_way_that_is_not_possible_says_why(world):
    read = Read(page(world, handed_on(world)))
    assert (
        "Answer the open calls Not possible now. It left no call open, so there is nothing to answer." in read
    )


@pytest.mark.parametrize("said", ["runtime", "finding"])
def test_an_app_that_hides_calls_is_said_to(world, said):
    found = [f.line("finding", origin="hidden", content={"detail": "It has an AgentTool."})]
    of = adk(world, hides_calls=said == "runtime")
    run = observed(world, of, f.made("a", "a1"), *(found if said == "finding" else []), interrupted=True)
    assert "This app has tools whose own calls leave no trace" in Read(page(world, run))


def test_a_run_that_called_nothing_starts_in_a_fresh_session_with_one_button(world):
    run, client = observed(world, adk(world), f.spoke("Done!"), f.over("failed")), world.visit("support")
    form = form_of(client.get(world.at(f"runs/{run.id}/")), "/replay")
    assert send(client, form).status_code == 303
    assert world.read(lambda: Run.objects.get(replay_of_id=run.id)).session_id.startswith("secondlook-")


def test_another_runtime_has_no_ways(world):
    assert "Ways to go on" not in Read(page(world, world.run("r", call("c1", "send_email"))))


def test_whoever_may_not_answer_is_told_who_may(world):
    answered = page(world, broken_off(world), "reviewer")
    assert why_not("answer_calls") in Read(answered) and offered(answered) == set()


# Answering open calls.


def test_the_open_call_is_answered_and_the_page_follows_it(world):
    run, client = broken_off(world), world.visit("support")
    form = form_of(client.get(world.at(f"runs/{run.id}/")), "/answer-calls")
    assert form.fields["call-1"] == ["a2"]
    sent = send(client, form, **{"happened-1": "1", "result-1": '{"status":"sent"}', "reason": REASON})
    assert sent.status_code == 303
    assert "Queued: the run goes on in its own session." in Read(client.get(sent["Location"]))
    [entry] = entries(world)
    told = Read(world.visit("manager").get(world.at(f"decisions/{entry.id}/")))
    assert "it happened; the agent was told" in told and "answered the open calls of" in told


def test_the_attempt_that_was_answered_shows_the_answer_and_asks_no_more(world):
    run, client = broken_off(world), world.visit("support")
    form = form_of(client.get(world.at(f"runs/{run.id}/")), "/answer-calls")
    send(client, form, **{"happened-1": "1", "result-1": "sent", "reason": REASON})
    job = world.read(lambda: Job.objects.select_related("run", "decision").get())
    world.handed_over(Started(decision=job.decision, run=job.run, job=job))
    answered = page(world, run)
    read = Read(answered)
    said = f'Sam Okafor: it happened; its agent was told {{"result":"sent"}}. “{REASON}”'
    assert f"No answer was recorded. {said}" in read and "It may have happened." not in read
    asked = answered.content.decode()
    form = asked[: asked.index("What became of <span")]
    assert form[form.rindex("<details") :].startswith('<details class="act">')


def test_what_was_typed_comes_back_with_what_is_missing(world):
    run, client = broken_off(world), world.visit("support")
    form = form_of(client.get(world.at(f"runs/{run.id}/")), "/answer-calls")
    answered = send(client, form, **{"happened-1": "1", "result-1": "", "receipt-1": "r-7", "reason": REASON})
    assert answered.status_code == 422 and "Say what send_email gave back" in Read(answered)
    again = form_of(answered, "/answer-calls")
    assert (again.fields["happened-1"], again.fields["receipt-1"]) == (["1"], ["r-7"])
    assert again.texts["reason"] == REASON
    unsaid = send(client, form, reason=REASON)
    assert "Say of each open call whether it happened: send_email." in Read(unsaid)
    assert kinds(world) == []


def test_what_somebody_said_of_the_call_before_is_filled_in(world):
    run, client = broken_off(world), world.visit("support")
    form = form_of(client.get(world.at(f"runs/{run.id}/")), "/resolve-call")
    send(client, form, resolution="did_not_happen", reason=REASON)
    again = form_of(client.get(world.at(f"runs/{run.id}/")), "/answer-calls")
    assert again.fields["happened-1"] == ["0"]


def test_an_aborted_call_can_be_resolved(world):
    lines = [f.made("send_email", "a1"), f.came("a1", "aborted", error="Invocation was aborted by client.")]
    run, client = observed(world, adk(world), *lines, interrupted=True), world.visit("support")
    read = Read(page(world, run))
    assert (
        chips.call_state("aborted").label in read
        and "It may have happened, whatever its answer says." in read
    )
    form = form_of(client.get(world.at(f"runs/{run.id}/")), "/resolve-call")
    assert send(client, form, resolution="happened", reason=REASON).status_code == 303


# A held call.


def test_a_held_call_is_shown_with_what_it_asks_and_is_confirmed(world):
    run, client = held_call(world), world.visit("reviewer")
    answered = client.get(world.at(f"runs/{run.id}/"))
    read = Read(answered)
    assert "Held: send_email" in read and "Please approve or reject send_email()." in read
    assert "A tool call is held" in read and "Asks before it calls send_email, to ann@example.org." in read
    assert offered(answered) == {"confirm-call", "reject-call"}
    assert send(client, form_of(answered, "/confirm-call"), comment="").status_code == 303
    assert kinds(world) == ["confirm_call"]


def test_a_rejection_without_a_reason_comes_back(world):
    run, client = held_call(world), world.visit("reviewer")
    form = form_of(client.get(world.at(f"runs/{run.id}/")), "/reject-call")
    refused = send(client, form, reason="no")
    assert refused.status_code == 422 and form_of(refused, "/reject-call").texts["reason"] == "no"
    assert send(client, form_of(refused, "/reject-call"), reason=REASON).status_code == 303
    assert kinds(world) == ["reject_call"]


def test_the_queue_names_the_held_call(world):
    held_call(world)
    read = Read(world.visit("reviewer").get(world.at("?tab=decide")))
    assert "Tool call held: send_email" in read


def test_a_held_call_of_any_name_is_shown_as_it_is(world):
    observed(world, adk(world), f.made("\u202eliame\x07", "a1"), f.asks("a1"), f.over())
    read = Read(world.visit("reviewer").get(world.at("?tab=decide")))
    assert "Tool call held: <U+202E>liame<U+0007>" in read


def test_a_request_that_lapsed_is_refused_and_the_page_offers_nothing(world):
    run, client = held_call(world), world.visit("reviewer")
    form = form_of(client.get(world.at(f"runs/{run.id}/")), "/confirm-call")
    seen(world, lambda: f.observe(run, f.came("a1", "withdrawn")))
    answered = send(client, form, comment="")
    assert answered.status_code == 409 and "no longer asked about" in Read(answered)
    after = client.get(world.at(f"runs/{run.id}/"))
    assert offered(after) == set() and "No longer asked" in Read(after)


STANDARD = "Please approve or reject the tool call send_email() by responding with a FunctionResponse."


def test_a_held_call_is_never_said_to_have_been_made_and_adks_own_words_are_left_out(world):
    lines = [f.made("send_email", "a1"), f.asks("a1", STANDARD), f.over(origin="inferred")]
    answered = page(world, observed(world, adk(world), *lines))
    read = Read(answered)
    assert "I know that send_email waits for a confirmation, it did not run Asks for confirmation" in read
    assert "It waits for a confirmation (concluded from its last event)." in read
    assert "An attempt of this run waits for a confirmation." in read
    assert "send_email may be asked for again." in read
    assert "FunctionResponse" not in read
    for untrue in ("was called", "already completed", "seems to be over", "called again", "Called tools"):
        assert untrue not in read


# What became of a call that was not made.


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("supplied", "send_email was answered by a person"),
        ("rejected", "send_email was rejected, it did not run"),
        ("withdrawn", "send_email was no longer asked"),
    ],
)
def test_an_attempt_in_which_nothing_was_called_says_so_everywhere(world, outcome, words):
    result = f.line(
        "tool_result", 1, call_id="a1", name="send_email", outcome=outcome, content={"result": "x"}
    )
    failed = f.over("failed", error={"code": "X", "message": "please retry"})
    read = Read(page(world, observed(world, adk(world), result, f.spoke("Well."), failed)))
    assert f"{words}." in read and f"I know that {words}" in read
    assert "Calls were asked for, or answered by a person; no tool is known to have run." in read
    assert "Asked for tools" in read
    for untrue in ("Called", "was called", "it called", "No tool ran", "Tools were called"):
        assert untrue not in read


def test_an_attempt_that_called_something_else_too_still_called_tools(world):
    lines = [f.made("look_up", "a1"), f.came("a1"), f.made("send_email", "a2"), f.came("a2", "rejected")]
    read = Read(page(world, observed(world, adk(world), *lines, f.over("failed"))))
    assert "Called look_up. send_email was rejected, it did not run." in read
    assert "Called tools" in read and "already called tools" in read


# Stopping.


def test_a_replay_that_is_streamed_is_stopped(world):
    run, client = broken_off(world), world.visit("support")
    second = world.handed_over(world.forced(run))
    answered = client.get(world.at(f"runs/{second.id}/"))
    assert "Stopping closes the connection, which cancels the agent's run." in Read(answered)
    assert "declare-interrupted" not in offered(answered) and "declare it interrupted" not in Read(answered)
    sent = send(client, form_of(answered, "/stop"))
    read = Read(client.get(sent["Location"]))
    assert "Stopped: its stream is closed" in read and "A person stopped it here." in read
    assert world.read(lambda: Job.objects.get(run_id=second.id)).status == "failed"
    assert kinds(world) == ["force_replay", "stop_replay"]


def test_a_replay_that_a_person_stopped_is_not_said_to_have_failed_by_itself(world):
    run, client = broken_off(world), world.visit("support")
    second = world.handed_over(world.forced(run))
    send(client, form_of(page(world, second), "/stop"))
    error = {"code": "INVOCATION_ABORTED", "message": "Invocation was aborted by client."}
    seen(world, lambda: f.observe(second, f.made("send_email", "b1"), f.over("failed", error=error)))
    read = Read(page(world, second))
    assert "Stopped by a person INVOCATION_ABORTED Its runtime then told that it was aborted." in read
    assert "A person stopped it." in read
    above = read.text[: read.text.index("What this run already did")]
    assert "It failed" not in above and "It ended with an error" not in above and "Failed" not in above
    assert world.read(lambda: Run.objects.get(id=second.id)).status == "failed"


def test_a_replay_of_another_runtime_is_not_stopped_from_here(world):
    second = world.handed_over(world.forced(world.run("r", call("c1", "send_email"))))
    assert "stop" not in offered(page(world, second))


# Errors, claims, facts.


def test_the_error_that_was_handed_on_names_the_calls_and_invites_to_nothing(world):
    read = Read(page(world, handed_on(world)))
    assert "It failed rate_limited" in read
    assert "Calls with an answer send_email Calls left open none" in read
    told = read.text[read.text.index("It failed") : read.text.index("A person has to decide")].lower()
    assert not any(words in told for words in ("again", "retry", "once more"))


def test_the_words_of_a_provider_after_a_call_stay_in_the_timeline(world):
    lines = [
        f.made("a", "a1"),
        f.over("failed", origin="inferred", error={"code": "X", "message": "please retry"}),
    ]
    read = Read(page(world, observed(world, adk(world), *lines)))
    box = read.text[read.text.index("It failed X") : read.text.index("A person has to decide")]
    assert "please retry" not in box and "It ended with an error after it called a." in box
    assert "It seems to be over: with an error: please retry (concluded from its last event)." in read


def test_the_agents_claims_stand_beside_the_record(world):
    lines = [
        f.made("look_up", "a1"),
        f.came("a1"),
        f.spoke("I sent <b>the mail</b>.", model="scripted-1"),
        f.over(),
    ]
    answered = page(world, observed(world, adk(world), *lines))
    read = Read(answered)
    assert "What the agent says I sent <b>the mail</b>." in read
    assert "What the record shows Tools were called. look_up Answered" in read
    assert b"<b>the mail" not in answered.content
    assert "ADK version 2.13.0" in read and "Model scripted-1" in read


def test_thoughts_files_errors_and_findings_stand_in_the_timeline(world):
    lines = [
        f.spoke("", thought="She wants a refund."),
        f.spoke("", files=["ticket.pdf"]),
        f.spoke("", error={"code": "INTERNAL", "message": "the model is away"}),
        f.made("send_email", "p1", partial=True),
        f.came("p1", "replaced"),
        f.line("finding", origin="edited", content={"detail": "The row e-7 is not what it was."}),
    ]
    read = Read(page(world, observed(world, adk(world), *lines, interrupted=True)))
    for words in (
        "support thought",
        "She wants a refund.",
        "support sent along",
        "ticket.pdf",
        "An error came: INTERNAL: the model is away",
        "edited in the runtime's store after it was read there. The row e-7 is not what it was.",
    ):
        assert words in read
    assert "Not known" not in read and "send_email" not in read


# Asked again.


def test_both_runs_tell_that_the_same_was_asked_again(world):
    of = adk(world)
    first = seen(world, f.broken_off, of=of, session_id="s-1", body_digest="d" * 64)
    more = {"session_id": "s-1", "body_digest": "d" * 64}
    second = observed(world, of, f.made("send_email", "b1", 60), f.over(), **more)
    before, after = Read(page(world, first)), Read(page(world, second))
    assert f"Asked again after this run broke off: {second.external_id}, which completed." in before
    assert (
        f"Asked again after {first.external_id}; that run had already called look_up and send_email." in after
    )
    assert before.links[second.external_id] == world.at(f"runs/{second.id}/")
