"""What was read of a runtime's store becomes runs and lines of their journals."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from django.utils import timezone

from approvals.db.binding import bind
from approvals.models import Event, QueueItem, Run, Runtime, StoredRow, ToolCall
from approvals.rules.in_place import Said
from approvals.rules.observed import Head, Line, Row, Session, SessionKey
from approvals.selectors.lineages import judged
from approvals.services import answers, observing, secrets
from approvals.services.observations import Watch
from approvals.services.observing import Read
from tests import factories

pytestmark = pytest.mark.django_db
NOW = timezone.now()
KEY = SessionKey("support", "anna@example.org", "s-1")
HELLO = {"role": "user", "parts": [{"text": "Refund C-17"}]}


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    workspace = factories.workspace()
    with bind(workspace.id):
        yield factories.runtime(
            name="adk-prod",
            kind="adk",
            writes_ahead=False,
            database_url=secrets.seal("postgresql://reader@db.example.com/adk"),
        )


def watch(runtime: Runtime, **more: Any) -> Watch:
    fields: dict[str, Any] = {
        "runtime_id": runtime.id,
        "fence": 1,
        "base_url": runtime.base_url,
        "allowed_hosts": frozenset(),
        "database_url": "",
        "hides_calls": False,
        "facts": {"support": {"root": "llm", "hides_calls": False}},
        "notice": "",
        "asked_at": None,
        "changed_until": None,
        "pass_after": None,
        "pass_ended_at": None,
        "now": NOW,
    }
    return Watch(**(fields | more))


def row(name: str, second: float, *lines: Line, invocation: str = "e-1", **more: Any) -> Row:
    at = NOW + timedelta(seconds=second)
    fields = {"digest": name.encode().ljust(32)} | more
    return Row(event_id=name, invocation_id=invocation, at=at, lines=lines, **fields)


def line(type: str, **more: Any) -> Line:
    return Line(type=type, at=NOW, **more)


def asked(name: str = "u", second: float = 0, **more: Any) -> Row:
    said = line("message", content={"text": "Refund C-17", "author": "user"})
    return row(name, second, said, input=HELLO, **more)


CALL = line("tool_call", call_id="c-1", name="send_email", content={"args": {"to": "ada@example.test"}})
ANSWER = line("tool_result", call_id="c-1", name="send_email", content={"result": {"status": "sent"}})
HELD = line(
    "tool_result", call_id="c-1", name="send_email", outcome="awaiting",
    content={"confirmation": {"id": "q-1", "hint": "May I?"}},
)  # fmt: skip


def take(by: Watch, *rows: Row, key: SessionKey = KEY, present: list[Head] | None = None) -> None:
    with transaction.atomic():
        observing.take(by, [Read(Session(key, NOW), rows, present)], at=NOW)


def heads(*rows: Row) -> list[Head]:
    return [Head(row.event_id, row.digest or b"") for row in rows]


def the_run() -> Run:
    with transaction.atomic():
        return Run.objects.get()


def told(run_id: UUID) -> list[tuple[str, str | None, str]]:
    with transaction.atomic():
        events = Event.objects.filter(run_id=run_id).order_by("seq")
        return [(event.type, event.outcome, event.origin) for event in events]


def record(run: Run) -> tuple[str, bool, str]:
    with transaction.atomic():
        facts, _, _ = judged(Run.objects.get(id=run.id))
        return next((f.record.kind, f.record.complete, f.record.why) for f in facts if f.id == str(run.id))


def state_of_call(run: Run) -> str:
    with transaction.atomic():
        return ToolCall.objects.get(run_id=run.id).state


def test_an_invocation_becomes_a_run_with_its_calls(runtime: Runtime) -> None:
    take(watch(runtime), asked(), row("a", 1, CALL), row("b", 2, ANSWER))
    run = the_run()
    assert run.external_id == "support/anna@example.org/s-1/e-1"
    assert (run.agent, run.subject, run.session_id, run.status) == (
        "support", "anna@example.org", "s-1", "running",
    )  # fmt: skip
    assert state_of_call(run) == "answered"
    assert record(run) == ("called", False, "called")


def test_a_name_with_a_slash_cannot_pass_for_another_session() -> None:
    one = observing.external_id_of(SessionKey("support", "a/b", "c"), "e-1")
    other = observing.external_id_of(SessionKey("support", "a", "b/c"), "e-1")
    assert one != other


def test_reading_the_same_again_changes_nothing(runtime: Runtime) -> None:
    rows = (asked(), row("a", 1, CALL), row("b", 2, ANSWER))
    take(watch(runtime), *rows)
    before = told(the_run().id)
    take(watch(runtime), *rows, present=heads(*rows))
    assert told(the_run().id) == before


def test_a_final_answer_of_a_simple_agent_ends_the_run_and_proves_nothing(runtime: Runtime) -> None:
    take(watch(runtime), asked(), row("a", 1, line("message"), ends="completed"))
    run = the_run()
    assert run.status == "completed"
    assert told(run.id)[-1] == ("ended", "completed", "inferred")
    assert record(run) == ("unknown", False, "end_inferred")
    assert run.tools_executed is None


def test_a_row_that_says_itself_that_the_run_is_over_proves_it(runtime: Runtime) -> None:
    take(watch(runtime), asked(), row("a", 1, line("message"), ends="completed", proven=True))
    assert told(the_run().id)[-1] == ("ended", "completed", "live")
    assert record(the_run()) == ("none", True, "none")
    assert the_run().tools_executed == []


def test_an_agent_with_tools_that_hide_calls_is_never_known_to_have_called_none(runtime: Runtime) -> None:
    by = watch(runtime, facts={"support": {"root": "llm", "hides_calls": True}})
    take(by, asked(), row("a", 1, line("message"), ends="completed", proven=True))
    assert record(the_run()) == ("unknown", False, "hidden")


def test_what_is_not_known_of_an_application_counts_as_hiding_calls(runtime: Runtime) -> None:
    take(watch(runtime, facts={}), asked(), row("a", 1, line("message"), ends="completed", proven=True))
    assert record(the_run())[0] == "unknown"


def test_a_final_answer_with_a_call_still_open_is_no_end(runtime: Runtime) -> None:
    take(watch(runtime), asked(), row("a", 1, CALL), row("b", 2, line("message"), ends="completed"))
    assert the_run().status == "running"


def test_a_final_answer_of_a_workflow_is_no_end_since_steps_may_follow(runtime: Runtime) -> None:
    by = watch(runtime, facts={"support": {"root": "workflow", "hides_calls": True}})
    take(by, asked(), row("a", 1, line("message"), ends="completed"))
    assert the_run().status == "running"


def test_an_error_at_its_end_fails_the_run(runtime: Runtime) -> None:
    take(
        watch(runtime),
        asked(),
        row("a", 1, CALL),
        row("b", 2, ANSWER),
        row("c", 3, line("message"), ends="failed"),
    )
    assert the_run().status == "failed"
    assert record(the_run()) == ("called", False, "called")


def test_an_end_is_told_once_however_often_it_is_read(runtime: Runtime) -> None:
    rows = [asked(), row("a", 1, line("message"), ends="completed")]
    take(watch(runtime), *rows)
    late = row("b", 2, line("message"), ends="completed")
    take(watch(runtime), late, present=heads(*rows, late))
    assert [type for type, _, _ in told(the_run().id)].count("ended") == 1


def test_a_row_that_turns_up_late_brings_an_interrupted_run_to_its_end(runtime: Runtime) -> None:
    rows = [asked(), row("a", 1, CALL)]
    take(watch(runtime), *rows)
    with transaction.atomic():
        Run.objects.update(
            status="interrupted", interrupted_at=NOW, interrupted_why="silent", silent_after=None
        )
    late = [row("b", 2, ANSWER), row("c", 3, line("message"), ends="completed")]
    take(watch(runtime), *late, present=heads(*rows, *late))
    assert the_run().status == "completed"
    assert state_of_call(the_run()) == "answered"


@pytest.mark.parametrize(
    ("now_there", "why"),
    [
        ([Head("u", b"u".ljust(32)), Head("a", b"other".ljust(32))], "edited"),
        ([Head("u", b"u".ljust(32))], "deleted"),
        ([], "deleted"),
    ],
)
def test_a_history_that_was_changed_is_unknown(runtime: Runtime, now_there: list[Head], why: str) -> None:
    take(watch(runtime), asked(), row("a", 1, line("message"), ends="completed", proven=True))
    assert record(the_run())[0] == "none"
    take(watch(runtime), present=now_there)
    assert record(the_run())[0::2] == ("unknown", why)
    take(watch(runtime), present=now_there)  # and is said once
    assert [origin for _, _, origin in told(the_run().id)].count(why) == 1


def test_a_session_with_an_event_that_was_put_there_is_unknown_as_a_whole(runtime: Runtime) -> None:
    forged = row(
        "f",
        1,
        line("tool_call", call_id="x", name="pay", origin="restored"),
        invocation="e-0",
        marks_session=True,
    )
    take(watch(runtime), forged, asked("u", 2), row("a", 3, line("message"), ends="completed", proven=True))
    with transaction.atomic():
        runs = list(Run.objects.all())
    assert {record(run)[2] for run in runs} == {"restored"}
    more = [
        asked("v", 5, invocation="e-2"),
        row("w", 6, line("message"), invocation="e-2", ends="completed", proven=True),
    ]
    take(watch(runtime), *more, present=heads(forged, *more))
    with transaction.atomic():
        later = Run.objects.get(external_id__endswith="e-2")
    assert record(later)[2] == "restored"


def test_a_row_that_cannot_be_read_makes_its_run_unknown(runtime: Runtime) -> None:
    take(
        watch(runtime),
        asked(),
        row("a", 1, line("finding", origin="unreadable", content={"detail": "No object."})),
    )
    assert record(the_run())[2] == "unreadable"


def test_a_call_that_asks_for_confirmation_waits_in_the_queue(runtime: Runtime) -> None:
    take(watch(runtime), asked(), row("a", 1, CALL), row("b", 2, HELD, ends="waiting"))
    assert (the_run().status, state_of_call(the_run())) == ("completed", "awaiting")
    with transaction.atomic():
        assert QueueItem.objects.values_list("tab", "state").get() == ("decide", "awaiting")


def test_a_confirmation_that_somebody_else_gave_leaves_the_queue(runtime: Runtime) -> None:
    rows = [asked(), row("a", 1, CALL), row("b", 2, HELD, ends="waiting")]
    take(watch(runtime), *rows)
    given = row("c", 9, line("message", content={"text": "confirmed", "author": "user"}), answers=("q-1",))
    take(watch(runtime), given, row("d", 10, ANSWER), present=heads(*rows, given))
    assert state_of_call(the_run()) == "answered"
    with transaction.atomic():
        assert QueueItem.objects.values_list("tab", "state").get() == ("history", "completed")


def test_a_confirmation_goes_inert_once_its_session_has_moved_on(runtime: Runtime) -> None:
    rows = [asked(), row("a", 1, CALL), row("b", 2, HELD, ends="waiting")]
    take(watch(runtime), *rows)
    take(watch(runtime), asked("v", 20, invocation="e-2"), present=heads(*rows))
    with transaction.atomic():
        first = Run.objects.get(external_id__endswith="e-1")
        assert QueueItem.objects.values_list("tab", flat=True).get(run_id=first.id) == "history"
    assert state_of_call(first) == "withdrawn"


def test_so_it_does_when_both_are_read_at_once(runtime: Runtime) -> None:
    take(
        watch(runtime),
        asked(),
        row("a", 1, CALL),
        row("b", 2, HELD, ends="waiting"),
        asked("v", 20, invocation="e-2"),
    )
    with transaction.atomic():
        first = Run.objects.get(external_id__endswith="e-1")
    assert state_of_call(first) == "withdrawn"


def test_the_same_message_again_can_be_recognised(runtime: Runtime) -> None:
    take(watch(runtime), asked(), row("a", 1, CALL), asked("v", 20, invocation="e-2"))
    with transaction.atomic():
        digests = set(Run.objects.values_list("body_digest", flat=True))
    assert len(digests) == 1 and digests != {""}


def test_an_invocation_without_a_message_cannot_be_started_again(runtime: Runtime) -> None:
    take(watch(runtime), row("a", 1, CALL))
    with transaction.atomic():
        _, verdict, _ = judged(Run.objects.get())
    assert "input_missing" in verdict.codes


def test_rows_of_many_sessions_are_taken_at_once(runtime: Runtime) -> None:
    reads = [
        Read(
            Session(SessionKey("support", f"user-{n}", "s-1"), NOW),
            [asked(), row("a", 1, CALL), row("b", 2, ANSWER)],
        )
        for n in range(50)
    ]
    with transaction.atomic():
        observing.take(watch(runtime), reads, at=NOW)
    with transaction.atomic():
        assert Run.objects.count() == 50
        assert StoredRow.objects.count() == 150


def test_a_row_that_a_clock_set_back_made_older_joins_its_run(runtime: Runtime) -> None:
    take(watch(runtime), row("b", 5, CALL))
    take(watch(runtime), row("b", 5, CALL), asked("a", 1))
    assert told(the_run().id) == [("tool_call", None, "live"), ("message", None, "live")]


def test_ids_in_any_script_and_as_long_as_they_may_be_are_kept_apart(runtime: Runtime) -> None:
    letters = [chr(letter) for letter in range(0x4E00, 0x4E00 + 128)]
    names = ["".join(letters[start:] + letters[:start]) for start in range(4)]
    for session in names[2:]:
        key = SessionKey(names[0], names[1], session)
        take(watch(runtime), asked(invocation=names[0]), row("a", 1, CALL, invocation=names[0]), key=key)
    with transaction.atomic():
        found = list(Run.objects.values_list("external_id", flat=True))
    assert len(set(found)) == 2
    assert max(len(name) for name in found) < 1_000


def test_two_runtimes_with_one_store_have_a_run_each(runtime: Runtime) -> None:
    other = factories.adk_runtime(name="adk-too")
    for one in (runtime, other):
        take(watch(one), asked(), row("a", 1, CALL))
    with transaction.atomic():
        found = list(Run.objects.values_list("runtime_id", "external_id"))
    assert {runtime_id for runtime_id, _ in found} == {runtime.id, other.id}
    assert len({name for _, name in found}) == 1


def test_an_answer_that_is_about_no_run_hides_no_answer_of_ours(runtime: Runtime) -> None:
    take(watch(runtime), asked(), row("a", 1, CALL), row("x", 2, invocation="e-0", answers=("q-9",)))
    dead = factories.interrupted(the_run())
    by = factories.actor("Ada", "support")
    started = answers.answer_calls(
        by=by, run_id=dead.id, shown=factories.shown_run(dead), reason="It is in the provider's log.",
        said={"c-1": Said(happened=True, result="sent")},
    )  # fmt: skip
    with transaction.atomic():
        Run.objects.filter(id=started.run.id).update(started_at=NOW)
    given = line(
        "tool_result", call_id="c-1", name="send_email", outcome="supplied", content={"result": "sent"}
    )
    take(watch(runtime), row("y", 5, given, invocation="e-2", answers=("c-1",)))
    with transaction.atomic():
        assert StoredRow.objects.get(event_id="y").run_id == started.run.id
