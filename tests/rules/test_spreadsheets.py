"""What an agent wrote stays text in a spreadsheet."""

import pytest

from approvals.rules.spreadsheets import cell


@pytest.mark.parametrize(
    "text",
    [
        "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "\u00a0=1", "＝1", "＋1", "－1", "＠x", "﹦1",
        "﹢1", "﹣1", "﹫x", "−1",
    ],
)  # fmt: skip
def test_what_could_be_a_formula_gets_an_apostrophe(text: str) -> None:
    assert cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=b", "1-1", "two\nlines", "風", "'x", "ann@example.com"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert cell(text) == text


def test_numbers_are_numbers_and_nothing_is_nothing() -> None:
    assert (cell(-5), cell(1204), cell(None)) == ("-5", "1204", "")
