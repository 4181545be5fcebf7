"""Reading a journal: each call with its own answer, and no word about what is not shown that is not true."""

from approvals.selectors import timelines
from approvals.selectors.lineages import facts_of
from dashboard.presenters.build_timeline import note_of
from tests.views.of_runs import page
from tests.views.reading import Read
from tests.world import answer, call, ended

from approvals.selectors.run_pages import open_run  # isort: skip


def calls_of(world, run):
    facts = world.read(lambda: facts_of(run.lineage_id))
    return [(one.call_id, one.name, one.state) for one in facts[0].calls]


def test_a_call_id_that_is_used_again_is_a_call_of_its_own(world):
    run = world.run(
        "", call("1", "look_up", id="NW-1"), answer("1"), call("1", "send_email", to="bob@example.com")
    )
    assert calls_of(world, run) == [("1", "look_up", "answered"), ("1 #2", "send_email", "open")]
    lines = world.read(lambda: timelines.timeline_of(run.id)).lines
    assert [(line.type, line.call_id) for line in lines] == [
        ("tool_call", "1"),
        ("tool_result", "1"),
        ("tool_call", "1 #2"),
    ]


def test_the_page_shows_both_calls_of_one_id_and_asks_about_both(world):
    run = world.run("", call("1", "pay", to="ann"), answer("1"), call("1", "pay", to="bob"))
    response = page(world, run)
    read = Read(response)
    assert read.html.count('name="ack"') == 2
    assert "No answer was recorded. It may have happened." in read
    assert "ann" in read and "bob" in read


def test_several_answers_to_one_call_are_one_call(world):
    run = world.run("", call("1", "pay"), answer("1", "soon"), answer("1", "paid"), ended("failed"))
    assert calls_of(world, run) == [("1", "pay", "answered")]


def test_an_answer_without_a_call_was_supplied(world):
    run = world.run("", answer("1"), answer("1"), call("1", "pay"))
    assert calls_of(world, run) == [("1", "pay", "answered")]
    assert calls_of(world, world.run("", answer("7"))) == [("7", "", "supplied")]


def test_what_a_long_run_leaves_out_is_told_with_its_calls(world, monkeypatch):
    monkeypatch.setattr(timelines, "CALLS", 3)
    run = world.run("", *(call(str(n), "pay") for n in range(5)))
    told = world.read(lambda: note_of(open_run(run)))
    assert "2 earlier events left out here; 2 calls among them." in told
