"""What /readyz has to say about each thing that can be wrong, and how long it takes to say it."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from datetime import timedelta

import psycopg
import pytest
from django.db import connections, transaction
from django.db.models.functions import Now
from pytest_django import Settings

from approvals.db.binding import bind
from approvals.models import Beat, Job, Observation
from approvals.services import guards, health
from tests import house

SLACK_S = 1.0  # for a busy machine

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "ingest"])


@pytest.fixture(autouse=True)
def _nothing_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_guards_held_until", 0.0)


def beat(name: str, *, ago_s: float = 0, **detail: str) -> None:
    Beat.objects.bulk_create(
        [Beat(name=name, at=Now() - timedelta(seconds=ago_s), detail=json.dumps(detail))],
        update_conflicts=True, unique_fields=["name"], update_fields=["at", "detail"],
    )  # fmt: skip


def troubled(home: house.House, *, ago_s: float | None) -> None:
    """The store of this house could not be read for so long; None: it can be."""
    since = None if ago_s is None else Now() - timedelta(seconds=ago_s)
    with bind(home.workspace), transaction.atomic():
        Observation.objects.update(troubled_since=since, trouble="" if since is None else "No answer.")


@pytest.fixture
def alive() -> None:
    """Every process was heard from just now."""
    beat("dispatcher", broker="ok")
    beat("worker-replay")
    beat("worker-send")
    beat("worker-import")


@pytest.mark.usefixtures("alive")
class TestReady:
    def test_when_everything_was_heard_from(self) -> None:
        assert health.readiness() == health.Readiness([])
        assert health.readiness().ready

    def test_leaves_no_connection_behind(self, connect_as: Callable[[str], psycopg.Connection]) -> None:
        for alias in guards.ALIASES:
            connections[alias].close()
        watching = connect_as("superuser")
        health.readiness()
        for _ in range(50):
            sessions = watching.execute(
                "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
            ).fetchone()
            if sessions == (0,):
                return
            time.sleep(0.05)
        raise AssertionError("a connection stayed open")

    def test_the_guards_are_not_asked_again_for_a_while(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[bool] = []
        examine = guards.examine
        monkeypatch.setattr(guards, "examine", lambda *, probe: asked.append(probe) or examine(probe=probe))
        health.look()
        health.look()
        assert asked == [False]


@pytest.mark.usefixtures("alive")
class TestNotReady:
    @pytest.mark.parametrize(
        ("process", "words"),
        [
            ("dispatcher", "the dispatcher (`manage.py dispatch`)"),
            ("worker-replay", "a worker of the queue replay"),
            ("worker-send", "a worker of the queue send"),
            ("worker-import", "a worker of the queue import"),
        ],
    )
    def test_when_a_process_went_silent(self, process: str, words: str) -> None:
        beat(process, ago_s=40, broker="ok")
        assert health.readiness().reasons == [f"Nothing was heard from {words} for 40 seconds."]

    def test_when_the_broker_does_not_answer(self) -> None:
        beat("dispatcher", broker="The broker does not answer: TimeoutError.")
        assert health.readiness().reasons == ["The broker does not answer: TimeoutError."]

    @pytest.mark.parametrize("detail", ["", "{}", "[]", "ok", "null"])
    def test_when_the_dispatcher_says_nothing_of_the_broker(self, detail: str) -> None:
        Beat.objects.filter(name="dispatcher").update(detail=detail)
        assert health.readiness().reasons == ["The dispatcher does not say whether the broker answers."]

    def test_when_an_approved_job_is_not_taken_up(self, settings: Settings) -> None:
        home = house.build("alpha")
        beat("worker-observe")
        with bind(home.workspace), transaction.atomic():
            Job.objects.filter(id=home.job).update(due_at=Now() - timedelta(seconds=90))
        settings.OVERDUE_S = 120
        assert health.readiness().ready
        settings.OVERDUE_S = 60
        assert health.readiness().reasons == [
            "1 approved job was not taken up by any worker for more than 60 seconds."
        ]

    def test_when_nobody_reads_the_store_of_a_runtime_that_is_to_be_read(self) -> None:
        house.build("alpha")
        assert health.readiness().reasons == ["Nothing was ever heard from a worker of the queue observe."]
        beat("worker-observe", ago_s=40)
        assert health.readiness().reasons == [
            "Nothing was heard from a worker of the queue observe for 40 seconds."
        ]
        beat("worker-observe")
        assert health.readiness().ready

    def test_when_stores_cannot_be_read_for_five_minutes_and_without_their_names(self) -> None:
        homes = [house.build("alpha"), house.build("beta")]
        beat("worker-observe")
        for number, home in enumerate(homes):
            troubled(home, ago_s=299)
            assert len(health.readiness().reasons) == min(number, 1)
            troubled(home, ago_s=301)
        assert health.readiness().reasons == [
            "The stores of 2 runtimes cannot be read for more than 300 seconds; the Setup page says why."
        ]
        troubled(homes[0], ago_s=None)
        assert health.readiness().reasons == [
            "The store of 1 runtime cannot be read for more than 300 seconds; the Setup page says why."
        ]

    def test_when_a_guard_is_broken_and_without_its_details(
        self, connect_as: Callable[[str], psycopg.Connection]
    ) -> None:
        owner = connect_as("superuser")
        owner.execute("alter table approvals_event disable trigger event_append_only")
        assert health.readiness().reasons == [
            'The guard "triggers" does not hold; `manage.py doctor` says why.'
        ]
        owner.execute("alter table approvals_event enable trigger event_append_only")
        assert health.readiness().ready

    def test_when_ingest_cannot_connect(self) -> None:
        connections["ingest"].settings_dict["PORT"] = "1"
        assert health.readiness().reasons == [
            'The guard "database (ingest)" does not hold; `manage.py doctor` says why.'
        ]

    def test_when_there_is_no_database(self) -> None:
        connections["default"].settings_dict["PORT"] = "1"
        began = time.monotonic()
        assert health.readiness().reasons == ["The database cannot be reached."]
        assert time.monotonic() - began < 2 + SLACK_S

    def test_when_the_tables_are_not_there(self, connect_as: Callable[[str], psycopg.Connection]) -> None:
        connect_as("superuser").execute("drop table approvals_beat")
        assert health.readiness().reasons == ["The database cannot be reached."]


def test_nothing_was_ever_heard_from_a_process_that_was_never_started() -> None:
    assert health.readiness().reasons == [
        f"Nothing was ever heard from {what}." for what in health.PROCESSES.values()
    ]


class TestAFrozenDatabase:
    """It accepts connections and never says a word."""

    @pytest.fixture
    def frozen(self) -> Iterator[socket.socket]:
        with socket.create_server(("127.0.0.1", 0), backlog=50) as server:
            connections["default"].settings_dict["PORT"] = str(server.getsockname()[1])
            yield server

    @pytest.mark.usefixtures("frozen")
    def test_is_said_in_time_and_asked_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(health, "_asking", health._Asking())
        for _ in range(2):
            began = time.monotonic()
            assert health.readiness().reasons == ["The database does not answer."]
            assert time.monotonic() - began < 2 + SLACK_S
