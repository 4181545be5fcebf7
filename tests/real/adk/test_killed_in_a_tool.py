"""The service is killed in its tool, after the e-mail went out: it is noticed, and goes on by what a person knows."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import httpx
import pytest

from approvals.models import Run
from tests.faults.lab import eventually
from tests.real.adk.client import Conversation
from tests.real.adk.desk import REASON, decided, form, record, sent, states, went_on
from tests.real.adk.mailbox import Mailbox
from tests.real.adk.product import SILENCE_S, Product, nothing_more
from tests.real.adk.running import Reference

pytestmark = pytest.mark.real

NOTICED_S = 10  # how long after the limit of silence it may take


@dataclass
class Killed:
    """Three conversations that were in a tool when their service died; `noticed_s` is how long each took to be seen."""

    happened: Conversation
    did_not: Conversation
    parallel: Conversation
    noticed_s: dict[str, float]


@pytest.fixture(scope="module")
def killed(shared_product: Product, mailbox: Mailbox) -> Iterator[Killed]:
    reference = shared_product.reference
    happened, did_not, parallel = (reference.new_session() for _ in range(3))
    with ExitStack() as sending:
        sending.enter_context(happened.sending("slow:60:once"))
        sending.enter_context(did_not.sending("slow:60:once"))
        sending.enter_context(parallel.sending("parallel_slow:60"))
        for conversation in (happened, did_not):
            mailbox.wait_for(conversation.customer)
        mailbox.wait_for(parallel.customer, 2)
        reference.kill()
        died = time.monotonic()
    noticed: dict[str, float] = {}

    def all_noticed() -> bool:
        for conversation in (happened, did_not, parallel):
            if any(run.status == "interrupted" for run in shared_product.runs_of(conversation)):
                noticed.setdefault(conversation.session, time.monotonic() - died)
        return len(noticed) == 3

    # Only the database is looked at; nobody opens a page or asks the API.
    eventually(all_noticed, "the three runs are interrupted", SILENCE_S + 3 * NOTICED_S)
    reference.make_sure_it_runs()
    yield Killed(happened, did_not, parallel, noticed)


def run_of(product: Product, conversation: Conversation) -> Run:
    [run, *_] = product.runs_of(conversation)
    return run


def test_it_is_interrupted_soon_after_the_limit_though_nobody_looks(product: Product, killed: Killed) -> None:
    run = run_of(product, killed.happened)

    assert max(killed.noticed_s.values()) < SILENCE_S + NOTICED_S
    assert (run.status, run.interrupted_why) == ("interrupted", "silent")
    assert record(product, run) == ("called", "called")
    assert states(product, run) == [("send_email", "open")]


def test_its_page_lists_the_call_that_is_open(product: Product, killed: Killed) -> None:
    page = product.page(run_of(product, killed.did_not))

    assert "Interrupted" in page
    assert "send_email No answer" in page
    assert "These calls are not made again: send_email." in page


def test_a_program_that_asks_for_a_replay_is_told_of_the_call(
    product: Product, killed: Killed, mailbox: Mailbox
) -> None:
    run = run_of(product, killed.did_not)

    answer = product.machine_asks(run)

    assert (answer.status_code, answer.json()["code"]) == (409, "not_safe")
    assert [(call["name"], call["state"]) for call in answer.json()["calls"]] == [("send_email", "open")]
    assert product.replays_of(run) == []
    assert len(mailbox.about(killed.did_not.customer)) == 1


def test_told_that_it_happened_the_agent_ends_its_run_in_place_and_sends_nothing(
    product: Product, reference: Reference, killed: Killed, mailbox: Mailbox
) -> None:
    run = run_of(product, killed.happened)

    ended = went_on(
        product, run, "answer-calls", happened_1="1", result_1="sent", receipt_1="seen by the customer",
        reason=REASON,
    )  # fmt: skip

    assert (ended.status, ended.session_id) == ("completed", killed.happened.session)
    assert states(product, ended) == [("send_email", "supplied")]
    assert len(product.runs_of(killed.happened)) == 2
    assert [one.answer for one in reference.asked(killed.happened)] == ["Calls", "Say"]
    assert nothing_more(lambda: len(mailbox.about(killed.happened.customer)))
    assert len(mailbox.about(killed.happened.customer)) == 1
    assert "Given from outside" in product.page(ended)
    assert "The e-mail is on its way." in product.page(ended)


def test_though_it_did_not_happen_a_second_mail_goes_out_only_after_the_call_was_acknowledged(
    product: Product, reference: Reference, killed: Killed, mailbox: Mailbox
) -> None:
    run, customer = run_of(product, killed.did_not), killed.did_not.customer
    decided(product, run, "resolve-call", resolution="did_not_happen", reason=REASON)
    filled = form(product, run, "force")

    refused = sent(product, filled, reason=REASON)

    assert refused.status_code == httpx.codes.UNPROCESSABLE_ENTITY
    assert product.replays_of(run) == []
    assert len(mailbox.about(customer)) == 1

    ended = went_on(product, run, "force", reason=REASON, **filled.ticks)

    assert (ended.status, ended.session_id) == ("completed", f"secondlook-{ended.id}")
    assert states(product, ended) == [("send_email", "answered")]
    assert len(mailbox.about(customer)) == 2


def test_of_parallel_calls_even_the_one_that_came_back_is_open(
    product: Product, killed: Killed, mailbox: Mailbox
) -> None:
    run = run_of(product, killed.parallel)

    # ADK writes the answers of one step down together, so after a kill nobody knows of either.
    assert record(product, run) == ("called", "called")
    assert states(product, run) == [("send_email", "open"), ("send_email", "open")]
    assert len(mailbox.about(killed.parallel.customer)) == 2
    assert {"happened-1", "happened-2"} <= form(product, run, "answer-calls").ticks.keys()


def test_of_parallel_calls_each_has_to_be_answered(
    product: Product, killed: Killed, mailbox: Mailbox
) -> None:
    run = run_of(product, killed.parallel)
    filled = form(product, run, "answer-calls")

    half = sent(product, filled, happened_1="1", result_1="sent", reason=REASON)

    assert half.status_code == httpx.codes.UNPROCESSABLE_ENTITY
    assert "Say of each open call whether it happened: send_email." in half.text

    ended = went_on(
        product, run, "answer-calls", happened_1="1", result_1="sent", happened_2="1", result_2="sent",
        reason=REASON,
    )  # fmt: skip

    assert ended.status == "completed"
    assert states(product, ended) == [("send_email", "supplied"), ("send_email", "supplied")]
    assert len(mailbox.about(killed.parallel.customer)) == 2
