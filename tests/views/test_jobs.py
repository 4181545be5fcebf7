"""The fragment that follows a job: where it is, in words, and never done before it is."""

import pytest
from django.db.models.functions import Now

from approvals.models import Job
from approvals.services import jobs
from tests.views.forms import form_of, send
from tests.views.reading import Read
from tests.world import World, call, ended, said

REASON = "The provider says that no mail went out."


@pytest.fixture
def started(world):
    """A forced replay that is queued."""
    return world.forced(world.run("refund-8841", call("c1", "send_email")))


def progress(world, job, role="support"):
    return world.visit(role).get(world.at(f"jobs/{job.id}/"), HTTP_HX_REQUEST="true")


def polls(answered):
    return "hx-get" in answered.content.decode()


def test_it_is_queued_then_handed_to_a_worker_then_accepted_and_done_only_at_the_end(world, started):
    said_so = []

    def look():
        answered = progress(world, started.job)
        read = Read(answered)
        said_so.append(read.text.split("  ")[0])
        return read, polls(answered)

    read, moving = look()
    assert "Queued" in read and "It waits for a worker." in read and moving
    with world.bound():
        assert jobs.claim(job_id=started.job.id, task_id="task-77")
    read, moving = look()
    assert "Handed to a worker" in read and "Task task-77" in read and moving
    world.handed_over(started)
    read, moving = look()
    assert "Accepted, running" in read and moving
    world.report(started.run, said("At it."), ended("completed"))
    read, moving = look()
    assert "Accepted, running" in read and moving, "not done before the job is"
    with world.bound():
        assert jobs.follow(job_id=started.job.id) == "done"
    read, moving = look()
    assert "Done" in read and "The new run completed." in read and not moving


@pytest.mark.parametrize(
    ("status", "outcome", "words"),
    [
        ("failed", "404: no such agent", "Failed"),
        ("in_doubt", "The connection was reset.", "In doubt"),
    ],
)
def test_an_end_that_is_none_is_never_called_done(world, started, status, outcome, words):
    world.settled(started.job, status, outcome)
    answered = progress(world, started.job)
    assert words in Read(answered) and outcome in Read(answered)
    assert "Done" not in Read(answered) and not polls(answered)


def test_what_nobody_has_taken_for_too_long_is_an_alarm(world, started, settings):
    settings.OVERDUE_S = -1
    assert "No worker has taken it for" in Read(progress(world, started.job))


def test_the_form_to_take_it_back_hides_itself_once_it_is_too_late(world, started):
    assert "data-cancellable" in progress(world, started.job).content.decode()
    with world.bound():
        Job.objects.filter(id=started.job.id).update(status="running", fence=1, lease_until=Now())
    assert "data-cancellable" not in progress(world, started.job).content.decode()


def test_taking_it_back_too_late_is_refused_in_words(world, started):
    client = world.visit("support")
    form = form_of(client.get(world.at(f"runs/{started.run.replay_of_id}/")), "/cancel")
    with world.bound():
        jobs.claim(job_id=started.job.id, task_id="t")
    answered = send(client, form)
    assert answered.status_code == 409
    assert "A worker already has this replay" in Read(answered)


def of_page(world, job, seen, page):
    url = world.at(f"jobs/{job.id}/?seen={seen}")
    headers = {"HTTP_HX_REQUEST": "true", "HTTP_HX_CURRENT_URL": f"http://testserver{page}"}
    return Read(world.visit("support").get(url, **headers))


def test_once_it_ended_the_card_says_that_the_rest_of_the_page_is_old(world, started):
    page = world.at(f"runs/{started.job.run_id}/") + "?back=tab%3Dprogress"
    assert "Reload the page" not in of_page(world, started.job, "queued", page)
    world.settled(started.job, "failed", "The runtime refused it.")

    read = of_page(world, started.job, "queued", page)

    assert "This page shows what was before." in read
    assert read.links["Reload the page"] == page
    assert "Reload the page" not in of_page(world, started.job, "failed", page), "that page shows the end"


def test_the_answer_to_a_form_has_no_address_so_the_page_of_its_run_is_loaded(world, started):
    world.settled(started.job, "failed", "The runtime refused it.")
    read = of_page(world, started.job, "queued", world.at(f"runs/{started.run.id}/force"))
    assert read.links["Reload the page"].startswith(world.at("runs/"))
    assert not read.links["Reload the page"].endswith("force")


@pytest.mark.parametrize("role", ["support", "reviewer", "manager", "admin"])
def test_everybody_may_follow_it(world, started, role):
    assert progress(world, started.job, role).status_code == 200


@pytest.mark.parametrize("act", ["cancel", "resolve"])
def test_only_support_decides_about_it(world, started, act):
    answered = world.visit("reviewer").post(world.at(f"jobs/{started.job.id}/{act}"))
    assert answered.status_code == 403 and "role support" in Read(answered)


@pytest.mark.parametrize("act", ["", "cancel", "resolve"])
def test_another_workspaces_job_is_the_same_404_as_an_unknown_one(world, act):
    other = World.create("Southwind")
    theirs = other.forced(other.run("x", call("c1", "send_email"))).job
    client = world.visit("support")
    for id in (theirs.id, "00000000-0000-4000-8000-000000000000"):
        ask = client.post if act else client.get
        assert ask(world.at(f"jobs/{id}/{act}")).status_code == 404


@pytest.mark.parametrize("act", ["cancel", "resolve"])
def test_a_get_decides_nothing(world, started, act):
    assert world.visit("support").get(world.at(f"jobs/{started.job.id}/{act}")).status_code == 405


@pytest.mark.parametrize("act", ["cancel", "resolve"])
def test_a_form_that_the_page_never_made_is_refused(world, started, act):
    client = world.visit("support")
    for value in ("", "\0", "x" * 10_000):
        answered = client.post(world.at(f"jobs/{started.job.id}/{act}"), {"shown": value, "reason": REASON})
        assert answered.status_code == 422


def test_a_job_that_sends_is_no_replay(world):
    campaign = world.campaign()
    world.approved(campaign)
    job = world.read(lambda: Job.objects.get(campaign_id=campaign.id))
    assert "It waits for a worker." in Read(progress(world, job))
    from dashboard.forms.shown import pack

    shown = pack(target=job.id, user_id=str(world.people["support"].pk), digest="0" * 64)
    for act in ("cancel", "resolve"):
        answered = world.visit("support").post(world.at(f"jobs/{job.id}/{act}"), {"shown": shown})
        assert answered.status_code == 404
