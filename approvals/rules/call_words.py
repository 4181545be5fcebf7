"""What is true of a tool call by its state: whether it is known to have been made, and the words for the others."""

from collections.abc import Collection, Iterable, Mapping

# Calls that were only asked for: their tool did not run.
ONLY_ASKED = frozenset({"awaiting", "rejected", "withdrawn"})
# What came of a call that is not known to have been made, as the end of a sentence that begins with its tool.
_CAME: Mapping[str, str] = {
    "supplied": "was answered by a person",
    "rejected": "was rejected, it did not run",
    "awaiting": "waits for a confirmation, it did not run",
    "withdrawn": "was no longer asked",
}


def what_came(state: str) -> str:
    """What is known of a call in this state, as the end of a sentence: `was called`, unless its state says else."""
    return _CAME.get(state, "was called")


def may_be_again(calls: Iterable[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """(tools that may be called again, tools that may be asked for again), each once, of calls as (tool, state)."""
    states: dict[str, set[str]] = {}
    for name, state in calls:
        states.setdefault(name or "a tool", set()).add(state)
    asked = [name for name, found in states.items() if found <= ONLY_ASKED]
    return [name for name in states if name not in asked], asked


def none_made(states: Collection[str]) -> bool:
    """Whether there are calls, and none of them is known to have been made."""
    return bool(states) and _CAME.keys() >= set(states)
