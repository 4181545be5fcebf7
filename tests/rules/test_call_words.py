"""The words for a tool call by its state."""

import pytest

from approvals.rules.call_words import may_be_again, none_made, what_came


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("open", "was called"),
        ("answered", "was called"),
        ("failed", "was called"),
        ("aborted", "was called"),
        ("supplied", "was answered by a person"),
        ("rejected", "was rejected, it did not run"),
        ("awaiting", "waits for a confirmation, it did not run"),
        ("withdrawn", "was no longer asked"),
        ("a state of tomorrow", "was called"),
    ],
)
def test_a_call_is_told_by_its_state(state, words):
    assert what_came(state) == words


@pytest.mark.parametrize(
    ("states", "so"),
    [([], False), (["rejected", "supplied"], True), (["rejected", "open"], False), (["unknown"], False)],
)
def test_none_was_made_only_where_there_are_calls_and_each_is_known(states, so):
    assert none_made(states) is so


def test_a_tool_that_only_asked_is_not_called_again():
    calls = [("mail", "open"), ("mail", "rejected"), ("pay", "awaiting"), ("", "supplied")]
    assert may_be_again(calls) == (["mail", "a tool"], ["pay"])
