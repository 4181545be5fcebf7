"""Deciding about a run on its page."""

import json

import pytest

from approvals.models import Job, Run
from approvals.services import handover, jobs
from dashboard.forms.shown import pack
from tests.views.forms import form_of, forms_of, offered, send
from tests.views.of_runs import REASON, clean, dead, entries, forced, kinds, page
from tests.views.reading import Read
from tests.world import World, call, said

# Deciding.


def test_a_run_that_did_nothing_is_started_again_and_the_page_says_queued(world):
    run, client = clean(world), world.visit("support")
    answered = send(client, form_of(client.get(world.at(f"runs/{run.id}/")), "/replay"))
    assert (answered.status_code, answered["Location"]) == (303, world.at(f"runs/{run.id}/"))
    after = client.get(answered["Location"])
    read = Read(after)
    assert "Queued: this run will be started again." in read
    assert "It waits for a worker." in read and "Done" in read
    assert not {"replay", "force", "dismiss"} & offered(after)
    assert offered(after) == {"cancel"}
    assert kinds(world) == ["replay"]


def test_a_forced_replay_keeps_the_reason_the_ticks_and_the_moment_it_was_opened(world):
    run = dead(world)
    _, form, answered = forced(world, run)
    assert answered.status_code == 303
    [entry] = entries(world)
    assert (entry.kind, entry.actor_name, entry.actor_roles) == ("force_replay", "Sam Okafor", ["support"])
    assert entry.opened_at is not None and entry.digest
    assert len(form.ticks["ack"]) == 2


def test_a_double_click_is_a_harmless_success(world):
    client, form, first = forced(world, dead(world))
    second = send(client, form, ack=form.ticks["ack"], reason=REASON)
    assert (first.status_code, second.status_code) == (303, 303)
    assert "You already forced this run to start again. Nothing happened twice." in Read(
        client.get(second["Location"])
    )
    assert world.read(Job.objects.count) == 1


def test_the_second_of_two_people_is_told_who_was_first_and_why(world):
    run = dead(world)
    kim = world.person("support")
    late = world.visit("support")
    form = form_of(late.get(world.at(f"runs/{run.id}/")), "/force")
    world.people["support"] = kim
    forced(world, run)
    answered = send(late, form, ack=form.ticks["ack"], reason="I was a moment too late.")
    read = Read(answered)
    assert answered.status_code == 409
    assert "Kim Both was first" in read and REASON in read and "Nothing of yours happened." in read
    assert "I was a moment too late." in read
    assert world.read(Job.objects.count) == 1


def test_what_changed_meanwhile_is_told_and_nothing_happens(world):
    run, client = dead(world), world.visit("support")
    form = form_of(client.get(world.at(f"runs/{run.id}/")), "/force")
    world.report(run, call("c3", "add_note"))
    answered = send(client, form, ack=form.ticks["ack"], reason=REASON)
    assert answered.status_code == 409
    assert "It changed since you looked" in Read(answered) and REASON in Read(answered)
    assert kinds(world) == []


@pytest.mark.parametrize(
    ("typed", "error"),
    [
        ({"reason": "short"}, "Give a reason of at least 10 characters"),
        ({"reason": ""}, "Give a reason of at least 10 characters"),
        ({"reason": "y" * 10_000}, "Keep the reason under 2000 characters"),
        ({"reason": "a null \0 in a reason"}, "cannot be stored"),
        ({"reason": REASON, "ack": []}, "Tick each call that is listed: look_up, send_email."),
    ],
    ids=["short", "missing", "long", "null", "unticked"],
)
def test_what_is_not_right_comes_back_with_everything_typed_and_ticked_kept(world, typed, error):
    run, client = dead(world), world.visit("support")
    form = form_of(client.get(world.at(f"runs/{run.id}/")), "/force")
    answered = send(client, form, **({"ack": form.ticks["ack"][:1]} | typed))
    assert answered.status_code == 422
    assert error in Read(answered)
    again = form_of(answered, "/force")
    assert again.texts["reason"] == typed["reason"]
    assert again.fields.get("ack", []) == ([] if typed.get("ack") == [] else form.ticks["ack"][:1])
    assert kinds(world) == []


def test_an_unknown_record_has_its_sentence_to_tick(world):
    run, client = world.run("unknown", said("Hello")), world.visit("support")
    form = form_of(client.get(world.at(f"runs/{run.id}/")), "/force")
    refused = send(client, form, reason=REASON)
    assert refused.status_code == 422 and "Tick the sentence" in Read(refused)
    assert form_of(refused, "/force").texts["reason"] == REASON
    assert send(client, form_of(refused, "/force"), reason=REASON, ack_unknown="1").status_code == 303


def test_a_queued_replay_is_taken_back(world):
    client, _, answered = forced(world, dead(world))
    form = form_of(client.get(answered["Location"]), "/cancel")
    back = send(client, form)
    read = Read(client.get(back["Location"]))
    assert "Taken back: nothing was started." in read
    again = send(client, form)
    assert "You already took this replay back." in Read(client.get(again["Location"]))
    assert kinds(world) == ["force_replay", "cancel_replay"]


def test_it_is_declared_interrupted_dismissed_and_reopened(world):
    run, client = world.run("alive", said("Hello"), interrupted=False), world.visit("support")
    address = world.at(f"runs/{run.id}/")
    for ending, words in (
        ("/declare-interrupted", "Noted: this run counts as interrupted."),
        ("/dismiss", "Dismissed: this run left the queue."),
        ("/reopen", "Reopened: this run needs a decision again."),
    ):
        form = form_of(client.get(address), ending)
        wrong = send(client, form, reason="because")
        assert wrong.status_code == 422 and form_of(wrong, ending).texts["reason"] == "because"
        assert words in Read(client.get(send(client, form, reason=REASON)["Location"]))
    assert kinds(world) == ["declare_interrupted", "dismiss", "reopen"]


def test_what_became_of_a_call_stands_beside_it_for_whoever_decides_next(world):
    run, client = dead(world), world.visit("support")
    form = form_of(client.get(world.at(f"runs/{run.id}/")), "/resolve-call")
    assert form.fields["target"] == ["c2"]
    assert form.ticks["resolution"] == ["happened", "did_not_happen", "leave"]
    wrong = send(client, form, reason="no")
    assert wrong.status_code == 422 and "Say whether it happened" in Read(wrong)
    answered = send(client, form, resolution="did_not_happen", reason=REASON)
    read = Read(client.get(answered["Location"]))
    assert f"Sam Okafor: it did not happen. “{REASON}”" in read
    assert kinds(world) == ["resolve_run"]


# A replay in doubt.


@pytest.fixture
def in_doubt(world):
    """A run whose replay nobody knows to have begun."""
    started = world.forced(dead(world))
    with world.bound():
        held = jobs.claim(job_id=started.job.id, task_id="t")
        assert handover.prepare(held=held)
        assert handover.settle(held=held, kind="in_doubt", detail="The connection was reset.")
        return Run.objects.get(id=started.run.replay_of_id)


@pytest.mark.parametrize(
    ("answered", "kind", "words"),
    [
        ("happened", "resolve_run", "Noted: the replay began."),
        ("do_again", "replay_again", "Queued: the replay will be started once more."),
        ("leave", "resolve_run", "Noted: it is left as it is."),
    ],
)
def test_a_replay_in_doubt_is_never_a_dead_end(world, in_doubt, answered, kind, words):
    client = world.visit("support")
    shown = client.get(world.at(f"runs/{in_doubt.id}/"))
    assert "Another attempt is under way" in Read(shown)
    assert "In doubt" in Read(shown) and "Settle first whether the replay began." in Read(shown)
    form = next(form for form in forms_of(shown) if form.action.endswith("/resolve"))
    wrong = send(client, form, resolution=answered, reason="x")
    assert wrong.status_code == 422
    after = send(client, form, resolution=answered, reason=REASON)
    assert words in Read(client.get(after["Location"]))
    assert kinds(world)[-1] == kind


def test_the_new_runs_page_lets_it_be_settled_too(world, in_doubt):
    new = world.read(lambda: Run.objects.get(replay_of_id=in_doubt.id))
    assert "resolve" in offered(page(world, new))


# Bad input.

ACTS = ["replay", "force", "declare-interrupted", "dismiss", "reopen", "resolve-call"]


@pytest.mark.parametrize("act", ACTS)
def test_a_get_decides_nothing(world, act):
    run = dead(world)
    assert world.visit("support").get(world.at(f"runs/{run.id}/{act}")).status_code == 405


@pytest.mark.parametrize("act", ACTS)
def test_a_form_that_the_page_never_made_for_this_person_is_refused_in_one_sentence(world, act):
    run, other = dead(world), clean(world)
    sam, digest = str(world.people["support"].pk), "0" * 64
    strange = {
        "missing": None,
        "empty": "",
        "null": "\0",
        "long": "x" * 10_000,
        "made up": "abc:def:ghi",
        "of another run": pack(target=other.id, user_id=sam, digest=digest),
        "of another person": pack(target=run.id, user_id="999999", digest=digest),
    }
    client = world.visit("support")
    for value in strange.values():
        data = {"reason": REASON, "ack": ["x"], "resolution": "leave", "target": "c2"}
        answered = client.post(
            world.at(f"runs/{run.id}/{act}"), data | ({} if value is None else {"shown": value})
        )
        assert answered.status_code == 422
        assert "This form does not belong to the page you see." in Read(answered)
    assert kinds(world) == []


@pytest.mark.parametrize("act", ACTS)
def test_another_workspaces_run_is_the_same_404_as_an_unknown_one(world, act):
    theirs = dead(World.create("Southwind"))
    client = world.visit("support")
    for id in (theirs.id, "00000000-0000-4000-8000-000000000000", "nonsense"):
        assert client.post(world.at(f"runs/{id}/{act}"), {"reason": REASON}).status_code == 404
    assert client.get(world.at(f"runs/{theirs.id}/")).status_code == 404


@pytest.mark.parametrize("act", ACTS)
def test_whoever_may_not_is_told_which_role_may_before_anything_else(world, act):
    run = dead(world)
    answered = world.visit("reviewer").post(world.at(f"runs/{run.id}/{act}"))
    assert answered.status_code == 403 and "role support" in Read(answered)


@pytest.mark.parametrize("field", ["target", "resolution", "reason"])
@pytest.mark.parametrize("value", ["", "\0", "x" * 10_000, "\ud800".encode("utf-8", "surrogatepass")])
def test_no_field_of_a_resolution_can_break_anything(world, field, value):
    run, client = dead(world), world.visit("support")
    form = form_of(client.get(world.at(f"runs/{run.id}/")), "/resolve-call")
    answered = send(client, form, **({"resolution": "leave", "reason": REASON} | {field: value}))
    assert answered.status_code in (404, 422)
    assert kinds(world) == []


@pytest.mark.parametrize(
    "next", ["https://evil.example/", "//evil.example", "/accounts/logout/", "\r\nX: y", "x" * 9_000]
)
def test_a_form_leads_back_to_pages_of_this_workspace_only(world, next):
    run, client = clean(world), world.visit("support")
    form = form_of(client.get(world.at(f"runs/{run.id}/")), "/replay")
    answered = send(client, form, next=next)
    assert answered["Location"] == world.at(f"runs/{run.id}/")


def test_decisions_need_the_token_of_the_page(world):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(world.people["support"])
    assert client.post(world.at(f"runs/{dead(world).id}/dismiss"), {"reason": REASON}).status_code == 403


def test_input_is_laid_out_for_reading(world):
    run = world.run("laid-out", said("x"), input={"ticket": 55102, "text": "My flight\nwas cancelled."})
    assert json.dumps("My flight\nwas cancelled.") in Read(page(world, run))


def test_a_run_with_a_thousand_calls_and_more_can_be_forced_and_is_asked_about_in_parts(world):
    run = world.run("", *(call(f"c{n}", "send_email") for n in range(1_100)))
    client = world.visit("support")
    shown = client.get(world.at(f"runs/{run.id}/"))
    asked = [form for form in forms_of(shown) if form.action.endswith("/resolve-call")]
    assert [form.fields["target"] for form in asked] == [[f"c{n}"] for n in range(50)]
    assert "1,050 more calls without an answer; settle these first." in Read(shown)
    send(client, asked[0], resolution="happened", reason=REASON)
    shown = client.get(world.at(f"runs/{run.id}/"))
    asked = [form for form in forms_of(shown) if form.action.endswith("/resolve-call")]
    assert [form.fields["target"] for form in asked] == [[f"c{n}"] for n in range(1, 51)]
    form = form_of(shown, "/force")
    answered = send(client, form, ack=form.ticks["ack"], ack_unknown="1", reason=REASON)
    assert answered.status_code == 303
    assert kinds(world) == ["resolve_run", "force_replay"]


def test_who_decided_it_before_is_told_that_it_was_themselves(world):
    run = dead(world)
    client = world.visit("support")
    stale = form_of(client.get(world.at(f"runs/{run.id}/")), "/force")
    send(client, form_of(client.get(world.at(f"runs/{run.id}/")), "/dismiss"), reason=REASON)
    read = Read(send(client, stale, ack=stale.ticks["ack"], reason=REASON))
    assert "You already decided this" in read and "was first" not in read
