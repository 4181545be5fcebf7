"""A test of a message is the recipient's own, but for whom it goes to, its mark, and what would act for them."""

from datetime import UTC, datetime
from email import message_from_bytes, policy
from uuid import UUID

import pytest

from approvals.rules.content import Content, envelope_for
from approvals.rules.messages import build
from approvals.rules.trials import ending_of, job_of, message_id_of_trial, trial_of

JOB = UUID("0b6f2f0e-5b7e-4f3e-9a55-1f3c9e4c2d10")
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LETTER = Content(
    "Northwind <hello@northwind.example.com>",
    "desk@northwind.example.com",
    "{{ name }}, your departure moved",
    "Dear {{ name }}",
    "<p>Dear {{ name }}</p>",
)
GIVEN = {"variables": {"name": "Ann <b>"}, "date": NOON}
THEIRS, _ = envelope_for(
    LETTER,
    delivery_id="d1",
    to="ann@example.com",
    unsubscribe="https://desk.example/u/ann",
    message_id="<d1@northwind.example.com>",
    **GIVEN,
)
OURS = trial_of(LETTER, job_id=JOB, to="mia@example.com", **GIVEN)


def read(envelope):
    return message_from_bytes(build(envelope), policy=policy.default)


def test_it_is_what_the_recipient_gets_and_says_that_it_is_a_test():
    theirs, ours = read(THEIRS), read(OURS)
    assert ours["Subject"] == "[Test] Ann <b>, your departure moved" == f"[Test] {theirs['Subject']}"
    parts = [(part.get_content_type(), part.get_payload()) for part in theirs.iter_parts()]
    assert parts == [(part.get_content_type(), part.get_payload()) for part in ours.iter_parts()]
    assert (ours["From"], ours["Reply-To"]) == (theirs["From"], theirs["Reply-To"])


def test_it_goes_to_nobody_but_whoever_asked():
    assert (OURS.to, read(OURS)["To"]) == ("mia@example.com", "mia@example.com")
    assert b"ann@example.com" not in build(OURS)


def test_it_carries_nothing_by_which_one_could_unsubscribe_somebody_else():
    assert read(THEIRS)["List-Unsubscribe"]
    assert not [name for name in read(OURS) if name.lower().startswith("list-")]
    assert b"/u/ann" not in build(OURS)


def test_its_message_id_is_its_own_and_leads_back_to_its_job():
    message_id = read(OURS)["Message-ID"]
    assert message_id == message_id_of_trial(JOB, LETTER.from_address) != read(THEIRS)["Message-ID"]
    assert job_of(message_id) == job_of(message_id.strip("<>")) == JOB


@pytest.mark.parametrize(
    "text", ["", "<d1@northwind.example.com>", f"test-{JOB}", f"<{JOB.hex}@x.example>", "test-abc@x.example"]
)
def test_nothing_else_is_taken_for_the_message_id_of_a_test(text):
    assert job_of(text) is None


@pytest.mark.parametrize(
    ("kind", "state", "words"),
    [
        ("sent", "done", "The mail server took it: 250 fine"),
        ("failed", "failed", "refused it, so nothing was sent. It said: 250 fine"),
        ("not_sent", "failed", "Nothing was sent, and it is not tried again by itself."),
        (
            "in_doubt",
            "in_doubt",
            "The test may have arrived; look in your mailbox. Send another if it did not.",
        ),
    ],
)
def test_every_end_of_a_sending_is_an_end_of_the_test(kind, state, words):
    status, sentence = ending_of(kind, "250 fine")
    assert status == state and words in sentence
