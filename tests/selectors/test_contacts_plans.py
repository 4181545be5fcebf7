"""However much a workspace sent, asking whom of a few it wrote to looks at a few rows."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection, transaction

from approvals.db.binding import bind
from approvals.models import Campaign, Version
from approvals.selectors.contacts import contacts_of
from tests import factories as f
from tests.shared import as_superuser, database, slug

__all__ = ["as_superuser", "database"]
MANY = 20_000
A_FEW = 300  # rows that one step of a plan may look at
_CHANGED = ("id", "dedupe_key", "address", "message_id", "position", "version_id", "campaign_id")


@pytest.fixture
def desk(database: str, as_superuser: Callable[..., None]) -> Iterator[Campaign]:
    """A campaign to three people, and another agent's that waits for very many others."""
    del database
    made = f.workspace(slug())
    with bind(made.id):
        asked, other = f.campaign(to=3), f.campaign(to=1, agent="billing")
        with transaction.atomic(), connection.cursor() as cursor:
            columns = connection.introspection.get_table_description(cursor, "approvals_delivery")
        rest = ", ".join(column.name for column in columns if column.name not in _CHANGED)
        as_superuser(
            f"insert into approvals_delivery (id, dedupe_key, address, message_id, position, version_id, campaign_id,"
            f" {rest}) select gen_random_uuid(), 'p' || n || '@example.net', 'x', gen_random_uuid()::text, n + 1,"
            f" version_id, campaign_id, {rest} from (select * from approvals_delivery where campaign_id = %s) one,"
            f" generate_series(1, {MANY}) n",
            other.id,
        )
        as_superuser("vacuum analyze approvals_delivery")
        yield asked


def test_a_few_recipients_are_looked_up_by_their_addresses(desk: Campaign) -> None:
    asked: list[tuple[str, Any]] = []

    def listen(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        asked.append((sql, params))
        return execute(sql, params, many, context)

    version = f.rows(Version.objects.filter(campaign_id=desk.id))[0]
    with transaction.atomic(), connection.execute_wrapper(listen):
        found = contacts_of(version.id, campaign_id=desk.id, agent=desk.agent)
    assert (found.written, found.waiting) == (0, 1)
    (statement,) = [one for one in asked if "approvals_delivery" in one[0]]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"explain (analyze, format json) {statement[0]}", statement[1])
        plan = cursor.fetchone()[0]
    plan = json.loads(plan) if isinstance(plan, str) else plan
    assert _looked_at(plan[0]["Plan"]) <= A_FEW, json.dumps(plan, indent=1)


def _looked_at(node: dict[str, Any]) -> int:
    own = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
    return max([int(own), *(_looked_at(child) for child in node.get("Plans", ()))])
