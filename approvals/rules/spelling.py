"""One address in the ways in which a text or a file may spell it."""

import re
from dataclasses import dataclass

from approvals.rules.addresses import Address, check_address

LONGEST = 600  # bytes, more than any spelling takes: what pieces of a file have to overlap by


@dataclass(frozen=True, slots=True)
class Spelling:
    """The spellings of what somebody goes by, in small letters; none where that is no address."""

    ways: tuple[str, ...]

    def in_text(self, text: str) -> bool:
        """Whether it stands in this text, alone or among other words; not as a part of a longer address."""
        return bool(self.ways) and re.search(_pattern(self.ways), text.lower()) is not None

    def in_bytes(self, data: bytes) -> bool:
        """The same of the bytes of a file, whether they are UTF-8, UTF-16 or Latin-1. What is packed hides it."""
        ways = {
            way.encode(encoding)
            for way in self.ways
            for encoding in ("utf-8", "latin-1")
            if _fits(way, encoding)
        }
        # Without its zeros UTF-16 of plain letters reads like Latin-1, in either order.
        plain = data.replace(b"\0", b"").lower()
        return bool(ways) and re.search(_pattern_of_bytes(ways), plain) is not None


def spelling(of: str) -> Spelling:
    """Of an address in any spelling, or of anything else."""
    typed = of.strip().lower()
    found = check_address(of.strip())
    if not isinstance(found, Address):
        return Spelling(())
    local, _, domain = found.dedupe_key.rpartition("@")
    return Spelling(tuple(dict.fromkeys((found.dedupe_key, typed, f"{local}@{_as_read(domain)}"))))


def _as_read(domain: str) -> str:
    try:
        return domain.encode().decode("idna")
    except UnicodeError:
        return domain


def _fits(way: str, encoding: str) -> bool:
    try:
        way.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _pattern(ways: tuple[str, ...]) -> str:
    return rf"(?<![\w.+%-])(?:{'|'.join(map(re.escape, ways))})(?![\w-]|\.\w)"


def _pattern_of_bytes(ways: set[bytes]) -> bytes:
    return rb"(?<![\w.+%-])(?:" + b"|".join(map(re.escape, sorted(ways))) + rb")(?![\w-]|\.\w)"
