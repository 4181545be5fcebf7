"""Reading a real database as ADK lays it out: what is there becomes runs, and what changes is found."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from approvals.db.binding import bind
from approvals.models import Event, Observation, Run, StoredRow, ToolCall, Workspace
from approvals.rules.observed import Session, SessionKey
from approvals.selectors.lineages import judged
from approvals.services import observations, setup
from approvals.services.observing import Read
from approvals.tasks import observe
from tests import factories
from tests.cluster import TestServers
from tests.connectors.adk.database import AdkDatabase, adk_database
from tests.servers.http import Answer, HttpServer

pytestmark = pytest.mark.django_db
OPERATOR = factories.actor("Olga", "admin")


@pytest.fixture
def store(servers: TestServers) -> Iterator[AdkDatabase]:
    with adk_database(servers, "adk_observed") as made:
        made.lay_out()
        yield made


@pytest.fixture
def workspace(store: AdkDatabase) -> Iterator[Workspace]:
    made = factories.workspace()
    with bind(made.id):
        setup.add_runtime(
            by=OPERATOR, name="adk", kind="adk", base_url="http://127.0.0.1:9", database_url=store.url
        )
        yield made


def look(times: int = 1) -> Observation:
    """What the worker does, so often; the watch afterwards."""
    for _ in range(times):
        with transaction.atomic():
            Observation.objects.update(due_at=Now())
            runtime_id = Observation.objects.values_list("runtime_id", flat=True).get()
        observe.execute.run(str(runtime_id))
    with transaction.atomic():
        return Observation.objects.get()


def again_from_the_start() -> None:
    """So that the next look begins another pass."""
    with transaction.atomic():
        Observation.objects.update(pass_ended_at=Now() - timedelta(days=1))


def calls(run: Run) -> dict[str, str]:
    with transaction.atomic():
        return dict(ToolCall.objects.filter(run_id=run.id).values_list("name", "state"))


def record(run: Run) -> str:
    with transaction.atomic():
        facts, _, _ = judged(run)
        return next(fact.record.why for fact in facts if fact.id == str(run.id))


def the_run() -> Run:
    with transaction.atomic():
        return Run.objects.get()


@pytest.mark.parametrize(
    ("sample", "status", "states", "why"),
    [
        ("normal", "running", {"lookup_customer": "answered", "send_email": "answered"}, "called"),
        ("rate_after", "failed", {"lookup_customer": "answered", "send_email": "answered"}, "called"),
        ("rate_before", "failed", {}, "hidden"),
        ("crash_plain", "running", {"lookup_customer": "answered", "send_email": "open"}, "called"),
        ("disconnect_support", "failed", {"lookup_customer": "answered", "send_email": "aborted"}, "called"),
        ("confirm_yes", "completed", {"lookup_customer": "answered", "send_email": "awaiting"}, "called"),
        ("empty", "running", {}, "no_end"),
        ("tool_error", "failed", {"charge_card": "open"}, "called"),
    ],
)
def test_each_sample_becomes_the_run_it_was(
    workspace: Workspace, store: AdkDatabase, sample: str, status: str, states: dict[str, str], why: str
) -> None:
    store.add(sample)
    watch = look()
    assert watch.trouble == ""
    run = the_run()
    assert (run.status, calls(run), record(run)) == (status, states, why)


def test_looking_again_changes_nothing(workspace: Workspace, store: AdkDatabase) -> None:
    store.add("normal")
    look(2)
    with transaction.atomic():
        before = Event.objects.count()
    again_from_the_start()
    look(3)
    with transaction.atomic():
        assert Event.objects.count() == before


def test_a_row_that_is_stored_later_is_found(workspace: Workspace, store: AdkDatabase) -> None:
    key = store.add("crash_plain")
    look()
    now = datetime.now(UTC).replace(tzinfo=None)
    with transaction.atomic():
        [row] = StoredRow.objects.order_by("-at")[:1]
    call = calls(the_run())
    assert call["send_email"] == "open"
    with transaction.atomic():
        call_id = ToolCall.objects.values_list("call_id", flat=True).get(name="send_email")
    answer = {"function_response": {"id": call_id, "name": "send_email", "response": {"status": "sent"}}}
    store.add_event(
        key,
        "late-1",
        now,
        {"author": "support", "content": {"role": "user", "parts": [answer]}},
        row.invocation_id,
    )
    store.run("update sessions set update_time = %s", [now])
    look()
    assert calls(the_run())["send_email"] == "answered"


def test_a_session_that_says_it_changed_tomorrow_hides_none_that_changes_now(
    workspace: Workspace, store: AdkDatabase
) -> None:
    now = datetime.now(UTC).replace(tzinfo=None)
    store.add_session(SessionKey("support", "u1", "ahead"), now + timedelta(days=1))
    look()
    key = SessionKey("support", "u1", "now")
    store.add_session(key, now)
    asked = {"author": "user", "content": {"role": "user", "parts": [{"text": "Refund C-17"}]}}
    store.add_event(key, "now-1", now, asked)
    look()
    assert the_run().session_id == "now"


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("update events set event_data = event_data || '{\"turn_complete\": true}' where id = %s", "edited"),
        ("delete from events where id = %s", "deleted"),
        ("delete from sessions where %s <> ''", "deleted"),
    ],
)
def test_a_history_that_is_changed_behind_our_back_is_found_by_the_pass(
    workspace: Workspace, store: AdkDatabase, statement: str, why: str
) -> None:
    store.add("normal")
    look(2)
    with transaction.atomic():
        event_id = StoredRow.objects.order_by("at").values_list("event_id", flat=True)[2]
    store.run(statement, [event_id])
    again_from_the_start()
    look(3)
    assert record(the_run()) == why


def test_a_session_that_was_filled_ready_made_is_unknown(workspace: Workspace, store: AdkDatabase) -> None:
    store.add("injected")
    look()
    with transaction.atomic():
        runs = list(Run.objects.all())
    assert runs and {record(run) for run in runs} == {"restored"}


def test_a_rewound_session_keeps_what_happened(workspace: Workspace, store: AdkDatabase) -> None:
    store.add("rewound")
    look()
    assert calls(the_run()) == {"lookup_customer": "answered", "send_email": "answered"}


def test_old_sessions_are_read_by_the_pass_and_its_progress_is_told(
    workspace: Workspace, store: AdkDatabase
) -> None:
    for n in range(3):
        key = SessionKey("support", f"u{n}", "s")
        at = datetime(2026, 1, 1 + n)
        store.add_session(key, at)
        parts = [{"text": "Please refund C-17"}]
        store.add_event(key, f"ev-{n}", at, {"author": "user", "content": {"role": "user", "parts": parts}})
    watch = look()
    assert (watch.pass_total, watch.pass_done) == (3, 3)
    assert look().pass_ended_at is not None
    with transaction.atomic():
        assert Run.objects.count() == 3


def test_an_empty_database_is_no_trouble(workspace: Workspace, store: AdkDatabase) -> None:
    store.run("drop table events, sessions")
    watch = look()
    assert (watch.trouble, watch.read_at is None) == ("", False)


def test_tables_that_are_gone_after_they_were_read_are_trouble(
    workspace: Workspace, store: AdkDatabase
) -> None:
    store.add("normal")
    look()
    store.run("drop table events, sessions")
    assert look().trouble.startswith("The tables of ADK are gone")


def test_what_is_stored_late_is_found_by_the_next_look_and_not_only_by_a_pass(
    workspace: Workspace, store: AdkDatabase
) -> None:
    now = datetime.now(UTC).replace(tzinfo=None)
    store.add_session(SessionKey("support", "u1", "first"), now)
    assert look(2).pass_ended_at is not None
    late = SessionKey("support", "u1", "late")
    store.add_session(late, now - timedelta(minutes=14))
    store.add_event(
        late, "ev-1", now, {"author": "user", "content": {"role": "user", "parts": [{"text": "Hi"}]}}
    )
    look()
    assert the_run().session_id == "late"


def test_a_store_that_cannot_be_read_says_why_and_is_tried_again(
    workspace: Workspace, store: AdkDatabase
) -> None:
    store.run("revoke select on events from adk_reader")
    watch = look()
    assert "may not read" in watch.trouble
    assert watch.troubled_since is not None
    first = watch.troubled_since
    assert look().troubled_since == first
    store.run("grant select on events to adk_reader")
    watch = look()
    assert (watch.trouble, watch.troubled_since) == ("", None)


def test_a_service_that_is_down_keeps_nobody_from_reading_its_store(
    workspace: Workspace, store: AdkDatabase
) -> None:
    store.add("normal")
    watch = look()
    assert watch.notice != ""
    assert the_run().external_id.startswith("support/u1/")


def test_the_service_tells_what_its_agents_can_hide(store: AdkDatabase) -> None:
    said = [
        Answer(200, json.dumps({"version": "2.13.0"}).encode()),
        Answer(200, json.dumps(["support"]).encode()),
        Answer(
            200,
            json.dumps({"name": "support", "agents": {"support": {"name": "support", "tools": []}}}).encode(),
        ),
    ]
    with HttpServer(said) as service:
        made = factories.workspace("second")
        with bind(made.id):
            setup.add_runtime(
                by=OPERATOR, name="adk", kind="adk", base_url=service.url, database_url=store.url
            )
            store.add("normal")
            watch = look()
            assert (watch.version, watch.notice) == ("2.13.0", "")
            assert watch.facts["support"]["hides_calls"] is False
            run = the_run()
            assert (run.status, record(run)) == ("completed", "called")


def test_who_lost_the_watch_writes_nothing(workspace: Workspace, store: AdkDatabase) -> None:
    store.add("normal")
    with transaction.atomic():
        runtime_id = Observation.objects.values_list("runtime_id", flat=True).get()
    first = observations.claim(runtime_id=runtime_id)
    assert first is not None
    with transaction.atomic():
        Observation.objects.update(lease_until=Now() - timedelta(seconds=1))
    second = observations.claim(runtime_id=runtime_id)
    assert second is not None and second.fence == first.fence + 1
    with transaction.atomic():
        assert not observations.holds(first)
        assert observations.holds(second)
    assert observations.claim(runtime_id=runtime_id) is None


def test_a_reader_that_was_given_up_while_it_read_writes_nothing(
    workspace: Workspace, store: AdkDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add("normal")
    read = observe._Reading._read

    def meanwhile(self: observe._Reading, some: list[Session]) -> list[Read]:
        found = read(self, some)
        with transaction.atomic():
            Observation.objects.update(fence=F("fence") + 1)
        return found

    monkeypatch.setattr(observe._Reading, "_read", meanwhile)
    look()
    with transaction.atomic():
        assert not Run.objects.exists()
