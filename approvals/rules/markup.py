"""HTML cut into tags and text, the way browsers cut it: forgiving, in one pass, and in time that grows with its length.

Python's own parser tries again from each `<` that it cannot finish, so a page of unfinished tags takes it hours. Here
what is not finished reaches to the end, as the standard has it.
"""

import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from html import unescape

VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
# Their content is text, whatever it looks like.
_RAW = frozenset(("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"))
_START = re.compile(r"<[A-Za-z!?/]")  # any other < is text
_NAME = re.compile(r"[A-Za-z][^\s/>]*")
_CLOSING = re.compile(r"</([A-Za-z][^\s/>]*)")
_GAP = re.compile(r"[\s/]*")
_ATTRIBUTE = re.compile(r"[^\s/>][^\s/>=]*")
_EQUALS = re.compile(r"\s*=\s*")
_BARE = re.compile(r"[^\s>]*")
_COMMENT_END = re.compile(r"--!?>")


@dataclass(frozen=True, slots=True)
class Open:
    """A tag that opens an element: its name and attributes in lower case, the first of each name counts."""

    name: str
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Close:
    """A tag that closes one."""

    name: str


@dataclass(frozen=True, slots=True)
class Text:
    """What stands between tags, character references resolved; `of` is the element whose raw content it is."""

    text: str
    of: str = ""


Token = Open | Close | Text


def tokens(html: str) -> Iterator[Token]:
    """The tags and texts in order; comments and declarations are left out."""
    at = 0
    while at < len(html):
        found = _START.search(html, at)
        if found is None:
            yield Text(unescape(html[at:]))
            return
        start = found.start()
        if start > at:
            yield Text(unescape(html[at:start]))
        at = yield from _after_bracket(html, start)


def _after_bracket(html: str, start: int) -> Generator[Token, None, int]:
    """What begins with the `<` at `start`; its value is where it goes on."""
    if html.startswith("<!--", start):
        return _end_of_comment(html, start)
    if opening := _NAME.match(html, start + 1):
        return (yield from _opening(html, opening))
    if closing := _CLOSING.match(html, start):
        yield Close(closing[1].lower())
    return _behind(html, ">", start)


def _opening(html: str, opening: re.Match[str]) -> Generator[Token, None, int]:
    """A tag that opens an element, with its content where that is raw."""
    attributes, at = _attributes(html, opening.end())
    if at is None:
        return len(html)
    name = opening[0].lower()
    yield Open(name, attributes)
    if name != "plaintext" and name not in _RAW:
        return at
    closing = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(html, at) if name in _RAW else None
    end = closing.start() if closing else len(html)
    yield Text(html[at:end], name)
    return end


def _end_of_comment(html: str, start: int) -> int:
    for short in ("<!-->", "<!--->"):
        if html.startswith(short, start):
            return start + len(short)
    end = _COMMENT_END.search(html, start + 4)
    return end.end() if end else len(html)


def _attributes(html: str, at: int) -> tuple[dict[str, str], int | None]:
    """(the attributes, where the tag ends); None where it does not."""
    found: dict[str, str] = {}
    while True:
        at = _end(_GAP, html, at)
        if at >= len(html):
            return found, None
        if html[at] == ">":
            return found, at + 1
        name = _ATTRIBUTE.match(html, at)
        if name is None:  # cannot be: neither a gap nor the end
            return found, None
        at, value = name.end(), ""
        if equals := _EQUALS.match(html, at):
            at = equals.end()
            quote = html[at : at + 1]
            if quote in ('"', "'") and quote:
                end = html.find(quote, at + 1)
                if end < 0:
                    return found, None
                value, at = html[at + 1 : end], end + 1
            else:
                end = _end(_BARE, html, at)
                value, at = html[at:end], end
        found.setdefault(name[0].lower(), unescape(value))


def _end(pattern: re.Pattern[str], html: str, at: int) -> int:
    found = pattern.match(html, at)
    return found.end() if found else at


def _behind(html: str, sign: str, start: int) -> int:
    end = html.find(sign, start)
    return end + 1 if end >= 0 else len(html)
