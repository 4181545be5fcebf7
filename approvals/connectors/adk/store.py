"""The database in which Google ADK keeps its sessions (Postgres, google-adk 1.39 to 2.13): read, and nothing else.

It is somebody else's production database. So every statement has a time limit and reads a bounded number of bytes,
none holds a lock that a writer would wait for, and no message of ours repeats the address.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

import psycopg
from psycopg import errors
from psycopg.abc import PQGen

from approvals.connectors.adk.rows import stored_row, unreadable_row
from approvals.rules.observed import Head, Row, Session, SessionKey
from approvals.rules.urls import database_url_given

LONGEST_ROW = 4 * 1024 * 1024  # bytes of event_data as text; a longer one stays where it is
COUNTED = 100_000  # sessions; beyond these the number is Postgres's own estimate
KEYS_A_STATEMENT = 200  # sessions; enough to be fast, few enough for a sort in memory
KEYS_A_SCAN = 5_000  # the same where each statement reads all of `events`
ROWS_A_FETCH = 100  # rows that wait here at once
SLACK_S = 5.0  # how long after its own time limit a server may take to say so

COLUMNS = {
    "sessions": ("app_name", "user_id", "id", "update_time"),
    "events": ("id", "app_name", "user_id", "session_id", "invocation_id", "timestamp", "event_data"),
}

_SHAPES = """
select w.name, c.oid, a.attname, format_type(a.atttypid, null), has_table_privilege(c.oid, 'select')
  from unnest(%s::text[]) as w(name)
  left join pg_class c on c.oid = to_regclass(w.name)
  left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
"""
_ELSEWHERE = """
select n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attname = 'event_data'
 where c.relname = 'events' and c.relkind in ('r', 'p') order by 1 limit 1
"""
_INDEXED = """
select exists (
  select from pg_index i
   where i.indrelid = to_regclass('events') and i.indisvalid and i.indpred is null and (
     select array_agg(a.attname::text order by a.attname)
       from unnest((i.indkey::int2[])[0:2]) as k(attnum)
       join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
   ) = '{app_name,session_id,user_id}')
"""
_COUNT = "select count(*) from (select from sessions limit %s) s"
_ESTIMATE = "select reltuples::bigint from pg_class where oid = to_regclass('sessions')"
_CHANGED = """
select app_name, user_id, id, update_time from sessions
 where update_time >= %s and update_time < '9999-12-31' order by update_time
"""
# Here and below: a time that Python has no word for (infinity, before Christ, none at all) is read as one of long ago.
_FIRST = """
select app_name, user_id, id,
       case when update_time >= '0001-01-02' and update_time < '9999-12-31' then update_time
         else '1970-01-01' end
  from sessions order by app_name, user_id, id limit %s
"""
_AFTER = """
select app_name, user_id, id,
       case when update_time >= '0001-01-02' and update_time < '9999-12-31' then update_time
         else '1970-01-01' end
  from sessions where (app_name, user_id, id) > (%s, %s, %s) order by app_name, user_id, id limit %s
"""
_THERE = """
select k.n
  from unnest(%s::text[], %s::text[], %s::text[]) with ordinality as k(app, speaks_for, session, n)
  join sessions s on s.app_name = k.app and s.user_id = k.speaks_for and s.id = k.session
"""
_HEADS = """
select k.n, e.id, sha256(convert_to(coalesce(e.event_data::text, ''), 'UTF8'))
  from unnest(%s::text[], %s::text[], %s::text[]) with ordinality as k(app, speaks_for, session, n)
  join events e on e.app_name = k.app and e.user_id = k.speaks_for and e.session_id = k.session
"""
# `offset 0` keeps Postgres from unpacking a row once for each use of its text.
_ROWS = """
select k.n, e.id, coalesce(e.invocation_id, ''),
       case when e."timestamp" >= '0001-01-02' and e."timestamp" < '9999-12-31' then e."timestamp"
         else '1970-01-01' end, sha256(convert_to(d.text, 'UTF8')), octet_length(d.text),
       case when octet_length(d.text) <= {longest} then d.text end
  from unnest(%s::text[], %s::text[], %s::text[], %s::int[]{events}) as k(app, speaks_for, session, n{event})
  join events e on e.app_name = k.app and e.user_id = k.speaks_for and e.session_id = k.session{and_event}
 cross join lateral (select coalesce(e.event_data::text, '') as text offset 0) d
 order by k.n, e."timestamp", e.id
"""
_ALL_ROWS = _ROWS.format(longest=LONGEST_ROW, events="", event="", and_event="")
_SOME_ROWS = _ROWS.format(
    longest=LONGEST_ROW, events=", %s::text[]", event=", event", and_event=" and e.id = k.event"
)

_T = TypeVar("_T")


class StoreTrouble(Exception):
    """Why the database could not be read, as a sentence for the person who set it up; it never repeats the address."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence
        super().__init__(sentence)


@dataclass(frozen=True, slots=True)
class Layout:
    """Whether the tables are there to be read: `empty` before ADK made them, `unusable` for a reason.

    `indexed` is false where reading a session means reading all of `events`; heads and rows work, slowly.
    """

    state: Literal["ready", "empty", "unusable"]
    sentence: str
    indexed: bool = False


@dataclass(frozen=True, slots=True)
class Count:
    """How many sessions there are; where not exact, as Postgres estimates."""

    sessions: int
    exact: bool


class _Line(psycopg.Connection[Any]):
    """A connection on which nothing is waited for longer than `patience_s`, whatever the server does."""

    patience_s = 60.0

    def wait(self, gen: PQGen[_T], interval: float = 0.1, timeout: float | None = None) -> _T:
        """Wait for the server as any connection does, with an end."""
        return super().wait(gen, interval, self.patience_s if timeout is None else timeout)


class Store:
    """An open database of ADK. Made by `open_store`; every method raises StoreTrouble."""

    def __init__(self, line: _Line) -> None:
        self._line = line
        self._indexed: bool | None = None

    def layout(self) -> Layout:
        """Whether this is a layout that can be read, with the sentence that says what to do where it is not."""
        with _speaking():
            shapes = self._line.execute(_SHAPES, [list(COLUMNS)]).fetchall()
            missing = {name for name, oid, *_ in shapes if oid is None}
            if len(missing) == len(COLUMNS):
                elsewhere = self._line.execute(_ELSEWHERE).fetchone()
                return _hidden_layout(elsewhere[0]) if elsewhere else _EMPTY
            if missing:
                return _unusable(f"The table {missing.pop()} is not there; it is not a database of ADK.")
            if unreadable := [name for name, _, _, _, may in shapes if not may]:
                return _unusable(
                    f"The role may not read {unreadable[0]}: grant it select on sessions and events."
                )
            columns = {(name, column): kind for name, _, column, kind, _ in shapes}
            if wrong := _wrong_columns(columns):
                return _unusable(wrong)
        return Layout("ready", "Sessions and events can be read.", self._is_indexed())

    def count(self) -> Count:
        """How many sessions there are: counted up to COUNTED, estimated beyond."""
        with _speaking():
            counted = int(self._one(_COUNT, [COUNTED + 1]))
            if counted <= COUNTED:
                return Count(counted, exact=True)
            return Count(max(counted, int(self._one(_ESTIMATE))), exact=False)

    def changed_since(self, when: datetime) -> list[Session]:
        """The sessions whose update_time is at or after an aware time, oldest first. Reads the whole table.

        1.39 writes that time in its service's own time zone: a service that is not on UTC is off by hours here, and
        what this misses is found by a full pass.
        """
        with _speaking():
            return _sessions(self._line.execute(_CHANGED, [when.astimezone(UTC).replace(tzinfo=None)]))

    def after(self, key: SessionKey | None, limit: int) -> list[Session]:
        """The next `limit` sessions after one, or from the first, in the order of the primary key."""
        with _speaking():
            if key is None:
                return _sessions(self._line.execute(_FIRST, [limit]))
            return _sessions(self._line.execute(_AFTER, [key.app, key.user, key.id, limit]))

    def heads(self, keys: Sequence[SessionKey]) -> dict[SessionKey, list[Head]]:
        """Ids and hashes of all rows of these sessions, hashed over there; a session that is gone is not in it.

        All keys go in one statement, because without an index each statement reads the whole table.
        """
        columns = _columns_of(keys)
        with _speaking():
            # Two statements: joined in one, Postgres expects so few rows that it looks each session up, index or not.
            there = self._line.execute(_THERE, columns).fetchall()
            heads: dict[SessionKey, list[Head]] = {keys[number - 1]: [] for (number,) in there}
            for number, event_id, digest in self._line.execute(_HEADS, columns):
                heads.setdefault(keys[number - 1], []).append(Head(event_id, bytes(digest)))
        return heads

    def rows(
        self, keys: Sequence[SessionKey], *, only: Mapping[SessionKey, Collection[str]] | None = None
    ) -> Iterator[tuple[SessionKey, Row]]:
        """The rows of these sessions in the order given, within each by time and id; with `only`, those ids alone.

        At most ROWS_A_FETCH rows are held at once. A row over LONGEST_ROW bytes is not fetched: it comes as a finding.
        """
        many = KEYS_A_STATEMENT if only is not None or self._is_indexed() else KEYS_A_SCAN
        for start in range(0, len(keys), many):
            some = keys[start : start + many]
            if only is None:
                yield from self._fetched(_ALL_ROWS, some, [*_columns_of(some), list(range(len(some)))])
            elif wanted := [(number, one) for number, key in enumerate(some) for one in only.get(key, ())]:
                numbers, ids = [number for number, _ in wanted], [event_id for _, event_id in wanted]
                columns = _columns_of([some[number] for number in numbers])
                yield from self._fetched(_SOME_ROWS, some, [*columns, numbers, ids])

    def _fetched(
        self, sql: str, keys: Sequence[SessionKey], columns: Sequence[object]
    ) -> Iterator[tuple[SessionKey, Row]]:
        """The rows of one statement; each begins with the place of its session among the keys."""
        with _speaking(), self._line.transaction(), self._line.cursor("rows") as cursor:
            cursor.execute(sql, columns)
            while found := cursor.fetchmany(ROWS_A_FETCH):
                for number, *rest in found:
                    yield keys[number], _row(rest)

    def _is_indexed(self) -> bool:
        if self._indexed is None:
            with _speaking():
                self._indexed = bool(self._one(_INDEXED))
        return self._indexed

    def _one(self, sql: str, values: Sequence[object] = ()) -> Any:
        found = self._line.execute(sql, values).fetchone()
        return found[0] if found else None


@contextmanager
def open_store(url: str, *, timeout_s: float = 30.0) -> Iterator[Store]:
    """The database at an address (`rules.urls.database_url_given`), read-only, closed at the end.

    `timeout_s` is for the connection and for each statement. Raises StoreTrouble, and Invalid for a bad address.
    """
    parts = urlsplit(database_url_given(url))
    given: dict[str, Any] = {
        "host": parts.hostname,
        "port": parts.port,
        "dbname": unquote(parts.path.removeprefix("/")),
        "user": unquote(parts.username) if parts.username else None,
        "password": unquote(parts.password) if parts.password else None,
        "sslmode": parse_qs(parts.query).get("sslmode", [None])[0],
    }
    with _speaking():
        line = _Line.connect(
            **{name: value for name, value in given.items() if value is not None},
            autocommit=True,
            prepare_threshold=None,  # a pooler in between may hand each statement to another server
            connect_timeout=max(2, round(timeout_s)),
            application_name="secondlook",
            client_encoding="utf8",
        )
    try:
        line.patience_s = timeout_s + SLACK_S
        with _speaking():
            line.read_only = True  # transactions; and what is outside of one:
            line.execute(
                "select set_config('default_transaction_read_only', 'on', false),"
                " set_config('statement_timeout', %s, false)",
                [str(round(timeout_s * 1000))],
            )
        yield Store(line)
    finally:
        line.close()


def _row(found: Sequence[Any]) -> Row:
    event_id, invocation_id, at, digest, length, text = found
    if text is not None:
        return stored_row(
            text, event_id=event_id, invocation_id=invocation_id, at=_utc(at), digest=bytes(digest)
        )
    detail = f"This event is {length:,} bytes long; events over {LONGEST_ROW:,} bytes are not read."
    return unreadable_row(
        detail, event_id=event_id, invocation_id=invocation_id, at=_utc(at), digest=bytes(digest)
    )


def _sessions(found: psycopg.Cursor[Any]) -> list[Session]:
    return [Session(SessionKey(app, user, id_), _utc(at)) for app, user, id_, at in found]


def _columns_of(keys: Sequence[SessionKey]) -> list[list[str]]:
    return [[key.app for key in keys], [key.user for key in keys], [key.id for key in keys]]


def _utc(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


_EMPTY = Layout("empty", "Nothing is stored yet: ADK makes its tables when it is first used.")


def _unusable(sentence: str) -> Layout:
    return Layout("unusable", sentence)


def _hidden_layout(schema: str) -> Layout:
    return _unusable(
        f"The tables are in the schema {schema}, where this role does not look: grant it usage on that schema and "
        "set its search_path."
    )


def _wrong_columns(columns: Mapping[tuple[str, str], str]) -> str | None:
    """What is wrong with the columns of both tables, given as (table, column) -> type; None where nothing is."""
    kind = columns.get(("events", "event_data"))
    if kind is None and ("events", "actions") in columns:
        return "The tables have the old layout, without event_data: migrate them with `adk migrate session`."
    for table, names in COLUMNS.items():
        for name in names:
            if (table, name) not in columns:
                return f"The table {table} has no column {name}; it is not one of ADK 1.39 to 2.13."
    return None if kind == "jsonb" else f"The column event_data is of the type {kind} and not jsonb."


@contextmanager
def _speaking() -> Iterator[None]:
    """Turn what psycopg raises into StoreTrouble; nothing of the original is kept, which may name the address."""
    try:
        yield
    except psycopg.Error as error:
        raise StoreTrouble(_sentence(error)) from None


def _sentence(error: psycopg.Error) -> str:
    for kind, sentence in _SENTENCES:
        if isinstance(error, kind):
            return sentence
    said = str(error)
    for words, sentence in _SAID:
        if words in said:
            return sentence
    if error.sqlstate:
        return f"The database refused a statement (SQLSTATE {error.sqlstate})."
    return "The database broke off the connection or was not reached."


_SENTENCES: tuple[tuple[type[psycopg.Error], str], ...] = (
    (errors.InsufficientPrivilege, "The role may not read this: grant it select on sessions and events."),
    (errors.QueryCanceled, "The database took longer than the time limit of one statement."),
    (errors.UndefinedTable, "The tables of ADK are not there."),
    (errors.UndefinedColumn, "The tables have other columns than those of ADK 1.39 to 2.13."),
    (errors.ConnectionTimeout, "The database did not answer in time."),
    (errors.CannotConnectNow, "The database is starting or stopping."),
    (errors.AdminShutdown, "The database broke off the connection."),
    (errors.CrashShutdown, "The database broke off the connection."),
    (errors.TooManyConnections, "The database has no connection left."),
)
# What libpq says before there is an SQLSTATE.
_SAID = (
    ("password authentication failed", "The database refused the role or its password."),
    ("no password supplied", "The database asks for a password, and the address has none."),
    ("no pg_hba.conf entry", "The database does not let this role in from here."),
    ("role ", "There is no such role in the database."),
    ("database ", "There is no database of that name, or the role may not connect to it."),
    ("too many", "The database has no connection left."),
    ("starting up", "The database is starting."),
    ("resolve", "The host of the database was not found."),
    ("translate host name", "The host of the database was not found."),
    ("refused", "No database answers at that host and port."),
    ("SSL", "The database and the address do not agree on TLS."),
    ("tim", "The database did not answer in time."),
)
