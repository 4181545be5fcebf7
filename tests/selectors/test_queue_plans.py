"""However many messages failed and were settled, the queue asks whether one is left without reading them."""

import json
import re
from collections.abc import Callable

from django.db import connection, transaction

from approvals.db.binding import bind
from tests import factories as f
from tests.selectors.test_contacts_plans import A_FEW, MANY, _looked_at
from tests.shared import as_superuser, database, slug

__all__ = ["as_superuser", "database"]


def test_what_of_a_campaign_waits_for_a_person_is_looked_up(
    database: str, as_superuser: Callable[..., None]
) -> None:
    del database
    workspace = f.workspace(slug())
    with bind(workspace.id):
        campaign = f.campaign(to=1)
        with transaction.atomic(), connection.cursor() as cursor:
            columns = connection.introspection.get_table_description(cursor, "approvals_delivery")
        changed = ("id", "dedupe_key", "message_id", "position", "state", "resolved_at")
        rest = ", ".join(column.name for column in columns if column.name not in changed)
        as_superuser(
            f"insert into approvals_delivery (id, dedupe_key, message_id, position, state, resolved_at, {rest})"
            f" select gen_random_uuid(), 'p' || n, n::text, n + 1, 'failed', now(), {rest}"
            " from (select * from approvals_delivery where campaign_id = %s) one,"
            f" generate_series(1, {MANY}) n",
            campaign.id,
        )
        as_superuser("vacuum analyze approvals_delivery")
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("select prosrc from pg_proc where proname = 'place_campaign'")
            [source] = cursor.fetchone()
            found = re.search(r"select d\.state into trouble (from .*?limit 1);", source, re.DOTALL)
            assert found, source
            asked = found[1].replace("of_workspace", "%s").replace("of_campaign", "%s")
            cursor.execute(
                f"explain (analyze, format json) select d.state {asked}", [workspace.id, campaign.id]
            )
            plan = cursor.fetchone()[0]
    plan = json.loads(plan) if isinstance(plan, str) else plan
    assert _looked_at(plan[0]["Plan"]) <= A_FEW, json.dumps(plan, indent=1)
