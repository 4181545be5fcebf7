"""What others wrote is shown whole: nothing invisible, nothing that acts as markup."""

import json

import pytest

from dashboard.presenters.text import (
    capped,
    clip,
    count,
    listed,
    plain,
    plural,
    pretty,
    reveal,
    reveal_line,
    summary_line,
)


def chip(name: str, points: str) -> str:
    return f'<span class="chip unseen" title="{points}">{name}</span>'


def test_markup_is_escaped() -> None:
    assert reveal("<script>alert('x') & \"y\"</script>") == (
        "&lt;script&gt;alert(&#x27;x&#x27;) &amp; &quot;y&quot;&lt;/script&gt;"
    )


@pytest.mark.parametrize(
    ("char", "name", "points"),
    [
        ("\u202e", "right-to-left override", "U+202E"),
        ("\u2066", "left-to-right isolate", "U+2066"),
        ("\u200b", "zero width space", "U+200B"),
        ("\u200d", "zero width joiner", "U+200D"),
        ("\ufeff", "byte order mark", "U+FEFF"),
        ("\xad", "soft hyphen", "U+00AD"),
        ("\0", "null", "U+0000"),
        ("\x1b", "escape", "U+001B"),
        ("\x85", "next line", "U+0085"),
        ("\u2028", "line separator", "U+2028"),
        ("\u3164", "hangul filler", "U+3164"),
        ("\u2800", "braille pattern blank", "U+2800"),
        ("\ufe0f", "variation selector-16", "U+FE0F"),
        ("\U000e0101", "variation selector-18", "U+E0101"),
        ("\u2003", "em space", "U+2003"),
        ("\ue000", "private character", "U+E000"),
        ("\ud800", "half a character", "U+D800"),
        ("\uffff", "unassigned character", "U+FFFF"),
        ("\x01", "control character", "U+0001"),
    ],
)
def test_an_invisible_character_is_a_chip_with_its_name(char: str, name: str, points: str) -> None:
    assert reveal(f"a{char}b") == f"a{chip(name, points)}b"
    assert reveal_line(f"a{char}b") == f"a{chip(name, points)}b"


def test_what_it_returns_can_always_be_sent() -> None:
    assert reveal("".join(map(chr, range(0xD7F0, 0xE010)))).encode()


def test_a_run_of_one_character_is_one_chip() -> None:
    assert reveal("a" + "\u200b" * 300) == f"a{chip('zero width space, 300 times', 'U+200B, 300 characters')}"


def test_two_kinds_side_by_side_are_two_chips() -> None:
    assert reveal("\u200b\u202e").count("<span") == 2


def test_a_sentence_in_tag_characters_is_spelt_out() -> None:
    hidden = "".join(chr(0xE0000 + ord(char)) for char in "approve <it>")
    assert "hidden tag characters: approve &lt;it&gt;" in reveal(f"Hello{hidden}")


def test_lines_and_tabs_are_kept_in_a_text() -> None:
    assert reveal("a\tb\nc\r\nd") == "a\tb\nc\nd"
    assert "carriage return" in reveal("a\rb")


def test_a_line_break_is_a_chip_where_one_line_belongs() -> None:
    assert reveal_line("To: a\nBcc: b") == f"To: a{chip('line break', 'U+000A')}Bcc: b"


@pytest.mark.parametrize(
    "text",
    [
        "\U0001f469\u200d\U0001f469\u200d\U0001f467",  # a family, joined
        "\u2764\ufe0f",  # a heart in colour
        "1\ufe0f\u20e3",  # a keycap
        "\U0001f44d\U0001f3fd",  # a thumb with its skin
        "\U0001f3f3\ufe0f\u200d\U0001f308",  # a flag, styled and joined
        "naïve café, مريم, 日本語 テスト",
        "10\u00a0km",
    ],
)
def test_ordinary_letters_and_emoji_are_left_alone(text: str) -> None:
    assert reveal(text) == text


def test_plain_text_names_the_character_for_places_without_markup() -> None:
    assert plain("a\u202eb<i>") == "a<U+202E>b<i>"


def test_a_summary_is_one_short_line() -> None:
    assert summary_line("  a\n\n b\tc ") == "a b c"
    assert summary_line("x" * 500, limit=10) == "x" * 9 + "…"
    assert summary_line("a" + " " * 5000 + "<b>", limit=10) == "a…"
    assert "zero width space" in summary_line("a\u200bb")


def test_a_summary_never_ends_inside_an_entity() -> None:
    assert summary_line("<" * 20, limit=5) == "&lt;" * 4 + "…"


@pytest.mark.parametrize(
    "value", [None, 1, "a", [], {}, {"a": [1, {"b": "ü" * 90}]}, [["x" * 40] * 4], {"": {}}]
)
def test_pretty_json_is_still_the_same_json(value: object) -> None:
    assert json.loads(pretty(value)) == value


def test_pretty_json_keeps_on_a_line_what_fits_on_it() -> None:
    assert pretty({"to": "a", "ids": [1, 2]}) == '{"to": "a", "ids": [1, 2]}'
    assert pretty({"ids": [1, 2], "text": "x" * 80}) == '{\n  "ids": [1, 2],\n  "text": "' + "x" * 80 + '"\n}'


def test_pretty_json_stays_quick_on_a_large_and_deep_value() -> None:
    deep: object = "x" * 60_000
    for _ in range(60):
        deep = [deep, 1]
    assert json.loads(pretty(deep)) == deep


def test_a_long_text_is_clipped_and_says_so() -> None:
    assert clip("abc", 3) == ("abc", "")
    assert clip("x" * 21_000) == ("x" * 20_000, "Shortened: the first 20,000 of 21,000 characters.")


def test_numbers_read_as_people_write_them() -> None:
    assert (count(12480), capped(999), capped(1000)) == ("12,480", "999", "1,000+")
    assert (plural(1, "call"), plural(2, "call"), plural(0, "delivery", "deliveries")) == (
        "1 call",
        "2 calls",
        "0 deliveries",
    )


def test_names_are_listed_as_in_speech() -> None:
    assert [listed(list("abcde"[:n])) for n in range(6)] == [
        "", "a", "a and b", "a, b and c", "a, b and 2 more", "a, b and 3 more",
    ]  # fmt: skip
