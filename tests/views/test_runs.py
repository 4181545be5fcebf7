"""The page of one run: what it did and what the rules say."""

import pytest

from approvals.models import Run
from approvals.rules.permissions import why_not
from approvals.selectors import timelines
from tests.views.forms import form_of, offered, send
from tests.views.of_runs import REASON, clean, dead, page
from tests.views.reading import Read
from tests.world import answer, call, ended, failure, said

# What is shown.


def test_the_page_tells_what_the_run_did_in_order_with_the_place_where_it_broke_off(world):
    read = Read(page(world, dead(world)))
    story = [
        "Started",
        "I will look it up",
        "look_up",
        "418 EUR",
        "crm-77",
        "send_email",
        "It broke off here",
    ]
    start = read.text.index("Started", read.text.index("What the record shows"))
    places = [read.text.index(words, start) for words in story]
    assert places == sorted(places)
    assert "No answer was recorded. It may have happened." in read
    assert "nothing more was heard for 5 min" in read


def test_what_arrived_after_it_broke_off_stands_behind_the_mark_and_is_marked_late(world):
    run = dead(world)
    world.report(run, failure("c2", "mailbox full"), call("c3", "add_note"))
    read = Read(page(world, run))
    assert "Error, arrived late" in read and "mailbox full" in read
    assert read.text.index("It broke off here") < read.text.index("add_note", read.text.index("It broke off"))
    assert "arrived late" in read.text[read.text.index("add_note", read.text.index("It broke off here")) :]
    assert 'data-code="late_events"' in read.html


def test_a_missing_event_is_told_where_it_is_missing(world):
    run = world.run("gap", said("one"), interrupted=False)
    world.report(run, said("three"), missing=1)
    world.interrupt(run)
    read = Read(page(world, run))
    assert "Event 2 is missing; anything may have happened there." in read
    assert "Events are missing, so what it did cannot be known." in read


def test_the_last_words_of_the_agent_stand_beside_that_no_tool_ran(world):
    read = Read(page(world, clean(world)))
    assert "No tool ran. The history is complete from start to end and holds no call." in read
    assert "What the agent says Done! I moved your booking." in read
    assert "It may start again" in read
    assert "It ended with an error: model quota exhausted" in read


def test_where_a_tool_ran_the_page_never_says_that_none_did(world):
    assert "No tool ran" not in Read(page(world, dead(world)))


def test_the_reasons_of_the_verdict_lead_to_the_calls(world):
    read = Read(page(world, dead(world)))
    assert "A person has to decide" in read and 'data-code="tools_called"' in read.html
    assert 'href="#call-4"' in read.html and 'id="call-4"' in read.html


def test_what_the_run_was_started_with_is_shown(world):
    assert "refund C-17" in Read(page(world, dead(world)))


def test_an_input_that_was_erased_is_said_to_be_gone(world, monkeypatch):
    """As it looks once the owner erased it: the row is not there."""
    run = dead(world)
    monkeypatch.setattr("approvals.selectors.run_pages.input_of", lambda _: timelines.input_of(run.id))
    assert "What it was started with was erased" in Read(page(world, run))


def test_text_of_others_is_shown_and_never_obeyed(world):
    run = world.run(
        "<script>alert(1)</script>",
        said("<img src=x onerror=alert(1)> \u202egnp"),
        call("c1", "<b>tool</b>", to="<i>ann</i>\u200b"),
        agent="<u>agent</u>",
        subject="<s>ann</s>",
        input="<script>alert(2)</script>",
    )
    html = page(world, run).content.decode()
    for mark in ("<script>alert", "<img src=x", "<b>tool", "<i>ann", "<u>agent", "<s>ann"):
        assert mark not in html
    assert "right-to-left override" in html and "zero width space" in html


def test_a_run_that_goes_on_can_only_be_declared_interrupted(world):
    run = world.run("alive", call("c1", "send_email"), interrupted=False)
    answered = page(world, run)
    assert offered(answered) == {"declare-interrupted"}
    assert "It is still running" in Read(answered) and "In progress" in Read(answered)
    assert "It broke off" not in Read(answered)


def test_an_older_attempt_leads_to_the_one_that_counts_and_decides_nothing(world):
    started = world.forced(dead(world))
    second = world.handed_over(started)
    world.report(second, ended("failed", "again"))
    answered = page(world, world.read(lambda: Run.objects.get(id=second.replay_of_id)))
    read = Read(answered)
    assert "A later attempt took the place of this run." in read and "A later attempt counts" in read
    assert "A person has to decide" not in read
    assert read.links["Go to refund-8841#2"] == world.at(f"runs/{second.id}/")
    assert offered(answered) <= {"resolve-call"}


def test_an_attempt_that_never_began_names_the_one_that_counts(world):
    second = world.handed_over(world.forced(dead(world)))
    world.report(second, ended("failed", "again"))
    third = world.forced(second)
    assert "This attempt has not begun yet; attempt 2 counts." in Read(page(world, third.run))
    client = world.visit("support")
    assert send(client, form_of(client.get(world.at(f"runs/{second.id}/")), "/cancel")).status_code == 303
    read = Read(page(world, third.run))
    assert "This attempt never began; attempt 2 counts." in read and "A later attempt counts" not in read
    assert "The new run" not in Read(page(world, second))


def test_a_run_that_completed_waits_for_nobody_and_can_still_be_forced(world):
    run = world.run("done", call("c1", "send_email"), answer("c1"), ended("completed"))
    answered = page(world, run)
    assert "It completed; nothing waits for a decision." in Read(answered)
    assert "A person has to decide" not in Read(answered)
    assert offered(answered) == {"force"}


def test_every_attempt_is_listed_and_the_calls_of_all_are_to_be_ticked(world):
    started = world.forced(dead(world))
    second = world.handed_over(started)
    world.report(second, call("c9", "add_note"), ended("failed", "again"))
    answered = page(world, second)
    read = Read(answered)
    assert "this run" in read.row("refund-8841#2")
    ticks = form_of(answered, "/force").ticks["ack"]
    assert sorted(tick.split(" ", 1)[1] for tick in ticks) == ["c1", "c2", "c9"]
    assert "in refund-8841" in read


@pytest.mark.parametrize("role", ["reviewer", "manager", "admin"])
def test_who_may_not_sees_the_forms_switched_off_with_the_one_sentence_why(world, role):
    answered = page(world, dead(world), role)
    assert offered(answered) == set()
    for permission in ("force_replay", "dismiss", "resolve_run"):
        assert why_not(permission) in Read(answered)


def test_the_way_back_keeps_the_queue_as_it_was_and_leads_on_to_the_next(world):
    run = dead(world)
    other = clean(world)
    read = Read(page(world, run, back="kind=run&nonsense=1"))
    assert read.links["← Queue"] == world.at("?kind=run")
    following = next(url for text, url in read.links.items() if text.startswith("Next: rebook-7"))
    assert following == world.at(f"runs/{other.id}/?back=kind%3Drun")


@pytest.mark.parametrize("back", ["\0", "x" * 9_000, "https://evil.example/", "tab=decide&after=zzz", "//"])
def test_nonsense_in_the_way_back_breaks_nothing(world, back):
    answered = page(world, dead(world), back=back)
    assert answered.status_code == 200
    assert "evil" not in answered.content.decode()


def test_a_page_asks_the_same_number_of_questions_however_long_the_journal_is(
    world, django_assert_max_num_queries
):
    run = world.run("long", *(call(f"c{n}", "step") for n in range(150)))
    client = world.visit("support")
    with django_assert_max_num_queries(45):
        assert client.get(world.at(f"runs/{run.id}/")).status_code == 200


def test_a_journal_of_thousands_of_events_shows_every_call_and_says_what_is_left_out(world):
    run = world.run("long", *(said(f"step {n}") for n in range(600)), call("c1", "send_email"))
    read = Read(page(world, run))
    assert "200 earlier events left out here; no call is among them." in read
    assert "send_email" in read and "step 599" in read and "step 3 " not in read


def test_what_was_dismissed_says_by_whom_and_asks_nobody_to_decide(world):
    run = dead(world)
    client = world.visit("support")
    send(client, form_of(client.get(world.at(f"runs/{run.id}/")), "/dismiss"), reason=REASON)
    read = Read(page(world, run))
    assert "It was dismissed by Sam Okafor on " in read and "It can be reopened." in read
    assert "A person has to decide" not in read


def test_two_calls_of_one_tool_are_told_apart_and_counted_once(world):
    run = world.run(
        "refund-1",
        call("a", "send_email", to="ann@x.com"),
        call("b", "send_email", to="bob@x.com"),
        ended("failed"),
    )
    read = Read(page(world, run))
    asked = read.text[read.text.index("What became of send_email") :]
    assert "ann@x.com" in asked and "bob@x.com" in asked
    assert "send_email ×2" in read.links


@pytest.mark.parametrize("role", ["reviewer", "manager", "admin"])
def test_who_may_not_force_it_gets_a_sentence_instead_of_the_form(world, role):
    read = Read(page(world, dead(world), role))
    assert "Start it again all the same" not in read
    assert "Force a replay…" in read and 'href="#force"' not in read.html
