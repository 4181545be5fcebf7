"""A process that is frozen at a fault point until its lease is over, and woken again after the world went on.

Until it is woken nobody can tell it from a dead one; what it does then has to be nothing at all.
"""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings

import approvals
from approvals import faults
from approvals.db.binding import bind
from approvals.models import Campaign, Decision, Delivery, Job
from approvals.services import deliveries, runs
from tests.faults.lab import ADA, LEASE_S, Lab
from tests.servers.http import Answer, HttpServer
from tests.servers.smtp import SmtpSink

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]

RECIPIENTS = 3
# What a worker leaves behind at each of its points: (in doubt, started or sent without a person's doing more).
LEAVES = {
    "replay.claimed": (0, 1),
    "replay.intent": (1, 0),
    "replay.called": (1, 1),
    "replay.settled": (0, 1),
    "send.claimed": (0, RECIPIENTS),
    "send.intent": (1, RECIPIENTS - 1),
    "send.handed_over": (1, RECIPIENTS),
    "send.settled": (1, RECIPIENTS - 1),  # the same commit had begun the next one
    "send.batch_done": (0, RECIPIENTS),
    "test.claimed": (0, 1),
    "test.intent": (1, 0),
    "test.handed_over": (1, 1),
    "test.settled": (0, 1),
}
DOUBTS = [point for point, (in_doubt, _) in LEAVES.items() if in_doubt]
OTHERS = {  # below, in test_processes, test_streaming, test_observing, test_import, test_called and test_callbacks
    *("decide.before_commit", "dispatch.published"),
    *("observe.claimed", "observe.taken", "observe.read"),
    *("import.claimed", "import.counted", "import.stored"),
    *("propose.before_commit", "propose.settled"),
    *("callback.claimed", "callback.called", "callback.settled"),
    *("stream.opened", "stream.heard", "stream.ended", "stream.settled"),
}


@pytest.fixture
def runtime() -> Iterator[HttpServer]:
    with HttpServer([Answer(202)] * 9) as server:
        yield server


@pytest.fixture
def sink() -> Iterator[SmtpSink]:
    with SmtpSink() as server:
        yield server


@pytest.fixture
def lab(process_env: dict[str, str], runtime: HttpServer, sink: SmtpSink) -> Lab:
    lab = Lab({**process_env, "EMAIL_URL": f"smtp://127.0.0.1:{sink.port}"}, base_url=runtime.url)
    lab.env["LEASE_S"] = "30"  # of those who are not frozen, however busy the machine is
    return lab


@pytest.fixture
def effects(runtime: HttpServer, sink: SmtpSink) -> Callable[[], int]:
    """How much has happened outside so far."""
    return lambda: len(runtime.requests) + len(sink.recipients)


def test_every_point_of_the_code_is_frozen_and_killed_somewhere() -> None:
    code = (path.read_text() for path in Path(approvals.__file__).parent.rglob("*.py"))
    written = {name.strip('"') for text in code for name in re.findall(r"faults\.point\((.*)\)", text)}
    assert written == faults.NAMES == LEAVES.keys() | OTHERS
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert not [
        name for name in faults.NAMES if f'fault="{name}"' not in tests and f'("{name}", ' not in tests
    ]


@pytest.mark.parametrize("point", LEAVES)
def test_woken_after_others_went_on_it_changes_nothing(
    point: str, lab: Lab, effects: Callable[[], int]
) -> None:
    in_doubt, happened = LEAVES[point]
    with lab.frozen_work(released(lab, point), at=point) as worker:
        lab.pass_lease()
        lab.work_until_quiet()
        before = lab.rows()
        assert (doubts(lab), effects()) == (in_doubt, happened)
        assert lab.wake(worker) == 0, lab.said
        assert lab.rows() == before
    lab.work_until_quiet()
    assert (doubts(lab), effects()) == (in_doubt, happened)


@pytest.mark.parametrize("point", DOUBTS)
def test_woken_after_a_person_let_it_be_done_again_it_changes_nothing(
    point: str, lab: Lab, effects: Callable[[], int]
) -> None:
    _, happened = LEAVES[point]
    with lab.frozen_work(released(lab, point), at=point) as worker:
        lab.pass_lease()
        lab.work_until_quiet()
        do_again(lab, point)
        lab.work_until_quiet()
        before = lab.rows()
        left = 1 if point.startswith("test") else 0  # of a test in doubt nobody has to say anything
        assert (doubts(lab), effects(), lab.releases()) == (left, happened + 1, 2)
        assert lab.wake(worker) == 0, lab.said
        assert lab.rows() == before
    lab.work_until_quiet()
    assert effects() == happened + 1


@pytest.mark.parametrize(
    "point",
    ["replay.claimed", "replay.intent", "send.claimed", "send.intent", "test.claimed", "test.intent"],
)
def test_woken_before_anybody_noticed_it_still_begins_nothing(
    point: str, lab: Lab, effects: Callable[[], int]
) -> None:
    job = released(lab, point)
    with lab.frozen_work(job, at=point) as worker:
        time.sleep(LEASE_S + 0.2)
        assert lab.wake(worker) == 0, lab.said
    assert effects() == 0
    assert doubts(lab) == 0  # it knows that nothing happened, and says so
    lab.sweep()
    job = lab.read(lambda: Job.objects.get(id=job.id))
    assert job.status == ("failed" if point in ("replay.intent", "test.intent") else "queued"), job.outcome
    assert "mail server" not in job.outcome
    # A recipient who was tried waits for a while like any other; the rest goes on at once.
    lab.work_until_quiet()
    assert effects() == {
        "replay.claimed": 1, "send.claimed": RECIPIENTS, "send.intent": RECIPIENTS - 1, "test.claimed": 1,
    }.get(point, 0)  # fmt: skip


@pytest.mark.parametrize("noun", ["run", "campaign"])
def test_whoever_freezes_while_deciding_stops_the_others_for_a_moment_only(noun: str, lab: Lab) -> None:
    lab.env["IDLE_IN_TRANSACTION_S"] = "2"
    about = lab.dead_run() if noun == "run" else lab.pending_campaign(RECIPIENTS)
    other = lab.dead_run("run-2")
    with lab.frozen_decision(about, at="decide.before_commit") as frozen:
        lab.decides(other)  # the log of the workspace is free again, so this comes back
        decision = lab.decides(about)
        assert lab.wake(frozen) != 0
        assert "terminating connection due to idle-in-transaction timeout" in lab.said
    decided = lab.read(lambda: list(Decision.objects.filter(target_id=about.id).values_list("id", flat=True)))
    assert decided == [decision.id]
    assert lab.releases() == lab.read(Job.objects.count) == 2


def test_nobody_of_ours_rests_in_a_transaction_for_ever() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("show idle_in_transaction_session_timeout")
        assert cursor.fetchone() == (f"{settings.IDLE_IN_TRANSACTION_S}s",)


def released(lab: Lab, point: str) -> Job:
    """The job of a decision of the kind that this point is about."""
    if point.startswith("replay"):
        return lab.forced(lab.dead_run()).job
    if point.startswith("test"):
        return lab.asked_for_a_test(lab.pending_campaign(RECIPIENTS))
    campaign = lab.approved_campaign(RECIPIENTS)
    return lab.read(lambda: Job.objects.get(campaign=campaign))


def doubts(lab: Lab) -> int:
    """How many effects wait for a person to say whether they happened."""
    jobs = lab.read(Job.objects.filter(status="in_doubt").count)
    return jobs + lab.read(Delivery.objects.filter(state="in_doubt").count)


def do_again(lab: Lab, point: str) -> None:
    """A person lets what is in doubt be done again; of a test they simply ask for another."""
    if point.startswith("test"):
        lab.asked_for_a_test(lab.read(Campaign.objects.get))
        return
    given = {"by": ADA, "resolution": "do_again", "reason": "nobody has heard of it"}
    if point.startswith("replay"):
        job = lab.read(lambda: Job.objects.select_related("run").get(status="in_doubt"))
        shown = lab.shown(job.run)
        with bind(lab.workspace_id):
            runs.resolve_job(job_id=job.id, shown=shown, **given)
    else:
        lost = lab.read(lambda: Delivery.objects.get(state="in_doubt"))
        with bind(lab.workspace_id):
            deliveries.resolve(delivery_id=lost.id, shown=lab.shown_campaign(), **given)
