"""The bytes of an answer that is read while it is being written: head, body, events.

All three take bytes as they come, in pieces of any size, and hold no more than they are allowed to. They know no
socket and no time, so whoever reads can do something else between two pieces, which no HTTP library allows.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

HEAD_LIMIT = 64 * 1024
_LINE_LIMIT = 4 * 1024  # of a chunk's size with its extensions, or of a trailer

_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})(?: [^\r\n]*)?")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)")
_SIZE = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;.*)?")
_BOM = b"\xef\xbb\xbf"


class Garbage(Exception):
    """What came is not what it should be; the text is the end of a plain sentence that begins with `it`."""


@dataclass(frozen=True, slots=True)
class Head:
    """Status and headers of an answer, names in lower case."""

    status: int
    headers: Mapping[str, str]

    @property
    def media_type(self) -> str:
        """The content type without parameters, in lower case; empty where none was named."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


def split_head(received: bytes) -> tuple[Head, bytes] | None:
    """The head of the answer and the bytes after it, or None as long as it is incomplete; raises Garbage.

    Interim answers (1xx) are skipped.
    """
    while True:
        if not b"HTTP/1.".startswith(received[:7]) or len(received) > HEAD_LIMIT:
            raise Garbage("gave no answer that can be read")
        raw, end, rest = received.partition(b"\r\n\r\n")
        if not end:
            return None
        head = _head(raw)
        if head.status >= 200:
            return head, rest
        if head.status == 101:
            raise Garbage("gave no answer that can be read")
        received = rest


def _head(raw: bytes) -> Head:
    first, *lines = raw.split(b"\r\n")
    status = _STATUS.fullmatch(first)
    fields = [_HEADER.fullmatch(line) for line in lines]
    if status is None or not all(fields):
        raise Garbage("gave no answer that can be read")
    pairs = ((found[1], found[2]) for found in fields if found)
    headers = {name.decode("ascii").lower(): value.decode("latin-1").strip() for name, value in pairs}
    return Head(int(status[1]), headers)


class Body:
    """The body that a head announces: in chunks, of a known length, or up to the end of the connection.

    `done` once its end was seen.
    """

    def __init__(self, head: Head) -> None:
        coding = head.headers.get("transfer-encoding", "").lower()
        length = head.headers.get("content-length", "")
        if coding not in ("", "chunked") or head.headers.get("content-encoding", "identity") != "identity":
            raise Garbage("gave an answer in a coding that was not asked for")
        if not coding and length and not re.fullmatch(r"[0-9]{1,15}", length):
            raise Garbage("gave an answer without a proper length")
        self._chunked = bool(coding)
        self._to_the_end = not coding and not length
        self._left = int(length) if length and not coding else 0
        # In chunks: "size" line, "data", the line "after" it, "trailer" lines.
        self._state = "size"
        self._rest = b""
        self.done = not self._chunked and not self._to_the_end and not self._left

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What these bytes hold of the body, piece by piece; raises Garbage where they break its form.

        Pieces from before such a place are given first: what they tell did happen.
        """
        if self._chunked:
            yield from self._unchunk(data)
        elif self._to_the_end:
            yield data
        else:
            piece = data[: self._left]
            self._left -= len(piece)
            self.done = not self._left
            yield piece

    def close(self) -> bool:
        """The connection was closed: whether the body is whole."""
        self.done = self.done or self._to_the_end
        return self.done

    def _unchunk(self, data: bytes) -> Iterator[bytes]:
        data = self._rest + data if self._rest else data
        at = 0
        while not self.done:
            if self._state == "data":
                piece = data[at : at + self._left]
                yield piece
                at += len(piece)
                self._left -= len(piece)
                if self._left:
                    break
                self._state = "after"
            end = data.find(b"\r\n", at)
            if end < 0:
                break
            self._line(data[at:end])
            at = end + 2
        self._rest = b"" if self.done else data[at:]
        if len(self._rest) > _LINE_LIMIT:
            raise Garbage("sent something that is no proper chunk")

    def _line(self, line: bytes) -> None:
        if self._state == "trailer":
            self.done = not line
        elif self._state == "after":
            if line:
                raise Garbage("sent something that is no proper chunk")
            self._state = "size"
        elif size := _SIZE.fullmatch(line):
            self._left = int(size[1], 16)
            self._state = "data" if self._left else "trailer"
        else:
            raise Garbage("sent something that is no proper chunk")


class Events:
    """The data of server-sent events; an event may hold `most_bytes` at most, and no more is ever kept."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._line: list[bytes] = []  # the pieces of a line whose end has not come
        self._line_size = 0
        self._data: list[bytes] = []  # the lines of an event whose end has not come
        self._data_size = 0
        self._after_cr = False
        self._first = True

    @property
    def pending(self) -> bool:
        """Whether an event has begun and not ended."""
        return bool(self._line or self._data)

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The data of each event that these bytes complete; raises Garbage for one that is too large."""
        if not piece:
            return
        if self._after_cr and piece.startswith(b"\n"):  # the second half of a line end
            piece = piece[1:]
        self._after_cr = piece.endswith(b"\r")
        lines = piece.splitlines()
        rest = b"" if piece.endswith((b"\r", b"\n")) or not piece else lines.pop()
        for line in lines:
            whole = line
            if self._line:
                whole = b"".join((*self._line, line))
                self._line, self._line_size = [], 0
            if (data := self._of_line(whole)) is not None:
                yield data
        if rest:
            self._line.append(rest)
            self._line_size += len(rest)
            self._measure()

    def _of_line(self, line: bytes) -> bytes | None:
        """The data of the event that this line ends, if it ends one."""
        if self._first:
            self._first, line = False, line.removeprefix(_BOM)
        if not line:
            event = b"\n".join(self._data) if self._data else None
            self._data, self._data_size = [], 0
            return event
        name, _, value = line.partition(b":")
        if name == b"data":  # comments and the other fields say nothing here
            self._data.append(value.removeprefix(b" "))
            self._data_size += len(line)
            self._measure()
        return None

    def _measure(self) -> None:
        if self._line_size + self._data_size > self._most:
            raise Garbage(f"sent an event of more than {self._most / 1024 / 1024:.3g} MiB")
