"""What a decider has to give."""

import pytest

from approvals.exceptions import Invalid
from approvals.rules.decisions import LONGEST_REASON, reason_given


@pytest.mark.parametrize(
    "reason",
    [
        "",
        "short",
        "a" + " " * 30,
        "\u200b" * 30,
        "\u2066" * 15 + "so",
        "\u3164" * 12,
        "\u2800" * 12,
        "\ufeff\u00ad" * 8,
    ],
)
def test_a_reason_that_nobody_can_read_is_none(reason: str) -> None:
    with pytest.raises(Invalid, match="at least 10 characters"):
        reason_given(reason)


@pytest.mark.parametrize("char", ["\0", "\x07", "\x1b", "\x7f", "\x85", "\ud800", "\ufffd"])
def test_a_character_that_no_keyboard_writes_is_refused(char: str) -> None:
    with pytest.raises(Invalid, match="cannot be stored") as refused:
        reason_given(f"The host {char} was rebooted.", field="comment")
    assert refused.value.field == "comment"


@pytest.mark.parametrize(
    "reason",
    ["The host was rebooted.", "Der Wirt\nstarb 🙂 jetzt", "主机在中午被重启了一次", "سبب واضح للجميع هنا"],
)
def test_words_of_any_language_are_kept_as_they_are(reason: str) -> None:
    assert reason_given(f"  {reason}\n") == reason


def test_lines_end_as_everywhere_else() -> None:
    assert reason_given("Line one.\r\nLine two.") == "Line one.\nLine two."


def test_a_reason_of_a_whole_book_is_refused() -> None:
    with pytest.raises(Invalid, match="under"):
        reason_given("x" * (LONGEST_REASON + 1))
