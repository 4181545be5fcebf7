"""Telling how far a benchmark is: on standard error, because standard output holds the answer alone."""

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import Protocol, TypeVar

WIDTH = 30
_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


class SizedIterable(Sized, Iterable[_T_co], Protocol[_T_co]):
    """What has a length and can be gone through."""


class Teller:
    """Phase lines with the time since the start; a bar within a phase where somebody watches."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._watched = sys.stderr.isatty()

    def say(self, words: str) -> None:
        """A new phase begins."""
        print(f"[{time.monotonic() - self._began:6.1f} s] {words}", file=sys.stderr, flush=True)

    def through(self, items: SizedIterable[_T], words: str) -> Iterator[_T]:
        """Go through the items, showing how far we are."""
        self.say(words)
        for done, item in enumerate(items, start=1):
            yield item
            if self._watched:
                filled = done * WIDTH // len(items)
                bar = "#" * filled + "." * (WIDTH - filled)
                print(f"\r  [{bar}] {done}/{len(items)}", end="", file=sys.stderr, flush=True)
        if self._watched:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
