"""What a benchmark answers with: its figures, the goal of each, and the machine they were measured on."""

import math
import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Goal:
    """What a figure has to reach."""

    sense: Literal["at_most", "at_least"]
    value: float

    def met(self, figure: float) -> bool:
        """Whether this figure reaches it."""
        return figure <= self.value if self.sense == "at_most" else figure >= self.value


def p95(values: Sequence[float]) -> float:
    """The value that 95 of 100 do not exceed."""
    return sorted(values)[math.ceil(len(values) * 0.95) - 1]


def milliseconds(seconds: Sequence[float]) -> dict[str, Any]:
    """A sample of durations in short."""
    return {
        "p95_ms": rounded(p95(seconds) * 1000),
        "median_ms": rounded(statistics.median(seconds) * 1000),
        "samples": len(seconds),
    }


def rounded(value: float) -> float:
    """Three decimals below ten, fewer above: more would pretend to know."""
    return round(value, 3 if abs(value) < 10 else 1)


def answer(
    bench: str, scale: float, figures: Mapping[str, Any], goals: Mapping[str, Goal], **more: Any
) -> dict[str, Any]:
    """The one object that `--json` prints. At another scale than 1 the goals say nothing, so none is judged."""
    judged = {
        name: {goal.sense: goal.value, "met": goal.met(figures[name]) if scale == 1 else None}
        for name, goal in goals.items()
    }
    return {
        "bench": bench,
        "scale": scale,
        **figures,
        "goals": judged,
        **more,
        "machine": {
            "cores": len(os.sched_getaffinity(0)),
            "load": [round(load, 1) for load in os.getloadavg()],
            "python": platform.python_version(),
            "system": platform.machine(),
        },
    }
