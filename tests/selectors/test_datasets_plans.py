"""However many rows a list has, finding an address in it looks at a few of them."""

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from django.db import connection, transaction

from approvals.db.binding import bind
from approvals.models import Dataset
from approvals.selectors.datasets import Wanted, rows_of
from tests import factories as f
from tests.selectors.test_contacts_plans import A_FEW, MANY, _looked_at
from tests.shared import as_superuser, database, slug

__all__ = ["as_superuser", "database"]


def a_list(as_superuser: Callable[..., None], workspace_id: Any) -> Dataset:
    with transaction.atomic():
        dataset = Dataset.objects.create(
            workspace_id=workspace_id, name="list.csv", sha256=uuid4().hex * 2, size=1, encoding="utf-8", delimiter=",",
            columns=["email"], address_column="email", by_name="Mia",
        )  # fmt: skip
    as_superuser(
        "insert into approvals_datasetrow (workspace_id, dataset_id, position, email, address, dedupe_key, vars, state,"
        " reason, formula, unfit) select %s, %s, n, a, a, a, '{}', 'addressable', '', false, ''"
        f" from generate_series(1, {MANY}) n, lateral (select 'p' || n || '@example.net' as a) one",
        workspace_id, dataset.id,
    )  # fmt: skip
    return dataset


def test_an_address_is_looked_up_in_its_list(database: str, as_superuser: Callable[..., None]) -> None:
    del database
    workspace = f.workspace(slug())
    asked: list[tuple[str, Any]] = []

    def listen(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        asked.append((sql, params))
        return execute(sql, params, many, context)

    with bind(workspace.id):
        dataset = a_list(as_superuser, workspace.id)
        as_superuser("vacuum analyze approvals_datasetrow")
        with transaction.atomic(), connection.execute_wrapper(listen):
            found, _ = rows_of(dataset.id, Wanted(state="addressable", text="P19999@"), size=50)
        assert [row.address for row in found] == ["p19999@example.net"]
        (statement,) = [one for one in asked if "approvals_datasetrow" in one[0]]
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"explain (analyze, format json) {statement[0]}", statement[1])
            plan = cursor.fetchone()[0]
    plan = json.loads(plan) if isinstance(plan, str) else plan
    assert _looked_at(plan[0]["Plan"]) <= A_FEW, json.dumps(plan, indent=1)
