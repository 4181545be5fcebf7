"""A tool call that a person has to confirm: it waits in the queue, and it is made once, never, or elsewhere."""

import httpx
import pytest

from approvals.models import Run
from tests.faults.lab import eventually
from tests.real.adk.client import Conversation, parts
from tests.real.adk.desk import REASON, form, may, queue, sent, states, went_on
from tests.real.adk.mailbox import Mailbox
from tests.real.adk.product import Product, nothing_more
from tests.real.adk.running import Reference

pytestmark = pytest.mark.real

WITHDRAWN = ("withdrawn", "No longer asked")
HELD = [("lookup_customer", "answered"), ("send_email", "awaiting")]


def asking(reference: Reference) -> tuple[Conversation, dict[str, str]]:
    """A conversation whose e-mail waits for a confirmation, and the request as ADK gave it to its client."""
    conversation = reference.new_session("support_confirm")
    asked = parts(conversation.send("confirm"), "functionCall")[-1]
    return conversation, {"id": asked["id"], "name": asked["name"]}


def goes_inert(product: Product, run: Run, as_what: str, said: str) -> None:
    """Wait until nobody is asked about the call any more, and see that nothing can be decided about it."""
    eventually(
        lambda: states(product, run) == [("lookup_customer", "answered"), ("send_email", as_what)],
        f"the call is {as_what}",
    )
    assert str(run.id) not in queue(product)
    assert not may(product, run) & {"confirm-call", "reject-call"}
    assert f"send_email {said}" in product.page(run)


def test_it_appears_in_the_queue_and_has_not_been_made(
    product: Product, reference: Reference, mailbox: Mailbox
) -> None:
    conversation, _ = asking(reference)
    run = product.observed(conversation)

    assert (run.status, states(product, run)) == ("completed", HELD)
    assert str(run.id) in queue(product)
    assert "A tool call is held" in product.page(run)
    assert "send_email Asks for confirmation" in product.page(run)
    assert product.machine_asks(run).status_code == httpx.codes.CONFLICT
    assert mailbox.about(conversation.customer) == []


def test_confirmed_its_mail_goes_out_once_and_the_run_completes(
    product: Product, reference: Reference, mailbox: Mailbox
) -> None:
    conversation, _ = asking(reference)
    run = product.observed(conversation)
    filled = form(product, run, "confirm-call")

    ended = went_on(product, run, "confirm-call")

    assert (ended.status, ended.session_id) == ("completed", conversation.session)
    assert states(product, ended) == [("send_email", "answered")]
    assert len(mailbox.about(conversation.customer)) == 1
    assert str(run.id) not in queue(product)
    assert str(ended.id) not in queue(product)

    late = sent(product, filled)

    assert late.status_code == httpx.codes.CONFLICT
    assert "Nothing happened a second time." in late.text
    assert nothing_more(lambda: len(mailbox.about(conversation.customer)))
    assert len(product.replays_of(run)) == 1


def test_rejected_it_is_never_made_and_the_run_completes(
    product: Product, reference: Reference, mailbox: Mailbox
) -> None:
    conversation, _ = asking(reference)
    run = product.observed(conversation)

    ended = went_on(product, run, "reject-call", reason=REASON)

    assert ended.status == "completed"
    assert states(product, ended) == [("send_email", "rejected")]
    assert "send_email Rejected" in product.page(ended)
    assert nothing_more(lambda: len(mailbox.about(conversation.customer)))
    assert mailbox.about(conversation.customer) == []


def test_answered_at_the_service_itself_it_goes_inert(
    product: Product, reference: Reference, mailbox: Mailbox
) -> None:
    conversation, request = asking(reference)
    run = product.observed(conversation)
    filled = form(product, run, "confirm-call")

    conversation.answer({**request, "response": {"confirmed": True}})

    # 2.13 goes on in the run that had asked, so the answer is there; 1.39 begins another, and so asks no more.
    in_the_same = reference.version.startswith("2.")
    goes_inert(product, run, *(("answered", "Answered") if in_the_same else WITHDRAWN))
    late = sent(product, filled)
    assert late.status_code == httpx.codes.CONFLICT
    assert ("was confirmed and made meanwhile" if in_the_same else "was answered elsewhere") in late.text
    assert len(product.runs_of(conversation)) == (1 if in_the_same else 2)
    assert nothing_more(lambda: len(mailbox.about(conversation.customer)))
    assert len(mailbox.about(conversation.customer)) == 1


def test_once_its_session_moved_on_it_goes_inert(
    product: Product, reference: Reference, mailbox: Mailbox
) -> None:
    conversation, _ = asking(reference)
    run = product.observed(conversation)

    conversation.send("says_429")

    goes_inert(product, run, *WITHDRAWN)
    assert mailbox.about(conversation.customer) == []
