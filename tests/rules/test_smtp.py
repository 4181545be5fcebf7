"""The one table that decides whether a message may be sent again."""

import pytest

from approvals.rules.smtp import PHASES, SESSION_CODES, channel_wide, lost, outcome

BEFORE_THE_MESSAGE = ["connect", "helo", "tls", "auth"]
BEFORE_THE_DOT = ["mail", "rcpt", "data", "body"]


@pytest.mark.parametrize("phase", [*BEFORE_THE_MESSAGE, *BEFORE_THE_DOT])
def test_what_is_lost_before_the_final_dot_was_not_sent(phase):
    assert lost(phase) == "not_sent"


def test_what_is_lost_at_the_final_dot_is_in_doubt():
    assert lost("dot") == "in_doubt"


def test_the_phases_are_those_of_a_session_in_order():
    assert list(PHASES) == [*BEFORE_THE_MESSAGE, *BEFORE_THE_DOT, "dot"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (250, "sent"),
        (251, "sent"),
        (421, "not_sent"),
        (450, "not_sent"),
        (451, "not_sent"),
        (452, "not_sent"),
        (550, "failed"),
        (552, "failed"),
        (554, "failed"),
        (354, "in_doubt"),
        (100, "in_doubt"),
        (0, "in_doubt"),
        (-1, "in_doubt"),
        (600, "in_doubt"),
    ],
)
def test_at_the_final_dot_only_a_clear_reply_settles(code, expected):
    assert outcome("dot", code) == expected


@pytest.mark.parametrize("phase", BEFORE_THE_DOT)
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (250, "not_sent"),
        (354, "not_sent"),
        (421, "not_sent"),
        (450, "not_sent"),
        (451, "not_sent"),
        (530, "not_sent"),
        (0, "not_sent"),
    ],
)
def test_before_the_final_dot_nothing_is_ever_sent_or_in_doubt(phase, code, expected):
    assert outcome(phase, code) == expected


@pytest.mark.parametrize("phase", ["rcpt", "data", "body"])
@pytest.mark.parametrize("code", [550, 553, 501])
def test_a_refusal_for_good_fails_the_one_recipient(phase, code):
    assert outcome(phase, code) == "failed"
    assert not channel_wide(phase, code)


@pytest.mark.parametrize("code", [550, 553, 501])
def test_a_refused_sender_fails_no_recipient_and_ends_the_batch(code):
    assert outcome("mail", code) == "not_sent"
    assert channel_wide("mail", code)


@pytest.mark.parametrize("phase", BEFORE_THE_MESSAGE)
@pytest.mark.parametrize("code", [220, 421, 454, 535, 550, 554])
def test_trouble_before_a_message_is_named_fails_no_recipient(phase, code):
    assert outcome(phase, code) == "not_sent"
    assert channel_wide(phase, code)


@pytest.mark.parametrize("phase", PHASES)
def test_only_the_final_dot_can_mean_sent(phase):
    assert ("sent" in {outcome(phase, code) for code in range(600)}) is (phase == "dot")


@pytest.mark.parametrize("code", sorted(SESSION_CODES))
def test_a_reply_about_the_session_ends_the_batch_wherever_it_comes(code):
    assert channel_wide("rcpt", code)


@pytest.mark.parametrize("code", [450, 451, 550, 552])
def test_a_reply_about_one_recipient_does_not_end_the_batch(code):
    assert not channel_wide("rcpt", code)
