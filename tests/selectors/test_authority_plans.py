"""However much a workspace holds, *who allowed this* looks at a few rows of it."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction

from approvals.db.binding import bind
from approvals.models import Delivery, Run
from approvals.selectors.authority import effects_of
from tests import factories as f
from tests.shared import as_superuser, database, slug

__all__ = ["as_superuser", "database"]
MANY = 20_000
A_FEW = 300  # rows that one step of a plan may look at
_COPIES = {
    "approvals_run": "id, external_id, subject, lineage_id",
    "approvals_delivery": "id, dedupe_key, message_id",
    "approvals_event": "run_id, seq, call_id",
}
_VALUES = {
    "approvals_run": "md5('run' || n)::uuid, 'run-' || n, 'customer-' || n, md5('run' || n)::uuid",
    "approvals_delivery": "gen_random_uuid(), 'p' || n || '@example.com', '<' || gen_random_uuid() || '@x.example>'",
    "approvals_event": "gen_random_uuid(), 1, 'call-' || n",
}


@pytest.fixture
def desk(database: str, as_superuser: Callable[..., None]) -> Iterator[UUID]:
    """A bound workspace with one small story, and very many rows like those of it."""
    del database
    made = f.workspace(slug())
    with bind(made.id):
        f.tell(f.run("refund-1"), f.called("send_email", "c1"))
        f.campaign(to=[("ann@example.com", {"name": "Ann", "time": "09:40"})])
        for table, columns in _COPIES.items():
            names = _names(table, columns)
            as_superuser(
                f"insert into {table} ({columns}, {names}) select {_VALUES[table]}, {names}"
                f" from (select * from {table} where workspace_id = %s limit 1) one, generate_series(1, {MANY}) n",
                made.id,
            )
            as_superuser(f"analyze {table}")
        yield made.id


def _names(table: str, besides: str) -> str:
    """The other columns of a table, but those that Postgres fills in."""
    with transaction.atomic(), connection.cursor() as cursor:
        found = [column.name for column in connection.introspection.get_table_description(cursor, table)]
    generated = ["id"] if table == "approvals_event" else []
    return ", ".join(name for name in found if name not in [*besides.split(", "), *generated])


def questions() -> dict[str, str]:
    with transaction.atomic():
        run = Run.objects.get(external_id="refund-1")
        delivery = Delivery.objects.get(dedupe_key="ann@example.com")
    return {
        "an address": "ann@example.com",
        "a Message-ID": delivery.message_id,
        "a delivery": str(delivery.id),
        "a run": str(run.id),
        "an external id": "refund-1",
        "a call": "c1",
        "a call of a run": f"{run.id} c1",
        "nothing": "nobody@example.com",
    }


def test_no_question_looks_at_more_than_a_few_rows(desk: UUID) -> None:
    for name, query in questions().items():
        asked: list[tuple[str, Any]] = []

        def listen(execute: Any, sql: str, params: Any, many: bool, context: Any, asked: Any = asked) -> Any:
            asked.append((sql, params))
            return execute(sql, params, many, context)

        with transaction.atomic(), connection.execute_wrapper(listen):
            found = effects_of(query, at_most=50)
        assert bool(found.effects) == (name != "nothing"), name
        with transaction.atomic(), connection.cursor() as cursor:
            for sql, params in asked:
                if not sql.lstrip().lower().startswith("select"):
                    continue
                cursor.execute(f"explain (analyze, format json) {sql}", params)
                plan = cursor.fetchone()[0]
                plan = json.loads(plan) if isinstance(plan, str) else plan
                assert _looked_at(plan[0]["Plan"]) <= A_FEW, (name, sql, json.dumps(plan, indent=1))


def _looked_at(node: dict[str, Any]) -> int:
    """The most rows that one step of a plan read, whether it kept them or not."""
    own = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
    return max([int(own), *(_looked_at(child) for child in node.get("Plans", ()))])
