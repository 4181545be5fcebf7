"""How a list of recipients is read: its layout, its rows, and what is wrong with either, in a sentence."""

import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.exceptions import Invalid
from approvals.rules import csv_rows
from approvals.rules.csv_rows import HEAD, Judge, Layout, Row, layout_of, records
from approvals.rules.digests import canonical
from approvals.rules.spreadsheets import cell, looks_like_formula, may_hold_formula


def read(text: str | bytes, **asked: str) -> list[Row]:
    data = text.encode() if isinstance(text, str) else text
    layout = layout_of(data[:HEAD], **asked)
    judge = Judge(layout)
    return [
        judge(position, cells) for position, cells in enumerate(records(io.BytesIO(data), layout), start=2)
    ]


def trouble(text: str | bytes, **asked: str) -> str:
    with pytest.raises(Invalid) as caught:
        read(text, **asked)
    return caught.value.text


def one(line: str, header: str = "email,first_name") -> Row:
    [row] = read(f"{header}\n{line}\n")
    return row


class TestLayout:
    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    def test_the_delimiter_is_found_out_from_the_names(self, delimiter: str) -> None:
        head = f"Email{delimiter}first name\n".encode()
        assert layout_of(head) == Layout("utf-8", delimiter, ("Email", "first name"), "Email")

    def test_one_column_is_enough(self) -> None:
        assert [row.address for row in read("email\nann@shop.example.com\n")] == ["ann@shop.example.com"]

    @pytest.mark.parametrize(
        ("text", "codec"),
        [
            ("\ufeffemail\nann@x.org\n".encode(), "utf-8-sig"),
            ("email\nann@x.org\n".encode("utf-16"), "utf-16"),
        ],
    )
    def test_F08_a_byte_order_mark_says_the_encoding_and_is_no_part_of_a_name(
        self, text: bytes, codec: str
    ) -> None:
        layout = layout_of(text)
        assert (layout.encoding, layout.columns) == (codec, ("email",))
        assert [row.address for row in read(text)] == ["ann@x.org"]

    def test_latin_1_is_read_where_somebody_says_so(self) -> None:
        text = "email,name\nann@x.org,Zo\u00eb\n".encode("latin-1")
        assert "Near row 2" in trouble(text)
        assert [row.vars for row in read(text, encoding="latin-1")] == ['{"name":"Zo\u00eb"}']

    def test_an_encoding_nobody_knows_is_not_guessed(self) -> None:
        assert "none of the encodings" in trouble("email\n", encoding="ebcdic")

    @pytest.mark.parametrize("name", ["email", "E-Mail", "MAIL", "address", " Email address "])
    def test_the_column_with_the_address_is_known_by_its_name(self, name: str) -> None:
        assert layout_of(f"first,{name}\n".encode()).address_column == name.strip()

    def test_a_postal_address_is_none_where_there_is_an_email(self) -> None:
        assert layout_of(b"address,email\n").address_column == "email"

    @pytest.mark.parametrize("header", ["first,contact", "email,e-mail"])
    def test_where_it_is_not_certain_somebody_has_to_say_which(self, header: str) -> None:
        said = trouble(f"{header}\n")
        assert "Say which column" in said
        assert header.split(",", maxsplit=1)[0] in said
        assert layout_of(f"{header}\n".encode(), address_column=header.split(",")[1].upper()).address_column

    def test_D04_a_column_that_is_not_there_is_refused(self) -> None:
        assert "no such column" in trouble("email\n", address_column="mail2")

    @pytest.mark.parametrize(
        ("header", "said"),
        [
            ("email,,x", "Row 1, column 2: there is no name"),
            ("email,x,X", "Row 1, column 3: \u201cX\u201d is the name of column 2 too"),
            ("email,a\x0bb", "Row 1, column 2: The character U+000B"),
            ("email,a\x0cb", "Row 1, column 2: The character U+000C"),
            ("email,a\x1cb", "Row 1, column 2: The character U+001C"),
            ('email,"a\rb"', "Row 1: a quote is not closed in its line"),
            ('email,"a\nb"', "Row 1: a quote is not closed in its line"),
            ("email,a\x85b", "Row 1, column 2: The character U+0085"),
            ("email,a{b", "Row 1, column 2: a name with a brace"),
            ("email," + "x" * 300, "Row 1, column 2: the name is longer"),
            ("ann@shop.example.com,Ann", "Row 1, column 1 is an address"),
            (",".join(f"c{n}" for n in range(10_000)), "10,000 columns"),
            ("email;a,b", "Row 1 can be read in two ways, with comma or semicolon"),
            ("", "The first row is empty"),
        ],
    )
    def test_a_row_of_names_that_is_none(self, header: str, said: str) -> None:
        assert said in trouble(f"{header}\nann@x.org,x\n")

    @pytest.mark.parametrize(
        ("file", "said"),
        [
            (b"PK\x03\x04rest", "zip"),
            (b"\xd0\xcf\x11\xe0rest", "workbook"),
            (b"%PDF-1.7", "PDF"),
            (b"\x1f\x8b\x08", "compressed"),
            (b"\x7fELF\0\0\0", "does not begin like a text"),
            (bytes(range(128, 255)), "Near row 1"),
        ],
    )
    def test_what_is_no_csv_is_named(self, file: bytes, said: str) -> None:
        assert said in trouble(file)


class TestReading:
    def test_F08_a_line_break_in_quotes_is_part_of_the_cell(self) -> None:
        [row] = read('email,note\nann@x.org,"two\r\nlines"\n')
        assert json.loads(row.vars) == {"note": "two\r\nlines"}
        assert json.loads(row.unfit) == ["note"]

    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_rows_count_as_a_spreadsheet_counts_them(self, end: str) -> None:
        text = end.join(["email,note", 'ann@x.org,"a', 'b"', "bob@x.org,c", "x,d"]) + end
        assert [(row.position, bool(row.reason)) for row in read(text)] == [(2, False), (3, False), (4, True)]

    @pytest.mark.parametrize(
        ("rows", "said"),
        [
            ('a@x.org,"b', "Row 2: a quote is opened and never closed"),
            ('a@x.org,b\nc@x.org,"d"e', "Row 3: something stands between"),
            ("a@x.org," + "b" * 200_000, "Row 2: a cell has more than"),
            ("", "no row below"),
        ],
    )
    def test_where_the_file_breaks_off_the_row_is_named(self, rows: str, said: str) -> None:
        assert said in trouble(f"email,note\n{rows}")

    def test_a_carriage_return_alone_ends_a_row_too(self) -> None:
        assert [row.reason for row in read("email,note\ra@x.org,b\rc\n")] == [
            "", "The row has 1 cells where row 1 names 2 columns."
        ]  # fmt: skip

    def test_one_line_of_50_mb_is_not_kept_in_memory(self) -> None:
        said = trouble(b"email,note\na@x.org," + b"b" * 50_000_000)
        assert said.startswith("Line 2 is longer")

    def test_more_rows_than_a_list_may_have(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(csv_rows, "MOST_ROWS", 2)
        assert len(read("email\na@x.org\nb@x.org\n")) == 2
        assert "more than 2 rows" in trouble("email\na@x.org\nb@x.org\nc@x.org\n")


class TestRows:
    def test_variables_are_canonical_and_an_empty_cell_is_no_value(self) -> None:
        row = one('ann@x.org,,"Zo\u00eb ""Z"""', "email,b,a")
        assert row.vars == canonical({"a": 'Zo\u00eb "Z"'})

    @given(
        st.lists(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20),
            max_size=4,
        )
    )
    def test_whatever_the_values_are(self, values: list[str]) -> None:
        names = [f"n{number}" for number in range(len(values))]
        row = Judge(Layout("utf-8", ",", ("email", *names), "email"))(2, ["ann@x.org", *values])
        assert row.vars == canonical(
            {name: value for name, value in zip(names, values, strict=True) if value}
        )
        assert row.formula == any(cell(value) != value for value in values)
        assert all(csv_rows.SEPARATOR not in part for part in row if isinstance(part, str))

    @pytest.mark.parametrize(
        ("given", "address"),
        [
            ("Ann <Ann@Shop.Example.com>", "Ann@shop.example.com"),
            ("ann@shop.example.com\u00a0", "ann@shop.example.com"),
            ("\u200bann@shop.example.com\ufeff", "ann@shop.example.com"),
            ("ann@m\u00fcller.example.com", "ann@xn--mller-kva.example.com"),
        ],
    )
    def test_F10_what_stands_around_an_address_is_taken_away_and_shown(
        self, given: str, address: str
    ) -> None:
        row = one(f'"{given}",Ann')
        assert (row.email, row.address, row.key) == (given, address, address.lower())

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ("a@x.org, b@x.org", "more than one address"),
            ("a@x.org b@x.org", "more than one address"),
            ("A <a@x.org>; B <b@x.org>", "more than one address"),
            ("{{ email }}@x.org", "merge field"),
            ("a\u200bb@x.org", "Column"),
            ("ann@localhost", "Column"),
            ("", "There is no address"),
            ("a\x0bb@x.org", "U+000B"),
            ("a\x1eb@x.org", "U+001E"),
        ],
    )
    def test_F10_F11_what_is_no_address_says_in_which_column_and_why(self, given: str, said: str) -> None:
        row = one(f'"{given}",Ann')
        assert row.reason.startswith("Column \u201cemail\u201d")
        assert said in row.reason
        assert (row.address, row.key) == ("", "")

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("ann@x.org", "has 1 cells where row 1 names 2"),
            ("ann@x.org,a,b", "has 3 cells"),
            (",", "The row is empty"),
            ("ann@x.org," + "x" * 10_001, "Column \u201cfirst_name\u201d: the text is longer"),
        ],
    )
    def test_a_row_that_cannot_be_used_says_why(self, line: str, said: str) -> None:
        assert said in one(line).reason

    def test_a_null_character_cannot_be_kept(self) -> None:
        row = Judge(Layout("utf-8", ",", ("email", "note"), "email"))(2, ["ann@x.org", "a\0b"])
        assert (
            row.reason == "Column \u201cnote\u201d: the text has the character U+0000, which cannot be kept."
        )

    def test_a_control_character_stays_in_a_text_but_is_known(self) -> None:
        row = one("ann@x.org,a\x1cb")
        assert (row.reason, row.unfit, row.vars) == ("", '["first_name"]', '{"first_name":"a\\u001cb"}')

    @pytest.mark.parametrize("value", ["=1+1", "+4", "-4", "@x", "\uff1dcmd", "x;=1"])
    def test_a_formula_is_kept_as_it_is_and_known(self, value: str) -> None:
        row = one(f"ann@x.org,{value}")
        assert (row.formula, json.loads(row.vars)) == (True, {"first_name": value})


def test_no_character_makes_a_formula_that_the_quick_way_does_not_see() -> None:
    for code in (*range(0xD800), *range(0xE000, sys.maxunicode + 1)):
        char = chr(code)
        if not may_hold_formula(char):
            assert not looks_like_formula(char), hex(code)
