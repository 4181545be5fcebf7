"""The database of an ADK service, read by a role that may read it and nothing else."""

import itertools
import os
import signal
import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from approvals.connectors.adk import store as module
from approvals.connectors.adk.store import Count, Store, StoreTrouble, open_store
from approvals.exceptions import Invalid
from approvals.rules.observed import SessionKey
from tests.cluster import TestServers
from tests.connectors.adk import samples
from tests.connectors.adk.database import PASSWORD, READER, AdkDatabase, adk_database

NUMBERS = itertools.count(1)
T0 = datetime(2026, 1, 1)


@pytest.fixture
def empty(servers: TestServers) -> Iterator[AdkDatabase]:
    """A database in which ADK has not made its tables yet."""
    with adk_database(servers, f"adk_store_{next(NUMBERS)}") as database:
        yield database


@pytest.fixture
def adk(empty: AdkDatabase) -> AdkDatabase:
    """A database with the tables of ADK 2.13."""
    empty.lay_out()
    return empty


@pytest.fixture
def store(adk: AdkDatabase) -> Iterator[Store]:
    """It, opened for reading."""
    with open_store(adk.url, timeout_s=20) as store:
        yield store


def test_the_layout_of_adk_can_be_read(store: Store) -> None:
    layout = store.layout()
    assert (layout.state, layout.indexed) == ("ready", True)


def test_a_database_in_which_nothing_is_stored_yet_is_no_error(empty: AdkDatabase) -> None:
    with open_store(empty.url) as store:
        layout = store.layout()
    assert layout.state == "empty" and layout.sentence.startswith("Nothing is stored yet")


def test_a_layout_that_cannot_be_read_says_what_to_do(adk: AdkDatabase, store: Store) -> None:
    def sentence() -> str:
        layout = store.layout()
        assert layout.state == "unusable"
        return layout.sentence

    adk.run(f"revoke select on events from {READER}")
    assert "grant it select" in sentence()
    adk.run(f"grant select on events to {READER}")
    adk.run("alter table events alter column event_data type json")
    assert "of the type json and not jsonb" in sentence()
    adk.run("alter table events drop column event_data")
    assert "no column event_data" in sentence()
    adk.run("alter table events add column actions bytea")
    assert "old layout, without event_data" in sentence()
    adk.run("drop table events")
    assert "The table events is not there" in sentence()


def test_tables_in_a_schema_that_the_role_does_not_see_are_not_taken_for_none(empty: AdkDatabase) -> None:
    empty.run("create schema agents")
    empty.run("set search_path = agents")
    empty.lay_out()
    with open_store(empty.url) as store:
        layout = store.layout()
    assert layout.state == "unusable" and "in the schema agents" in layout.sentence


def test_nothing_can_be_written_even_by_a_role_that_may(servers: TestServers, adk: AdkDatabase) -> None:
    key = adk.add("normal")
    with open_store(servers.postgres.dsn(database=adk.name)) as store:
        for statement in ("delete from events", "create table x ()"):
            with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                store._line.execute(statement)
        rows = store.rows([key])
        next(rows)
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            store._line.execute("delete from events")


def test_sessions_are_counted_and_estimated_when_there_are_many(
    adk: AdkDatabase, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store.count() == Count(0, exact=True)
    for number in range(5):
        adk.add_session(SessionKey("a", "u", str(number)), T0)
    assert store.count() == Count(5, exact=True)
    monkeypatch.setattr(module, "COUNTED", 3)
    assert store.count() == Count(4, exact=False)  # at least as many as were counted
    adk.run("analyze sessions")
    assert store.count() == Count(5, exact=False)


def test_changed_sessions_are_those_from_a_time_on_in_order(adk: AdkDatabase, store: Store) -> None:
    for number in (3, 1, 2):
        adk.add_session(SessionKey("a", "u", str(number)), T0 + timedelta(hours=number))
    berlin = datetime.fromisoformat("2026-01-01T03:00:00+01:00")
    changed = store.changed_since(berlin)
    assert [session.key.id for session in changed] == ["2", "3"]
    assert changed[0].updated_at == datetime(2026, 1, 1, 2, tzinfo=UTC)


def test_a_full_pass_meets_every_session_once(adk: AdkDatabase, store: Store) -> None:
    keys = sorted(SessionKey(a, u, i) for a in ("a", "b") for u in ("u", "v") for i in ("1", "2", "ü"))
    for key in reversed(keys):
        adk.add_session(key, T0)
    met: list[SessionKey] = []
    while some := store.after(met[-1] if met else None, 5):
        met += [session.key for session in some]
    assert met == keys


@pytest.mark.parametrize("indexed", [True, False])
def test_rows_come_by_session_and_time_as_the_samples_are(
    adk: AdkDatabase, store: Store, indexed: bool
) -> None:
    if not indexed:
        adk.run("drop index idx_events_app_user_session_ts_id")
    assert store.layout().indexed is indexed
    told = {adk.add(name): samples.stored(name) for name in ("normal", "parallel", "tool_error")}
    keys = list(reversed(told))
    found = list(store.rows(keys))
    assert [key for key, _ in found] == [key for key in keys for _ in told[key]]
    for key in keys:
        rows = [row for owner, row in found if owner == key]
        assert [(row.event_id, row.lines, row.at, row.ends) for row in rows] == [
            (row.event_id, row.lines, row.at, row.ends) for row in told[key]
        ]
        heads = {head.event_id: head.digest for head in store.heads(keys)[key]}
        assert heads == {row.event_id: row.digest for row in rows}


def test_many_sessions_come_in_several_statements(
    adk: AdkDatabase, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEYS_A_STATEMENT", 2)
    monkeypatch.setattr(module, "ROWS_A_FETCH", 2)
    keys = [SessionKey("a", "u", str(number)) for number in range(5)]
    for key in keys:
        adk.add_session(key, T0)
        for number in range(3):
            adk.add_event(key, f"{key.id}-{number}", T0 + timedelta(seconds=number), {"author": "a"})
    assert [row.event_id for _, row in store.rows(keys)] == [f"{s}-{n}" for s in range(5) for n in range(3)]


def test_only_the_rows_that_were_asked_for_come(adk: AdkDatabase, store: Store) -> None:
    normal, parallel, other = adk.add("normal"), adk.add("parallel"), adk.add("empty")
    ids = [row.event_id for row in samples.stored("normal")]
    first = samples.stored("parallel")[0].event_id
    only = {normal: {ids[4], ids[1]}, parallel: {"gone", ids[0], first}}
    found = [(key, row.event_id) for key, row in store.rows([parallel, normal, other], only=only)]
    assert found == [(parallel, first), (normal, ids[1]), (normal, ids[4])]


def test_a_row_that_was_edited_has_another_digest(adk: AdkDatabase, store: Store) -> None:
    key = adk.add("normal")
    before = {head.event_id: head.digest for head in store.heads([key])[key]}
    adk.run(
        "update events set event_data = jsonb_set(event_data, '{author}', '\"x\"') where id = %s",
        [min(before)],
    )
    after = {head.event_id: head.digest for head in store.heads([key])[key]}
    assert {event_id for event_id in before if after[event_id] != before[event_id]} == {min(before)}


def test_a_deleted_session_is_missing_and_one_without_rows_is_not(adk: AdkDatabase, store: Store) -> None:
    gone, bare = adk.add("normal"), SessionKey("a", "u", "bare")
    adk.add_session(bare, T0)
    adk.run("delete from sessions where id = %s", [gone.id])
    assert store.heads([gone, bare]) == {bare: []}
    assert list(store.rows([gone, bare])) == []
    assert store.heads([]) == {} and list(store.rows([])) == []


def test_a_huge_row_stays_where_it_is_and_is_a_finding(adk: AdkDatabase, store: Store) -> None:
    key = SessionKey("a", "u", "1")
    adk.add_session(key, T0)
    adk.add_event(
        key, "1-huge", T0, {"author": "a", "content": {"parts": [{"text": "x" * module.LONGEST_ROW}]}}
    )
    adk.add_event(key, "2-small", T0, {"author": "a"})
    adk.add_event(key, "3-nothing", T0, None)
    huge, small, nothing = (row for _, row in store.rows([key]))
    (finding,) = huge.lines
    assert (finding.type, finding.origin, finding.at) == ("finding", "unreadable", T0.replace(tzinfo=UTC))
    assert (
        finding.content is not None
        and "events over 4,194,304 bytes are not read" in finding.content["detail"]
    )
    assert small.lines == () and nothing.lines[0].origin == "unreadable"
    digests = {head.event_id: head.digest for head in store.heads([key])[key]}
    assert digests == {row.event_id: row.digest for row in (huge, small, nothing)}


def test_ids_with_any_character_are_read_as_they_are(adk: AdkDatabase, store: Store) -> None:
    key = SessionKey("a,b", 'u"{}\\', "%s' or true --")
    adk.add_session(key, T0)
    adk.add_event(key, "{1}", T0, {"author": "a"})
    assert [session.key for session in store.after(None, 9)] == [key]
    assert [(owner, row.event_id) for owner, row in store.rows([key])] == [(key, "{1}")]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ((PASSWORD, "hush-hush"), "refused the role or its password"),
        ((READER, "nobody"), "refused the role or its password"),
        ((f":{PASSWORD}", ""), "the address has none"),
        (("127.0.0.1", "nowhere.invalid"), "was not found"),
    ],
)
def test_what_goes_wrong_on_the_way_is_one_sentence_without_the_address(
    adk: AdkDatabase, changes: tuple[str, str], words: str
) -> None:
    with pytest.raises(StoreTrouble) as caught, open_store(adk.url.replace(*changes), timeout_s=5):
        pass
    assert words in caught.value.sentence
    for secret in (PASSWORD, "hush-hush", "127.0.0.1"):
        assert secret not in repr(caught.value) + str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


def test_a_database_that_is_not_there_is_said_so(adk: AdkDatabase) -> None:
    with pytest.raises(StoreTrouble, match="no database of that name"), open_store(f"{adk.url}x"):
        pass


def test_a_bad_address_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(Invalid), open_store("postgresql://u:pw@h/d?host=/tmp"):
        pass


def test_nobody_sees_the_password_by_printing_the_store(store: Store) -> None:
    assert PASSWORD not in repr(store) + repr(vars(store)) + repr(store._line)


def test_a_role_that_loses_its_rights_meanwhile_is_told_so(adk: AdkDatabase, store: Store) -> None:
    key = adk.add("normal")
    adk.run(f"revoke select on events from {READER}")
    for read in (lambda: store.heads([key]), lambda: list(store.rows([key]))):
        with pytest.raises(StoreTrouble, match="grant it select"):
            read()
    adk.run("drop table events")
    with pytest.raises(StoreTrouble, match="not there"):
        store.heads([key])


def test_a_statement_that_takes_too_long_is_given_up(adk: AdkDatabase) -> None:
    adk.add("normal")
    adk.run("begin")
    adk.run("lock table sessions in access exclusive mode")
    began = time.monotonic()
    with pytest.raises(StoreTrouble, match="time limit"), open_store(adk.url, timeout_s=1) as store:
        store.after(None, 1)
    assert time.monotonic() - began < 10
    adk.run("rollback")


def test_a_connection_that_was_cut_is_trouble_and_nothing_else(adk: AdkDatabase, store: Store) -> None:
    adk.run("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'secondlook'")
    with pytest.raises(StoreTrouble, match="broke off"):
        store.count()


def test_a_server_that_freezes_is_given_up(adk: AdkDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLACK_S", 0.5)
    with open_store(adk.url, timeout_s=1) as store:
        process = store._line.info.backend_pid
        os.kill(process, signal.SIGSTOP)
        try:
            began = time.monotonic()
            with pytest.raises(StoreTrouble, match="in time"):
                store.count()
            assert time.monotonic() - began < 10
        finally:
            os.kill(process, signal.SIGCONT)


def test_a_server_that_takes_the_connection_and_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        address = f"postgresql://u:pw@127.0.0.1:{silent.getsockname()[1]}/d"
        with pytest.raises(StoreTrouble, match="in time"), open_store(address, timeout_s=2):
            pass
        assert time.monotonic() - began < 10
    with pytest.raises(StoreTrouble, match="No database answers"), open_store(address, timeout_s=2):
        pass
