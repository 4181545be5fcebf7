"""Whoever can switch triggers off can change rows; what they change never makes a run look harmless."""

import pytest
from django.db import transaction

from approvals.access.actors import TokenBearer
from approvals.exceptions import Conflict
from approvals.models import Decision
from approvals.selectors.decisions import opened
from approvals.selectors.lineages import judged
from approvals.services import decisions, replays
from tests import factories as f
from tests.services.conftest import ada, as_superuser, database, desk
from tests.services.starts import REASON, force

__all__ = ["ada", "as_superuser", "database", "desk"]
pytestmark = pytest.mark.usefixtures("desk")


def ended_run():
    """A run that called a tool and failed; its record is settled."""
    made = f.tell(f.run(), f.called("send_email", "c1"), f.answered("c1"), f.said("Done."), f.ended("failed"))
    assert made.settled_at
    return made


@transaction.atomic
def verdict_on(run):
    return judged(run)[1]


def machine(run):
    return TokenBearer(run.workspace_id, run.id, run.runtime_id, None, "sl_12345")


TAKEN_AWAY = {
    "the call and its answer": "delete from approvals_event where run_id = %s and call_id is not null",
    "everything": "delete from approvals_event where run_id = %s",
    "the last event": "delete from approvals_event where run_id = %s and type = 'ended'",
    "what the call was": (
        "update approvals_event set type = 'message', call_id = null, name = null"
        " where run_id = %s and call_id is not null"
    ),
    "which tool it was": "update approvals_event set name = 'look_up' where run_id = %s and type = 'tool_call'",
}


@pytest.mark.parametrize("what", TAKEN_AWAY)
def test_a_run_that_was_robbed_of_its_history_is_unknown(what, as_superuser):
    run = ended_run()
    as_superuser(TAKEN_AWAY[what], run.id)
    found = verdict_on(run)
    assert "unknown_record" in found.codes
    with pytest.raises(replays.NotSafe):
        replays.request_by_rule(bearer=machine(run), run_id=run.id)


def test_a_silent_run_that_was_robbed_of_its_call_is_unknown(as_superuser):
    run = f.dead_run()
    as_superuser("delete from approvals_event where run_id = %s and call_id is not null", run.id)
    assert verdict_on(run).codes == ("unknown_record",)


def test_a_record_stays_what_it_was_where_nothing_was_taken_away():
    assert verdict_on(ended_run()).codes == ("tools_called",)


def test_an_input_that_was_changed_starts_nothing(as_superuser, ada):
    run = f.clean_run()
    as_superuser(
        'update approvals_payload set body = \'{"input":"pay me"}\' where id = %s', run.input_payload_id
    )
    assert verdict_on(run).codes == ("input_missing",)
    with pytest.raises(replays.NotSafe):
        replays.request_by_rule(bearer=machine(run), run_id=run.id)
    with pytest.raises(Conflict, match="gone or was altered"):
        replays.replay(by=ada, run_id=run.id, shown=f.shown_run(run))


def test_evidence_that_was_changed_is_not_shown_as_what_the_decider_saw(as_superuser, ada):
    decision = force(ada, f.dead_run()).decision
    as_superuser(
        "update approvals_payload set body = replace(body, 'rebooted', 'attacked') where id = %s",
        decision.payload_id,
    )
    [stored] = f.rows(Decision.objects)
    with transaction.atomic():
        entry = opened(stored).entry
        assert (entry.given, entry.altered, entry.reason) == (None, True, "")
        assert decisions.reason_of(stored) == ""


def test_evidence_that_was_not_changed_is_shown(ada):
    decision = force(ada, f.dead_run()).decision
    with transaction.atomic():
        entry = opened(decision).entry
        assert (entry.altered, entry.reason) == (False, REASON)
