"""Characters that deceive whoever reads them: those that cannot be seen, and letters of one script within another."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

# Beside the format characters (category Cf): blanks that are letters or marks to Unicode, and fillers.
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u2800\u3164\uffa0"
_FORMAT = "\u00ad\u0600-\u0605\u061c\u06dd\u070f\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb"
_UNSEEN = re.compile(
    f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{_BLANK}{_FORMAT}\U00013430-\U0001343f\U0001d173-\U0001d17a"
    "\U000e0000-\U000e007f]"
)
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_JOINERS = frozenset("\u200c\u200d")
_FLAG, _TAGS = "\U0001f3f4", range(0xE0000, 0xE0080)
_WORD = re.compile(r"\w+")
# Scripts whose letters pass for Latin ones, or for each other's.
_ALIKE = frozenset(("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"))
# Letters drawn in a style of their own: read as plain ones, and found by no filter.
_STYLED = frozenset(("MATHEMATICAL", "FULLWIDTH", "CIRCLED", "SQUARED", "PARENTHESIZED"))
_JOINING = ("ARABIC", "SYRIAC", "DEVANAGARI", "BENGALI", "TAMIL", "TELUGU", "KANNADA", "MALAYALAM", "SINHALA")


@dataclass(frozen=True, slots=True)
class Unseen:
    """How many characters of a text cannot be seen: those that turn its direction, spell with tags, or just stand."""

    turning: int
    tags: int
    others: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.turning + self.tags + self.others


def unseen(text: str) -> Unseen:
    """The characters that no reader sees. What emoji, flags and joining scripts are made of does not count."""
    found: Counter[str] = Counter()
    for match in _UNSEEN.finditer(text):
        char, before = match[0], text[match.start() - 1] if match.start() else ""
        if char in _TURNING:
            found["turning"] += 1
        elif ord(char) in _TAGS:
            found["tags"] += not _of_a_flag(text, match.start())
        elif not (char in _JOINERS and _joins(before)):
            found["others"] += 1
    return Unseen(found["turning"], found["tags"], found["others"])


def mixed(text: str, *, at_most: int = 5) -> list[str]:
    """The first words that mix scripts which look alike, or are drawn in a style of their own; each once."""
    if text.isascii():
        return []
    words: dict[str, None] = {}
    for match in _WORD.finditer(text):
        word = match[0]
        if not word.isascii() and word not in words and _mixes(word):
            words[word[:100]] = None
            if len(words) == at_most:
                break
    return list(words)


def scripts(word: str) -> set[str]:
    """The scripts of its letters, by the first word of their Unicode names."""
    return set(_scripts(word))


def _scripts(word: str) -> Iterator[str]:
    for char in word:
        if char.isascii():
            if char.isalpha():
                yield "LATIN"
        elif char.isalpha() and not unicodedata.category(char).startswith("Lm"):
            yield unicodedata.name(char, "").partition(" ")[0]


def _mixes(word: str) -> bool:
    found = scripts(word[:200])
    return len(found & _ALIKE) > 1 or bool(found & _STYLED and not found <= {"FULLWIDTH"})


def _joins(before: str) -> bool:
    """Whether a joiner behind this character does its work: in an emoji, or in a script that joins."""
    if not before:
        return False
    name = unicodedata.name(before, "")
    pictured = unicodedata.category(before) in ("So", "Sk") and before != "\u2800"
    return pictured or before == "\ufe0f" or name.startswith(_JOINING)


def _of_a_flag(text: str, at: int) -> bool:
    """Whether the tags here belong to a flag, which takes six of them at most."""
    return _FLAG in text[max(0, at - 7) : at]
