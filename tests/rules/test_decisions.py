"""What a decider has to give."""

import pytest

from approvals.exceptions import Invalid
from approvals.rules.decisions import LONGEST_REASON, as_typed, changes, reason_given, told
from tests.rules.factories import call, run


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


@pytest.mark.parametrize(
    ("typed", "kept"),
    [(" no\r\n", "no"), ("a null \0", ""), ("x" * 9_999, "x" * LONGEST_REASON), ("", "")],
    ids=["short", "null", "long", "empty"],
)
def test_what_somebody_typed_who_was_refused_is_kept_if_it_can_be(typed: str, kept: str) -> None:
    assert as_typed(typed) == kept


# What changed since a page was opened.


def calls(*ids: str, name: str = "send_email") -> tuple[object, ...]:
    return tuple(call(call_id=id, name=name) for id in ids)


def test_new_calls_are_named_also_where_an_earlier_event_came_late() -> None:
    before = told([run(calls=calls("c1", "c2"))])
    now = [run(calls=(*calls("c0", name="look_up"), *calls("c1", "c2"), *calls("c3", name="pay")))]
    assert changes(before, now) == ["Attempt ext-r1 has 2 new calls: look_up, pay."]
    assert changes(before, [run(calls=calls("c1", "c2", "c3"))]) == [
        "Attempt ext-r1 has a new call: send_email."
    ]


def test_of_many_new_calls_the_first_are_named() -> None:
    many = calls(*(f"c{number}" for number in range(8)))
    [sentence] = changes(told([run()]), [run(calls=many)])
    assert sentence.endswith(
        "has 8 new calls: send_email, send_email, send_email, send_email, send_email and 3 more."
    )


def test_of_a_run_with_too_many_calls_for_a_form_only_their_number_is_told() -> None:
    many = calls(*(f"c{number}" for number in range(150)))
    assert changes(told([run(calls=many)]), [run(calls=(*many, *calls("c999")))]) == [
        "Attempt ext-r1 had 150 calls and has 151 now."
    ]
    assert len(str(told([run(calls=many)]))) < 1_000


def test_a_page_that_was_opened_before_an_upgrade_is_told_the_number() -> None:
    before = {"r1": told([run()])["r1"][:5]}
    assert changes(before, [run(calls=calls("c1"))]) == ["Attempt ext-r1 has a new call: send_email."]
    before["r1"][2] = 3
    assert changes(before, [run(calls=calls("c1"))]) == ["Attempt ext-r1 had 3 calls and has 1 now."]
