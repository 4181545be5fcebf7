"""What a scripted agent can do: the steps that scripts are made of, as data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Say:
    """A message of the agent; `{name}` stands for a value of its input or of an earlier result."""

    text: str


@dataclass(frozen=True)
class Call:
    """A call of a tool; texts in `args` may hold `{name}` as in Say."""

    tool: str
    args: Mapping[str, Any]


@dataclass(frozen=True)
class Lose:
    """A message that never arrives: its place in the journal stays empty."""


@dataclass(frozen=True)
class Fail:
    """The agent gives up, and says so."""

    error: str


@dataclass(frozen=True)
class Die:
    """The agent's process is gone: nothing more is posted, not even an end."""


@dataclass(frozen=True)
class KeepRunning:
    """A heartbeat every few seconds, for ever."""


Step = Say | Call | Lose | Fail | Die | KeepRunning
Script = tuple[Step, ...]  # one that comes to its last step ends as completed


@dataclass(frozen=True)
class Scene:
    """One run to open with: what it was started with, and how far it gets."""

    external_id: str
    agent: str
    subject: str
    trigger: str
    script: Script
    input: Mapping[str, Any]

    def as_run(self) -> dict[str, Any]:
        """The body that registers the run."""
        given = ("external_id", "agent", "subject", "trigger", "input")
        return {name: getattr(self, name) for name in given}
