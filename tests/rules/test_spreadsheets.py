"""What an agent wrote stays text in a spreadsheet."""

import csv
import io

import pytest

from approvals.rules.spreadsheets import cell


@pytest.mark.parametrize(
    "text",
    [
        "=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", " =1", "\u00a0=1", "＝1", "＋1", "－1", "＠x", "﹦1",
        "﹢1", "﹣1", "﹫x", "−1",
    ],
)  # fmt: skip
def test_what_could_be_a_formula_gets_an_apostrophe(text: str) -> None:
    assert cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=b", "1-1", "two\nlines", "風", "'x", "ann@example.com"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert cell(text) == text


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize(
    "before", ["", "a", "a;", "a\t", "a\n", "a\r\n", "a\r", ";;", 'a;"', 'a"; "', "a\n\n\u00a0", "=1;", "\t"]
)
@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\u2212", "\uff1d"])
def test_no_formula_begins_wherever_a_spreadsheet_cuts(sign: str, before: str, separator: str) -> None:
    page = io.StringIO()
    csv.writer(page, quoting=csv.QUOTE_ALL).writerow(["1", cell(f"{before}{sign}1+1")])
    cut = csv.reader(io.StringIO(page.getvalue(), newline=""), delimiter=separator)
    assert not [text for row in cut for text in row if text.lstrip(' \u00a0"')[:1] == sign]


def test_numbers_are_numbers_and_nothing_is_nothing() -> None:
    assert (cell(-5), cell(1204), cell(None)) == ("-5", "1204", "")
