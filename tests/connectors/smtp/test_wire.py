"""What a message looks like on the wire, and what the recipient gets from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.connectors.smtp import Channel, Message
from approvals.connectors.smtp.message import on_the_wire
from tests.connectors.smtp.test_channel import settings
from tests.servers.smtp import SmtpSink


@pytest.mark.parametrize(
    ("raw", "wire"),
    [
        (b"a\r\nb\r\n", b"a\r\nb\r\n"),
        (b"a\nb", b"a\r\nb\r\n"),
        (b"a\rb\r", b"a\r\nb\r\n"),
        (b"", b"\r\n"),
        (b".\r\n", b"..\r\n"),
        (b"..a\r\n.b", b"...a\r\n..b\r\n"),
        (b"a\r\n.\r\nRCPT TO:<x@example.test>", b"a\r\n..\r\nRCPT TO:<x@example.test>\r\n"),
        (b"a\n.\nb", b"a\r\n..\r\nb\r\n"),
        (b"a\r.\rb", b"a\r\n..\r\nb\r\n"),
        (b"a\r\n.\nb", b"a\r\n..\r\nb\r\n"),
        (b"a.\r\nb.c", b"a.\r\nb.c\r\n"),
    ],
)
def test_line_ends_and_leading_dots_are_written_so_that_only_we_can_end_the_message(
    raw: bytes, wire: bytes
) -> None:
    assert on_the_wire(raw) == wire


@given(st.lists(st.sampled_from([b"\r", b"\n", b".", b"a", b"\x0b", b"\xff"])).map(b"".join))
def test_no_message_holds_its_own_end_or_a_lone_line_end(raw: bytes) -> None:
    wire = on_the_wire(raw)
    assert wire.endswith(b"\r\n")
    assert b"\r\n.\r\n" not in b"\r\n" + wire
    assert wire.count(b"\r") == wire.count(b"\n") == wire.count(b"\r\n")


def test_a_message_full_of_dots_arrives_as_it_was() -> None:
    raw = b".\r\n..\r\n.hidden\r\n\r\nQUIT\r\n.\r\n"
    with SmtpSink() as sink, Channel(settings(sink)) as channel:
        assert channel.send(Message("a@example.test", "b@example.test", raw)).kind == "sent"
        [taken] = sink.wait_for(1)
    assert taken.raw == raw
    assert taken.wire == on_the_wire(raw)


def test_a_large_message_arrives_whole() -> None:
    raw = b".123456789\r\n" * 500_000
    with SmtpSink() as sink, Channel(settings(sink)) as channel:
        assert channel.send(Message("a@example.test", "b@example.test", raw)).kind == "sent"
    assert sink.accepted[0].raw == raw
