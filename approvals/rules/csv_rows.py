"""A list of recipients as a CSV file: how it is written, and what each of its rows is.

The first row names the columns; one of them is the address, the others are what `{{ name }}` stands for. What is wrong
with the file as a whole is raised as Invalid, a sentence that names the row; what is wrong with one row is the reason
that stands beside it, and keeps no other row from being used. Rows count as a spreadsheet counts them: the one with
the names is row 1. Nothing here holds more of a file than a row of it.
"""

import codecs
import csv
import io
import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from json.encoder import encode_basestring
from typing import BinaryIO, NamedTuple

from approvals.exceptions import Invalid
from approvals.rules.addresses import Refused, check_header, check_recipient, plain_recipient
from approvals.rules.spreadsheets import looks_like_formula, may_hold_formula

MOST_ROWS = 1_000_000
MOST_COLUMNS = 100
LONGEST_NAME = 200  # characters of a column's name
LONGEST_VALUE = 10_000  # characters of a cell that is merged into a text
LONGEST_LINE = 1_000_000  # characters from one line break to the next
LONGEST_SHOWN = 1_000  # characters kept of what was given as an address
HEAD = 1024 * 1024  # bytes from which the layout is found out

# What an encoding may be called, and the codec. Without a name it is UTF-8, or what a byte order mark says.
ENCODINGS: Mapping[str, str] = {
    "": "utf-8",
    "utf-8": "utf-8",
    "utf-16": "utf-16",
    "latin-1": "latin-1",
    "iso-8859-1": "latin-1",
    "cp1252": "cp1252",
    "windows-1252": "cp1252",
}
DELIMITERS: Mapping[str, str] = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_NOT_A_LIST = {
    b"PK\x03\x04": "a zip archive or a workbook of a spreadsheet",
    b"\xd0\xcf\x11\xe0": "an old workbook of a spreadsheet",
    b"\x1f\x8b": "a compressed file",
    b"%PDF": "a PDF",
}
# Names of the column with the address; the first line in which one occurs counts.
_ADDRESS_NAMES = (
    {
        "email",
        "e-mail",
        "e_mail",
        "email address",
        "e-mail address",
        "emailaddress",
        "email_address",
        "e-mail-adresse",
    },
    {"mail", "mail address", "mailaddress", "mail_address"},
    {"address", "recipient", "to"},
)
_BREAKS_CSV = {
    "field larger": "a cell has more than 131,072 characters; perhaps a quote before it is not closed.",
    "unexpected end": "a quote is opened and never closed.",
    "expected after": "something stands between a closing quote and the next delimiter.",
}  # fmt: skip
_EMPTY = "The row is empty."
SEPARATOR = "\x1e"  # what no text of a Row holds, so that columns of rows can be joined with it


@dataclass(frozen=True, slots=True)
class Layout:
    """How a file is written: its codec, its delimiter, its columns, and which of them is the address."""

    encoding: str
    delimiter: str
    columns: tuple[str, ...]
    address_column: str


class Row(NamedTuple):
    """One row of a file. `address` and `key` are empty where it cannot be written to, and `reason` says why."""

    position: int
    email: str  # as it was given, with its control characters made visible
    address: str
    key: str
    vars: str  # canonical JSON; an empty cell is no value
    reason: str
    formula: bool  # whether a spreadsheet would take a cell for a formula
    unfit: str  # JSON list of the columns whose value may not stand in a header; empty for none


def layout_of(head: bytes, *, encoding: str = "", address_column: str = "") -> Layout:
    """The layout that the first HEAD bytes of a file show; Invalid with a sentence where they show none.

    `encoding` is one of ENCODINGS; `address_column` the name of the column with the address. Both may be empty.
    """
    if encoding.lower() not in ENCODINGS:
        raise Invalid(
            "encoding", f"This is none of the encodings that are read: {_listed([*ENCODINGS][1:])}."
        )
    for beginning, kind in _NOT_A_LIST.items():
        if head.startswith(beginning):
            raise Invalid(
                "file", f"This is {kind}, not a CSV file. Save the sheet as “CSV UTF-8” and send that."
            )
    codec = next((codec for mark, codec in _MARKS if head.startswith(mark)), "")
    if not codec and (b"\0" in head or ENCODINGS[encoding.lower()] == "utf-16"):
        raise Invalid(
            "file", "This file does not begin like a text. Save the sheet as “CSV UTF-8” and send that."
        )
    codec = codec or ENCODINGS[encoding.lower()]
    try:
        text = codecs.getincrementaldecoder(codec)().decode(head)
    except UnicodeDecodeError as error:
        raise _not_text(head.count(b"\n", 0, error.start) + 1, codec) from error
    line = next(_lines(io.StringIO(text, newline="")), "")
    if not line.strip():
        raise Invalid("file", "The first row is empty. Put the names of the columns there.")
    if line.count('"') % 2:
        raise Invalid(
            "file", "Row 1: a quote is not closed in its line. Names of columns have no line breaks."
        )
    delimiter = _delimiter(line)
    columns = _columns(line, delimiter)
    return Layout(codec, delimiter, columns, _address_column(columns, address_column))


def _delimiter(line: str) -> str:
    """What stands between the names: the one that makes the most columns of them."""
    found = {delimiter: len(_split(line, delimiter)) for delimiter in DELIMITERS}
    most = max(found.values())
    best = [delimiter for delimiter, columns in found.items() if columns == most]
    if most > 1 and len(best) > 1:
        named = " or ".join(DELIMITERS[delimiter] for delimiter in best)
        raise Invalid(
            "file", f"Row 1 can be read in two ways, with {named} between the names. Use one of them only."
        )
    return best[0]


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return []


def _columns(line: str, delimiter: str) -> tuple[str, ...]:
    """The names of the columns; Invalid for one that is empty, there twice, or no name."""
    try:
        columns = tuple(name.strip() for name in next(csv.reader([line], delimiter=delimiter, strict=True)))
    except csv.Error as error:
        raise _unreadable(1, error) from error
    if len(columns) > MOST_COLUMNS:
        raise Invalid("file", f"Row 1 names {len(columns):,} columns; up to {MOST_COLUMNS} are read.")
    seen: dict[str, int] = {}
    for number, name in enumerate(columns, start=1):
        where = f"Row 1, column {number}"
        if not name:
            raise Invalid("file", f"{where}: there is no name. Give each column one.")
        if reason := check_header(name):
            raise Invalid("file", f"{where}: {reason}")
        if len(name) > LONGEST_NAME:
            raise Invalid("file", f"{where}: the name is longer than {LONGEST_NAME} characters.")
        if "{" in name or "}" in name:
            raise Invalid("file", f"{where}: a name with a brace cannot be used in a text. Take it out.")
        if "@" in name and not isinstance(check_recipient(name), Refused):
            raise Invalid("file", f"{where} is an address. Put a row above it that names the columns.")
        if first := seen.get(name.casefold()):
            raise Invalid(
                "file", f"{where}: “{name}” is the name of column {first} too. Give each one of its own."
            )
        seen[name.casefold()] = number
    return columns


def _address_column(columns: Sequence[str], asked: str) -> str:
    if asked:
        found = [name for name in columns if name.casefold() == asked.strip().casefold()]
        if not found:
            raise Invalid("address_column", f"There is no such column. The file has: {_listed(columns)}.")
        return found[0]
    for names in _ADDRESS_NAMES:
        found = [name for name in columns if name.casefold() in names]
        if len(found) == 1:
            return found[0]
        if found:
            break
    raise Invalid(
        "address_column",
        f"Say which column holds the addresses (address_column). The file has: {_listed(columns)}.",
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"“{name}”" for name in names[:20])
    return f"{shown} and {len(names) - 20} more" if len(names) > 20 else shown


def records(file: BinaryIO, layout: Layout) -> Generator[list[str], None, None]:
    """The cells of each row below the names; Invalid, naming the row, where the file cannot be read any further."""
    text = io.TextIOWrapper(file, encoding=layout.encoding, newline="")
    row = 1
    try:
        reader = csv.reader(_lines(text), delimiter=layout.delimiter, strict=True)
        next(reader, None)
        for row, cells in enumerate(reader, start=2):
            if row - 1 > MOST_ROWS:
                raise Invalid("file", f"The file has more than {MOST_ROWS:,} rows. Split it.")
            yield cells
    except csv.Error as error:
        raise _unreadable(row + 1, error) from error
    except UnicodeError as error:
        raise _not_text(row + 1, layout.encoding) from error
    finally:
        text.detach()  # whoever opened the file closes it
    if row == 1:
        raise Invalid("file", "There is no row below the names of the columns.")


def _lines(text: io.TextIOBase) -> Iterator[str]:
    for number, line in enumerate(iter(partial(text.readline, LONGEST_LINE + 1), ""), start=1):
        if len(line) > LONGEST_LINE:
            raise Invalid(
                "file",
                f"Line {number:,} is longer than {LONGEST_LINE:,} characters. No list has such a line.",
            )
        yield line


def _unreadable(row: int, error: csv.Error) -> Invalid:
    why = next((text for words, text in _BREAKS_CSV.items() if words in str(error)), f"{error}.")
    return Invalid("file", f"Row {row:,}: {why}")


def _not_text(row: int, encoding: str) -> Invalid:
    """Text is decoded in pieces, so the row is only about right."""
    named = encoding.removesuffix("-sig").upper()
    return Invalid(
        "file",
        f"Near row {row:,} there is something that is not {named}. Save the file as “CSV UTF-8”, or say which encoding"
        " it has: latin-1 or cp1252.",
    )


@dataclass(frozen=True, slots=True)
class Judge:
    """Says of each row what it is."""

    layout: Layout
    _width: int = field(init=False)
    _address_at: int = field(init=False)
    _others: tuple[tuple[str, int, str], ...] = field(
        init=False
    )  # name as JSON, place, name; in canonical order

    def __post_init__(self) -> None:
        columns = self.layout.columns
        at = columns.index(self.layout.address_column)
        others = sorted((name, place) for place, name in enumerate(columns) if place != at)
        object.__setattr__(self, "_width", len(columns))
        object.__setattr__(self, "_address_at", at)
        object.__setattr__(
            self, "_others", tuple((f"{encode_basestring(name)}:", place, name) for name, place in others)
        )

    def __call__(self, position: int, cells: list[str]) -> Row:
        """What the row at `position` is."""
        if len(cells) != self._width:
            return self._misfit(position, cells)
        email = cells[self._address_at]
        address = plain_recipient(email)
        found = None if address else check_recipient(email)
        rest = "".join([cells[place] for _, place, _ in self._others])
        reason, formula, unfit = "", False, ""
        if len(rest) > LONGEST_VALUE or not rest.isprintable():
            reason, unfit = self._values(cells)
        if may_hold_formula(rest):
            formula = any(looks_like_formula(cells[place]) for _, place, _ in self._others)
        if not reason:
            pairs = [
                name + encode_basestring(cells[place]) for name, place, _ in self._others if cells[place]
            ]
            variables = "{" + ",".join(pairs) + "}"
        else:
            variables = "{}"
        if isinstance(found, Refused):
            reason = f"Column “{self.layout.address_column}”: {found.reason}" if any(cells) else _EMPTY
        if reason:
            return Row(position, _visible(email), "", "", variables, reason, formula, unfit)
        address = address or found.normal  # type: ignore[union-attr]  # not Refused, or there would be a reason
        shown = email if email.isprintable() else _visible(email)
        return Row(position, shown, address, address.lower(), variables, "", formula, unfit)

    def _misfit(self, position: int, cells: list[str]) -> Row:
        if not any(cell.strip() for cell in cells):
            reason = _EMPTY
        else:
            reason = f"The row has {len(cells):,} cells where row 1 names {self._width} columns."
        email = cells[self._address_at] if len(cells) > self._address_at else ""
        return Row(position, _visible(email), "", "", "{}", reason, False, "")

    def _values(self, cells: list[str]) -> tuple[str, str]:
        """Why the values cannot be kept, if so; and the columns whose value may stand in a text but in no header."""
        unfit = []
        for _, place, name in self._others:
            value = cells[place]
            if len(value) > LONGEST_VALUE:
                return f"Column “{name}”: the text is longer than {LONGEST_VALUE:,} characters.", ""
            if "\0" in value:
                return f"Column “{name}”: the text has the character U+0000, which cannot be kept.", ""
            if check_header(value):
                unfit.append(name)
        return "", json.dumps(unfit) if unfit else ""


def _visible(text: str) -> str:
    """At most LONGEST_SHOWN characters, with a sign for each control character."""
    cut = text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"
    return "".join(
        chr(0x2400 + ord(char)) if char < " " else "\u2421" if char == "\x7f" else char for char in cut
    )
