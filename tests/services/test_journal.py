"""What keeps the journal right behind the API: one connection that can only add, and writes that come once."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import DatabaseError, IntegrityError, connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from approvals.access.actors import TokenBearer
from approvals.db.binding import bind
from approvals.exceptions import Conflict, NotFound
from approvals.models import Payload
from approvals.services import journal
from approvals.services.journal import Appended, NewEvent, NewRun
from tests.api.world import Caller, a_caller, a_runtime, stored

pytestmark = pytest.mark.django_db(databases=["default", "ingest"], transaction=True)

AT = datetime(2026, 5, 4, 13, 30, tzinfo=UTC)


@pytest.fixture
def caller() -> Caller:
    return a_caller(a_runtime(writes_ahead=True))


@pytest.fixture
def by(caller: Caller) -> Iterator[TokenBearer]:
    """A bearer whose workspace is bound."""
    bearer = caller.bearer
    with bind(bearer.workspace_id):
        yield bearer


def a_new_run(**changes: Any) -> NewRun:
    given = {
        "external_id": "1",
        "agent": "support",
        "session_id": "",
        "subject": "customer-17",
        "trigger": "ticket",
    }
    return NewRun(**({"input": {"text": "Hello"}} | given | changes))


def a_new_event(seq: int, **changes: Any) -> NewEvent:
    given = {
        "type": "tool_call",
        "at": AT,
        "call_id": f"c-{seq}",
        "name": "send_email",
        "content": {"args": {}},
    }
    return NewEvent(seq=seq, **(given | changes))


def open_run(by: TokenBearer, **changes: Any) -> UUID:
    return journal.register_run(by=by, run=a_new_run(**changes)).id


def test_reports_never_touch_the_connection_that_may_do_more(by: TokenBearer) -> None:
    with CaptureQueriesContext(connection) as captured:
        run_id = open_run(by)
        journal.append(by=by, run_id=run_id, events=[a_new_event(1)])
        journal.append(by=by, run_id=run_id, events=[a_new_event(1)])
    assert [query["sql"] for query in captured] == []


def test_a_repetition_is_recognised_without_reading_what_was_said(by: TokenBearer) -> None:
    run_id = open_run(by)
    journal.append(by=by, run_id=run_id, events=[a_new_event(1)])
    with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic(using="ingest"):
        Payload.objects.using("ingest").count()
    assert journal.append(by=by, run_id=run_id, events=[a_new_event(1)]) == Appended(0, 1, 2)


def test_a_repetition_of_what_was_erased_is_still_a_repetition(
    by: TokenBearer, connect_as: Callable[[str], psycopg.Connection]
) -> None:
    run_id = open_run(by)
    journal.append(by=by, run_id=run_id, events=[a_new_event(1)])
    connect_as("superuser").execute("delete from approvals_payload")
    assert journal.append(by=by, run_id=run_id, events=[a_new_event(1)]) == Appended(0, 1, 2)
    assert journal.register_run(by=by, run=a_new_run()).created is False
    with pytest.raises(Conflict):
        journal.append(by=by, run_id=run_id, events=[a_new_event(1, content=None)])
    with pytest.raises(Conflict):
        journal.register_run(by=by, run=a_new_run(input="other"))


def test_what_fails_half_way_leaves_nothing(by: TokenBearer, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = open_run(by)
    before = stored(by.workspace_id)
    monkeypatch.setattr(journal, "_INSERT", "select 1/0, %s, %s" + ", %s" * 10)
    with pytest.raises(DatabaseError):
        journal.append(by=by, run_id=run_id, events=[a_new_event(1)])
    with monkeypatch.context() as patch:
        patch.setattr(journal, "run_for_bearer", lambda *_, **__: None)
        with pytest.raises(AttributeError):
            journal.append(by=by, run_id=run_id, events=[a_new_event(2)])
    assert stored(by.workspace_id) == before


def test_an_event_that_somebody_else_stored_meanwhile_is_a_duplicate(
    by: TokenBearer, monkeypatch: pytest.MonkeyPatch, connect_as: Callable[[str], psycopg.Connection]
) -> None:
    run_id = open_run(by)
    look, looks = journal._known, []

    def look_too_early(*args: Any) -> dict[int, bool]:
        found = look(*args)
        if not looks:
            other = connect_as("superuser")
            other.execute("select set_config('app.workspace_id', %s, false)", [str(by.workspace_id)])
            other.execute(
                "insert into approvals_event (workspace_id, run_id, seq, type, at) values (%s, %s, 1, 'heartbeat', %s)",
                [by.workspace_id, run_id, AT],
            )
        looks.append(found)
        return found

    monkeypatch.setattr(journal, "_known", look_too_early)
    heartbeat = NewEvent(seq=1, type="heartbeat", at=AT)
    assert journal.append(by=by, run_id=run_id, events=[heartbeat, a_new_event(2)]) == Appended(1, 1, 3)
    assert looks == [{}, {1: True}]


def test_a_write_that_never_gets_through_gives_up(by: TokenBearer, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = open_run(by)
    journal.append(by=by, run_id=run_id, events=[a_new_event(1)])
    monkeypatch.setattr(journal, "_known", lambda *_: {})
    before = stored(by.workspace_id)
    with pytest.raises(IntegrityError, match="event_seq_once"):
        journal.append(by=by, run_id=run_id, events=[a_new_event(1)])
    assert stored(by.workspace_id) == before


def test_another_fault_of_the_database_is_not_tried_again(
    by: TokenBearer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = open_run(by)
    tries: list[int] = []
    insert = journal._insert_events

    def counted(*args: Any) -> None:
        tries.append(1)
        insert(*args)

    monkeypatch.setattr(journal, "_insert_events", counted)
    with pytest.raises(IntegrityError, match="event_type_known"):
        journal.append(by=by, run_id=run_id, events=[a_new_event(1, type="rumour", call_id=None)])
    assert len(tries) == 1


def test_a_run_of_another_workspace_is_not_there(by: TokenBearer) -> None:
    other = a_caller(a_runtime())
    run_id = UUID(other.open_run())
    with pytest.raises(NotFound):
        journal.append(by=by, run_id=run_id, events=[a_new_event(1)])


def test_the_record_is_settled_by_the_report_itself(by: TokenBearer) -> None:
    run_id = open_run(by)
    journal.append(
        by=by,
        run_id=run_id,
        events=[
            a_new_event(1),
            NewEvent(seq=2, type="ended", at=AT, outcome="failed"),
        ],
    )
    with transaction.atomic(using="ingest"), connections["ingest"].cursor() as cursor:
        cursor.execute("select status, tools_executed from approvals_run where id = %s", [run_id])
        status, tools = cursor.fetchone()
    assert (status, tools) == ("failed", '[{"name": "send_email", "call_id": "c-1"}]')
