"""Facts for the tests of rules: a run that ended without a call, changed where a test says so."""

from approvals.rules.verdict import CallFacts, RecordFacts, RunFacts

RECORDS = {
    "none": RecordFacts("none", complete=True, why="it ended and no call was seen"),
    "called": RecordFacts("called", complete=True, why="a call was seen"),
    "unknown": RecordFacts("unknown", complete=False, why="an event is missing"),
}


def call(run_id="r1", call_id="c1", name="send_email", state="answered"):
    return CallFacts(call_id, name, state, "to ann@shop.example", "reported", run_id)


def run(run_id="r1", status="interrupted", record="none", **changes):
    facts = {
        "id": run_id,
        "external_id": f"ext-{run_id}",
        "status": status,
        "started": True,
        "record": RECORDS[record],
        "settled": record != "unknown",
        "late_events": 0,
        "has_input": True,
        "is_head": True,
        "calls": (call(run_id),) if record == "called" else (),
    }
    return RunFacts(**{**facts, **changes})
