"""Rows that nobody would expect: whatever one session holds, the others are read."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from approvals.models import Run, ToolCall
from approvals.rules.observed import SessionKey
from approvals.services import observing
from tests.connectors.adk.database import AdkDatabase
from tests.tasks.test_observe import look, record, store, workspace

pytestmark = pytest.mark.django_db
__all__ = ["store", "workspace"]
NOISE = random.Random(1).randbytes(50_000).hex()  # which no index can compress


def now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


def add(store: AdkDatabase, name: str) -> SessionKey:
    """A session of that name with the message that began it."""
    key = SessionKey("support", "u1", name)
    store.add_session(key, now())
    content = {"role": "user", "parts": [{"text": "Please refund C-17"}]}
    store.add_event(key, f"ev-{name}", now(), {"author": "user", "content": content}, f"e-{name}")
    return key


def add_call(store: AdkDatabase, key: SessionKey, call_id: str, name: str) -> None:
    call = {"id": call_id, "name": name, "args": {}}
    data = {"author": "support", "content": {"role": "model", "parts": [{"function_call": call}]}}
    store.add_event(key, "ev-call", now() + timedelta(seconds=1), data, f"e-{key.id}")


def runs() -> dict[str, Run]:
    with transaction.atomic():
        return {run.session_id: run for run in Run.objects.all()}


@pytest.mark.parametrize(
    "statement",
    [
        *(f"update events set \"timestamp\" = '{at}'" for at in ("infinity", "-infinity", "20000-01-01")),
        *(
            f"update sessions set update_time = '{at}'"
            for at in ("infinity", "9999-12-30", "9999-12-31 23:59")
        ),
        "update events set \"timestamp\" = '0100-01-01 BC'",
        "update sessions set update_time = '0100-01-01 BC'",
        'alter table events alter "timestamp" drop not null; update events set "timestamp" = null',
        "alter table sessions alter update_time drop not null; update sessions set update_time = null",
        "alter table events alter invocation_id drop not null; update events set invocation_id = null",
        "update events set event_data = null",
    ],
)
def test_absurd_values_keep_nobody_from_reading_the_rest(
    workspace: object, store: AdkDatabase, statement: str
) -> None:
    for name in ("a", "bad", "c"):
        add(store, name)
    *before, change = statement.split("; ")
    for one in before:
        store.run(one)
    column = "id" if change.startswith("update sessions") else "session_id"
    store.run(f"{change} where {column} = 'bad'")
    assert look(2).trouble == ""
    assert set(runs()) == {"a", "bad", "c"}
    add(store, "later")
    assert look().trouble == ""  # by what changed, not by the next pass
    assert set(runs()) == {"a", "bad", "c", "later"}


def test_a_name_of_any_length_is_cut_and_a_long_id_makes_its_run_unreadable(
    workspace: object, store: AdkDatabase
) -> None:
    add_call(store, add(store, "name"), "call-1", NOISE)
    add_call(store, add(store, "id"), NOISE, "send_email")
    assert look(2).trouble == ""
    with transaction.atomic():
        [call] = ToolCall.objects.all()
    assert call.name == f"{NOISE[:199]}…"
    assert {name: record(run) for name, run in runs().items()} == {"name": "called", "id": "unreadable"}


def test_what_nobody_expected_is_told_where_people_look(
    workspace: object, store: AdkDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, "a")
    with monkeypatch.context() as patched:
        patched.setattr(observing, "take", lambda *_, **__: 1 / 0)
        watch = look()
        assert (watch.trouble.startswith("The reading broke off"), watch.lease_until) == (True, None)
    assert look().trouble == ""
    assert set(runs()) == {"a"}
