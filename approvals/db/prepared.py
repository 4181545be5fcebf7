"""A statement that the server plans once for each connection, where planning would cost more than doing it.

Outside of a transaction it gets one of its own, which is said to the server in one breath (begin, binding, statement,
commit) and is committed when `rows` returns: one round trip, during which this process may do something else.

It is below Django and psycopg's cursors, on libpq: Django switches psycopg's prepared statements off, and a cursor
waits for each answer.
"""

import re
import select
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

import psycopg
from django.db import connections
from psycopg import pq

from approvals.db import binding
from approvals.db.base import BIND, DatabaseWrapper
from approvals.db.binding import NotBound

Row = tuple[str | None, ...]
# Else Postgres weighs a plan for the values at hand against one for all, and mostly plans anew. The one for all
# outlives the statistics it was made by: it finds rows by their keys, and does not count on a table being small.
_ONE_PLAN = """set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
  set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
  set_config('enable_material', 'off', true), set_config('enable_memoize', 'off', true),
  set_config('random_page_cost', '0', true)"""
_DONE = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK)


class Statement:
    """SQL with values as `%(name)s`, cast where Postgres could not tell their type, and no other per cent sign."""

    def __init__(self, text: str) -> None:
        self.names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", text)))
        places = {name: f"${place}" for place, name in enumerate(self.names, 1)}
        self.sql = re.sub(r"%\((\w+)\)s", lambda found: places[found[1]], text).encode()


_BEGIN, _COMMIT = Statement("begin"), Statement("commit")
_BIND, _WITHIN = Statement(f"{BIND}, {_ONE_PLAN}"), Statement(f"select {_ONE_PLAN}")
_Step = tuple[Statement, Mapping[str, Any]]


def rows(
    statement: Statement, values: Mapping[str, Any], *, meanwhile: Callable[[], object] | None = None
) -> list[Row]:
    """What the statement returns, as Postgres writes it: in the open transaction, else in one of its own.

    `meanwhile` is called while the server works, if it is given; it must not use the database. Raises what Django
    raises. Then a transaction of its own was rolled back; where the server was lost, or `meanwhile` raised, nobody
    knows.
    """
    wrapper, bound = cast(DatabaseWrapper, connections["default"]), binding.current()
    if bound is None or (wrapper.in_atomic_block and wrapper.bound != bound):
        raise NotBound(f"no workspace is bound to this transaction: {statement.sql[:80].decode()}")
    if wrapper.in_atomic_block:
        return _said(wrapper, [(_WITHIN, {}), (statement, values)], statement, meanwhile)
    wrapper.close_if_health_check_failed()
    wrapper.ensure_connection()
    binds = {"workspace": bound.workspace_id, "subject": bound.subject or ""}
    steps: list[_Step] = [(_BEGIN, {}), (_BIND, binds), (statement, values), (_COMMIT, {})]
    try:
        return _said(wrapper, steps, statement, meanwhile)
    except BaseException:
        wrapper.close()  # with it ends what is left of the transaction
        raise


def plan_anew() -> None:
    """From here on this connection plans for the tables as they are now: one that was empty may have become large."""
    with connections["default"].cursor() as cursor:
        cursor.execute("discard plans")


def _said(
    wrapper: DatabaseWrapper, steps: list[_Step], asked: Statement, meanwhile: Callable[[], object] | None
) -> list[Row]:
    """The rows of the step `asked`; all steps are sent before the first answer is read."""
    with wrapper.wrap_database_errors:
        pgconn: pq.abc.PGconn = wrapper.connection.pgconn
        pgconn.enter_pipeline_mode()
        try:
            planned, place = _send(wrapper, pgconn, steps, asked)
            if meanwhile is not None:
                meanwhile()
            results = list(_results(pgconn))
        except BaseException:
            wrapper.close()  # nobody reads the answers that are still to come
            raise
        pgconn.exit_pipeline_mode()
        for result in results:
            if result.status not in _DONE:
                raise psycopg.errors.error_from_result(result)
        wrapper.plans.update(planned)
    found = results[place]
    return [
        tuple(_read(found.get_value(row, column)) for column in range(found.nfields))
        for row in range(found.ntuples)
    ]


def _send(
    wrapper: DatabaseWrapper, pgconn: pq.abc.PGconn, steps: list[_Step], asked: Statement
) -> tuple[dict[object, bytes], int]:
    """(what the server plans for the first time, by what names; which answer is that of `asked`)."""
    planned: dict[object, bytes] = {}
    requests = place = 0  # each has one answer
    for statement, values in steps:
        name = wrapper.plans.get(statement)
        if name is None:
            wrapper.planned += 1
            name = planned[statement] = b"plan_%d" % wrapper.planned
            pgconn.send_prepare(name, statement.sql)
            requests += 1
        if statement is asked:
            place = requests
        pgconn.send_query_prepared(name, [_written(values[key]) for key in statement.names])
        requests += 1
    pgconn.pipeline_sync()
    while pgconn.flush():
        _wait(pgconn, select.POLLIN | select.POLLOUT)
        pgconn.consume_input()
    return planned, place


def _results(pgconn: pq.abc.PGconn) -> Iterator[pq.abc.PGresult]:
    """The answers to everything that was sent. Raises OperationalError when the server is gone."""
    while True:
        while pgconn.is_busy():
            _wait(pgconn, select.POLLIN)
            pgconn.consume_input()
        result = pgconn.get_result()
        if result is None:  # this stands between two answers
            if pgconn.status == pq.ConnStatus.BAD:
                raise psycopg.OperationalError("the server closed the connection")
            continue
        if result.status == pq.ExecStatus.PIPELINE_SYNC:
            return
        yield result


def _wait(pgconn: pq.abc.PGconn, events: int) -> None:
    poll = select.poll()
    poll.register(pgconn.socket, events)
    poll.poll()


def _written(value: Any) -> bytes | None:
    """A value as Postgres reads it: text, a number, an id, a time, or a list of them."""
    if isinstance(value, list):
        return f"{{{','.join(map(_quoted, value))}}}".encode()
    return None if value is None else str(value).encode()


def _quoted(value: object) -> str:
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def _read(value: bytes | None) -> str | None:
    return None if value is None else value.decode()
