"""What stands beside a recipient of whom something was erased."""

import pytest

from approvals.rules.decisions import ERASED
from approvals.selectors.recipients import Row
from dashboard.presenters.build_recipients import _line
from tests.templates.samples import NOW


def said(*, address: str, state: str, answer: str = "", reason: str = "") -> str:
    row = Row(
        position=2,
        given="",
        address=address,
        erased=True,
        state=state,
        reason=reason,
        delivery_id=None,
        attempts=1,
        at=NOW,
        answer=answer,
        message_id="",
    )
    return str(_line(row, None, see_url="", authority_url="", now=NOW).line.note)


def test_of_a_message_that_was_sent_the_address_is_said_to_stay() -> None:
    assert said(address="bo@shop.example", state="sent", answer="250 kept") == (
        "250 kept Their values were erased; the address stays, since this message was sent or tried."
    )


@pytest.mark.parametrize("reason", ["", ERASED])
def test_of_whom_nothing_was_sent_it_is_said_once_that_all_was_erased(reason: str) -> None:
    assert said(address="", state="refused", reason=reason) == ERASED
