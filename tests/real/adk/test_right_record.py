"""Whatever happened to a run or to its rows, its record says so: what is known, why, and what became of each call."""

import pytest

from approvals.models import Run
from tests.faults.lab import eventually
from tests.real.adk.client import Conversation, Frame, calls, parts
from tests.real.adk.desk import REASON, becomes, form, record, states, went_on
from tests.real.adk.mailbox import Mailbox
from tests.real.adk.product import Product
from tests.real.adk.running import Reference

pytestmark = pytest.mark.real

BOTH = [("lookup_customer", "answered"), ("send_email", "answered")]


def newer(reference: Reference) -> bool:
    """Whether it is of the line 2.x, which tells more of what went wrong."""
    return reference.version.startswith("2.")


def nth(product: Product, conversation: Conversation, number: int) -> Run:
    """The run of that number in a session, once it was read and all of them are over."""
    eventually(lambda: len(product.runs_of(conversation)) == number, f"run {number} is known")
    return product.observed(conversation)


def refused_to_programs(product: Product, run: Run) -> None:
    """See that no program can start the run again."""
    answer = product.machine_asks(run)
    assert (answer.status_code, answer.json()["code"]) == (409, "not_safe")


def settled(product: Product, reference: Reference) -> tuple[Conversation, Run]:
    """A conversation that went well, and its run as it is known before anything happens to it."""
    conversation = reference.new_session()
    conversation.send("normal")
    run = product.observed(conversation)
    assert (run.status, record(product, run), states(product, run)) == (
        "completed",
        ("called", "called"),
        BOTH,
    )
    return conversation, run


def test_of_parallel_calls_that_a_failing_sibling_cut_off_each_is_open(
    product: Product, reference: Reference, mailbox: Mailbox
) -> None:
    conversation = reference.new_session()
    conversation.send("parallel_fail")

    run = product.observed(conversation)

    assert record(product, run) == ("called", "called")
    assert states(product, run) == [("send_email", "open"), ("charge_card", "open")]
    assert len(mailbox.about(conversation.customer)) == 1  # though the row of its answer was never written
    assert "send_email No answer" in product.page(run)
    refused_to_programs(product, run)


def test_a_tool_that_raised_is_open_and_so_is_its_run_where_no_row_tells_of_the_error(
    product: Product, reference: Reference
) -> None:
    conversation = reference.new_session()
    conversation.send("tool_error")

    run = product.observed(conversation)

    assert run.status == ("failed" if newer(reference) else "interrupted")
    assert record(product, run) == ("called", "called")
    assert states(product, run) == [("lookup_customer", "answered"), ("charge_card", "open")]
    error = product.told(run)["error"]
    assert (error is not None) == newer(reference)
    if error:  # the words of the error itself could ask to try again
        assert (error["completed"], error["open"]) == (["lookup_customer"], ["charge_card"])
        assert error["text"] in product.page(run)
    refused_to_programs(product, run)


def test_of_a_streamed_call_the_whole_counts_once(
    product: Product, reference: Reference, mailbox: Mailbox
) -> None:
    conversation = reference.new_session()
    conversation.send("stream_call", streaming=True)
    run = product.observed(conversation)
    assert (record(product, run), states(product, run)) == (("called", "called"), BOTH)

    again = went_on(product, run, "force", reason=REASON, **form(product, run, "force").ticks)

    # The worker saw every part of each call; each was replaced by the whole, and the store shows the whole alone.
    assert again.status == "completed"
    assert product.journal(again).count("tool_call") > len(BOTH)
    assert (record(product, again), states(product, again)) == (("called", "called"), BOTH)
    assert len(mailbox.about(conversation.customer)) == 2


def test_of_a_run_whose_client_went_away_nobody_knows_whether_the_call_happened(
    product: Product, reference: Reference, mailbox: Mailbox
) -> None:
    conversation = reference.new_session()

    def mail_is_out(frame: Frame) -> bool:
        return calls("send_email")(frame) and bool(mailbox.wait_for(conversation.customer))

    conversation.leave_after("slow:5", mail_is_out)
    run = product.observed(conversation)

    assert run.status == ("failed" if newer(reference) else "interrupted")
    assert record(product, run) == ("called", "called")
    assert states(product, run) == [("send_email", "aborted" if newer(reference) else "open")]
    said = "Aborted: unknown whether it happened" if newer(reference) else "No answer"
    assert f"send_email {said}" in product.page(run)
    assert len(mailbox.about(conversation.customer)) == 1
    refused_to_programs(product, run)


def test_a_session_with_injected_events_is_unknown_where_its_rows_can_be_told_from_others(
    product: Product, reference: Reference, mailbox: Mailbox
) -> None:
    original = reference.new_session()
    original.send("normal")
    copy = reference.new_session(events=original.history())
    copy.customer = original.customer
    copy.send("says_429")

    lived = nth(product, copy, 2)
    injected = product.runs_of(copy)[0]

    assert states(product, injected) == BOTH
    if newer(reference):  # it marks such rows in its database, and there alone
        for run in (injected, lived):
            assert record(product, run) == ("unknown", "restored")
            assert "restored" in product.page(run)
    else:  # rows without a mark are what lived-through ones are; that calls were made errs on the safe side
        assert record(product, injected) == ("called", "called")
        assert record(product, lived) == ("unknown", "end_inferred")
    for run in (injected, lived):
        refused_to_programs(product, run)
    assert len(mailbox.about(original.customer)) == 1


def test_a_deleted_session_leaves_its_run_here_and_unknown(product: Product, reference: Reference) -> None:
    conversation, run = settled(product, reference)

    conversation.delete()

    becomes(product, run, ("unknown", "deleted"))
    assert states(product, run) == BOTH
    assert "Part of this history was deleted from the runtime's store." in product.page(run)
    refused_to_programs(product, run)


def test_a_row_that_was_edited_in_place_makes_its_run_unknown(product: Product, reference: Reference) -> None:
    conversation, run = settled(product, reference)
    told = next(event for event in conversation.events() if parts([event], "functionResponse"))

    reference.edit(told["id"], content={"role": "user", "parts": [{"text": "nothing was looked up"}]})

    becomes(product, run, ("unknown", "edited"))
    assert states(product, run) == BOTH
    assert "This history was edited in the runtime's store after it was read there." in product.page(run)
    refused_to_programs(product, run)


def test_what_a_rewound_session_forgot_has_happened_all_the_same(
    product: Product, reference: Reference, mailbox: Mailbox
) -> None:
    conversation, first = settled(product, reference)
    conversation.send("normal")
    second = nth(product, conversation, 2)

    reference.rewind(conversation, second.external_id.rpartition("/")[2])
    conversation.send("says_429")
    third = nth(product, conversation, 3)

    assert [run.id for run in product.runs_of(conversation)] == [first.id, second.id, third.id]
    for run in (first, second):
        assert (record(product, run), states(product, run)) == (("called", "called"), BOTH)
        refused_to_programs(product, run)
    assert states(product, third) == []
    assert len(mailbox.about(conversation.customer)) == 2
