"""The progress of a job in words: never done before it is."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from approvals.selectors.job_progress import Progress
from dashboard.presenters.build_job import job_progress
from dashboard.presenters.parts import JobProgress
from dashboard.presenters.places import Places

NOW = datetime(2025, 11, 29, 17, 25, tzinfo=UTC)
QUEUED = Progress(
    id=uuid4(), decision_id=uuid4(), kind="replay", status="queued", outcome="", task_id="", now=NOW,
    created_at=NOW - timedelta(seconds=20), due_at=NOW - timedelta(seconds=20), queued_at=None, claimed_at=None,
    accepted_at=None, finished_at=None, run_id=None, run_name="", run_status="", campaign_id=None, campaign_name="",
    delivery_id=None,
)  # fmt: skip
CLAIMED = replace(QUEUED, status="running", claimed_at=NOW - timedelta(seconds=5))
ENDED = replace(CLAIMED, finished_at=NOW)


def shown(progress: Progress) -> JobProgress:
    return job_progress(progress, places=Places("w"), overdue_s=120)


@pytest.mark.parametrize(
    ("progress", "stages"),
    [
        (replace(QUEUED, status="held"), "Decided Held* (Queued) (Started) (Done)"),
        (QUEUED, "Decided Queued* (Started) (Done)"),
        (replace(QUEUED, queued_at=NOW), "Decided Held Queued* (Started) (Done)"),
        (CLAIMED, "Decided Queued Started* (Done)"),
        (replace(ENDED, status="done"), "Decided Queued Started Done"),
        (replace(ENDED, status="failed"), "Decided Queued Started Failed"),
        (replace(ENDED, status="in_doubt"), "Decided Queued Started In doubt"),
        (replace(QUEUED, status="cancelled"), "Decided Queued Taken back"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.status,
)
def test_the_stations_of_a_job(progress: Progress, stages: str) -> None:
    marks = {"past": "{}", "now": "{}*", "ahead": "({})"}
    assert " ".join(marks[stage.place].format(stage.text) for stage in shown(progress).stages) == stages


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (replace(QUEUED, status="held"), "It is held for a moment, so that it can be taken back."),
        (QUEUED, "It waits for a worker."),
        (replace(QUEUED, claimed_at=NOW), "It waits to go on."),
        (CLAIMED, "A worker hands it to the runtime."),
        (replace(CLAIMED, accepted_at=NOW), "The runtime took it; the new run goes on."),
        (replace(CLAIMED, kind="send"), "It is being sent."),
        (replace(ENDED, status="done", outcome="37 sent."), "37 sent."),
        (replace(ENDED, status="failed"), "Failed."),
    ],
)
def test_where_it_stands_in_words(progress: Progress, text: str) -> None:
    assert shown(progress).text == text


def test_it_moves_and_can_be_taken_back_until_a_worker_has_it() -> None:
    def told(progress: Progress) -> tuple[bool, bool]:
        return shown(progress).moving, shown(progress).cancellable

    assert told(QUEUED) == (True, True)
    assert told(replace(QUEUED, status="held")) == (True, True)
    assert told(CLAIMED) == (True, False)
    assert told(replace(QUEUED, claimed_at=NOW)) == (True, True)
    assert told(replace(QUEUED, claimed_at=NOW, kind="send")) == (True, False)
    assert told(replace(ENDED, status="done")) == (False, False)


def test_waiting_too_long_for_a_worker_is_an_alarm() -> None:
    assert shown(QUEUED).alarm == ""
    late = replace(QUEUED, due_at=NOW - timedelta(minutes=4))
    assert shown(late).alarm == "No worker has taken it for 4 min. Tell whoever runs this desk."
    assert shown(replace(late, status="running")).alarm == ""


def test_it_leads_to_what_it_made() -> None:
    run_id, campaign_id = uuid4(), uuid4()
    replay = shown(replace(QUEUED, run_id=run_id, run_name="<b>#2"))
    send = shown(replace(QUEUED, kind="send", campaign_id=campaign_id, campaign_name="Winter"))

    taken_back = replace(QUEUED, status="cancelled", run_id=run_id, run_name="#2", run_status="cancelled")
    assert shown(taken_back).result is None
    assert replay.result and (str(replay.result.text), replay.result.url) == (
        "The new run: &lt;b&gt;#2",
        f"/w/w/runs/{run_id}/",
    )
    assert send.result and send.result.url == f"/w/w/campaigns/{campaign_id}/"
