"""Erasing somebody while others are at it: what was begun before is waited for and then erased too, or not begun."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import psycopg
import pytest
from django.db import connections, transaction
from django.utils import timezone

from approvals.db.binding import bind
from approvals.exceptions import Conflict
from approvals.models import AudienceRow, Campaign, Dataset, Delivery, Job, Version
from approvals.rules.addresses import Mailbox, check_address
from approvals.services import datasets, decisions, erasure, filling, jobs, rounds, sending, trials
from approvals.services.datasets import Upload
from approvals.tasks import imports
from tests.house import OPERATOR
from tests.shared import as_owner

__all__ = ["as_owner"]

ANN = "ann@example.com"
WAITING = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"


@pytest.fixture(autouse=True)
def files(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)


@pytest.fixture
def erasing(world, as_owner, servers, database):
    """Begin to erase in another connection; goes on once somebody waits for a lock, or `until` says so."""

    def erase():
        try:
            with as_owner(), bind(world.workspace.id):
                return erasure.erase(by=OPERATOR, subject=ANN, reason="Asked for.")[0]
        finally:
            connections.close_all()

    with (
        ThreadPoolExecutor(1) as pool,
        psycopg.connect(servers.postgres.dsn(database=database), autocommit=True) as watch,
    ):

        def somebody_waits():
            return watch.execute(WAITING).fetchone() is not None

        def begun(until=somebody_waits):
            done = pool.submit(erase)
            _wait(lambda: done.done() or until())
            return done

        begun.somebody_waits = somebody_waits
        yield begun


def _wait(until):
    while not until():
        time.sleep(0.01)


def a_list(world):
    with bind(world.workspace.id):
        upload = Upload(name="list.csv", pieces=[b"email\nann@example.com\nbob@example.com\n"])
        dataset, _ = datasets.receive(by=world.actor("reviewer"), upload=upload)
        imports.execute.run(str(dataset.id))
    return world.read(lambda: Dataset.objects.get(id=dataset.id))


def test_who_is_just_being_put_into_an_audience_is_erased_there_too(world, erasing):
    dataset = a_list(world)
    with bind(world.workspace.id), transaction.atomic():
        campaign = Campaign.objects.create(
            workspace_id=world.workspace.id, external_id="c", agent="a", name="Spring"
        )
        version = Version.objects.create(
            workspace_id=world.workspace.id, campaign_id=campaign.id, number=1, from_address="", subject_line="",
            text="",
        )  # fmt: skip
        sender = Mailbox("", check_address("a@shop.example"))
        filling.fill(version, dataset_id=dataset.id, where=None, agent="a", sender=sender)
        Version.objects.filter(id=version.id).update(digest="d", sealed_at=timezone.now())
        done = erasing()
        assert not done.done(), "it waits for whoever holds the list"
    found = done.result()
    assert (found.list_rows, found.recipients, found.addresses) == (1, 1, 1)
    rows = world.read(lambda: [row.email for row in AudienceRow.objects.order_by("position")])
    states = world.read(lambda: [(d.state, d.address) for d in Delivery.objects.order_by("position")])
    assert rows == ["", "bob@example.com"]
    assert states == [("skipped", ""), ("planned", "bob@example.com")]


def test_a_message_that_begins_meanwhile_is_waited_for_and_keeps_everything(world, erasing):
    campaign = world.campaign(recipients=[ANN])
    world.approved(campaign)
    with bind(world.workspace.id):
        held = jobs.claim(job_id=world.read(Job.objects.get).id, task_id="t")
        sealed = sending.begin(held=held)
        wanted = rounds.upcoming(held=held, sealed=sealed, after=-1, at_most=1)
        with transaction.atomic():
            assert rounds.settle_and_open(held, sealed, [], wanted)[2]
            done = erasing()
            assert not done.done(), "it waits for the round"
    with pytest.raises(Conflict, match="is being sent at this moment"):
        done.result()
    assert world.read(AudienceRow.objects.get).email == ANN


def test_a_test_that_begins_to_leave_meanwhile_is_waited_for_too(world, erasing):
    campaign = world.campaign(recipients=[ANN])
    ann = world.read(Delivery.objects.get)
    with bind(world.workspace.id):
        trials.send_test(by=world.actor("reviewer"), delivery_id=ann.id, shown=world.shown(campaign))
        held = jobs.claim(job_id=world.read(Job.objects.get).id, task_id="t")
        assert trials.prepare(held=held)
        with transaction.atomic():
            assert trials.state_intent(held=held)
            done = erasing()
            assert not done.done(), "it waits for the worker"
    with pytest.raises(Conflict, match="is being sent at this moment"):
        done.result()
    assert world.read(AudienceRow.objects.get).email == ANN


def test_a_test_that_is_about_to_leave_while_they_are_erased_does_not(world, erasing, monkeypatch):
    world.campaign(recipients=[ANN])
    ann = world.read(Delivery.objects.get)
    inside, real = Event(), decisions.record

    def once_somebody_waits(**entry):
        inside.set()
        _wait(erasing.somebody_waits)
        return real(**entry)

    with bind(world.workspace.id):
        shown = world.shown(world.read(Campaign.objects.get))
        trials.send_test(by=world.actor("reviewer"), delivery_id=ann.id, shown=shown)
        held = jobs.claim(job_id=world.read(Job.objects.get).id, task_id="t")
        assert trials.prepare(held=held)
        monkeypatch.setattr(erasure.decisions, "record", once_somebody_waits)
        done = erasing(until=inside.is_set)
        monkeypatch.setattr(erasure.decisions, "record", real)
        assert trials.state_intent(held=held) is False
    assert done.result().recipients == 1
    assert world.read(Job.objects.get).status == "failed"
