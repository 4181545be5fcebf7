"""Two texts compared by words, and how alike two texts are; both in bounded time, whoever wrote the texts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

MOST_WORDS = 10_000  # of each text, behind what both begin with and before what both end with
MOST_CHANGES = 300  # words that came or went; beyond, the texts count as two different ones
_WORD = re.compile(r"\s*\S+")
_LETTERS = re.compile(r"\w+")
_LOOKED_AT = 50_000  # characters of a text that say how alike two are

Kind = Literal["same", "gone", "came"]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Words next to each other with one fate, with the white space before each."""

    kind: Kind
    text: str


def changed(old: str, new: str) -> list[Stretch]:
    """How `old` became `new`. White space alone is no change; where too much differs, all of it went and came."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    was, now = [word.strip() for word in before], [word.strip() for word in after]
    head = _common(was, now)
    tail = _common(was[head:][::-1], now[head:][::-1])
    steps = _steps(was[head : len(was) - tail], now[head : len(now) - tail])
    joined: list[tuple[Kind, list[str]]] = []
    x = y = 0
    for kind in ["same"] * head + steps + ["same"] * tail:
        word = before[x] if kind == "gone" else after[y]
        x += kind != "came"
        y += kind != "gone"
        if not joined or joined[-1][0] != kind:
            joined.append((kind, []))  # type: ignore[arg-type]  # one of the three
        joined[-1][1].append(word)
    return [Stretch(kind, "".join(words)) for kind, words in joined]


def alike(one: str, other: str) -> float:
    """How many of all their words two texts have in common: 0 none, 1 all; 1 for two empty ones."""
    here, there = _words(one), _words(other)
    return len(here & there) / len(here | there) if here or there else 1.0


def _words(text: str) -> set[str]:
    return set(_LETTERS.findall(text[:_LOOKED_AT].lower()))


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    number = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        number += 1
    return number


def _steps(was: Sequence[str], now: Sequence[str]) -> list[str]:
    """The fewest words that go or come (Myers), as one kind a word; all of them where those are too many."""
    replaced = ["gone"] * len(was) + ["came"] * len(now)
    if not was or not now or max(len(was), len(now)) > MOST_WORDS:
        return replaced
    furthest, trail = {1: 0}, []
    for changes in range(min(MOST_CHANGES, len(was) + len(now)) + 1):
        trail.append(dict(furthest))
        for line in range(-changes, changes + 1, 2):
            down = line == -changes or (
                line != changes and furthest.get(line - 1, -1) < furthest.get(line + 1, -1)
            )
            x = furthest[line + 1] if down else furthest[line - 1] + 1
            y = x - line
            while x < len(was) and y < len(now) and was[x] == now[y]:
                x, y = x + 1, y + 1
            furthest[line] = x
            if x >= len(was) and y >= len(now):
                return _back(trail, len(was), len(now))
    return replaced


def _back(trail: Sequence[dict[int, int]], x: int, y: int) -> list[str]:
    steps: list[str] = []
    for changes in range(len(trail) - 1, -1, -1):
        furthest, line = trail[changes], x - y
        down = line == -changes or (
            line != changes and furthest.get(line - 1, -1) < furthest.get(line + 1, -1)
        )
        came_from = line + 1 if down else line - 1
        x_before = furthest[came_from]
        same = x - (x_before if down else x_before + 1)
        steps += ["same"] * same
        if changes:
            steps.append("came" if down else "gone")
            x, y = x_before, x_before - came_from
    return steps[::-1]
