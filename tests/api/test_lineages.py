"""What the API tells of many runs at once is what a decision on each of them is made from."""

import pytest
from django.db import transaction

from approvals.db.binding import bind
from approvals.models import Run
from approvals.selectors import lineages, runs
from tests.api.world import Caller, a_call, a_result, an_event, the_end

pytestmark = pytest.mark.usefixtures("database")


def test_the_facts_of_many_lineages_are_those_of_each(caller: Caller) -> None:
    caller.report(caller.open_run(), a_call(1, to="ann"), a_result(2), the_end(3, "failed"), a_call(4, "c-2"))
    caller.report(caller.open_run(), an_event(1), an_event(3))
    caller.open_run()
    again = caller.open_run()
    caller.report(again, the_end(1, "failed"))
    replay = caller.send("POST", f"/runs/{again}/replay").json["run_id"]
    caller.report(replay, a_call(1, "c-9", text="x" * 1000))
    waiting = caller.open_run()
    caller.report(waiting, the_end(1, "failed"))
    assert caller.send("POST", f"/runs/{waiting}/replay").status == 202
    with bind(caller.workspace_id), transaction.atomic():
        ids = set(Run.objects.values_list("lineage_id", flat=True))
        assert len(ids) == 5
        assert {id: lineage.facts for id, lineage in lineages.lineages_of(ids).items()} == {
            id: lineages.facts_of(id) for id in ids
        }


def test_every_word_for_a_record_has_its_sentence(caller: Caller) -> None:
    with bind(caller.workspace_id), transaction.atomic():
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute("select prosrc from pg_proc where proname = 'run_records'")
            source = cursor.fetchone()[0]
    words = {word for word in runs.RECORD_TEXT if f"'{word}'" in source}
    assert words == set(runs.RECORD_TEXT)
    said = source[source.index("case\n") : source.index("end as why")]
    assert {part.split("'")[0] for part in said.split("then '")[1:]} | {"none"} == words
