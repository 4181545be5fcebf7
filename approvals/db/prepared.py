"""A statement that the server plans once for each connection, where planning would cost more than doing it.

Outside of a transaction it gets one of its own, which is said to the server in one breath (begin, binding, statement,
commit) and is committed when `rows` returns: one round trip, during which this process may do something else.

It is below Django and psycopg's cursors, on libpq: Django switches psycopg's prepared statements off, and a cursor
waits for each answer.
"""

import re
import select
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import psycopg
from django.db import connection
from psycopg import pq

from approvals.db import binding
from approvals.db.base import BIND
from approvals.db.binding import NotBound

Row = tuple[str | None, ...]
# Else Postgres weighs a plan for the values at hand against one for all, and mostly plans anew. The one for all outlives
# the statistics that it was made by, so it finds rows by their keys and reads no table that was small just then.
_ONE_PLAN = """set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
  set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
  set_config('enable_material', 'off', true), set_config('enable_memoize', 'off', true)"""


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
    raises. Then a transaction of its own was rolled back; where the server was lost, nobody knows.
    """
    bound = binding.current()
    if bound is None or (connection.in_atomic_block and connection.bound != bound):
        raise NotBound(f"no workspace is bound to this transaction: {statement.sql[:80].decode()}")
    if connection.in_atomic_block:
        return _said([(_WITHIN, {}), (statement, values)], statement, meanwhile)
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    binds = {"workspace": bound.workspace_id, "subject": bound.subject or ""}
    try:
        return _said([(_BEGIN, {}), (_BIND, binds), (statement, values), (_COMMIT, {})], statement, meanwhile)
    except BaseException:
        connection.close()  # with it ends what is left of the transaction
        raise


def _said(steps: list[_Step], asked: Statement, meanwhile: Callable[[], object] | None) -> list[Row]:
    """The rows of the step `asked`; all steps are sent before the first answer is read."""
    with connection.wrap_database_errors:
        pgconn: pq.abc.PGconn = connection.connection.pgconn
        new: dict[Statement, bytes] = {}
        place = 0
        pgconn.enter_pipeline_mode()
        try:
            sent = 0  # requests, each of which has one result
            for statement, values in steps:
                name = connection.plans.get(statement)
                if name is None:
                    connection.planned += 1
                    name = new[statement] = b"plan_%d" % connection.planned
                    pgconn.send_prepare(name, statement.sql)
                    sent += 1
                if statement is asked:
                    place = sent
                pgconn.send_query_prepared(name, [_written(values[key]) for key in statement.names])
                sent += 1
            pgconn.pipeline_sync()
            _flush(pgconn)
            if meanwhile is not None:
                meanwhile()
            results = list(_results(pgconn))
        except BaseException:
            connection.close()  # nobody reads the answers that are still to come
            raise
        pgconn.exit_pipeline_mode()
        for result in results:
            if result.status not in (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK):
                raise psycopg.errors.error_from_result(result)
        connection.plans.update(new)
    return [
        tuple(_read(results[place].get_value(row, column)) for column in range(results[place].nfields))
        for row in range(results[place].ntuples)
    ]


def _flush(pgconn: pq.abc.PGconn) -> None:
    while pgconn.flush():
        poll = select.poll()
        poll.register(pgconn.socket, select.POLLIN | select.POLLOUT)
        poll.poll()
        pgconn.consume_input()


def _results(pgconn: pq.abc.PGconn) -> Iterator[pq.abc.PGresult]:
    """The answers up to the end of what was sent. Raises OperationalError when the server is gone."""
    poll = select.poll()
    poll.register(pgconn.socket, select.POLLIN)
    while True:
        while pgconn.is_busy():
            poll.poll()
            pgconn.consume_input()
        result = pgconn.get_result()  # None stands between two answers
        if result is not None and result.status == pq.ExecStatus.PIPELINE_SYNC:
            return
        if pgconn.status == pq.ConnStatus.BAD:
            raise psycopg.OperationalError("the server closed the connection")
        if result is not None:
            yield result


def _written(value: Any) -> bytes | None:
    """A value as Postgres reads it: text, a number, an id, a time, or a list of them."""
    if isinstance(value, list):
        quoted = [f'"{str(one).replace(_BACK, _BACK * 2).replace(_QUOTE, _BACK + _QUOTE)}"' for one in value]
        return f"{{{','.join(quoted)}}}".encode()
    return None if value is None else str(value).encode()


_BACK, _QUOTE = "\\", '"'


def _read(value: bytes | None) -> str | None:
    return None if value is None else value.decode()
