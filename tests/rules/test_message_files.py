"""Attached files travel as they are: their bytes, names and types read back, and nothing is added."""

import hashlib
from email import message_from_bytes, policy
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.exceptions import Invalid
from approvals.rules.attachments import Attached, check_filename
from approvals.rules.content import Content, envelope_for
from approvals.rules.messages import enclose, leave_out
from tests.rules.test_messages import PARTS, raw

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).filter(
    lambda name: check_filename(name) is None
)


def attached(data: bytes, filename: str = "terms.pdf", content_type: str = "application/pdf") -> Attached:
    return Attached(uuid4(), filename, content_type, hashlib.sha256(data).hexdigest(), len(data))


def part(data: bytes, *how: str) -> str:
    return enclose(attached(data, *how), data)


def read(message: bytes):
    return message_from_bytes(message, policy=policy.default)


def test_a_part_is_exactly_this():
    assert part(b"x" * 60) == (
        "Content-Type: application/pdf;\r\n"
        ' name="terms.pdf"\r\n'
        "Content-Disposition: attachment;\r\n"
        ' filename="terms.pdf"\r\n'
        "Content-Transfer-Encoding: base64\r\n"
        "\r\n" + "eHh4" * 19 + "\r\n" + "eHh4"
    )


def test_the_texts_come_first_and_then_each_file_in_order():
    message = read(raw(html="<p>Hi</p>", attachments=[part(b"one", "1.bin"), part(b"two", "2.bin")]))
    assert message.get_content_type() == "multipart/mixed"
    texts, *files = message.iter_parts()
    assert [one.get_content_type() for one in texts.iter_parts()] == ["text/plain", "text/html"]
    assert [(one.get_filename(), one.get_content()) for one in files] == [
        ("1.bin", b"one"),
        ("2.bin", b"two"),
    ]
    assert not message.defects and not texts.defects


def test_a_plain_text_with_a_file_has_no_alternative():
    message = read(raw(attachments=[part(b"one")]))
    assert [one.get_content_type() for one in message.iter_parts()] == ["text/plain", "application/pdf"]


def test_without_a_file_not_a_byte_is_another():
    assert raw(html="<p>Hi</p>", attachments=()) == raw(html="<p>Hi</p>")


@given(st.binary(max_size=400), NAMES)
def test_whatever_a_file_holds_and_is_called_reads_back(data, name):
    message = read(raw(attachments=[part(data, name, "application/octet-stream")]))
    [_, file] = message.iter_parts()
    assert file.get_content() == data
    assert file.get_filename() == name
    assert file.get_content_disposition() == "attachment"


@given(st.binary(max_size=400), NAMES)
def test_each_line_is_ascii_ends_with_crlf_and_fits(data, name):
    message = raw(attachments=[part(data, name)])
    lines = message.split(b"\r\n")
    assert all(b"\r" not in line and b"\n" not in line and line.isascii() for line in lines)
    assert max(map(len, lines)) <= 140


@pytest.mark.parametrize("data", [b"\r\n.\r\n", b"--=_" * 50, b"\r\n--=_x--\r\n", b"", bytes(range(256))])
def test_no_bytes_end_the_message_or_a_part(data):
    message = read(raw(text="--=_ is no boundary", attachments=[part(data), part(b"behind")]))
    assert [one.get_content() for one in message.iter_parts()][1:] == [data, b"behind"]


def test_the_boundary_of_the_whole_is_another_than_that_of_the_texts():
    message = read(raw(html="<p>Hi</p>", attachments=[part(b"one")]))
    assert message.get_boundary() != next(iter(message.iter_parts())).get_boundary()


@pytest.mark.parametrize(
    "how", [("a\r\nBcc: x@y.org",), ("../x",), ("x", "text/plain\r\nBcc: x@y.org"), ("x", "message/rfc822")]
)
def test_what_could_begin_a_header_field_is_not_written(how):
    with pytest.raises(Invalid):
        part(b"x", *how)


@given(st.binary(max_size=400))
def test_a_part_without_its_bytes_knows_how_long_it_is(data):
    left_out, less = leave_out(attached(data))
    assert len(left_out) + less == len(part(data))


def test_a_message_is_not_made_before_its_files_were_read():
    content = Content("a@x.example.com", "", "Hi", "Text", "", [attached(b"x")])
    with pytest.raises(ValueError, match="read first"):
        envelope_for(content, delivery_id="d1", to="b@x.example.com", variables={}, date=PARTS["date"])
