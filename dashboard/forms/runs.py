"""What people send when they decide about a run. What it means is checked by the services."""

from dataclasses import dataclass

from django.http import QueryDict


@dataclass(frozen=True, slots=True)
class Force:
    """A forced replay: why, and what was acknowledged (`rules.decisions.call_key` of each call)."""

    reason: str
    ticked: tuple[str, ...]
    unknown_ticked: bool


@dataclass(frozen=True, slots=True)
class Resolve:
    """What became of something: `target` is the call's id where a run has several."""

    target: str
    resolution: str
    reason: str


def read_reason(post: QueryDict) -> str:
    """The field `reason`; empty where it is missing."""
    return post.get("reason") or ""


def read_force(post: QueryDict) -> Force:
    """Fields `reason`, `ack` (one for each call), `ack_unknown` = 1."""
    return Force(read_reason(post), tuple(post.getlist("ack")), post.get("ack_unknown") == "1")


def read_resolve(post: QueryDict) -> Resolve:
    """Fields `target`, `resolution`, `reason`."""
    return Resolve(post.get("target") or "", post.get("resolution") or "", read_reason(post))
