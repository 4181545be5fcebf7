"""A backup is taken, the database is lost, and its copy opens with everything paused: the whole way, with pg_dump and
pg_restore, and the commands as README.md gives them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from approvals import sql
from approvals.db.binding import bind
from approvals.models import Campaign, Decision, Delivery, Job, QueueItem
from approvals.services import jobs, pauses, sending, sweep
from tests import cluster
from tests.cluster import TestServers
from tests.servers.http import Answer, HttpServer
from tests.servers.smtp import SmtpSink
from tests.services import sends
from tests.world import World, call

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]

Env = dict[str, str]
TAKEN = "2026-05-04T13:30"
COPY = "restored_copy"
PASSWORD = "backup-of-tests"
SENTENCE = (
    "This database was restored from a backup, copied, or failed over: run `python3 manage.py restored`"
)


@dataclass
class Desk:
    """A workspace in the middle of its work when the backup was taken."""

    world: World
    replay: Job
    held: Campaign
    half: Campaign


def manage(env: Env, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *words], env=env, cwd=settings.BASE_DIR, capture_output=True, text=True,
        check=False, timeout=60,
    )  # fmt: skip


def pg(servers: TestServers, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [servers.postgres.programs / program, *words], env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


@pytest.fixture
def backup_url(servers: TestServers) -> Iterator[str]:
    """Where the documented backup role reaches this test's database."""
    database = cluster.database_in_use()
    role = f"{servers.cluster.prefix}_backup"
    with psycopg.connect(servers.postgres.dsn(database=database), autocommit=True) as admin:
        admin.execute(sql.read("backup.sql", prefix=servers.cluster.prefix).encode())
        admin.execute(f"alter role {role} password '{PASSWORD}'".encode())
        yield servers.postgres.dsn(role, PASSWORD, database)
        admin.execute(f"drop owned by {role}".encode())
        admin.execute(f"drop role {role}".encode())


@pytest.fixture
def desk() -> Desk:
    """A replay that waits for a worker, an approval that is held, and a campaign of which one message is sent and one
    under way."""
    world = World.create("Acme", hold_s=600)
    started = world.forced(world.run("refund-1", call("c1", "send_email")))
    held = world.campaign("Held", ["ann@example.com"])
    world.approved(held)
    half = world.campaign("Half", [f"p{n}@example.com" for n in range(1, 5)])
    world.approved(half)
    with bind(world.workspace.id):
        with transaction.atomic():
            Job.objects.filter(campaign_id=half.id).update(status="queued", due_at=Now())
            job = Job.objects.get(campaign_id=half.id)
        claim = jobs.claim(job_id=job.id, task_id="t")
        assert claim
        sealed = sending.begin(held=claim)
        assert sealed
        first = sends.next_intent(held=claim, sealed=sealed)
        assert first and sends.settle(held=claim, intent=first, state="sent", reply="250 ok")
        assert sends.next_intent(held=claim, sealed=sealed)
    return Desk(world, started.job, held, half)


@pytest.fixture
def dump(servers: TestServers, backup_url: str, desk: Desk, tmp_path: Path) -> Path:
    """A backup, taken as README.md says."""
    del desk
    file = tmp_path / "secondlook.dump"
    done = pg(servers, "pg_dump", "--format=custom", f"--file={file}", backup_url)
    assert done.returncode == 0, done.stderr
    return file


@pytest.fixture
def copy(servers: TestServers, dump: Path) -> Iterator[Env]:
    """The backup, restored into another place; the environment of a process of ours there, owner's URL included."""
    servers.cluster.create_database(COPY)
    here = servers.postgres.dsn(database=COPY)
    restore = ("--exit-on-error", "--single-transaction", f"--dbname={here}", str(dump))
    done = pg(servers, "pg_restore", *restore)
    assert done.returncode == 0, done.stderr
    yield servers.environment(COPY, owner=True)
    servers.cluster.drop_database(COPY)


@pytest.fixture
def there(servers: TestServers, copy: Env) -> Iterator[None]:
    """This process works on the copy too."""
    del copy
    original = cluster.database_in_use()
    cluster.point_at(servers, COPY)
    yield
    cluster.point_at(servers, original)


def work(env: Env, desk: Desk, job: Job) -> None:
    """What a worker does that is woken for this job."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.worker", job.kind, str(job.id), str(desk.world.workspace.id)],
        env=env, cwd=settings.BASE_DIR, timeout=60, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def dispatch_and_work(env: Env, desk: Desk) -> None:
    """A round of the dispatcher, and workers that are woken for every job, due or not."""
    for item in sweep.due(at_most=100):
        if item.what != "wake":
            sweep.step(item)
    for job in desk.world.read(lambda: list(Job.objects.order_by("created_at"))):
        work(env, desk, job)


def test_owner_cannot_take_a_backup_and_says_so(servers: TestServers, tmp_path: Path) -> None:
    """README.md asks for a role of its own because of this."""
    url = servers.cluster.url("owner", cluster.database_in_use())
    done = pg(servers, "pg_dump", "--format=custom", f"--file={tmp_path / 'x'}", url)
    assert done.returncode != 0
    assert "row-level security" in done.stderr


def test_the_copy_does_nothing_until_somebody_says_that_it_is_the_real_one(copy: Env) -> None:
    doctor = manage(copy, "doctor")
    assert doctor.returncode == 1
    assert doctor.stderr.strip() == "1 of 17 guards do not hold: place."
    assert SENTENCE in doctor.stdout
    for words in (("dispatch",), ("shell", "-c", "import dashboard.wsgi")):
        started = manage(copy, *words)
        assert started.returncode != 0 and SENTENCE in started.stderr, words


def test_A19_everything_opens_paused_and_a_person_lets_exactly_the_rest_go_on(
    servers: TestServers, copy: Env, there: None, desk: Desk
) -> None:
    world = desk.world
    said = manage(copy, "restored", "--taken-at", TAKEN, "--yes")
    assert said.returncode == 0, said.stderr
    slug = world.workspace.slug
    assert f"{slug}: paused: replays 1, sendings 2; in doubt: replays 0, messages 1." in said.stdout
    doctor = manage(copy, "doctor")
    assert doctor.returncode == 0, doctor.stdout

    statuses = world.read(lambda: set(Job.objects.values_list("status", flat=True)))
    items = world.read(lambda: set(QueueItem.objects.values_list("title", "tab", "state")))
    assert statuses == {"paused"}
    assert items == {(title, "decide", "paused") for title in ("refund-1", "Held", "Half")}
    assert states(world, desk.half) == ["sent", "in_doubt", "planned", "planned"]
    assert world.read(lambda: Decision.objects.filter(kind="restored").count()) == 1

    with SmtpSink() as mail, HttpServer([Answer()] * 3) as runtime:
        env = copy | {"EMAIL_URL": f"smtp://127.0.0.1:{mail.port}"}
        with psycopg.connect(servers.postgres.dsn(database=COPY), autocommit=True) as admin:
            admin.execute("update approvals_runtime set base_url = %s", [runtime.url])
        dispatch_and_work(env, desk)
        assert (mail.recipients, runtime.requests) == ([], [])

        job = world.read(lambda: Job.objects.get(campaign_id=desk.half.id))
        with bind(world.workspace.id):
            pauses.resume_send(by=world.actor("reviewer"), job_id=job.id, shown=world.shown(desk.half))
        dispatch_and_work(env, desk)
        assert sorted(mail.recipients) == ["p3@example.com", "p4@example.com"]
        assert states(world, desk.half) == ["sent", "in_doubt", "sent", "sent"]
        assert runtime.requests == []
        resumed = manage(copy, "restored", "--yes")
        assert "This database was not moved." in resumed.stdout


def states(world: World, campaign: Campaign) -> list[str]:
    rows = Delivery.objects.filter(campaign_id=campaign.id).order_by("position")
    return world.read(lambda: list(rows.values_list("state", flat=True)))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--taken-at", "yesterday"), "--taken-at needs a time such as 2026-05-04T13:30, not 'yesterday'."),
        (("--taken-at", "2999-01-01"), "--taken-at lies in the future."),
        ((), "Nobody can be asked here; say --yes if you mean it."),
    ],
)
def test_what_is_wrong_is_one_sentence(servers: TestServers, words: tuple[str, ...], sentence: str) -> None:
    env = servers.environment(cluster.database_in_use(), owner=True)
    done = subprocess.run(
        [sys.executable, "manage.py", "restored", *words], env=env, cwd=settings.BASE_DIR, capture_output=True,
        text=True, check=False, timeout=60, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert (done.returncode, done.stderr.strip()) == (1, sentence)


def test_without_the_owners_url_it_says_what_is_missing(process_env: Env) -> None:
    done = manage(process_env, "restored", "--yes")
    assert (done.returncode, done.stderr.strip()) == (
        1,
        "Set OWNER_DATABASE_URL: only the owner of the tables may do this.",
    )
