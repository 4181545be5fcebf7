"""Cells of a CSV that a spreadsheet opens: text that an agent wrote must not become a formula there."""

import re
from unicodedata import normalize

_FORMULA = frozenset("=+-@\u2212")  # U+2212: the minus sign of typesetters
_BREAK = frozenset("\t\r\n")
# Where lists are not kept apart by commas, a spreadsheet cuts such a file elsewhere: at a semicolon, a tab or a line
# break in the middle of a text, whatever quotes stand around it. So what follows one of these begins a cell, too.
_BEGINNING = re.compile(r"(?<=[;\t\r\n])([\s\"]*)(\S)")


def cell(value: object) -> str:
    """The text of one cell; with an apostrophe wherever a spreadsheet could take it for a formula."""
    if value is None:
        return ""
    text = str(value)
    if isinstance(value, int):
        return text
    first = text.lstrip()[:1]
    # Before the rest: an apostrophe at the very beginning says nothing about what follows a semicolon.
    guarded = _BEGINNING.sub(_with_apostrophe, text)
    return f"'{guarded}" if text[:1] in _BREAK or _is_sign(first) else guarded


def _with_apostrophe(found: re.Match[str]) -> str:
    between, first = found.groups()
    return f"{between}'{first}" if _is_sign(first) else f"{between}{first}"


def may_hold_formula(text: str) -> bool:
    """False where certainly none of the cells that this text is made of looks like a formula."""
    return _SUSPECT.search(text) is not None


def looks_like_formula(text: str) -> bool:
    """Whether `cell` would change it: a spreadsheet could take it, or a part of it, for a formula."""
    return cell(text) != text


def _is_sign(char: str) -> bool:
    """Whether a formula can begin with it. Wide and small forms (U+FF1D, U+FE62) count like their plain ones."""
    return normalize("NFKC", char) in _FORMULA


# Without one of these signs and without a break no text becomes a formula; a test asks every character there is.
_WHERE_SIGNS_ARE = (*range(0x80), *range(0x2000, 0x2300), *range(0xFB00, 0x10000))
_SUSPECT = re.compile(
    f"[\\t\\r\\n{re.escape(''.join(chr(code) for code in _WHERE_SIGNS_ARE if _is_sign(chr(code))))}]"
)
