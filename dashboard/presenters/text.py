"""Text that an agent, a customer or a provider wrote, made safe to read: escaped, and nothing in it
invisible.

A character that cannot be seen can change what a person believes they approve: a right-to-left override
turns an address around, a zero-width space hides a second word, tag characters carry a whole sentence. Each
is shown as a chip with its name instead of being passed on to the browser.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

# Letters and marks by category, yet drawn as nothing: fillers, joiners of marks, variation selectors.
_BLANKS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_NOT_PLAIN = re.compile(r"[^ -~]")
# Spaces that people type without a thought: no-break, narrow no-break, ideographic.
_PLAIN_SPACES = frozenset(" \u00a0\u202f\u3000")
_NAMES = {
    "\0": "null",
    "\a": "bell",
    "\b": "backspace",
    "\t": "tab",
    "\n": "line break",
    "\v": "vertical tab",
    "\f": "form feed",
    "\r": "carriage return",
    "\x1b": "escape",
    "\x7f": "delete",
    "\x85": "next line",
    "\xad": "soft hyphen",
    "\ufeff": "byte order mark",
}
_ZWJ, _TEXT_STYLE, _EMOJI_STYLE, _KEYCAP = "\u200d", "\ufe0e", "\ufe0f", "\u20e3"
_SKIN = range(0x1F3FB, 0x1F400)
_TAGS = range(0xE0000, 0xE0080)
_LINE, _LARGE = (
    76,
    50_000,
)  # characters of JSON: what fits on a line, and beyond which laying out costs too much


def reveal(text: str) -> SafeString:
    """`text` as HTML: escaped, line breaks and tabs kept, every other invisible character a chip with its
    name.
    """
    return _mark(text.replace("\r\n", "\n"), keep="\n\t")


def reveal_line(text: str) -> SafeString:
    """Like `reveal`, for what belongs on one line (names, addresses, header fields): a line break is a chip
    too.
    """
    return _mark(text, keep="")


def summary_line(text: str, limit: int = 160) -> SafeString:
    """The first `limit` characters of `text` on one line, runs of white space folded, as `reveal_line`
    shows them.
    """
    folded = re.sub(r"[ \t\r\n]+", " ", text[: limit * 4]).strip()
    if len(folded) > limit or len(text) > limit * 4:
        return mark_safe(reveal_line(folded[: limit - 1].rstrip()) + "…")  # noqa: S308  (already escaped)
    return reveal_line(folded)


def plain(text: str) -> str:
    """`text` for places that hold no markup (a title, an option): an invisible character reads `<U+200B>`.
    Not escaped.
    """
    return "".join(part if not hidden else f"<{_points(part)}>" for part, hidden in _parts(text, keep=""))


def pretty(value: object) -> str:
    """A JSON value laid out for reading: what fits on a line stays on it, the rest is two spaces deep."""
    whole = json.dumps(value, ensure_ascii=False)
    if len(whole) <= _LINE or len(whole) > _LARGE:
        return whole if len(whole) <= _LINE else json.dumps(value, ensure_ascii=False, indent=2)
    return _laid_out(value, "")


def _laid_out(value: object, margin: str) -> str:
    line = json.dumps(value, ensure_ascii=False)
    if len(margin) + len(line) <= _LINE or not isinstance(value, dict | list) or not value:
        return line
    deeper = margin + "  "
    if isinstance(value, list):
        items = [_laid_out(item, deeper) for item in value]
    else:
        items = [
            f"{json.dumps(key, ensure_ascii=False)}: {_laid_out(item, deeper)}" for key, item in value.items()
        ]
    brackets = "[]" if isinstance(value, list) else "{}"
    return brackets[0] + ",".join(f"\n{deeper}{item}" for item in items) + f"\n{margin}" + brackets[1]


def clip(text: str, limit: int = 20_000) -> tuple[str, str]:
    """The first `limit` characters, and a sentence on how much is left out (empty when nothing is)."""
    if len(text) <= limit:
        return text, ""
    return text[:limit], f"Shortened: the first {limit:,} of {len(text):,} characters."


def count(number: int) -> str:
    """A number the way people read it: `12,480`."""
    return f"{number:,}"


def capped(number: int, cap: int = 1000) -> str:
    """A count that stopped counting at `cap`: `37`, or `1,000+`."""
    return f"{cap:,}+" if number >= cap else f"{number:,}"


def plural(number: int, one: str, many: str = "") -> str:
    """`1 call`, `2 calls`, `2 deliveries` (give `many` where an s does not do)."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def again(called: Sequence[str], asked: Sequence[str]) -> str:
    """What a start from the beginning may repeat of tools that were called, and of those only asked for."""
    parts = [
        f"{listed([plain(name) for name in names], 5)} may be {verb} again"
        for names, verb in ((called, "called"), (asked, "asked for"))
        if names
    ]
    return "; ".join(parts)


def listed(names: list[str], limit: int = 3) -> str:
    """Names as a person lists them: `a`, `a and b`, `a, b and 4 more`."""
    if len(names) > limit:
        return f"{', '.join(names[: limit - 1])} and {len(names) - limit + 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _mark(text: str, keep: str) -> SafeString:
    if not _suspect(text, keep):
        return escape(text)
    return mark_safe("".join(_chip(part) if hidden else escape(part) for part, hidden in _parts(text, keep)))  # noqa: S308  (each part is escaped)


def _suspect(text: str, keep: str) -> bool:
    """Whether the slow walk is needed at all; most text is settled here, at C speed."""
    for char in keep + "\u00a0\u202f\u3000":
        text = text.replace(char, "")
    return not text.isprintable() or _BLANKS.search(text) is not None


def _parts(text: str, keep: str) -> Iterator[tuple[str, bool]]:
    """`text` cut into stretches (part, hidden); a hidden part is one character repeated, or a run of tags."""
    run, done = "", 0
    for found in _NOT_PLAIN.finditer(text):
        at, char = found.start(), found.group()
        if char in keep or not _unseen(char) or _in_emoji(text, at):
            continue
        if run and (at > done or not _same(run[0], char)):
            yield run, True
            run = ""
        if at > done:
            yield text[done:at], False
        run, done = run + char, at + 1
    if run:
        yield run, True
    if done < len(text):
        yield text[done:], False


def _unseen(char: str) -> bool:
    if char in _PLAIN_SPACES:
        return False
    return not char.isprintable() or _BLANKS.match(char) is not None


def _same(first: str, char: str) -> bool:
    return first == char or (ord(first) in _TAGS and ord(char) in _TAGS)


def _in_emoji(text: str, at: int) -> bool:
    """A joiner or style selector that an emoji is made of is drawn, in a way, and not worth a chip."""
    char = text[at]
    before = text[at - 1] if at else ""
    after = text[at + 1] if at + 1 < len(text) else ""
    if char in (_TEXT_STYLE, _EMOJI_STYLE):
        return _pictured(before) or after == _KEYCAP
    if char == _ZWJ:
        return (_pictured(before) or before == _EMOJI_STYLE) and _pictured(after)
    return False


def _pictured(char: str) -> bool:
    return bool(char) and (unicodedata.category(char) == "So" or ord(char) in _SKIN) and char != "\u2800"


def _chip(part: str) -> str:
    if ord(part[0]) in _TAGS:
        spelt = "".join(chr(ord(char) - 0xE0000) for char in part if 0x20 <= ord(char) - 0xE0000 < 0x7F)
        name = f"hidden tag characters: {spelt}" if spelt else "tag character"
    else:
        name = _name(part[0]) + (f", {len(part)} times" if len(part) > 1 else "")
    return f'<span class="chip unseen" title="{_points(part)}">{escape(name)}</span>'


def _name(char: str) -> str:
    known = _NAMES.get(char) or unicodedata.name(char, "").lower()
    if known:
        return known
    return {"Cc": "control character", "Co": "private character", "Cs": "half a character"}.get(
        unicodedata.category(char), "unassigned character"
    )


def _points(part: str) -> str:
    first = f"U+{ord(part[0]):04X}"
    return first if len(part) == 1 else f"{first}, {len(part)} characters"
