"""Starting a run again in spite of what it did."""

import pytest

from approvals.exceptions import Conflict, Invalid
from approvals.rules.decisions import call_key
from tests import factories as f
from tests.services.starts import REASON, evidence_of, force, nothing_was_saved

pytestmark = pytest.mark.usefixtures("desk")

# Force.


def test_a_forced_replay_keeps_the_reason_and_what_was_ticked(ada):
    dead = f.dead_run()
    evidence = evidence_of(force(ada, dead).decision)
    assert (evidence["reason"], evidence["ticked"]) == (REASON, [call_key(str(dead.id), "c1")])
    assert evidence["verdict"]["reasons"][0]["code"] == "tools_called"


@pytest.mark.parametrize("reason", ["", "too short", "         x         ", "y" * 2001, "ten characters\0"])
def test_a_reason_that_tells_nobody_anything_is_refused_at_its_field(ada, reason):
    with pytest.raises(Invalid) as refused:
        force(ada, f.dead_run(), reason=reason)
    assert refused.value.field == "reason"
    assert nothing_was_saved()


def test_each_call_has_to_be_ticked(ada):
    dead = f.dead_run()
    with pytest.raises(Invalid, match="send_email") as refused:
        force(ada, dead, ticked=[])
    assert refused.value.field == "ack"
    assert nothing_was_saved()


def test_ticks_that_were_not_on_the_page_count_for_nothing_and_are_not_kept(ada):
    dead = f.dead_run()
    key = call_key(str(dead.id), "c1")
    started = force(ada, dead, ticked=["x" * 10_000, key, "a\0b"])
    assert evidence_of(started.decision)["ticked"] == [key]


def test_calls_of_every_attempt_have_to_be_ticked(ada):
    first = f.dead_run()
    second = f.tell(force(ada, first).run, f.called("add_note", "c1"), f.ended("failed"))
    with pytest.raises(Invalid, match="send_email"):
        force(ada, second, ticked=[call_key(str(second.id), "c1")])
    force(ada, second, ticked=[call_key(str(first.id), "c1"), call_key(str(second.id), "c1")])


def test_an_unknown_record_has_its_own_sentence_to_tick(ada):
    silent = f.interrupted(f.run())
    with pytest.raises(Invalid) as refused:
        force(ada, silent, ticked=[])
    assert refused.value.field == "ack_unknown"
    assert evidence_of(force(ada, silent, ticked=[], unknown=True).decision)["unknown_ticked"] is True


def test_what_may_start_again_is_not_forced(ada):
    with pytest.raises(Conflict) as refused:
        force(ada, f.clean_run(), ticked=[])
    assert refused.value.code == "no_need"


def test_nobody_can_force_a_run_that_is_still_running(ada):
    alive = f.run()
    f.tell(alive, f.called("send_email", "c1"))
    with pytest.raises(Conflict) as refused:
        force(ada, alive)
    assert refused.value.code == "still_running"
    assert nothing_was_saved()


def test_a_run_that_completed_can_be_forced_to_do_the_same_work_twice(ada):
    done = f.tell(f.run(), f.ended("completed"))
    assert not force(ada, done, ticked=[]).repeated
