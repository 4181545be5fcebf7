"""Heads, bodies and events come in pieces of any size and mean the same."""

import pytest

from approvals.connectors.adk.wire import Body, Events, Garbage, Head, split_head

CHUNKED = Head(200, {"transfer-encoding": "chunked"})
SIZES = [1, 2, 3, 7, 1000]


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def events_in(data: bytes, size: int, most_bytes: int = 1000) -> list[bytes]:
    events = Events(most_bytes)
    return [event for piece in pieces(data, size) for event in events.feed(piece)]


def body_of(head: Head, data: bytes, size: int) -> tuple[bytes, bool]:
    body = Body(head)
    return b"".join(part for piece in pieces(data, size) for part in body.feed(piece)), body.done


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("sent", "events"),
    [
        (b"data: {}\n\n", [b"{}"]),
        (b"data: a\r\n\r\ndata:b\r\n\r\n", [b"a", b"b"]),
        (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", [b"a\nb", b"c"]),
        (b"data\n\n", [b""]),
        (b"data:  a: b\n\n", [b" a: b"]),
        (b": a comment\n\n:\ndata: a\nid: 1\nevent: x\nretry: 9\nnonsense\n\n\n\n", [b"a"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        ("data: Päckchen \U0001f4e6\n\n".encode(), ["Päckchen \U0001f4e6".encode()]),
        ("data: a\u2028b\x0bc\x85\n\n".encode(), ["a\u2028b\x0bc\x85".encode()]),
        (b"data: a\n\ndata: half", [b"a"]),
    ],
)
def test_events_are_read_in_pieces_of_any_size(sent: bytes, events: list[bytes], size: int) -> None:
    assert events_in(sent, size) == events


def test_an_event_that_has_begun_is_known_to_be_pending() -> None:
    for sent, pending in ((b"data: a\n\n", False), (b"data: a\n", True), (b"dat", True), (b"", False)):
        events = Events(100)
        list(events.feed(sent))
        assert events.pending is pending


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "sent", [b"data: " + b"x" * 95, b"data: 1\n" * 15, b":" + b"x" * 200, b"data\n" * 30]
)
def test_an_event_over_the_limit_is_not_read_on(sent: bytes, size: int) -> None:
    with pytest.raises(Garbage, match="sent an event of more than"):
        events_in(sent, size, most_bytes=100)


def test_events_within_the_limit_do_not_add_up() -> None:
    assert len(events_in(b"data: 123456\n\n: and a comment\n" * 100, 9, most_bytes=60)) == 100


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("head", "sent", "read"),
    [
        (CHUNKED, b"3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n", b"abc0123456789"),
        (CHUNKED, b"1 \r\n\r\r\n2\r\n\r\n\r\n000\r\ntrailer: x\r\n\r\nmore", b"\r\r\n"),
        (CHUNKED, b"0\r\n\r\n", b""),
        (Head(200, {"content-length": "3"}), b"abcmore", b"abc"),
    ],
)
def test_a_body_is_read_in_pieces_of_any_size(head: Head, sent: bytes, read: bytes, size: int) -> None:
    assert body_of(head, sent, size) == (read, True)


def test_a_body_is_whole_only_at_its_end() -> None:
    cut = (
        (CHUNKED, b"3\r\nabc\r\n"),
        (CHUNKED, b"3\r\nabc\r\n0\r\n"),
        (Head(200, {"content-length": "3"}), b"ab"),
    )
    for head, sent in cut:
        body = Body(head)
        list(body.feed(sent))
        assert not body.close()
    to_the_end = Body(Head(200, {}))
    assert list(to_the_end.feed(b"abc")) == [b"abc"]
    assert not to_the_end.done
    assert to_the_end.close()
    assert Body(Head(200, {"content-length": "0"})).done


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "sent", [b"xyz\r\n", b"-1\r\n", b"3\r\nabcd\r\n", b"\r\n", b"1" * 16 + b"\r\n", b"1" * 5000]
)
def test_what_is_no_chunk_is_garbage(sent: bytes, size: int) -> None:
    with pytest.raises(Garbage):
        body_of(CHUNKED, sent, size)


@pytest.mark.parametrize(
    "headers",
    [{"transfer-encoding": "gzip, chunked"}, {"content-encoding": "gzip"}, {"content-length": "-1"}],
)
def test_a_body_in_another_form_is_garbage(headers: dict[str, str]) -> None:
    with pytest.raises(Garbage):
        Body(Head(200, headers))


def test_a_head_is_read_once_it_is_whole_and_interim_ones_are_skipped() -> None:
    sent = (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200\r\nContent-Type: Text/HTML ; charset=x\r\nx:\r\n\r\nrest"
    )
    for end in range(len(sent) - 4):
        assert split_head(sent[:end]) is None
    found = split_head(sent)
    assert found == (Head(200, {"content-type": "Text/HTML ; charset=x", "x": ""}), b"rest")
    assert found[0].media_type == "text/html"


@pytest.mark.parametrize(
    "sent",
    [
        b"220 mail.example.test ESMTP\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 999 No\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nfolded: a\r\n b\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 70_000,
    ],
)
def test_what_is_no_head_is_garbage(sent: bytes) -> None:
    with pytest.raises(Garbage):
        split_head(sent)
