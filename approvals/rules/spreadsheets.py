"""Cells of a CSV that a spreadsheet opens: text that an agent wrote must not become a formula there."""

from unicodedata import normalize

_FORMULA = frozenset("=+-@\u2212")  # U+2212: the minus sign of typesetters
_BREAK = frozenset("\t\r\n")


def cell(value: object) -> str:
    """The text of one cell; with an apostrophe in front where a spreadsheet could take it for a formula."""
    if value is None:
        return ""
    text = str(value)
    # Wide and small forms (U+FF1D, U+FE62) count like their plain ones, and so do signs behind blanks.
    sign = normalize("NFKC", text.lstrip()[:1])
    risky = not isinstance(value, int) and (text[:1] in _BREAK or sign in _FORMULA)
    return f"'{text}" if risky else text
