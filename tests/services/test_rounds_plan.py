"""The statement of a round finds its rows by their keys, whatever was known of the table when it was planned."""

import re

import pytest
from django.db import connection, transaction

from approvals.services import rounds
from tests.services import sends

pytestmark = pytest.mark.usefixtures("desk")

MANY = 20_000


def plan() -> str:
    """The one plan of the statement, on the connection that has used it."""
    name = connection.plans[rounds._TURN].decode()
    nothing = ", ".join(["null"] * len(rounds._TURN.names))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("set local plan_cache_mode = force_generic_plan")
        cursor.execute(f"explain execute {name} ({nothing})")
        return "\n".join(line for (line,) in cursor.fetchall())


def test_planned_before_anybody_was_sent_anything_it_reads_nothing_but_the_rows_it_names(mia, as_superuser):
    campaign, held, sealed = sends.begun(mia, to=2)
    assert sends.next_intent(held=held, sealed=sealed)
    with transaction.atomic(), connection.cursor() as cursor:
        columns = connection.introspection.get_table_description(cursor, "approvals_delivery")
    changed = ("id", "dedupe_key", "address", "message_id", "position")
    rest = ", ".join(column.name for column in columns if column.name not in changed)
    as_superuser(
        f"insert into approvals_delivery (id, dedupe_key, address, message_id, position, {rest})"
        f" select gen_random_uuid(), 'p' || n || '@example.net', 'x', gen_random_uuid()::text, n + 2, {rest}"
        " from (select * from approvals_delivery where campaign_id = %s and state = 'planned') one,"
        f" generate_series(1, {MANY}) n",
        campaign.id,
    )
    as_superuser("vacuum analyze approvals_delivery")  # hardly anybody was sent anything yet
    rounds.begin_batch()
    assert sends.next_intent(held=held, sealed=sealed)
    found = plan()
    assert "Seq Scan" not in found and "Hash" not in found
    conditions = re.findall(r"using (\w+) on approvals_delivery.*?Index Cond: (.*?)\n", found, re.DOTALL)
    assert len(conditions) == 3
    assert [one for one in conditions if "(id = " not in one[1] and "dedupe_key = " not in one[1]] == []


def test_whom_an_earlier_version_reached_is_skipped_and_opened_by_no_statement(mia, as_superuser):
    campaign, held, sealed = sends.begun(mia, to=2)
    first, second = rounds.upcoming(held=held, sealed=sealed, after=-1, at_most=2)
    as_superuser(
        "with v as (insert into approvals_version select (jsonb_populate_record(v, jsonb_build_object("
        "'id', gen_random_uuid(), 'number', 0, 'digest', 'e'))).* from approvals_version v where v.id = %s"
        " returning id) insert into approvals_delivery select (jsonb_populate_record(d, jsonb_build_object("
        "'id', gen_random_uuid(), 'version_id', v.id, 'state', 'sent'))).* from approvals_delivery d, v"
        " where d.id = %s",
        sealed.version_id,
        first.delivery_id,
    )
    assert rounds.turn(held=held, sealed=sealed, wanted=[first, second]).opened == {second.delivery_id}
    [again] = rounds.upcoming(held=held, sealed=sealed, after=-1, at_most=2)
    assert (again.delivery_id, again.skip) == (first.delivery_id, rounds.REACHED)
    rounds.turn(held=held, sealed=sealed, wanted=[again])
    assert sorted(sends.states(campaign)) == ["attempting", "sent", "skipped"]
