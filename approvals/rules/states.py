"""The states of a run, a job, a campaign, a delivery and a callback, and every step between two of them.

A step that is not in a table here does not happen. ARCHITECTURE.md shows `diagram()`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from approvals.exceptions import Conflict


class IllegalTransition(Conflict):
    """A step between two states that the machine does not know."""

    default_code = "illegal_transition"

    def __init__(self, machine: str, old: str, new: str) -> None:
        self.machine, self.old, self.new = machine, old, new
        super().__init__(
            f"This {machine} is {_spoken(old)} and cannot become {_spoken(new)}."
            " Reload the page to see what can be done with it now."
        )


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """One state machine: `steps` maps (from, to) to what brings the step about."""

    name: str
    initial: str
    steps: Mapping[tuple[str, str], str]

    @property
    def transitions(self) -> frozenset[tuple[str, str]]:
        """Every allowed (from, to)."""
        return frozenset(self.steps)

    @property
    def states(self) -> tuple[str, ...]:
        """Every state, in the order of the table."""
        return tuple(dict.fromkeys((self.initial, *(state for step in self.steps for state in step))))

    @property
    def terminal(self) -> frozenset[str]:
        """The states that nothing leads out of."""
        return frozenset(self.states) - {old for old, _ in self.steps}


def _machine(name: str, initial: str, steps: dict[tuple[str, str], str]) -> Machine:
    return Machine(name, initial, MappingProxyType(steps))


RUN = _machine(
    "run",
    "running",
    {
        ("running", "completed"): "it reported its end",
        ("running", "failed"): "it reported its end",
        ("running", "interrupted"): "silent, overlong or broken off, or a person says so",
        ("running", "cancelled"): "it reported its end, or was taken back",
        ("interrupted", "completed"): "its true end came late",
        ("interrupted", "failed"): "its true end came late",
        ("interrupted", "cancelled"): "its true end came late",
    },
)

JOB = _machine(
    "job",
    "held",
    {
        ("held", "queued"): "the hold is over",
        ("held", "cancelled"): "a person takes it back",
        ("queued", "running"): "a worker claims it",
        ("queued", "cancelled"): "a person takes it back",
        ("running", "done"): "the outcome is known",
        ("running", "failed"): "the outcome is known",
        ("running", "in_doubt"): "lost after the intent",
        ("running", "queued"): "lost before the intent",
        ("in_doubt", "running"): "the new run is heard from, or a person says it began",
        ("in_doubt", "failed"): "a person says it did not, or leaves it",
        ("held", "paused"): "the database was restored",
        ("queued", "paused"): "the database was restored, or a person pauses its campaign",
        (
            "running",
            "paused",
        ): "the database was restored before the intent, the sender is refused, its links would lead nowhere, it is"
        " overdue, or a person paused its campaign",
        ("paused", "queued"): "a person resumes it",
        ("paused", "cancelled"): "a person takes it back",
        ("paused", "running"): "the new run is heard from",
    },
)

CAMPAIGN = _machine(
    "campaign",
    "pending",
    {
        ("pending", "approved"): "a person approves",
        ("pending", "rejected"): "a person rejects",
        ("pending", "returned"): "a person returns it with comments",
        ("returned", "pending"): "another version is proposed",
        ("returned", "rejected"): "a person rejects",
        ("approved", "pending"): "a person takes the approval back, or another version is proposed",
        ("approved", "sending"): "a worker claims the job",
        ("sending", "finished"): "no delivery is left",
        ("sending", "stopped"): "a person stops it, the rest is skipped",
        ("sending", "paused"): "a person pauses it",
        ("sending", "pending"): "another version is proposed for the rest",
        ("paused", "sending"): "a person lets it go on",
        ("paused", "finished"): "no delivery is left",
        ("paused", "stopped"): "a person stops it, the rest is skipped",
        ("paused", "pending"): "another version is proposed for the rest",
        ("stopped", "pending"): "another version is proposed for the rest",
    },
)

DELIVERY = _machine(
    "delivery",
    "planned",
    {
        ("planned", "attempting"): "the intent is committed",
        (
            "planned",
            "skipped",
        ): "the campaign was stopped, another version came, or they may not be written to",
        ("attempting", "sent"): "the server took it",
        ("attempting", "failed"): "the server refused it",
        ("attempting", "in_doubt"): "lost after the intent",
        ("attempting", "planned"): "certainly not sent, try later",
        ("in_doubt", "sent"): "a person says it happened",
        ("in_doubt", "planned"): "a person says do it again",
        ("failed", "planned"): "a person sends it again",
    },
)

CALLBACK = _machine(
    "callback",
    "waiting",
    {
        ("waiting", "told"): "the runtime took it",
        ("waiting", "given_up"): "the runtime wants none (410), or was tried in vain for the last time",
        ("given_up", "waiting"): "a person has it told again, or says another address",
    },
)

MACHINES = (RUN, JOB, CAMPAIGN, DELIVERY, CALLBACK)


def check(machine: Machine, old: str, new: str) -> None:
    """Return if `old` may become `new`; raise IllegalTransition otherwise, also for old == new."""
    if (old, new) not in machine.steps:
        raise IllegalTransition(machine.name, old, new)


def diagram() -> str:
    """All machines as Markdown with one Mermaid block each: the text that ARCHITECTURE.md must hold."""
    return "\n\n".join(_block(machine) for machine in MACHINES) + "\n"


def _block(machine: Machine) -> str:
    lines = [f"    [*] --> {machine.initial}"]
    lines += [f"    {old} --> {new}: {why}" for (old, new), why in machine.steps.items()]
    lines += [f"    {state} --> [*]" for state in machine.states if state in machine.terminal]
    return "\n".join([f"**{machine.name}**", "", "```mermaid", "stateDiagram-v2", *lines, "```"])


def _spoken(state: str) -> str:
    return state.replace("_", " ")
